//! Is the reference of the keys complete, and are its ranges correct?

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use tailcut_config::*;
use tailcut_core::device::Shape;
use tailcut_core::drive::Drive;
use tailcut_core::policy::FAMILIES;

const NONE: [&str; 0] = [];

/// The settings that a key needs, at a bound or at any value, so that its own range decides.
const BESIDE: &[(&str, &str, &[&str])] = &[
    ("policy.read_retry.sentinel.hits", "100%", &["policy.read_retry.sentinel.calibrated=100%"]),
    ("policy.read_retry.sentinel.calibrated", "0%", &["policy.read_retry.sentinel.hits=0%"]),
    (
        "geometry.planes",
        "1",
        &["ftl.write_planes=1", "ftl.gc.copy_planes=1", "ftl.gc.program_planes=1", "ftl.gc.erase_planes=1"],
    ),
    ("geometry.pages", "1", &["ftl.over_provisioning=90%"]),
    ("geometry.page", "512B", &["ftl.mapping_unit=512B", "ecc.codeword=512B"]),
    ("geometry.page", "1MiB", &["ftl.mapping_unit=1MiB", "host.max_transfer=1MiB"]),
    ("geometry.bad_blocks", "50%", &["ftl.over_provisioning=80%"]),
    ("timing.read", "", &["timing.program.pulses=[1]"]),
    ("host.max_transfer", "", &["host.queue_depth=1"]),
    ("host.queue_depth", "", &["host.max_transfer=4KiB"]),
    ("ftl.mapping_unit", "512B", &["ecc.codeword=512B"]),
    ("ftl.write_planes", "1", &["ftl.gc.copy_planes=1", "ftl.gc.program_planes=1"]),
    ("policy.suspend_erase.timeout.after", "", &["policy.schedule=read-priority"]),
    ("policy.flush.gc-tolerant.high", "0%", &["policy.flush.gc-tolerant.low=0%"]),
    ("policy.flush.gc-tolerant.low", "100%", &["policy.flush.gc-tolerant.high=100%"]),
    ("policy.flush.watermark.high", "0%", &["policy.flush.watermark.low=0%"]),
    ("policy.flush.watermark.low", "100%", &["policy.flush.watermark.high=100%"]),
    (
        "policy.gc_schedule.rotating.start",
        "1",
        &["policy.gc_schedule.rotating.hard=1", "policy.gc_schedule.rotating.stop=1"],
    ),
    ("policy.redundancy.rain.width", "", &["geometry.channels=96"]),
    // The rule of the kernel gives a ring in any case; the largest needs a line that holds it.
    ("pblk.ring", "1", &["geometry.channels=8"]),
    ("pblk.ring", "1048576", &["geometry.channels=8", "geometry.pages=65536"]),
    ("pblk.stride", "32", &["geometry.channels=16"]),
    ("pblk.parities", "", &["pblk.stride=4"]),
    ("faults.page_reads", "", &["faults.page=1%"]),
    ("faults.plane", "", &["faults.within=1s"]),
    ("faults.die", "", &["faults.within=1s"]),
    ("faults.channel", "", &["faults.within=1s"]),
    ("erase.levels", "", &["erase.rows=[\"ispe 0: 3.5ms 100\"]"]),
    ("erase.gamma", "2", &["erase.pass=0"]),
    ("erase.gamma", "1000000", &["erase.high=1000000"]),
    ("erase.high", "2", &["erase.pass=0", "erase.gamma=2"]),
    (
        "slc.erase",
        "0ns",
        &["timing.erase.ramp_up=0ns", "timing.erase.recovery=0ns", "timing.erase.verify=0ns"],
    ),
    ("erase.fresh_errors", "8192", &["erase.worn_errors=8192"]),
    ("erase.worn_errors", "0", &["erase.fresh_errors=0"]),
];

/// A region for drives that have none.
const SLC: &str =
    "slc={ blocks=4, read='25us', program='150us', erase='3ms', fold_idle='50ms', fold_below='25%' }";

/// Bounds at which no drive is possible, and the key that refuses.
const NOWHERE: &[(&str, &str, &str)] = &[
    // Collection needs three extents in each lane.
    ("geometry.blocks", "1", "ftl.over_provisioning"),
];

