//! Are requests due at the times given by the rate, the arrival process and the think
//! time?

use super::{GIB, is_read, open, share, take};
use crate::Issue;
use crate::job::JobSet;

fn gaps(issues: &[Issue]) -> Vec<f64> {
    issues.windows(2).map(|w| (w[1].earliest.0 - w[0].earliest.0) as f64).collect()
}

#[test]
fn a_linear_rate_is_exact_over_any_length() {
    // 1e9 / 3 is not a whole number, yet 3 million requests must take exactly a million
    // seconds.
    let mut open = open("randread,rate_iops=3,number_ios=4000000", GIB);
    let issues: Vec<Issue> = std::iter::from_fn(|| open.next(0)).take(3_000_001).collect();
    assert_eq!(issues[0].earliest.0, 0);
    assert_eq!(issues[1].earliest.0, 333_333_333);
    assert_eq!(issues[3_000_000].earliest.0, 1_000_000 * 1_000_000_000);
    let info = &open.jobs()[0];
    assert!(!info.open_loop);
    assert_eq!(info.depth, 1);
}

#[test]
fn a_byte_rate_charges_what_was_sent() {
    let issues = take("randwrite,bssplit=4k/50:12k/50,rate=4m", GIB, 10_001);
    let mut due = 0u128;
    for issue in issues {
        assert_eq!(u128::from(issue.earliest.0), due * 1_000_000_000 / (4 << 20));
        due += u128::from(issue.command.bytes);
    }
}

#[test]
fn poisson_gaps_have_the_mean_and_variance() {
    let issues = take("randread,rate_iops=50000,rate_process=poisson,number_ios=200000", GIB, 200_000);
    let gaps = gaps(&issues);
    let n = gaps.len() as f64;
    let mean = gaps.iter().sum::<f64>() / n;
    let variance = gaps.iter().map(|g| (g - mean).powi(2)).sum::<f64>() / n;
    // Mean 20 us, sd 20 us: five sd of the mean are 224 ns. The variance of an
    // exponential's sample variance is 8/n of its square: five sd are 3.2 percent.
    assert!((mean - 20_000.0).abs() < 224.0, "{mean}");
    assert!((variance / 4e8 - 1.0).abs() < 0.032, "{variance}");
    let late = gaps.iter().filter(|g| **g > 60_000.0).count() as f64 / n;
    assert!((late - (-3.0f64).exp()).abs() < 0.003, "{late}");
    let open = open("randread,rate_iops=50000,rate_process=poisson,runtime=2s,time_based", GIB);
    assert!(open.jobs()[0].open_loop);
    assert_eq!(open.jobs()[0].depth, u32::MAX);
    assert_eq!(open.expected_requests(), Some(100_000));
}

#[test]
fn a_runtime_ends_a_paced_job() {
    let issues = take("randread,rate_iops=1000,runtime=2s,time_based,ramp_time=1s", 1 << 20, 10_000);
    assert_eq!(issues.len(), 3000);
    let open = open("randread,rate_iops=1000,runtime=2s,time_based,ramp_time=1s,startdelay=500ms", GIB);
    let info = &open.jobs()[0];
    assert_eq!((info.ramp.0, info.runtime.unwrap().0), (1_500_000_000, 3_500_000_000));
}

#[test]
fn each_clone_draws_its_start_from_a_range() {
    let starts = |seed| {
        let text = "randread,rate_iops=1000,numjobs=40,startdelay=5ms-15ms";
        let set = JobSet::from_inline(text).expect("a job");
        let open = set.open(GIB, seed).expect("a job");
        open.jobs().iter().map(|job| job.start.0).collect::<Vec<u64>>()
    };
    let all = starts(1);
    assert!(all.iter().all(|at| (5_000_000..15_000_000).contains(at)), "{all:?}");
    let mut apart = all.clone();
    apart.sort_unstable();
    apart.dedup();
    assert_eq!(apart.len(), 40, "each its own");
    assert_eq!(all, starts(1));
    assert_ne!(all, starts(2));
    let error = JobSet::from_inline("randread,startdelay=2s-1s").expect_err("refused").to_string();
    assert!(error.contains("`2s` is more than `1s`"), "{error}");
}

#[test]
fn a_mixed_job_merges_its_two_rates() {
    let issues = take("randrw,rate_iops=300,100,number_ios=4000", GIB, 4000);
    assert!((share(&issues, is_read) - 0.75).abs() < 0.001);
    assert!(issues.is_sorted_by_key(|i| i.earliest));
    assert_eq!(open("randrw,rate_iops=300,100", GIB).read_fraction(), 0.75);
}

#[test]
fn one_rate_paces_a_mixed_job() {
    let issues = take("randrw,rwmixread=75,rate_iops=,100,number_ios=40000", GIB, 40_000);
    assert!((share(&issues, is_read) - 0.75).abs() < 0.012);
    assert!(issues.is_sorted_by_key(|i| i.earliest));
    let writes = issues.iter().filter(|i| !is_read(i)).count() as u64;
    let last = issues.iter().rev().find(|i| !is_read(i)).unwrap();
    assert_eq!(last.earliest.0, (writes - 1) * 10_000_000);
}

#[test]
fn thinking_follows_every_so_many_blocks() {
    let thinks = |text: &str| -> Vec<u64> { take(text, GIB, 7).iter().map(|i| i.think.0).collect() };
    assert_eq!(thinks("randread,thinktime=50"), [0, 50_000, 50_000, 50_000, 50_000, 50_000, 50_000]);
    assert_eq!(thinks("randread,thinktime=1ms,thinktime_blocks=3"), [0, 0, 0, 1_000_000, 0, 0, 1_000_000]);
}

#[test]
fn act_is_three_open_loops_at_constant_spacing() {
    let mut open = open("act:30", 64 * GIB);
    let jobs = open.jobs();
    let names: Vec<&str> = jobs.iter().map(|j| j.name.as_str()).collect();
    assert_eq!(names, ["small_reads", "large_reads", "large_writes"]);
    assert!(jobs.iter().all(|j| j.open_loop && j.depth == u32::MAX));
    let cases =
        [(1536, 512, 60_000.0, true), (131_072, 131_072, 720.0, true), (131_072, 131_072, 720.0, false)];
    for (job, (bytes, align, rate, read)) in cases.into_iter().enumerate() {
        let issues: Vec<Issue> = std::iter::from_fn(|| open.next(job)).collect();
        // The phase decides whether the last request still falls within the minute.
        assert!((issues.len() as f64 - rate * 60.0).abs() <= 1.0, "{}", issues.len());
        assert!(issues.iter().all(|i| i.command.bytes == bytes && is_read(i) == read));
        assert!(issues.iter().all(|i| i.command.offset % align == 0));
        assert!(gaps(&issues).iter().all(|g| (g - 1e9 / rate).abs() <= 1.0));
    }
}

#[test]
fn act_has_the_official_rates_and_poisson_arrivals() {
    let text = "act,multiplier=2,record=1500,rates=official,duration=100s,arrivals=poisson";
    let mut open = open(text, GIB);
    // 2 × 1000 × 1504 × 2 / 131072 = 45.9 a second.
    let large = std::iter::from_fn(|| open.next(1)).count() as f64;
    assert!((large - 4590.0).abs() < 5.0 * 4590f64.sqrt(), "{large}");
    let reads = std::iter::from_fn(|| open.next(0)).count() as f64;
    assert!((reads - 400_000.0).abs() < 5.0 * 400_000f64.sqrt(), "{reads}");
}
