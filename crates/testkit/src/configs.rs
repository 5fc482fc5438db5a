//! Drive configurations for tests; each test changes the values that matter to it.

use tailcut_core::device::config::{
    AgeConfig, ControllerConfig, DeviceConfig, HostConfig, Overwrites, Transfer,
};
use tailcut_core::ftl::config::{BadBlocks, CopyMode, ExtentKind, FtlConfig, FtlKind, GcConfig};
use tailcut_core::nand::config::PlaneReading;
use tailcut_core::nand::config::{
    BusyKind, ChannelConfig, ChannelOrder, EccConfig, EnergyConfig, EraseSuspend, EraseTiming,
    GeometryConfig, LeastLeftOf, ProgramErase, ProgramSuspend, ProgramTiming, ServedAfterLoop, SuspendConfig,
    SuspendLimits, SuspendedData, TimingConfig,
};
use tailcut_core::nand::erase::config::{EraseConfig, Reading};
use tailcut_core::nand::errors::config::ErrorsConfig;
use tailcut_core::nand::slc::SlcConfig;
use tailcut_core::pblk::config::PblkConfig;
use tailcut_core::policy::*;
use tailcut_units::Span;
use tailcut_units::quantity::Level;

/// The small drive with an SLC region of four more blocks in each plane, of eight pages each.
pub fn slc_drive() -> DeviceConfig {
    let mut c = small_drive();
    c.geometry.blocks += 4;
    c.slc = Some(SlcConfig {
        blocks: 4,
        read: Span(25_000),
        program: Span(100_000),
        erase: Span(1_500_000),
        fold_idle: Span(5_000_000),
        fold_below: 0.0,
    });
    c
}

/// Two channels of two dies of two planes, 32 blocks of 16 pages of 8 KiB a plane, 4 KiB
/// mapping units. Every time is a different number, so that a test notices a wrong one.
pub fn small_drive() -> DeviceConfig {
    DeviceConfig {
        description: "a small drive for tests".into(),
        geometry: GeometryConfig {
            channels: 2,
            chips_per_channel: 1,
            dies_per_chip: 2,
            planes: 2,
            blocks: 32,
            pages: 16,
            page: 8192,
            bad_blocks: 0.0,
            busy_unit: BusyKind::Die,
            plane_reads: PlaneReading::Together,
            cache_program: false,
        },
        timing: TimingConfig {
            read: vec![Span(40_000), Span(60_000)],
            program: ProgramTiming { pulse: Span(70_000), verify: Span(10_000), pulses: vec![4, 6] },
            erase: EraseTiming {
                loops: 3,
                ramp_up: Span(50_000),
                execution: vec![Span(900_000)],
                recovery: Span(30_000),
                verify: Span(20_000),
            },
            program_erase: ProgramErase::Timed,
        },
        suspend: SuspendConfig {
            erase: EraseSuspend {
                suspend: Span(25_000),
                resume: Span(15_000),
                verify: Span(11_000),
                serve: ServedAfterLoop::Queued,
                limits: no_limits(),
                least_left_of: LeastLeftOf::Erase,
                keep_last_loop: false,
                rber_growth: 0.144,
            },
            program: ProgramSuspend {
                suspend: Span(4_000),
                data: SuspendedData::Shadow,
                reload: Span(3_000),
                limits: no_limits(),
            },
        },
        energy: EnergyConfig { read: 50_000, program: 60_000, erase: 70_000 },
        channel: ChannelConfig { rate: 800_000_000, command: Span(300), order: ChannelOrder::Arrival },
        ecc: EccConfig { codeword: 2048, decode: Span(1_700), queue: 4, engines: None },
        host: HostConfig {
            queue_depth: 32,
            link_rate: 3_200_000_000,
            write_link_rate: None,
            transfer: Transfer::ByPage,
            submit_latency: Span(900),
            complete_latency: Span(1_100),
            max_transfer: 128 << 10,
        },
        controller: ControllerConfig { command: Span(500) },
        ftl: FtlConfig {
            kind: FtlKind::Page,
            mapping_unit: 4096,
            rated_cycles: None,
            user_capacity: None,
            over_provisioning: Some(0.25),
            over_provisioning_of_user: None,
            extent: ExtentKind::Superblock,
            bad_blocks: BadBlocks::Remap,
            write_planes: 2,
            join_reads: false,
            join_programs: false,
            gc: GcConfig {
                copy: CopyMode::Controller,
                copy_planes: 2,
                program_planes: 2,
                join_reads: false,
                erase_planes: 2,
                in_flight: 4,
            },
        },
        pblk: PblkConfig::default(),
        policy: PolicyConfig {
            schedule: schedule::ScheduleConfig::Fifo(Default::default()),
            suspend_erase: suspend_erase::SuspendEraseConfig::Never(Default::default()),
            erase_scheme: erase_scheme::EraseSchemeConfig::Fixed(Default::default()),
            read_retry: read_retry::ReadRetryConfig::None(Default::default()),
            suspend_program: suspend_program::SuspendProgramConfig::Never(Default::default()),
            buffer: buffer::BufferConfig::Lru(buffer::lru::Config {
                capacity: 256 << 10,
                power_loss: buffer::lru::PowerLoss::Volatile,
                ..Default::default()
            }),
            flush: flush::FlushConfig::Watermark(flush::watermark::Config { high: 0.75, low: 0.5 }),
            placement: placement::PlacementConfig::Static(Default::default()),
            redundancy: redundancy::RedundancyConfig::None(Default::default()),
            read_path: read_path::ReadPathConfig::Wait(Default::default()),
            gc_victim: gc_victim::GcVictimConfig::Greedy(Default::default()),
            gc_schedule: gc_schedule::GcScheduleConfig::Threshold(gc_schedule::threshold::Config {
                start: Level::Count(3),
                hard: Level::Count(1),
                ..Default::default()
            }),
            gc_scope: gc_scope::GcScopeConfig::Operation(Default::default()),
            background: background::BackgroundConfig::None(Default::default()),
            wear: wear::WearConfig::None(Default::default()),
            write_gate: write_gate::WriteGateConfig::None(Default::default()),
        },
        age: AgeConfig {
            fill: 1.0,
            overwrites: Overwrites::UniformTraces,
            free: None,
            pe_cycles: None,
            retention: None,
            retention_from: None,
            law: None,
            reads: None,
        },
        erase: Some(erase_table()),
        errors: None,
        slc: None,
        faults: Default::default(),
        fault: Vec::new(),
    }
}

