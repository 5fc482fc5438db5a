//! Do the draws follow the distributions they are named after?

use super::{GIB, chi_square, is_read, open, share, take};
use crate::job::OpenJobs;
use std::collections::HashMap;

const DRAWS: usize = 200_000;

fn slots(text: &str, blocks: u64) -> Vec<u64> {
    take(&format!("{text},bs=4k,number_ios={DRAWS}"), blocks * 4096, DRAWS)
        .iter()
        .map(|i| {
            assert_eq!(i.command.offset % 4096, 0);
            i.command.offset / 4096
        })
        .collect()
}

fn counts(slots: &[u64], blocks: u64) -> Vec<u64> {
    let mut counts = vec![0; blocks as usize];
    for slot in slots {
        counts[*slot as usize] += 1;
    }
    counts
}

#[test]
fn uniform_without_a_map_is_uniform() {
    let counts = counts(&slots("randread,norandommap", 1000), 1000);
    // 999 degrees of freedom: mean 999, sd 44.7; five sd.
    let chi = chi_square(&counts, &[200.0; 1000]);
    assert!((775.0..1223.0).contains(&chi), "{chi}");
}

#[test]
fn zipf_frequencies_are_the_theory_s() {
    for theta in [0.5, 0.99, 1.0, 1.2, 2.0] {
        let blocks = 10_000;
        let drawn = slots(&format!("randread,random_distribution=zipf:{theta}"), blocks);
        let mut found = counts(&drawn, blocks);
        found.sort_unstable_by(|a, b| b.cmp(a));
        let zeta: f64 = (1..=blocks).map(|k| (k as f64).powf(-theta)).sum();
        // Sorting keeps the order of the frequent ranks. Ranks are grouped by doubling so
        // that each expected count is large.
        let mut low = 0usize;
        for high in [1usize, 2, 4, 8, 16, 32] {
            let expected: f64 =
                (low + 1..=high).map(|k| (k as f64).powf(-theta)).sum::<f64>() / zeta * DRAWS as f64;
            let got = found[low..high].iter().sum::<u64>() as f64;
            // Sorting favours the top slightly: five sd and two percent.
            let slack = 5.0 * expected.sqrt() + 0.02 * expected;
            assert!(
                expected < 2000.0 || (got - expected).abs() < slack,
                "theta {theta}, ranks {low}..{high}: {got} instead of {expected}"
            );
            low = high;
        }
    }
}

#[test]
fn zipf_ranks_match_exactly_by_rank() {
    use crate::job::ranks::Zipf;
    use tailcut_units::Stream;
    for theta in [0.3, 1.0, 1.1, 3.0] {
        let (count, draws) = (50u64, 500_000);
        let zipf = Zipf::new(count, theta);
        let mut stream = Stream::new(5, "test", 0);
        let mut found = vec![0u64; count as usize];
        for _ in 0..draws {
            found[zipf.draw(&mut stream) as usize] += 1;
        }
        let weights: Vec<f64> = (1..=count).map(|k| (k as f64).powf(-theta)).collect();
        let zeta: f64 = weights.iter().sum();
        let expected: Vec<f64> = weights.iter().map(|w| w / zeta * f64::from(draws)).collect();
        // 49 degrees of freedom: mean 49, sd 9.9; six sd.
        let chi = chi_square(&found, &expected);
        assert!(chi < 109.0, "theta {theta}: {chi}");
    }
}

/// The most frequent slot of each of two jobs.
fn hottest(text: &str) -> Vec<u64> {
    let mut open = open(text, GIB);
    let of = |open: &mut OpenJobs, job| {
        let mut counts = std::collections::BTreeMap::new();
        for _ in 0..4_000 {
            let issue = open.next(job).expect("it goes on");
            *counts.entry(issue.command.offset).or_insert(0u32) += 1;
        }
        counts.into_iter().max_by_key(|&(_, n)| n).expect("some").0
    };
    (0..2).map(|job| of(&mut open, job)).collect()
}

#[test]
fn jobs_share_their_hot_blocks_if_asked() {
    let job = "random_distribution=zipf:1.3,runtime=1000s,time_based";
    let two =
        |hot_sets: &str| format!("randread,{job},hot_sets={hot_sets};randwrite,{job},hot_sets={hot_sets}");
    let (one, own) = (hottest(&two("one")), hottest(&two("per-job")));
    assert_eq!(one[0], one[1]);
    assert_ne!(own[0], own[1], "fio draws the places by the number of the job");
}

#[test]
fn zipf_scatters_hot_blocks() {
    let blocks = 10_000;
    let found = counts(&slots("randread,random_distribution=zipf:1.2", blocks), blocks);
    let mut order: Vec<u64> = (0..blocks).collect();
    order.sort_unstable_by_key(|b| std::cmp::Reverse(found[*b as usize]));
    let adjacent = order[..20].windows(2).filter(|w| w[0].abs_diff(w[1]) <= 4).count();
    // A random pair is that close with a probability below 0.001.
    assert!(adjacent <= 1, "{:?}", &order[..20]);
}