/// The keys that a device may leave out.
const OPTIONAL: [&str; 20] = [
    "base",
    "scaled_blocks",
    "ecc.engines",
    "ftl.user_capacity",
    "ftl.over_provisioning",
    "ftl.over_provisioning_of_user",
    "ftl.bad_blocks",
    "geometry.plane_reads",
    "geometry.cache_program",
    "ftl.kind",
    "ftl.rated_cycles",
    "host.write_link_rate",
    "suspend.erase.keep_last_loop",
    "suspend.erase.least_left_of",
    "age.free",
    "age.pe_cycles",
    "age.retention",
    "age.retention_from",
    "age.law",
    "age.reads",
];

/// Whether a device may leave a key out: any drive can be without faults, and have erases of fixed length.
fn is_optional(key: &str) -> bool {
    let tables = ["erase.", "errors.", "faults.", "fault[].", "pblk.", "slc."];
    OPTIONAL.contains(&key) || tables.iter().any(|table| key.starts_with(table))
}

/// The text that sets a key. A key of a `[[fault]]` is set in a list of one fault, with the keys that
/// it needs.
fn set_of(key: &str, value: &str) -> String {
    let Some(name) = key.strip_prefix("fault[].") else { return format!("{key}={value}") };
    let beside = match name {
        "kind" => "die = 0",
        "channel" => "kind = 'channel'",
        "plane" => "kind = 'plane', die = 0",
        "block" => "kind = 'bad', die = 0, plane = 0",
        "cycle" => "kind = 'erase', die = 0, plane = 0, block = 0",
        "page" => "kind = 'page', die = 0, plane = 0, block = 0",
        "reads" | "older" | "once" => "kind = 'page', die = 0, plane = 0, block = 0, page = 0",
        "at" => "kind = 'die', die = 0",
        _ => "kind = 'die'",
    };
    let is_plain = value.parse::<i64>().is_ok() || value.parse::<bool>().is_ok();
    let quote = if is_plain { "" } else { "'" };
    format!("fault=[{{ {beside}, {name} = {quote}{value}{quote} }}]")
}

fn entries() -> Vec<KeyEntry> {
    key_entries().unwrap_or_else(|e| panic!("{e}"))
}

