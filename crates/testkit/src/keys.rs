//! A changed value for every configuration key.
//!
//! The keys are found by writing drives as TOML and walking the leaves, so that a new key is
//! found without a change here.

use crate::small_drive;
use std::collections::BTreeMap;
use tailcut_core::device::config::DeviceConfig;
use tailcut_core::policy::{FAMILIES, FamilyDoc};
use toml::{Table, Value};

/// A key, the value it is changed to, and settings on both sides without which the key has no
/// effect or the change is invalid.
type Change = (&'static str, &'static str, &'static [(&'static str, &'static str)]);

/// Extents of one block each, and further settings.
macro_rules! blocks {
    ($($more:expr),*) => {
        &[
            ("ftl.extent", "'block'"),
            ("ftl.write_planes", "1"),
            ("ftl.gc.copy_planes", "1"),
            ("ftl.gc.program_planes", "1"),
            ("ftl.gc.erase_planes", "1"),
            $($more),*
        ]
    };
}
const BLOCK: &[(&str, &str)] = blocks!();
const BLOCK_OF_PAGES: &[(&str, &str)] = blocks!(("ftl.mapping_unit", "'8KiB'"));
const PBLK: &[(&str, &str)] = &[("ftl.kind", "'pblk'"), ("pblk.ring", "256"), ("geometry.pages", "64")];
/// Strides over four LUNs.
const STRIDES: &[(&str, &str)] =
    &[("ftl.kind", "'pblk'"), ("pblk.ring", "256"), ("geometry.pages", "64"), ("pblk.stride", "4")];
/// The same with a gate.
const GATED: &[(&str, &str)] = &[
    ("ftl.kind", "'pblk'"),
    ("pblk.ring", "256"),
    ("geometry.pages", "64"),
    ("pblk.stride", "4"),
    ("policy.write_gate", "'stride'"),
];
/// Two strides of two LUNs with a gate.
const HOT_COLD: &[(&str, &str)] = &[
    ("ftl.kind", "'pblk'"),
    ("pblk.ring", "256"),
    ("geometry.pages", "64"),
    ("pblk.stride", "2"),
    ("policy.write_gate", "'stride'"),
    ("age.overwrites", "'uniform'"),
];
/// The same for collection alone.
const COLLECTION_GATED: &[(&str, &str)] = &[
    ("ftl.kind", "'pblk'"),
    ("pblk.ring", "256"),
    ("geometry.pages", "64"),
    ("pblk.stride", "4"),
    ("policy.write_gate", "'stride'"),
    ("policy.write_gate.stride.covers", "'collection'"),
];
/// Each die has a short write queue of its own; planes are lanes.
const QUEUES: &[(&str, &str)] = blocks!(
    ("policy.buffer.lru.queue_limit.of", "'die'"),
    ("policy.buffer.lru.queue_limit.bytes", "'24KiB'")
);
const DEFERRED: &[(&str, &str)] =
    &[("policy.schedule", "'read-priority'"), ("policy.suspend_erase", "'deferred'")];
const ARBITRARY: &[(&str, &str)] =
    &[("policy.schedule", "'read-priority'"), ("policy.suspend_erase", "'arbitrary'")];
const IMMEDIATE: &[(&str, &str)] =
    &[("policy.schedule", "'read-priority'"), ("policy.suspend_erase", "'immediate'")];
const ARBITRARY_FOR_WRITES: &[(&str, &str)] =
    &[("policy.schedule", "'read-write-erase'"), ("policy.suspend_erase", "'arbitrary'")];
/// Old data on pages with raw bit errors.
macro_rules! errors {
    ($($more:expr),*) => {
        &[
            ("ecc.codeword", "'4KiB'"),
            ("errors", ERRORS),
            ("age.pe_cycles", "500"),
            ("age.retention", "'17d'"),
            $($more),*
        ]
    };
}
const ERRORS: &str = "{ model = 'fitted', iteration = '1us', decode_unit = 'codeword', retry_place = 'back', boundaries = [2], step = '0.05%', block_spread = 0.1, layer_spread = 0.1, layers = 4, page_spread = 0.1, codeword_spread = 0.1, shift_block_spread = 0.1, shift_layer_spread = 0.1, shift_boundary_spread = 0.1 }";
const OLD: &[(&str, &str)] = errors!(("policy.read_retry", "'swift-read'"));
const SLC: &str =
    "{ blocks = 2, read = '20us', program = '120us', erase = '2ms', fold_idle = '1ms', fold_below = '50%' }";
/// A drive whose data are old enough to be refreshed.
const REFRESHES: &[(&str, &str)] = errors!(("policy.background", "'refresh'"));
const AERO: &[(&str, &str)] = &[("policy.erase_scheme", "'aero'")];
/// Blocks in the middle of their lives, whose wear decides what they need.
const WORN: &[(&str, &str)] =
    &[("policy.erase_scheme", "'aero'"), ("age.pe_cycles", "2000"), ("erase.reading", "'stress'")];
const INTRA_PHASE: &[(&str, &str)] =
    &[("policy.schedule", "'read-priority'"), ("policy.suspend_program", "'intra-phase'")];
/// Stripes of three pages and their parity, and further settings.
macro_rules! stripes {
    ($($more:expr),*) => {
        blocks!(
            ("geometry.channels", "8"),
            ("geometry.dies_per_chip", "1"),
            ("geometry.busy_unit", "'plane'"),
            ("ftl.mapping_unit", "'8KiB'"),
            ("ftl.over_provisioning", "'45%'"),
            ("geometry.blocks", "24"),
            ("policy.redundancy", "'rain'"),
            ("policy.redundancy.rain.width", "4"),
            ("policy.gc_scope", "'plane'"),
            ("policy.read_path", "'gc-tolerant'")
            $(, $more)*
        )
    };
}
const STRIPES: &[(&str, &str)] = stripes!();
/// All lanes that need to collect may do so out of rotation.
const SCARCE: &[(&str, &str)] = stripes!(("policy.gc_schedule.rotating.hard", "4"));
/// The members that need parity, and so `STRIPES`.
const ON_STRIPES: &[&str] = &[
    "policy.redundancy.rain",
    "policy.read_path.gc-tolerant",
    "policy.read_path.gc-tolerant-authors",
    "policy.flush.gc-tolerant",
    "policy.gc_schedule.rotating",
    "policy.wear.shift-migrate",
];
/// Lanes are often below their hard threshold, and reads preempt collection there.
const FOUR_STATES: &[(&str, &str)] =
    &[("policy.gc_schedule.preemptive.hard", "4"), ("policy.gc_schedule.preemptive.states", "'four'")];
/// The timeout expires soon: waiting writes are half a millisecond old before reads meet an
/// erase.
const SHORT_TIMEOUT: &[(&str, &str)] = &[
    ("policy.schedule", "'read-priority'"),
    ("policy.suspend_erase", "'timeout'"),
    ("policy.suspend_erase.timeout.after", "'500us'"),
];

const CHANGES: &[Change] = &[
    ("energy.read", "'51mW'", &[]),
    ("energy.program", "'61mW'", &[]),
    ("energy.erase", "'71mW'", &[]),
    ("suspend.erase.rber_growth", "'20%'", ARBITRARY),
    ("geometry.channels", "4", &[]),
    ("geometry.chips_per_channel", "2", &[]),
    ("geometry.dies_per_chip", "1", &[]),
    ("geometry.planes", "4", &[]),
    ("geometry.blocks", "33", &[]),
    ("geometry.pages", "17", &[]),
    ("geometry.page", "'16KiB'", &[]),
    ("geometry.bad_blocks", "'2%'", &[]),
    ("geometry.busy_unit", "'plane'", BLOCK),
    ("geometry.plane_reads", "'independent'", &[]),
    ("geometry.cache_program", "true", &[]),
    ("timing.read", "['41us', '60us']", &[]),
    ("timing.program.pulse", "'71us'", &[]),
    ("timing.program.verify", "'11us'", &[]),
    ("timing.program.pulses", "[5, 6]", &[]),
    ("timing.erase.loops", "4", &[]),
    ("timing.erase.ramp_up", "'51us'", &[]),
    ("timing.erase.execution", "'901us'", &[]),
    ("timing.erase.recovery", "'31us'", &[]),
    ("timing.erase.verify", "'21us'", &[]),
    ("timing.program_erase", "'as-read'", &[]),
    ("suspend.erase.suspend", "'26us'", ARBITRARY),
    ("suspend.erase.resume", "'16us'", ARBITRARY),
    ("suspend.erase.verify", "'12us'", IMMEDIATE),
    ("suspend.erase.serve", "'all'", DEFERRED),
    ("suspend.erase.keep_last_loop", "false", ARBITRARY),
    ("suspend.erase.limits.most", "1", ARBITRARY),
    ("suspend.erase.limits.spacing", "'200us'", ARBITRARY),
    ("suspend.erase.limits.least_left", "'500us'", ARBITRARY),
    ("suspend.erase.least_left_of", "'erase'", ARBITRARY),
    ("suspend.program.suspend", "'5us'", INTRA_PHASE),
    ("suspend.program.data", "'controller'", INTRA_PHASE),
    ("suspend.program.reload", "'4us'", INTRA_PHASE),
    ("suspend.program.limits.most", "1", INTRA_PHASE),
    ("suspend.program.limits.spacing", "'100us'", INTRA_PHASE),
    ("suspend.program.limits.least_left", "'100us'", INTRA_PHASE),
    ("channel.rate", "'801MB/s'", &[]),
    ("channel.command", "'301ns'", &[]),
    ("channel.order", "'commands-first'", &[]),
    ("ecc.codeword", "'1KiB'", &[]),
    ("ecc.decode", "'1701ns'", &[]),
    ("ecc.queue", "1", &[("ecc.decode", "'20us'")]),
    ("ecc.engines", "2", &[("ecc.decode", "'20us'")]),
    ("host.queue_depth", "8", &[]),
    ("host.link_rate", "'3.3GB/s'", &[]),
    ("host.write_link_rate", "'1.1GB/s'", &[]),
    ("host.transfer", "'whole'", &[]),
    ("host.submit_latency", "'901ns'", &[]),
    ("host.complete_latency", "'1101ns'", &[]),
    ("host.max_transfer", "'16KiB'", &[]),
    ("controller.command", "'501ns'", &[]),
    ("ftl.mapping_unit", "'8KiB'", &[]),
    ("ftl.over_provisioning", "'26%'", &[]),
    ("ftl.over_provisioning_of_user", "'34%'", &[]),
    ("ftl.rated_cycles", "3000", &[]),
    ("ftl.user_capacity", "'12MiB'", &[]),
    ("ftl.kind", "'pblk'", &[("pblk.ring", "256")]),
    ("pblk.kernel", "'v5-14'", PBLK),
    ("pblk.ring", "512", PBLK),
    ("pblk.command", "'7us'", PBLK),
    ("pblk.read_sector", "'3us'", PBLK),
    ("pblk.write_sector", "'30us'", PBLK),
    ("pblk.erase_semaphore", "true", PBLK),
    ("pblk.stride", "2", STRIDES),
    ("pblk.parities", "2", STRIDES),
    ("pblk.hot_cold", "'writes'", HOT_COLD),
    ("policy.write_gate.stride.covers", "'collection'", GATED),
    ("policy.write_gate.stride.against", "'collection'", COLLECTION_GATED),
    ("policy.write_gate.stride.waits_for_reads", "false", GATED),
    ("policy.write_gate.stride.marks_early", "true", GATED),
    ("policy.write_gate.stride.off_below", "1000000", GATED),
    ("ftl.extent", "'line'", &[]),
    ("ftl.bad_blocks", "'hole'", &[("geometry.bad_blocks", "'2%'")]),
    ("ftl.write_planes", "1", &[("ftl.gc.copy_planes", "1"), ("ftl.gc.program_planes", "1")]),
    ("ftl.join_reads", "true", &[]),
    ("ftl.join_programs", "true", BLOCK),
    ("ftl.gc.join_reads", "true", BLOCK),
    ("ftl.gc.erase_planes", "1", &[]),
    ("ftl.gc.copy", "'copyback'", BLOCK_OF_PAGES),
    ("ftl.gc.copy_planes", "1", &[]),
    ("ftl.gc.program_planes", "1", &[]),
    ("ftl.gc.in_flight", "1", &[]),
    ("policy.schedule.read-write-erase.write_suspends_erase", "false", ARBITRARY_FOR_WRITES),
    ("policy.suspend_erase.timeout.after", "'64ms'", SHORT_TIMEOUT),
    ("policy.suspend_erase.timeout.clock", "'oldest-write'", SHORT_TIMEOUT),
    ("policy.buffer.lru.capacity", "'192KiB'", &[]),
    ("policy.buffer.lru.power_loss", "'capacitor'", &[]),
    ("policy.buffer.lru.write_latency", "'700ns'", &[]),
    ("policy.buffer.lru.queue_limit.of", "'lane'", QUEUES),
    ("policy.buffer.lru.queue_limit.bytes", "'32KiB'", QUEUES),
    ("policy.flush.in-flight.most", "'1%'", QUEUES),
    ("policy.flush.watermark.high", "'70%'", &[]),
    ("policy.flush.watermark.low", "'40%'", &[]),
    ("policy.schedule.channel-reads.share", "2", &[]),
    ("policy.placement.static.order", "'DCWP'", &[]),
    ("policy.placement.die.order", "'DCW'", &[]),
    ("policy.gc_victim.d-choices.d", "2", &[]),
    ("policy.gc_schedule.threshold.start", "5", &[]),
    ("policy.gc_schedule.threshold.hard", "2", &[]),
    ("policy.gc_schedule.tokens.start", "5", &[]),
    ("policy.gc_schedule.tokens.hard", "2", &[]),
    ("policy.gc_schedule.tokens.most", "20", &[]),
    ("policy.gc_schedule.preemptive.start", "5", &[]),
    ("policy.gc_schedule.preemptive.hard", "3", &[]),
    ("policy.gc_schedule.preemptive.states", "'four'", &[("policy.gc_schedule.preemptive.hard", "4")]),
    ("policy.gc_schedule.preemptive.high_priority_writes", "true", FOUR_STATES),
    ("policy.erase_scheme.aero.table", "[300, 4000]", AERO),
    ("policy.erase_scheme.aero-cons.table", "[300, 4000]", &[("policy.erase_scheme", "'aero-cons'")]),
    ("policy.background.refresh.after", "'40d'", REFRESHES),
    ("policy.background.refresh.pause", "'1s'", REFRESHES),
    ("policy.background.scrub.idle", "'20ms'", &[]),
    ("policy.background.scrub.pause", "'2ms'", &[]),
    ("policy.flush.gc-tolerant.high", "'90%'", STRIPES),
    ("policy.flush.gc-tolerant.low", "'40%'", STRIPES),
    ("policy.gc_schedule.instant.start", "5", &[]),
    ("policy.gc_schedule.rotating.start", "6", STRIPES),
    ("policy.gc_schedule.rotating.hard", "4", STRIPES),
    ("policy.gc_schedule.rotating.stop", "2", STRIPES),
    ("policy.gc_schedule.rotating.mode", "'forced'", SCARCE),
    ("policy.gc_schedule.rotating.wait_for_channel_above", "1", STRIPES),
    ("policy.gc_schedule.threshold.wait_for_channel_above", "1", &[]),
    ("policy.gc_scope.plane.one_per_channel", "true", STRIPES),
    ("policy.redundancy.rain.width", "8", STRIPES),
    ("policy.redundancy.rain.xor", "'4us'", STRIPES),
    ("policy.wear.shift-migrate.gap", "'20%'", STRIPES),
    ("policy.wear.static-threshold.gap", "2", &[]),
    ("age.fill", "'90%'", &[]),
    ("age.overwrites", "'workload'", &[]),
    ("age.free", "4", &[]),
    ("age.pe_cycles", "1000", &[("faults.erase", "'10%'")]),
    ("age.reads", "1000", &[("faults.read", "'10%'")]),
    ("age.retention", "'2s'", errors!(("policy.read_retry", "'swift-read'"), ("fault", OLD_PAGES))),
    ("faults.program", "'2%'", &[]),
    ("faults.erase", "'10%'", &[]),
    ("faults.read", "'2%'", &[]),
    ("faults.page", "'2%'", &[]),
    ("faults.page_reads", "9", &[("faults.page", "'2%'")]),
    ("faults.plane", "'50%'", &[("faults.within", "'1ms'")]),
    ("faults.die", "'50%'", &[("faults.within", "'1ms'")]),
    ("faults.channel", "'50%'", &[("faults.within", "'1ms'")]),
    ("faults.within", "'9ms'", &[("faults.plane", "'50%'"), ("faults.within", "'1ms'")]),
    ("faults.worn", "10", AERO),
    ("faults.correctable", "10", AERO),
    ("faults.rebuild_rate", "'2MB/s'", DEAD_PLANE),
    ("faults.injected", "false", &[]),
    ("age.retention_from", "'17d'", OLD),
    ("age.law", "'log-uniform'", OLD),
    ("slc.blocks", "4", &[]),
    ("slc.read", "'9us'", &[]),
    ("slc.program", "'300us'", &[]),
    ("slc.erase", "'9ms'", &[]),
    ("slc.fold_idle", "'900ms'", &[("slc.fold_below", "'0%'")]),
    ("slc.fold_below", "'0%'", &[]),
    ("errors.model", "'power-law'", OLD),
    ("errors.iteration", "'2us'", OLD),
    (
        "errors.boundaries",
        "[1, 3]",
        errors!(
            ("policy.read_retry", "'swift-read'"),
            ("timing.read", "['40us', '60us']"),
            ("timing.program.pulses", "[2]")
        ),
    ),
    ("errors.step", "'1%'", OLD),
    ("errors.block_spread", "0.3", OLD),
    ("errors.layer_spread", "0.3", OLD),
    ("errors.layers", "2", OLD),
    ("errors.page_spread", "0.3", OLD),
    ("errors.codeword_spread", "0.3", OLD),
    ("errors.shift_block_spread", "0.3", OLD),
    ("errors.shift_layer_spread", "0.3", OLD),
    ("errors.shift_boundary_spread", "0.3", OLD),
    ("errors.decode_unit", "'page'", OLD),
    ("errors.decode_times", "['1us', '9us']", OLD),
    ("errors.retry_place", "'front'", OLD),
    ("policy.read_retry.walk.stride", "0.25", &[]),
    ("policy.read_retry.walk.entries", "1", &[]),
    ("policy.read_retry.walk.table", "[0.5, 2.0, 5.0]", &[]),
    ("policy.read_retry.walk.pipelined", "true", &[]),
    ("policy.read_retry.walk.drop", "'500us'", &[("policy.read_retry.walk.pipelined", "true")]),
    ("policy.read_retry.walk.shorter", "'25%'", &[]),
    ("policy.read_retry.walk.more_errors", "60.0", &[("policy.read_retry.walk.shorter", "'25%'")]),
    ("policy.read_retry.sentinel.hits", "'10%'", &[]),
    ("policy.read_retry.sentinel.calibrated", "'85%'", &[("policy.read_retry.sentinel.hits", "'50%'")]),
    ("policy.read_retry.sentinel.miss", "3.0", &[("policy.read_retry.sentinel.hits", "'10%'")]),
    ("policy.read_retry.sentinel.deviation", "5.0", &[]),
    ("policy.read_retry.sentinel.cells", "'100%'", &[]),
    ("policy.read_retry.sentinel.extra_read", "false", &[]),
    ("policy.read_retry.swift-read.deviation", "5.0", &[]),
    ("policy.read_retry.swift-read-plus.deviation", "5.0", &[]),
    ("policy.read_retry.swift-read-plus.group", "1", &[]),
    ("policy.read_retry.rp-controller.deviation", "5.0", &[]),
    ("policy.read_retry.rp-controller.predict", "'5us'", &[]),
    ("policy.read_retry.rp-controller.threshold", "100", &[]),
    ("policy.read_retry.rif.deviation", "5.0", &[]),
    ("policy.read_retry.rif.predict", "'5us'", &[]),
    ("policy.read_retry.rif.threshold", "100", &[]),
    ("policy.read_retry.rif.overlap", "true", &[]),
    ("erase.step", "'250us'", AERO),
    ("erase.pulse", "'3ms'", AERO),
    ("erase.levels", "4", &[("policy.erase_scheme", "'aero'"), ("age.pe_cycles", "9000")]),
    ("erase.gamma", "2500", AERO),
    ("erase.delta", "500", AERO),
    ("erase.high", "2600", AERO),
    ("erase.pass", "499", AERO),
    ("erase.noise", "2000", AERO),
    ("erase.misprediction", "'50%'", AERO),
    ("erase.reading", "'stress'", &[("policy.erase_scheme", "'aero'"), ("age.pe_cycles", "2000")]),
    ("erase.stress_exponent", "3.0", WORN),
    ("erase.over_erase_stress", "5.0", WORN),
    ("erase.fresh_errors", "63", AERO),
    ("erase.worn_errors", "8000", WORN),
    ("erase.worn_cycles", "10", WORN),
    ("erase.cycles_per_erase", "2000", AERO),
    ("erase.defer_last_loop", "false", AERO),
    (
        "erase.error_spread",
        "'50%'",
        &[("policy.erase_scheme", "'aero'"), ("age.pe_cycles", "2000"), ("faults.worn", "37")],
    ),
    ("erase.residual_errors", "1000", AERO),
    ("erase.rows", "['ispe 0: 3.5ms 100', 'aero-cons 0: 3ms 100', 'aero 0: 2.5ms 100']", AERO),
    (
        "policy.erase_scheme.dpes.voltage",
        "'50%'",
        &[("age.pe_cycles", "2000"), ("erase.reading", "'stress'"), ("erase.stress_exponent", "3.0")],
    ),
    ("policy.erase_scheme.dpes.longer_programs", "'30%'", &[]),
    ("policy.erase_scheme.dpes.mode", "'slack'", &[]),
    ("policy.erase_scheme.dpes.full_above", "'0%'", &[("policy.erase_scheme.dpes.mode", "'slack'")]),
    ("policy.erase_scheme.aero-cons.shallow", "'1500us'", &[]),
    ("policy.erase_scheme.aero.shallow", "'1500us'", &[]),
    ("policy.erase_scheme.aero-cons.always_shallow", "true", &[("age.pe_cycles", "2000")]),
    ("policy.erase_scheme.aero.always_shallow", "true", &[("age.pe_cycles", "2000")]),
    ("policy.erase_scheme.aero.left", "['0ns']", &[]),
    ("policy.erase_scheme.aero.requirement", "20", &[]),
    ("fault", "[{ kind = 'die', die = 1, at = '10ms' }]", &[]),
];

/// A page of each of these blocks on four planes, which cannot be read if its data are older than that.
macro_rules! old_pages {
    ($($block:literal)*) => {
        concat!("[", $(
            "{ kind = 'page', die = 0, plane = 0, block = ", $block, ", page = 1, older = '1500ms' },",
            "{ kind = 'page', die = 1, plane = 1, block = ", $block, ", page = 4, older = '1500ms' },",
            "{ kind = 'page', die = 2, plane = 0, block = ", $block, ", page = 8, older = '1500ms' },",
            "{ kind = 'page', die = 3, plane = 1, block = ", $block, ", page = 12, older = '1500ms' },",
        )* "]")
    };
}
const OLD_PAGES: &str = old_pages!(0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27);
/// Stripes, with room for those of a dead plane.
const DEAD_PLANE: &[(&str, &str)] = stripes!(
    ("ftl.over_provisioning", "'60%'"),
    ("fault", "[{ kind = 'plane', die = 1, plane = 0, at = '1ms' }]")
);

/// Keys that cannot affect any output, and why.
const EXEMPT: &[(&str, &str)] = &[("description", "a text for people")];

/// Members that are valid only together with certain members of another family, or that change something
/// only with other values than their defaults: the member, a path, and its value.
const COMPANIONS: &[(&str, &str, &str)] = &[
    ("policy.buffer.none", "policy.flush", "'immediate'"),
    ("policy.flush.immediate", "policy.buffer", "'none'"),
    ("policy.wear.static-threshold", "policy.wear", "{ static-threshold = { gap = 1 } }"),
    ("policy.suspend_erase.arbitrary", "policy.schedule", "'read-priority'"),
    ("policy.suspend_erase.immediate", "policy.schedule", "'read-priority'"),
    ("policy.suspend_erase.deferred", "policy.schedule", "'read-priority'"),
    ("policy.suspend_erase.timeout", "policy.schedule", "'read-priority'"),
    ("policy.suspend_erase.ideal", "policy.schedule", "'read-priority'"),
    ("policy.suspend_program.inter-phase", "policy.schedule", "'read-priority'"),
    ("policy.suspend_program.intra-phase", "policy.schedule", "'read-priority'"),
    ("policy.suspend_program.collection", "policy.schedule", "'read-priority'"),
];

/// Set the value at a path; tables on the way are created.
pub fn set(table: &mut Table, path: &str, value: Value) {
    let (head, rest) = path.split_once('.').unwrap_or((path, ""));
    if rest.is_empty() {
        table.insert(head.to_string(), value);
        return;
    }
    let inner = table.entry(head).or_insert_with(|| Value::Table(Table::new()));
    if !inner.is_table() {
        *inner = Value::Table(Table::new());
    }
    set(inner.as_table_mut().expect("made one above"), rest, value);
}

/// Parse a value as in a configuration file.
pub fn parse(text: &str) -> Value {
    let table: Table = toml::from_str(&format!("v = {text}")).unwrap_or_else(|e| panic!("{text}: {e}"));
    table["v"].clone()
}

/// Collect the paths of all leaves. A member without parameters is a leaf.
pub fn leaves(prefix: &str, table: &Table, out: &mut Vec<String>) {
    for (key, value) in table {
        let path = if prefix.is_empty() { key.clone() } else { format!("{prefix}.{key}") };
        match value {
            Value::Table(inner) if !inner.is_empty() => leaves(&path, inner, out),
            _ => out.push(path),
        }
    }
}

/// A configuration as a TOML table, as it is serialised.
pub fn table_of(config: &DeviceConfig) -> Table {
    Table::try_from(config).expect("a configuration can be written")
}

fn with(base: &Table, changes: &[(&str, &str)]) -> Table {
    let mut table = base.clone();
    for (path, value) in changes {
        set(&mut table, path, parse(value));
    }
    table
}

/// Drives that together have every key: each member of each family, and each way to state the
/// capacity.
fn bases() -> Vec<Table> {
    let first = table_of(&small_drive());
    let mut out = vec![first.clone()];
    for family in FAMILIES {
        for member in family.members {
            out.push(with_member(&first, family.name, member.name));
        }
    }
    let mut queued = first.clone();
    for (key, value) in QUEUES {
        set(&mut queued, key, parse(value));
    }
    out.push(queued);
    out.push(with(&first, &[("age.free", "'15%'")]));
    out.push(with(&first, &[("host.write_link_rate", "'2GB/s'")]));
    // The table of erases has the cycles of blocks that wear.
    let mut rated = with(&first, &[("ftl.rated_cycles", "2000")]);
    rated.remove("erase");
    out.push(rated);
    let past = [("age.pe_cycles", "3"), ("age.reads", "3"), ("age.retention", "'1s'")];
    let kinds = ["program", "erase", "read", "page"].map(|kind| (format!("faults.{kind}"), "'1%'"));
    let mut failing = with(&first, &past);
    for (key, value) in kinds {
        set(&mut failing, &key, parse(value));
    }
    set(&mut failing, "faults.rebuild_rate", parse("'1MB/s'"));
    set(&mut failing, "ecc.engines", parse("1"));
    for (key, value) in
        [("page_reads", "1"), ("plane", "'0%'"), ("die", "'0%'"), ("channel", "'0%'"), ("within", "'1s'")]
    {
        set(&mut failing, &format!("faults.{key}"), parse(value));
    }
    set(&mut failing, "fault", parse("[{ kind = 'channel', channel = 0, at = '1s' }]"));
    out.push(failing);
    out.push(with(&first, &[("faults.injected", "true")]));
    out.push(with(&first, &[("suspend.erase.keep_last_loop", "true")]));
    let times = ["command", "read_sector", "write_sector"].map(|key| (format!("pblk.{key}"), "'1us'"));
    let mut pblk = with(&first, &[("ftl.kind", "'pblk'"), ("pblk.ring", "256")]);
    for (key, value) in times {
        set(&mut pblk, &key, parse(value));
    }
    set(&mut pblk, "pblk.stride", parse("4"));
    set(&mut pblk, "pblk.parities", parse("1"));
    out.push(pblk);
    out.push(with(&with(&first, HOT_COLD), &[("pblk.hot_cold", "'time'")]));
    let left_of = [("suspend.erase.limits.least_left", "'500us'"), ("suspend.erase.least_left_of", "'loop'")];
    out.push(with(&first, &left_of));
    out.push(with(
        &with(&first, OLD),
        &[
            ("age.retention_from", "'1s'"),
            ("age.law", "'uniform'"),
            ("errors.decode_times", "['1us', '2us']"),
        ],
    ));
    for member in ["rif", "rp-controller"] {
        let threshold = format!("policy.read_retry.{member}.threshold");
        out.push(with(
            &with(&first, OLD),
            &[("policy.read_retry", &format!("'{member}'")), (&threshold, "200")],
        ));
    }
    out.push(with(&first, &[("slc", SLC)]));
    let wearing = with(&first, AERO);
    out.push(with(&wearing, &[("erase.defer_last_loop", "true")]));
    out.push(with(&wearing, &[("faults.worn", "60"), ("faults.correctable", "72")]));
    for (key, value) in [("user_capacity", "'11MiB'"), ("over_provisioning_of_user", "'33%'")] {
        let mut sized = first.clone();
        sized["ftl"].as_table_mut().expect("a table").remove("over_provisioning");
        set(&mut sized, &format!("ftl.{key}"), parse(value));
        out.push(sized);
    }
    // As the configuration is serialised, defaults included.
    out.into_iter().map(|t| table_of(&t.try_into::<DeviceConfig>().expect("a base is complete"))).collect()
}

fn with_member(base: &Table, family: &str, member: &str) -> Table {
    let mut table = base.clone();
    let path = format!("policy.{family}.{member}");
    if base["policy"][family].get(member).is_none() {
        set(&mut table, &format!("policy.{family}"), Value::String(member.to_string()));
    }
    let own = format!("policy.{family}");
    // A gate needs strides.
    for (key, value) in STRIDES.iter().filter(|_| family == "write_gate") {
        set(&mut table, key, parse(value));
    }
    for (key, value) in STRIPES.iter().filter(|_| ON_STRIPES.contains(&path.as_str())) {
        if !key.starts_with(&own) || member == "rain" {
            set(&mut table, key, parse(value));
        }
    }
    for (of, other, value) in COMPANIONS {
        if *of == path {
            set(&mut table, other, parse(value));
        }
    }
    // Every other member reacts to raw bit errors.
    for (key, value) in OLD.iter().filter(|_| family == "read_retry" && member != "none") {
        if !key.starts_with("policy.") {
            set(&mut table, key, parse(value));
        }
    }
    table
}

/// One key changed, and everything else the same on both sides.
#[derive(Clone, Debug)]
pub struct Changed {
    /// The key.
    pub key: String,
    /// Its new value.
    pub value: &'static str,
    /// A drive with the key and its old value.
    pub before: Table,
    /// The same drive with the new value.
    pub after: Table,
}

/// Change each key of the drives once. Also return the errors of the table of changes: keys
/// that are missing in it, and entries that match no key.
pub fn changed_keys() -> (Vec<Changed>, Vec<String>) {
    let bases = bases();
    let mut keys: BTreeMap<String, &Table> = BTreeMap::new();
    for base in &bases {
        let mut paths = Vec::new();
        leaves("", base, &mut paths);
        for path in paths {
            keys.entry(path).or_insert(base);
        }
    }
    let (mut changed, mut wrong) = (Vec::new(), Vec::new());
    for (key, base) in &keys {
        let bare_member = FAMILIES
            .iter()
            .any(|f| f.members.iter().any(|m| *key == format!("policy.{}.{}", f.name, m.name)));
        if bare_member || EXEMPT.iter().any(|(exempt, _)| exempt == key) {
            continue; // A member without parameters: see `members`.
        }
        let Some((_, value, also)) = CHANGES.iter().find(|(listed, ..)| listed == key) else {
            wrong.push(format!("{key}: no change is listed for this key"));
            continue;
        };
        let before = with(base, also);
        let after = with(&before, &[(key, value)]);
        changed.push(Changed { key: key.clone(), value, before, after });
    }
    for (key, ..) in CHANGES {
        if !keys.contains_key(*key) {
            wrong.push(format!("{key}: listed, but no drive has this key"));
        }
    }
    (changed, wrong)
}

/// For each family and each of its members, a drive on which the member has an effect.
pub fn members() -> Vec<(&'static str, Vec<(&'static str, Table)>)> {
    let first = table_of(&small_drive());
    let shown = |family: &str, member: &str| {
        let mut table = with_member(&first, family, member);
        if family == "placement" {
            // Where a die is one lane, the members `die` and `static` place identically.
            table = with(&table, BLOCK);
        }
        if member == "refresh" {
            // Only old data with raw bit errors are refreshed.
            table = with(&table, OLD);
        }
        if member == "timeout" {
            // Before its default of 64 ms, `timeout` behaves like `immediate`.
            set(&mut table, "policy.suspend_erase.timeout.after", parse("'500us'"));
        }
        table
    };
    let of = |f: &'static FamilyDoc| f.members.iter().map(|m| (m.name, shown(f.name, m.name))).collect();
    FAMILIES.iter().map(|f| (f.name, of(f))).collect()
}
