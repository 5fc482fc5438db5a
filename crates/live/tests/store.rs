//! Is a drive over files the same drive as one in memory?

use tailcut_core::medium::{Bytes, InMemory, Medium};
use tailcut_live::store::FileStore;
use tailcut_testkit::swarm;

#[test]
fn a_drive_over_files_is_the_same_drive() {
    let mut tried = 0;
    for seed in 0..60 {
        let case = swarm::draw(seed);
        if case.config.ftl.mapping_unit > 32 << 10 || case.config.host.max_transfer > 256 << 10 {
            continue;
        }
        let folder = tempfile::tempdir().unwrap();
        let store = FileStore::create(folder.path()).unwrap();
        let files = swarm::run_over(&case, Bytes::over(store)).unwrap_or_else(|e| panic!("seed {seed}: {e}"));
        let memory = swarm::run_over(&case, InMemory::new()).unwrap_or_else(|e| panic!("seed {seed}: {e}"));
        assert_eq!(files.0.digest, memory.0.digest, "seed {seed}");
        assert_eq!(files.1.medium().faults(), [] as [String; 0], "seed {seed}");
        assert_eq!(files.1.medium().store().failure(), None, "seed {seed}");
        tried += 1;
    }
    assert!(tried > 20, "{tried} drives");
}