/// The device and schemes with which a key can be set: some policies need parity, some a table of erases.
fn drive_of(key: &str) -> (&'static str, &'static [&'static str]) {
    const STRIPED: [&str; 4] = [".rotating.", ".gc-tolerant.", ".rain.", ".shift-migrate."];
    if STRIPED.iter().any(|member| key.contains(member)) {
        ("ttflash-256g", &["ttflash"])
    } else if key.starts_with("erase.")
        || key.contains(".erase_scheme.")
        || ["faults.worn", "faults.correctable"].contains(&key)
    {
        ("tlc-3d", &[])
    } else if key.starts_with("errors.")
        || key.contains(".read_retry.")
        || key.contains(".refresh.")
        || ["age.retention_from", "age.law"].contains(&key)
    {
        ("rif-2t", &[])
    } else if key.starts_with("policy.write_gate.") {
        ("tiny-pblk", &["rail"])
    } else if key == "scaled_blocks" {
        ("dc-tlc-gen4", &[])
    } else if key.starts_with("pblk.") {
        ("tiny-pblk", &[])
    } else {
        ("tiny", &[])
    }
}

/// The problem of a key set to a value: the key at fault, and the message.
fn problem(key: &str, value: &str, beside: &[&str]) -> Option<(String, String)> {
    let (device, schemes) = drive_of(key);
    let mut sets: Vec<String> = beside.iter().map(|s| s.to_string()).collect();
    if key.starts_with("policy.buffer.lru.queue_limit.") && !key.ends_with(".of") {
        sets.push("policy.buffer.lru.queue_limit.of=die".to_string());
    }
    if ["ttflash-256g", "tlc-3d"].contains(&device) {
        sets.push("geometry.blocks=64".to_string());
    }
    if key.starts_with("slc.") {
        sets.push(SLC.to_string());
    }
    sets.push(set_of(key, value));
    // The first fault stands for all.
    let of_list = |key: String| key.replace("fault.1.", "fault[].");
    match resolve(device, schemes, &NONE, &sets) {
        Err(ConfigError::Key { key, problem, .. }) => Some((of_list(key), format!("{problem:?}"))),
        Err(other) => Some((String::new(), other.to_string())),
        Ok(resolved) => {
            // Some policies are only built together with the drive.
            let refused = match key.starts_with("policy.") {
                true => Drive::new(&resolved.config, 1, ()).err()?,
                false => Drive::<()>::host_bytes_of(&resolved.config, 1).err()?,
            };
            // A policy names its key in the message.
            let full = refused.problem.split_whitespace().next().unwrap_or_default();
            let key = if full.starts_with(&refused.key) { full.to_string() } else { refused.key.clone() };
            Some((of_list(key), refused.problem))
        }
    }
}

fn is_refused(key: &str, value: &str, beside: &[&str]) -> Result<(), String> {
    match problem(key, value, beside) {
        // `timing.read.1` is the first value of the list.
        Some((at, _)) if at == key || at.strip_prefix(key).is_some_and(|rest| rest.starts_with('.')) => {
            Ok(())
        }
        Some((_, sentence)) if key.starts_with("policy.") && sentence.contains(key) => Ok(()),
        other => Err(format!("{key} = {value} should be refused, and there is {other:?}")),
    }
}

fn is_accepted(key: &str, value: &str, beside: &[&str]) -> Result<(), String> {
    match problem(key, value, beside) {
        None => Ok(()),
        Some((at, _)) if NOWHERE.contains(&(key, value, at.as_str())) => Ok(()),
        other => Err(format!("{key} = {value} should be accepted, and there is {other:?}")),
    }
}

/// The value that is beyond this one by one step of its unit.
fn beyond(value: &str, step: i128) -> Option<String> {
    let end = value.find(|c: char| !c.is_ascii_digit()).unwrap_or(value.len());
    let number: i128 = value[..end].parse().ok()?;
    Some(format!("{}{}", number + step, &value[end..]))
}

fn one_of(entry: &KeyEntry, value: &str) -> String {
    if entry.range.each { format!("[{value}]") } else { value.to_string() }
}

#[test]
fn the_page_is_up_to_date() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/configuration.md");
    let text = keys_markdown(&entries());
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(&path, &text).expect("the page can be written");
    }
    let page = std::fs::read_to_string(&path).unwrap_or_default();
    let differs = text.lines().zip(page.lines()).find(|(new, old)| new != old);
    assert!(text == page, "docs/configuration.md differs; UPDATE=1 rewrites it: {differs:?}");
}

