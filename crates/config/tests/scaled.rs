//! Does `scaled_blocks` give the drive of the guide, and refuse what would have another tail?

use tailcut_config::{Resolved, resolve};

fn with(device: &str, sets: &[&str]) -> Result<Resolved, String> {
    resolve::<&str, &str, &str>(device, &[], &[], sets).map_err(|e| e.to_string())
}

fn shown(resolved: &Resolved, key: &str) -> String {
    resolved.entry(key).unwrap_or_else(|| panic!("{key}")).value.to_string()
}

/// 3840 x 39 / 1361 GB: four extents at which collection starts, and the one that is being written, hold no data.
#[test]
fn the_capacity_leaves_out_what_holds_no_data() {
    let r = with("dc-tlc-gen4", &["scaled_blocks=44"]).unwrap();
    assert_eq!(r.config.geometry.blocks, 44);
    let user = r.config.ftl.user_capacity.unwrap();
    let exact = 3_840_000_000_000u64 * 39 / 1361;
    assert!(user <= exact && exact - user < r.config.ftl.mapping_unit, "{user} of {exact}");
    let entry = r.entry("geometry.blocks").unwrap();
    assert_eq!(entry.layer, "scaled_blocks=44");
    assert!(!r.toml.contains("scaled_blocks =") && r.entry("scaled_blocks").is_none());
    // The resolved drive is a complete one, and is not scaled twice.
    let again = tailcut_config::parse_device("again", &r.toml).unwrap();
    assert_eq!(again.config, r.config);
}

#[test]
fn the_whole_drive_is_scaled_to_itself() {
    let whole = with("dc-qlc-gen4", &[]).unwrap().config;
    let blocks = whole.geometry.blocks;
    let same = with("dc-qlc-gen4", &[&format!("scaled_blocks={blocks}")]).unwrap().config;
    let lost = whole.ftl.user_capacity.unwrap() - same.ftl.user_capacity.unwrap();
    assert!(lost < whole.ftl.mapping_unit);
}

/// A share of free extents at which collection starts stays the number that it is on the whole drive.
#[test]
fn shares_become_numbers() {
    let sets = ["policy.gc_schedule.tokens.start=10%", "scaled_blocks=300"];
    let r = with("dc-tlc-gen4", &sets).unwrap();
    assert_eq!(shown(&r, "policy.gc_schedule.tokens.start"), "137");
    let user = r.config.ftl.user_capacity.unwrap();
    let exact = 3_840_000_000_000u64 * (300 - 138) / (1366 - 138);
    assert!(user <= exact && exact - user < r.config.ftl.mapping_unit, "{user} of {exact}");
}

#[test]
fn an_slc_region_is_in_proportion() {
    let r = with(
        "dc-tlc-gen4",
        &[
            "slc={blocks=50, read=\"20us\", program=\"100us\", erase=\"3ms\", fold_idle=\"50ms\", fold_below=\"25%\"}",
            "scaled_blocks=100",
        ],
    );
    let r = r.unwrap();
    assert_eq!(r.config.slc.as_ref().unwrap().blocks, 4);
    let user = r.config.ftl.user_capacity.unwrap();
    let exact = 3_840_000_000_000u64 * (100 - 4 - 5) / (1366 - 50 - 5);
    assert!(user <= exact && exact - user < r.config.ftl.mapping_unit, "{user} of {exact}");
}

#[test]
fn another_tail_is_refused() {
    for (device, sets, part) in [
        ("dc-tlc-gen4", &["scaled_blocks=39"][..], "scaled_blocks: 39: 40 to 1366 blocks of each plane"),
        ("dc-tlc-gen4", &["scaled_blocks=2000"], "2000: 40 to 1366"),
        ("dc-tlc-gen4", &["scaled_blocks=many"], "a number of blocks"),
        ("tiny", &["scaled_blocks=64"], "geometry.bad_blocks must be"),
        ("tiny-pblk", &["scaled_blocks=64"], "its rate limiter counts lines"),
        ("dc-tlc-gen4", &["policy.buffer.lru.capacity=20GB", "scaled_blocks=44"], "is more than 1 % of"),
    ] {
        let error = with(device, sets).map(|r| r.device).expect_err(part);
        assert!(error.contains(part), "{device} {sets:?}: {error}");
    }
}