#[test]
fn reads_and_writes_share_their_hot_blocks() {
    let issues = take("randrw,random_distribution=zipf:1.5,number_ios=100000", GIB, 100_000);
    let hottest = |reads: bool| {
        let mut counts: HashMap<u64, u64> = HashMap::new();
        for issue in issues.iter().filter(|i| is_read(i) == reads) {
            *counts.entry(issue.command.offset).or_default() += 1;
        }
        counts.into_iter().max_by_key(|(_, n)| *n).map(|(offset, _)| offset)
    };
    assert_eq!(hottest(true), hottest(false));
}

#[test]
fn pareto_keeps_its_80_20_rule() {
    for h in [0.1, 0.2, 0.4] {
        let blocks = 1000;
        let drawn = slots(&format!("randread,random_distribution=pareto:{h}"), blocks);
        let mut found = counts(&drawn, blocks);
        found.sort_unstable_by(|a, b| b.cmp(a));
        let hot = (h * blocks as f64) as usize;
        let got = found[..hot].iter().sum::<u64>() as f64 / DRAWS as f64;
        assert!((got - (1.0 - h)).abs() < 0.015, "h {h}: {got}");
    }
}

#[test]
fn normal_has_its_mean_and_deviation() {
    let blocks = 100_000;
    let drawn = slots("randread,random_distribution=normal:10", blocks);
    let mean = drawn.iter().sum::<u64>() as f64 / DRAWS as f64;
    let variance = drawn.iter().map(|s| (*s as f64 - mean).powi(2)).sum::<f64>() / DRAWS as f64;
    // Five sd of the mean: 5 × 10000 / sqrt(200000) = 112; of the deviation: 79.
    assert!((mean - 50_000.0).abs() < 112.0, "{mean}");
    assert!((variance.sqrt() - 10_000.0).abs() < 79.0, "{}", variance.sqrt());
}

#[test]
fn zones_get_their_shares() {
    let cases = [
        ("zoned:60/10:30/20:8/30:2/40", [0.60, 0.30, 0.08, 0.02], [100, 200, 300, 400]),
        ("zoned:/10:/20:/30:/40", [0.25; 4], [100, 200, 300, 400]),
        ("zoned_abs:50/400k:20/400k:20/1200k:10/2000k", [0.5, 0.2, 0.2, 0.1], [100, 100, 300, 500]),
    ];
    for (text, shares, lengths) in cases {
        let drawn = slots(&format!("randread,random_distribution={text}"), 1000);
        let mut first = 0;
        for (expected, length) in shares.iter().zip(lengths) {
            let inside = drawn.iter().filter(|s| (first..first + length).contains(*s)).count();
            let got = inside as f64 / DRAWS as f64;
            // sd at most 0.0011.
            assert!((got - expected).abs() < 0.006, "{text}: {got} instead of {expected}");
            first += length;
        }
    }
}

#[test]
fn sizes_get_their_shares() {
    let issues = take("randrw,bssplit=4k/10:64k/50:32k/40,8k/50:16k/,number_ios=200000", GIB, DRAWS);
    let cases = [(true, 4, 0.1), (true, 64, 0.5), (true, 32, 0.4), (false, 8, 0.5), (false, 16, 0.5)];
    for (read, kib, expected) in cases {
        let one: Vec<_> = issues.iter().copied().filter(|i| is_read(i) == read).collect();
        let got = share(&one, |i| i.command.bytes == kib << 10);
        assert!((got - expected).abs() < 0.008, "{kib}k: {got}");
    }
    let issues = take("randread,bsrange=4k-16k,number_ios=200000", GIB, DRAWS);
    for kib in [4, 8, 12, 16] {
        let got = share(&issues, |i| i.command.bytes == kib << 10);
        assert!((got - 0.25).abs() < 0.006, "{kib}k: {got}");
    }
}

#[test]
fn the_mix_follows_rwmix() {
    for (text, expected) in [("randrw", 0.5), ("rw,rwmixread=70", 0.7), ("randrw,rwmixwrite=10", 0.9)] {
        let issues = take(&format!("{text},number_ios=200000"), GIB, DRAWS);
        let got = share(&issues, is_read);
        assert!((got - expected).abs() < 0.006, "{text}: {got}");
        assert!((open(text, GIB).read_fraction() - expected).abs() < 1e-9);
    }
    assert!(take("randrw,rwmixread=100", GIB, 1000).iter().all(is_read));
    assert!(!take("randrw,rwmixread=0", GIB, 1000).iter().any(is_read));
}

#[test]
fn percentage_random_mixes_jumps_and_steps() {
    let issues = take("randread,percentage_random=30,number_ios=100000", GIB, 100_000);
    let steps = issues
        .windows(2)
        .filter(|w| w[1].command.offset == w[0].command.offset + u64::from(w[0].command.bytes))
        .count() as f64;
    assert!((steps / 100_000.0 - 0.7).abs() < 0.01, "{steps}");
}