/// Every key of a resolved configuration is in the reference, and every key of the reference is
/// in some configuration.
#[test]
fn every_key_of_a_configuration_is_there_and_no_other() {
    let mut found: BTreeSet<String> = ["base", "scaled_blocks"].map(str::to_string).into();
    let mut add = |device: &str, sets: &[String]| {
        let resolved =
            resolve(device, &NONE, &NONE, sets).unwrap_or_else(|e| panic!("{device} {sets:?}: {e}"));
        for entry in resolved.entries {
            // A member with parameters has one entry for each; the member is part of the key.
            let mut parts = entry.key.split('.');
            if parts.next() == Some("policy") {
                found.insert(format!("policy.{}", parts.next().expect("a family")));
            }
            match entry.value.as_array().filter(|list| list.iter().any(toml::Value::is_table)) {
                Some(list) => {
                    let keys = list.iter().filter_map(toml::Value::as_table).flat_map(|t| t.keys());
                    found.extend(keys.map(|name| format!("{}[].{name}", entry.key)));
                }
                None => drop(found.insert(entry.key)),
            }
        }
    };
    DEVICES.iter().for_each(|d| add(d.name, &[]));
    for family in FAMILIES {
        for member in family.members {
            add("tiny", &[format!("policy.{}={}", family.name, member.name)]);
        }
    }
    for set in [
        "ftl.user_capacity=100MiB",
        "ftl.over_provisioning_of_user=20%",
        "ftl.rated_cycles=3000",
        "host.write_link_rate=1GB/s",
        "age.free=20%",
        "age.pe_cycles=1",
        "age.retention=1s",
        "age.reads=1",
        "age.law=uniform",
        "suspend.erase.keep_last_loop=true",
        "suspend.erase.least_left_of=loop",
        "policy.erase_scheme.aero={ always_shallow=true }",
        "policy.erase_scheme.dpes={ mode='slack' }",
        "policy.erase_scheme.aero-cons={ always_shallow=true }",
        "policy.read_retry.rif={ threshold=200 }",
        "policy.read_retry.rp-controller={ threshold=200 }",
        "policy.buffer.lru.queue_limit={of='die',bytes='1MiB'}",
        "faults={ program='1%', erase='1%', read='1%', page='1%', rebuild_rate='1MB/s', page_reads=1, plane='1%', die='1%', channel='1%', within='1s', injected=true }",
        "ecc.engines=2",
        SLC,
        "fault=[{ kind='channel', channel=0, at='1s' }, { kind='program', die=0, plane=0, block=0, page=0, cycle=1 }]",
        "fault=[{ kind='page', die=0, plane=0, block=0, page=0, reads=1, older='1s', once=true }]",
    ] {
        add("tiny", &[set.to_string()]);
    }
    add("tlc-3d", &["faults={ worn=63, correctable=72 }".to_string()]);
    add("rif-2t", &["errors.decode_times=['1us', '20us']".to_string()]);
    add("tlc-3d", &["erase.defer_last_loop=true".to_string()]);
    let strides = ["pblk.stride=4", "pblk.parities=1", "pblk.hot_cold=time"];
    add("tiny-pblk", &strides.map(String::from));
    let listed: Vec<String> = entries().into_iter().map(|e| e.key).collect();
    let unique: BTreeSet<String> = listed.iter().cloned().collect();
    assert_eq!(unique.len(), listed.len(), "a key is listed twice");
    let missing: Vec<_> = found.difference(&unique).collect();
    let dead: Vec<_> = unique.difference(&found).collect();
    assert!(missing.is_empty() && dead.is_empty(), "not listed: {missing:?}; in no configuration: {dead:?}");
    assert!(listed.len() > 110, "{}", listed.len());
}

/// The tables contain the keys that the parser allows, optional keys included.
#[test]
fn the_tables_hold_what_the_parser_allows() {
    let mut tables: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let mut bare_members = BTreeSet::new();
    for entry in entries().iter().filter(|e| !["base", "scaled_blocks"].contains(&e.key.as_str())) {
        let mut key = entry.key.as_str();
        while let Some((table, name)) = key.rsplit_once('.') {
            tables.entry(table.to_string()).or_default().insert(name.to_string());
            key = table;
        }
        tables.entry(String::new()).or_default().insert(key.trim_end_matches("[]").to_string());
        if entry.key.starts_with("policy.") && entry.kind == "one of" && entry.key.matches('.').count() == 1 {
            bare_members.extend(entry.values.iter().map(|v| format!("{}.{}", entry.key, v.name)));
        }
    }
    bare_members.retain(|m| !tables.contains_key(m));
    let families = |table: &str| FAMILIES.iter().any(|f| table == format!("policy.{}", f.name));
    for (table, listed) in tables.iter().filter(|(table, _)| !families(table)) {
        let key = if table.is_empty() { "nobody".to_string() } else { format!("{table}.nobody") };
        let error = resolve("tiny", &NONE, &NONE, &[set_of(&key, "1")]).expect_err("nobody reads it");
        let ConfigError::Key { problem, .. } = &error else { panic!("{key}: {error}") };
        let Problem::UnknownKey { allowed, .. } = &**problem else { panic!("{key}: {error}") };
        assert_eq!(&allowed.iter().cloned().collect::<BTreeSet<_>>(), listed, "{table}");
    }
    for member in bare_members {
        let error = resolve("tiny", &NONE, &NONE, &[format!("{member}.nobody=1")]).expect_err("it has none");
        let ConfigError::Key { problem, .. } = &error else { panic!("{member}: {error}") };
        assert!(matches!(&**problem, Problem::UnknownKey { allowed, .. } if allowed.is_empty()), "{error}");
    }
}

