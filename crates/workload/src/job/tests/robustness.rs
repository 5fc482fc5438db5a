//! Does any text, on any capacity, give an error or valid issues?

use crate::job::JobSet;
use crate::job::options::HONOURED;
use proptest::prelude::*;

/// Open the set and pull some issues; every issue must lie inside the capacity.
fn exercise(set: &JobSet, capacity: u64, seed: u64) {
    // Thousands of clones are tested elsewhere; here they would only take time.
    if set.specs().iter().map(|s| s.clones()).sum::<u32>() > 16 {
        return;
    }
    let Ok(mut open) = set.open(capacity, seed) else { return };
    let _ = (open.expected_requests(), open.read_fraction(), open.overwrites(), open.region());
    if let Ok(Some(stream)) = set.overwrite_stream(capacity, seed) {
        for command in stream.take(50) {
            assert!(command.offset + u64::from(command.bytes) <= capacity);
        }
    }
    for job in 0..open.jobs().len() {
        for _ in 0..50 {
            let Some(issue) = open.next(job) else { break };
            let end = issue.command.offset.checked_add(u64::from(issue.command.bytes));
            assert!(end.is_some_and(|end| end <= capacity), "{issue:?} on {capacity}");
        }
    }
}

fn option() -> impl Strategy<Value = String> {
    let value = prop_oneof![
        "[0-9]{1,20}[kmgtp%]?",
        "[0-9]{1,3}(us|ms|s|m|h|d)?",
        "[0-9]{0,3}k?(,[0-9]{0,3}k?){0,3}",
        "[1-9]k?-[0-9]{1,3}k",
        "(randread|randrw|read|rw|write):-?[0-9]{1,12}k?",
        "[1-9]k/[0-9]{0,2}:[1-9]k/[0-9]{0,2}",
        "(zipf|pareto|normal|zoned|zoned_abs):[0-9]?\\.?[0-9]{1,3}(/[0-9]{1,3})?",
        "zoned:/[0-9]{1,2}:/[0-9]{1,2}:50/1",
        "zoned_abs:/[0-9]{1,20}:/0",
        "(randrw|rw|randread|randwrite|write|randtrim|psync|poisson|linear|offload)",
    ];
    (prop::sample::select(HONOURED), value).prop_map(|(name, value)| format!("{name}={value}"))
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(2000) })]

    #[test]
    fn arbitrary_text_never_panics(text in any::<String>(), capacity in any::<u64>()) {
        for set in [JobSet::from_inline(&text), JobSet::from_job_file("x", &text)].into_iter().flatten() {
            exercise(&set, capacity, 1);
        }
    }

    #[test]
    fn arbitrary_sections_never_panic(text in "(\\[[a-z]{0,6}\\]?\n|[a-z_]{0,12}=?[ -~]{0,12}\n){0,12}") {
        if let Ok(set) = JobSet::from_job_file("x", &text) {
            exercise(&set, 1 << 30, 1);
        }
    }

    #[test]
    fn arbitrary_options_never_panic(
        mode in prop::sample::select(vec!["randrw", "randread", "randwrite", "rw", "read", "trim"]),
        options in prop::collection::vec(option(), 0..6),
        capacity in prop_oneof![any::<u64>(), 0u64..100_000, Just(1u64 << 30), Just(u64::MAX)],
        seed in any::<u64>(),
    ) {
        let text = format!("{mode},{}", options.join(","));
        if let Ok(set) = JobSet::from_inline(&text) {
            exercise(&set, capacity, seed);
        }
    }

    #[test]
    fn arbitrary_act_never_panics(text in "act[:,][a-z0-9=,]{0,30}", capacity in any::<u64>()) {
        if let Ok(set) = JobSet::from_inline(&text) {
            exercise(&set, capacity, 1);
        }
    }
}

#[test]
fn huge_capacities_open_at_once() {
    for text in ["randread,bs=1", "randread,bs=1,random_distribution=zipf:1.1", "randwrite,bs=1,norandommap"]
    {
        exercise(&JobSet::from_inline(text).unwrap(), u64::MAX, 1);
    }
    let set = JobSet::from_inline("randread,numjobs=4096").unwrap();
    assert_eq!(set.open(1 << 40, 1).unwrap().jobs().len(), 4096);
}