/// Pages with raw bit errors: new data can be decoded, and most pages of data that are a month old cannot,
/// without another V_REF.
pub fn errors_table() -> ErrorsConfig {
    ErrorsConfig {
        block_spread: 0.1,
        layer_spread: 0.05,
        layers: 4,
        page_spread: 0.05,
        codeword_spread: 0.045,
        ..ErrorsConfig::alike()
    }
}

/// Blocks that need one to three pulses when they are new and more when they are worn, under each scheme.
pub fn erase_table() -> EraseConfig {
    let rows = [
        "ispe 0: 3.5ms 50, 7ms 50",
        "ispe 2000: 7ms 40, 10.5ms 60",
        "i-ispe 0: 3.5ms 70, 7ms 30",
        "i-ispe 2000: 3.5ms 20, 7ms 80",
        "dpes 0: 3.5ms 60, 7ms 40",
        "dpes 2000: 7ms 60, 10.5ms 40",
        "aero-cons 0: 2ms 30, 3ms 20, 4.5ms 50",
        "aero-cons 2000: 4ms 40, 6ms 30, 8.5ms 30",
        "aero 0: 1.5ms 30, 2.5ms 20, 4ms 50",
        "aero 2000: 3.5ms 40, 5ms 30, 7.5ms 30",
        "aero-50 2000: 3.5ms 20, 5.5ms 50, 8ms 30",
    ];
    EraseConfig {
        step: Span(500_000),
        pulse: Span(3_500_000),
        levels: 5,
        gamma: 500,
        delta: 5000,
        high: 25_500,
        pass: 100,
        noise: 250,
        misprediction: 0.02,
        reading: Reading::Cycles,
        stress_exponent: 1.0,
        over_erase_stress: 2.0,
        cycles_per_erase: 1,
        defer_last_loop: false,
        fresh_errors: 20,
        worn_errors: 63,
        worn_cycles: 5300,
        error_spread: 0.1,
        residual_errors: 10,
        rows: rows.map(|row| row.parse().expect("a row")).to_vec(),
    }
}