#[test]
fn every_key_says_all_that_the_reference_promises() {
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("../core/src");
    let all = entries();
    let mut wrong = Vec::new();
    for entry in &all {
        let key = &entry.key;
        let name = key.rsplit('.').next().expect("never empty");
        if !entry.what.ends_with('.') {
            wrong.push(format!("{key}: it does not say what it does: {:?}", entry.what));
        }
        if entry.kind == "?" || (entry.kind == "one of") == entry.values.is_empty() {
            wrong.push(format!("{key}: a type or its values are not known"));
        }
        if let Some(value) = entry.values.iter().find(|v| v.means.trim().is_empty()) {
            wrong.push(format!("{key}: what {} means is not said", value.name));
        }
        // Keys of the hardware have no default. A key of a policy has a default or is optional,
        // and a family has a default if one of its members changes nothing.
        let of_policy = key.matches('.').count() >= 3 && key.starts_with("policy.");
        let neutral = FAMILIES.iter().find(|f| *key == format!("policy.{}", f.name)).and_then(|f| f.neutral);
        let is_right = match entry.default {
            KeyDefault::Required => !of_policy && neutral.is_none(),
            KeyDefault::NotSet => of_policy || is_optional(key),
            KeyDefault::RequiredIn(_) => of_policy || is_optional(key),
            KeyDefault::Value(ref value) => of_policy || is_optional(key) || neutral == Some(value.as_str()),
        };
        if !is_right {
            wrong.push(format!("{key}: {:?}", entry.default));
        }
        // The modules exist, and one of them uses the key's name.
        let modules: Vec<PathBuf> = entry
            .read_by
            .split('`')
            .skip(1)
            .step_by(2)
            .map(|module| match module.strip_prefix("sim::") {
                Some(rest) => sources.join("../../sim/src").join(format!("{rest}.rs")),
                None => sources.join(format!("{}.rs", module.replace("::", "/"))),
            })
            .collect();
        let texts: Vec<String> = modules
            .iter()
            .map(|path| std::fs::read_to_string(path).unwrap_or_else(|e| panic!("{key}: {path:?}: {e}")))
            .collect();
        if entry.read_by.is_empty()
            || !texts.is_empty() && !of_policy && !texts.iter().any(|t| t.contains(name))
        {
            wrong.push(format!("{key}: it is not read by {:?}", entry.read_by));
        }
        // Every key named in a text exists.
        for text in [&entry.what, &entry.range.to_string()] {
            for named in text.split('`').skip(1).step_by(2) {
                let named = named.split(" = ").next().unwrap_or_default();
                if named.contains('.') && !all.iter().any(|e| e.key == named) {
                    wrong.push(format!("{key}: there is no key {named}"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Beyond a bound a value is refused with an error that names the key; the bound itself is
/// accepted.
#[test]
fn ranges_are_what_the_checks_hold() {
    let mut wrong = Vec::new();
    let mut tried = 0;
    for entry in entries() {
        let key = entry.key.as_str();
        if entry.units.is_some() || entry.kind.contains("whole number") {
            let bounded = entry.range.least.is_some();
            wrong.extend((!bounded).then(|| format!("{key}: a number without a lower bound")));
        }
        for (bound, step) in [(&entry.range.least, -1), (&entry.range.most, 1)] {
            let Some(bound) = bound else { continue };
            let at = one_of(&entry, &bound.value);
            let beside = BESIDE.iter().find(|(k, v, _)| *k == key && (v.is_empty() || *v == bound.value));
            let beside = beside.map_or(&[][..], |(_, _, sets)| sets);
            tried += 1;
            if bound.excluded {
                wrong.extend(is_refused(key, &at, &[]).err());
                continue;
            }
            wrong.extend(is_accepted(key, &at, beside).err());
            if let Some(outside) = beyond(&bound.value, step) {
                wrong.extend(is_refused(key, &one_of(&entry, &outside), beside).err());
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(tried > 130, "only {tried} bounds");
}

/// Limits on products of several keys, on lengths of lists, and on what a value must divide: at each
/// limit and beyond it.
#[test]
fn limits_beyond_one_value_are_what_the_checks_hold() {
    let drive = |channels: u32, chips: u32, blocks: u32, pages: u32, page: u32| -> Vec<String> {
        vec![
            format!("geometry.channels={channels}"),
            format!("geometry.chips_per_channel={chips}"),
            "geometry.dies_per_chip=1".to_string(),
            "geometry.planes=1".to_string(),
            "ftl.write_planes=1".to_string(),
            "ftl.gc.copy_planes=1".to_string(),
            "ftl.gc.program_planes=1".to_string(),
            "ftl.gc.erase_planes=1".to_string(),
            format!("geometry.blocks={blocks}"),
            format!("geometry.pages={pages}"),
            format!("geometry.page={page}B"),
            "geometry.bad_blocks=0%".to_string(),
            "host.max_transfer=1MiB".to_string(),
            format!("ftl.mapping_unit={page}B"),
        ]
    };
    let reads = |types: usize| vec![format!("timing.read=[{}]", vec!["\"50us\""; types].join(", "))];
    // A write unit of 32 pages of 1 MiB.
    let codewords = |bytes: u32| -> Vec<String> {
        let sets = [
            "geometry.planes=32",
            "geometry.page=1MiB",
            "ftl.write_planes=32",
            "ftl.mapping_unit=1MiB",
            "host.max_transfer=1MiB",
            "ftl.gc.copy_planes=1",
            "ftl.gc.program_planes=32",
        ];
        sets.into_iter().map(String::from).chain([format!("ecc.codeword={bytes}B")]).collect()
    };
    // Collection copies two pages of 4 KiB; a mapping unit has two, three, or one.
    let copies = |unit: u32| -> Vec<String> {
        let sets = ["geometry.planes=6", "geometry.page=4KiB", "ftl.write_planes=6", "ftl.gc.copy_planes=2"];
        let unit = format!("ftl.mapping_unit={unit}B");
        sets.into_iter().map(String::from).chain([unit]).collect()
    };
    let table = [
        ("4096 dies", drive(256, 16, 64, 64, 4096), "geometry", false),
        ("more dies", drive(256, 17, 64, 64, 4096), "geometry", true),
        ("1 EiB", drive(64, 1, 1 << 20, 1 << 14, 1 << 20), "geometry", false),
        ("more bytes", drive(64, 1, 1 << 20, (1 << 14) + 1, 1 << 20), "geometry", true),
        ("2^26 blocks", drive(64, 1, 1 << 20, 64, 4096), "geometry.blocks", false),
        ("more blocks", drive(65, 1, 1 << 20, 64, 4096), "geometry.blocks", true),
        // 4 * 256,999 * 4,178 is 2^32 - 8.
        ("less than 2^32 mapping units", drive(4, 1, 256_999, 4_177, 4096), "ftl.mapping_unit", false),
        ("more mapping units", drive(4, 1, 256_999, 4_178, 4096), "ftl.mapping_unit", true),
        ("no page type", reads(0), "timing.read", true),
        ("1 page type", reads(1), "timing.read", false),
        ("16 page types", reads(16), "timing.read", false),
        ("17 page types", reads(17), "timing.read", true),
        ("65536 codewords", codewords(512), "ecc.codeword", false),
        ("more codewords", codewords(256), "ecc.codeword", true),
        ("a copy of one unit", copies(8192), "ftl.gc.copy_planes", false),
        ("a copy of two units", copies(4096), "ftl.gc.copy_planes", false),
        ("a copy of 2/3 of a unit", copies(12_288), "ftl.gc.copy_planes", true),
    ];
    for (what, sets, key, refused) in table {
        let config = resolve("tiny", &NONE, &NONE, &sets).expect(what).config;
        let at = Shape::new(&config, 1).err().map(|problem| problem.key);
        assert_eq!(at.as_deref() == Some(key), refused, "{what}: {at:?}");
    }
}

#[test]
fn names_are_those_that_the_parser_takes() {
    for entry in entries().iter().filter(|e| !e.values.is_empty()) {
        let (device, schemes) = drive_of(&entry.key);
        let set = |value: &str| resolve(device, schemes, &NONE, &[set_of(&entry.key, value)]);
        let listed: BTreeSet<&str> = entry.values.iter().map(|v| v.name.as_str()).collect();
        let error = set("nobody").expect_err("no such name");
        let ConfigError::Key { problem, .. } = &error else { panic!("{}: {error}", entry.key) };
        let Problem::UnknownMember { allowed, .. } = &**problem else { panic!("{}: {error}", entry.key) };
        assert_eq!(allowed.iter().map(String::as_str).collect::<BTreeSet<_>>(), listed, "{}", entry.key);
    }
}

/// The defaults in the reference are the values of a member that is given only by its name.
#[test]
fn defaults_are_those_of_the_policies() {
    let all = entries();
    let of =
        |key: &str| all.iter().find(|e| e.key == key).unwrap_or_else(|| panic!("no {key}")).default.clone();
    let value = |text: &str| KeyDefault::Value(text.to_string());
    assert_eq!(of("policy.gc_schedule.threshold.start"), value("4"));
    // The defaults must not be the values of the device that supplies the other keys.
    assert_eq!(of("policy.buffer.lru.capacity"), value("\"64MiB\""));
    assert_eq!(of("policy.flush.watermark.low"), value("\"80%\""));
    assert_eq!(of("policy.suspend_erase.timeout.after"), value("\"64ms\""));
    assert_eq!(of("policy.schedule.read-write-erase.write_suspends_erase"), value("true"));
    assert_eq!(
        of("policy.buffer.lru.queue_limit.bytes"),
        KeyDefault::RequiredIn("policy.buffer.lru.queue_limit".to_string())
    );
    assert_eq!((of("timing.erase.loops"), of("age.free")), (KeyDefault::Required, KeyDefault::NotSet));
    assert_eq!((of("ftl.bad_blocks"), of("fault[].once")), (value("\"remap\""), value("false")));
    for entry in all.iter().filter(|e| is_optional(&e.key)) {
        assert_ne!(entry.default, KeyDefault::Required, "{}", entry.key);
    }
    for family in FAMILIES {
        for member in family.members {
            // A member that replaces another one must keep no value of the device.
            let other = family.members.iter().find(|m| m.name != member.name).expect("two members at least");
            let sets = [other, member].map(|m| format!("policy.{}={}", family.name, m.name));
            let drive = resolve("tiny", &NONE, &NONE, &sets).unwrap_or_else(|e| panic!("{e}"));
            let own = format!("policy.{}.{}.", family.name, member.name);
            for set in drive.entries.iter().filter(|e| e.key.starts_with(&own)) {
                assert_eq!(of(&set.key), value(&set.value.to_string()), "{}", set.key);
            }
        }
    }
    // Every default must be a value that the key accepts.
    for entry in &all {
        if let KeyDefault::Value(text) = &entry.default {
            let set = set_of(&entry.key, text);
            // `tiny` has no tables `erase` and `errors`, whose other keys have no default.
            let tables = [("erase.", "tlc-3d"), ("errors.", "rif-2t"), ("pblk.", "tiny-pblk")];
            let has_it = tables.iter().find(|(table, _)| entry.key.starts_with(table));
            let device = has_it.map_or("tiny", |&(_, device)| device);
            resolve(device, &NONE, &NONE, &[set]).unwrap_or_else(|e| panic!("{e}"));
        }
    }
}

#[test]
fn a_pattern_is_a_part_of_a_key_or_with_stars_all_of_it() {
    let keys = |pattern: &str| -> Vec<String> {
        let found = select_keys(pattern).unwrap_or_else(|e| panic!("{e}"));
        found.into_iter().map(|e| e.key).collect()
    };
    assert!(keys("suspend.*").iter().all(|k| k.starts_with("suspend.")), "{:?}", keys("suspend.*"));
    assert!(keys("suspend.*").contains(&"suspend.erase.limits.most".to_string()));
    assert!(keys("gc").contains(&"ftl.gc.copy".to_string()) && keys("gc").len() > 20);
    assert_eq!(keys("*.pulse?"), ["timing.program.pulses"]);
    assert_eq!(keys("geometry.page"), ["geometry.pages", "geometry.page"]);
    let error = select_keys("host.lnk_rate").expect_err("no such key");
    assert_eq!(error.to_string(), "no key matches `host.lnk_rate` (did you mean `host.link_rate`?)");
}