/// Four channels of two independent planes, in two plane groups of four planes. A stripe has
/// three pages of 4 KiB and their parity. Collection copies back inside a plane and rotates
/// within each group; reads and flushes avoid collecting planes.
pub fn parity_drive() -> DeviceConfig {
    let mut c = small_drive();
    let g = &mut c.geometry;
    (g.channels, g.dies_per_chip, g.planes, g.blocks, g.pages, g.page) = (4, 1, 2, 24, 8, 4096);
    g.busy_unit = BusyKind::Plane;
    c.ecc.codeword = 4096;
    c.ftl.extent = ExtentKind::Block;
    (c.ftl.write_planes, c.ftl.mapping_unit) = (1, 4096);
    c.ftl.gc = GcConfig {
        copy: CopyMode::Copyback,
        copy_planes: 1,
        program_planes: 1,
        join_reads: false,
        erase_planes: 1,
        in_flight: 1,
    };
    c.ftl.over_provisioning = Some(0.45);
    let p = &mut c.policy;
    p.redundancy =
        redundancy::RedundancyConfig::Rain(redundancy::rain::Config { width: 4, xor: Span(3_000) });
    p.read_path = read_path::ReadPathConfig::GcTolerant(Default::default());
    p.gc_scope = gc_scope::GcScopeConfig::Plane(Default::default());
    p.gc_schedule = gc_schedule::GcScheduleConfig::Rotating(Default::default());
    p.flush = flush::FlushConfig::GcTolerant(Default::default());
    if let buffer::BufferConfig::Lru(m) = &mut p.buffer {
        m.capacity = 64 * 4096;
    }
    c
}

/// A very small drive whose extents of two planes go on without a bad block. Three of its blocks are bad,
/// two of them in one extent.
pub fn drive_with_holes() -> DeviceConfig {
    let mut c = small_drive();
    (c.geometry.blocks, c.geometry.pages) = (10, 4);
    c.ftl.bad_blocks = BadBlocks::Hole;
    (c.ftl.write_planes, c.ftl.gc.copy_planes, c.ftl.gc.program_planes) = (1, 1, 1);
    c.ftl.over_provisioning = Some(0.6);
    if let buffer::BufferConfig::Lru(m) = &mut c.policy.buffer {
        m.capacity = 16 * 4096;
    }
    let bad = ["bad=0.1.0", "bad=2.0.5", "bad=2.1.5"];
    c.fault = bad.iter().map(|text| text.parse().expect("a fault")).collect();
    c
}

/// Flash that allows any number of suspensions at any time.
pub fn no_limits() -> SuspendLimits {
    SuspendLimits { most: None, spacing: None, least_left: None }
}

/// The drive of the MQSim cross-check: 4 channels of one die of 4 planes, 8 KiB pages as
/// mapping units, 90 us reads, 2 ns a byte on the channel, no decoding, 1.6 us for host and
/// commands.
pub fn cross_check_drive() -> DeviceConfig {
    let mut c = small_drive();
    c.geometry = GeometryConfig {
        channels: 4,
        chips_per_channel: 1,
        dies_per_chip: 1,
        planes: 4,
        blocks: 512,
        pages: 256,
        page: 8192,
        bad_blocks: 0.0,
        busy_unit: BusyKind::Die,
        plane_reads: PlaneReading::Together,
        cache_program: false,
    };
    c.timing.read = vec![Span(90_000)];
    c.timing.program = ProgramTiming { pulse: Span(60_000), verify: Span(10_000), pulses: vec![10] };
    c.timing.erase = EraseTiming {
        loops: 1,
        ramp_up: Span(0),
        execution: vec![Span(2_000_000)],
        recovery: Span(0),
        verify: Span(0),
    };
    c.channel = ChannelConfig { rate: 500_000_000, command: Span(100), order: ChannelOrder::DataFirst };
    c.ecc = EccConfig { codeword: 1024, decode: Span(0), queue: 8, engines: None };
    c.host = HostConfig {
        queue_depth: 512,
        link_rate: 4_000_000_000,
        write_link_rate: None,
        transfer: Transfer::Whole,
        submit_latency: Span(200),
        complete_latency: Span(200),
        max_transfer: 128 << 10,
    };
    c.controller.command = Span(100);
    c.ftl.mapping_unit = 8192;
    c.ftl.over_provisioning = Some(0.127);
    c.ftl.extent = ExtentKind::Block;
    c.ftl.write_planes = 1;
    c.ftl.gc.copy_planes = 1;
    c.ftl.gc.program_planes = 1;
    c.ftl.gc.erase_planes = 1;
    c.policy.buffer = buffer::BufferConfig::Lru(buffer::lru::Config {
        capacity: 16 << 20,
        power_loss: buffer::lru::PowerLoss::Capacitor,
        ..Default::default()
    });
    c
}
