//! The configurations of the flashes in these tests, and the operations submitted to them.

use serde::Deserialize;
use serde::de::IntoDeserializer;
use serde::de::value::{Error, StrDeserializer};
use tailcut_core::address::{BusyUnit, Ppa};
use tailcut_core::array::eraser::Eraser;
use tailcut_core::flash::{CopyTo, FlashCommand, Joins, Senses, Setup, Target};
use tailcut_core::nand::OpKind;
use tailcut_core::nand::blocks::{Blocks, Past};
use tailcut_core::nand::config::*;
use tailcut_core::nand::faults::Faults;
use tailcut_core::nand::faults::config::FaultsConfig;
use tailcut_core::nand::timing::Timing;
use tailcut_core::policy::PolicyContext;
use tailcut_core::policy::schedule::{ScheduleConfig, SchedulePolicy};
use tailcut_core::policy::suspend_erase::{Serve, SuspendEraseConfig, SuspendErasePolicy};
use tailcut_core::policy::suspend_program::{SuspendProgramConfig, SuspendProgramPolicy};
use tailcut_units::{ArrayAct, Occupant, Occupants, Span};

/// Time of the command cycles of one plane, ns.
pub const COMMAND: u64 = 100;
/// Codewords in a page, and the time of one codeword and of one page on the channel.
pub const CODEWORDS: u32 = 4;
pub const CODEWORD: u64 = 1_000;
pub const PAGE: u64 = 4_000;
/// Time to decode a codeword. It is shorter than a transfer, so that only the decoding of the last
/// codeword adds to a latency.
pub const DECODE: u64 = 500;
/// Time to sense a page of the first type.
pub const SENSE: u64 = 20_000;
/// Time to sense a page of the second type.
pub const SENSE_2: u64 = 30_000;
/// A program is a number of steps of a pulse and its verify: two steps for the first type of page,
/// three for the second.
pub const PULSE: u64 = 30_000;
pub const STEP: u64 = 40_000;
pub const PROGRAM: u64 = 2 * STEP;
pub const PROGRAM_2: u64 = 3 * STEP;
/// The ends of the phases of an erase loop, from its start: ramp-up, execution, recovery and
/// (`LOOP`) verify.
pub const RAMP: u64 = 20_000;
pub const EXECUTION: u64 = 80_000;
pub const RECOVERY: u64 = 85_000;
pub const LOOP: u64 = 100_000;
pub const ERASE: u64 = 3 * LOOP;
/// Times to suspend an erase, to raise its voltage again, and to verify before a loop is repeated.
pub const FALL: u64 = 4_000;
pub const RAISE: u64 = 7_000;
pub const VERIFY: u64 = 3_000;
/// Times to cancel a phase of a program, and to fill its page register again.
pub const CUT: u64 = 2_000;
pub const RELOAD: u64 = 1_500;
/// Time from the grant of a page read until its die is free, on an idle channel.
pub const READ: u64 = COMMAND + SENSE + PAGE;

/// The configuration of a flash.
#[derive(Clone, Debug)]
pub struct Parts {
    pub channels: u32,
    pub units: u32,
    pub planes: u32,
    /// Whether reads on different planes of a die are independent.
    pub plane_reads: bool,
    /// Whether dies have a cache register for programs.
    pub cache_program: bool,
    pub timing: TimingConfig,
    pub channel: ChannelConfig,
    pub ecc: EccConfig,
    pub suspend: SuspendConfig,
    pub joins: Joins,
    pub schedule: ScheduleConfig,
    pub suspend_erase: SuspendEraseConfig,
    pub suspend_program: SuspendProgramConfig,
    /// What chooses the pulses of erases.
    pub eraser: Option<Eraser>,
    /// What senses of pages with raw bit errors give, and the past of all blocks.
    pub senses: Option<(Senses, Past)>,
}

/// The most operations under way at once.
pub const OPS: u32 = 64;
/// The number of blocks of a plane.
pub const BLOCKS: u32 = 4;
/// The number of host commands that are tracked.
pub const COMMANDS: u32 = 8;

impl Parts {
    /// Two channels of two dies of two planes. Operations are served in order of arrival; none is
    /// suspended and none joins.
    pub fn new() -> Parts {
        let limits = SuspendLimits { most: None, spacing: None, least_left: None };
        Parts {
            channels: 2,
            units: 4,
            planes: 2,
            plane_reads: false,
            cache_program: false,
            timing: TimingConfig {
                read: vec![Span(SENSE), Span(SENSE_2)],
                program: ProgramTiming { pulse: Span(PULSE), verify: Span(STEP - PULSE), pulses: vec![2, 3] },
                erase: EraseTiming {
                    loops: 3,
                    ramp_up: Span(RAMP),
                    execution: vec![Span(EXECUTION - RAMP)],
                    recovery: Span(RECOVERY - EXECUTION),
                    verify: Span(LOOP - RECOVERY),
                },
                program_erase: ProgramErase::Timed,
            },
            channel: ChannelConfig {
                rate: 1_000_000_000,
                command: Span(COMMAND),
                order: ChannelOrder::Arrival,
            },
            ecc: EccConfig { codeword: CODEWORD, decode: Span(DECODE), queue: 4, engines: None },
            suspend: SuspendConfig {
                erase: EraseSuspend {
                    suspend: Span(FALL),
                    resume: Span(RAISE),
                    verify: Span(VERIFY),
                    serve: ServedAfterLoop::Queued,
                    limits: limits.clone(),
                    least_left_of: LeastLeftOf::Erase,
                    keep_last_loop: false,
                    rber_growth: 0.0,
                },
                program: ProgramSuspend {
                    suspend: Span(CUT),
                    data: SuspendedData::Shadow,
                    reload: Span(RELOAD),
                    limits,
                },
            },
            joins: Joins { kinds: Occupants::NONE, erase_planes: 1 },
            schedule: member("fifo"),
            suspend_erase: member("never"),
            suspend_program: member("never"),
            eraser: None,
            senses: None,
        }
    }

    /// The same parts with these members of the three families.
    pub fn under(schedule: &str, suspend_erase: &str, suspend_program: &str) -> Parts {
        Parts {
            schedule: member(schedule),
            suspend_erase: member(suspend_erase),
            suspend_program: member(suspend_program),
            ..Parts::new()
        }
    }

    /// The same parts with dies of `planes` planes, in which operations of these kinds join.
    pub fn joining(self, kinds: &[Occupant], planes: u32) -> Parts {
        Parts { planes, joins: Joins { kinds: Occupants::of(kinds), erase_planes: planes }, ..self }
    }

    pub fn build(&self) -> Setup {
        let x = self.context();
        let mut blocks = Blocks::new(self.units, self.planes, BLOCKS);
        if self.eraser.is_some() {
            blocks.let_wear();
        }
        let mut faults = None;
        if let Some((_, past)) = &self.senses {
            blocks = blocks.with_past(*past, 1);
            let planes = (self.units * self.planes) as usize;
            blocks.let_fail_in_place(&vec![Vec::new(); planes]);
            faults = Faults::new(&FaultsConfig::default(), &[], &self.geometry(), true, 1);
        }
        Setup {
            channels: self.channels,
            units: self.units,
            planes: self.planes,
            unit_planes: self.planes,
            plane_reads: self.plane_reads,
            cache_program: self.cache_program,
            blocks,
            faults,
            eraser: self.eraser.clone(),
            senses: self.senses.as_ref().map(|(senses, _)| senses.clone()),
            ops: OPS,
            commands: COMMANDS,
            timing: self.timing(),
            slow_programs: self.slow_programs(),
            suspend: self.suspend.clone(),
            order: self.channel.order,
            ecc: self.ecc.clone(),
            joins: self.joins,
            tells_transfers: false,
            schedule: SchedulePolicy::new(&self.schedule, &x).expect("a schedule"),
            suspend_erase: SuspendErasePolicy::new(&self.suspend_erase, &x).expect("a rule for erases"),
            suspend_program: SuspendProgramPolicy::new(&self.suspend_program, &x).expect("one for programs"),
        }
    }

    pub fn timing(&self) -> Timing {
        Timing::new(&self.timing, &self.suspend, &self.channel, &self.ecc, 64)
    }

    /// The times of programs of blocks that were erased at the lower voltage, if erases differ in it.
    pub fn slow_programs(&self) -> Option<Timing> {
        let eraser = self.eraser.as_ref().filter(|eraser| eraser.chooses_voltage())?;
        let timing = self.timing();
        let erase_ns = timing.erase_ns;
        Some(timing.with_scheme(erase_ns, eraser.program_time()))
    }

    fn geometry(&self) -> GeometryConfig {
        GeometryConfig {
            channels: self.channels,
            chips_per_channel: 1,
            dies_per_chip: self.units / self.channels,
            planes: self.planes,
            blocks: BLOCKS,
            pages: 8,
            page: PAGE,
            bad_blocks: 0.0,
            busy_unit: BusyKind::Die,
            plane_reads: PlaneReading::Together,
            cache_program: false,
        }
    }

    pub fn context(&self) -> PolicyContext {
        PolicyContext {
            seed: 1,
            lanes: self.units,
            channels: self.channels,
            chips: 1,
            dies: self.units / self.channels,
            plane_lanes: 1,
            extents_per_lane: 1,
            units_per_extent: 1,
            units_per_page: 1,
            units_per_write: 1,
            unit_bytes: PAGE,
            groups: 0,
            served_after_loop: match self.suspend.erase.serve {
                ServedAfterLoop::Queued => Serve::Queued,
                ServedAfterLoop::All => Serve::All,
            },
            erase: None,
        }
    }
}

/// A member of a family by its name, with its defaults.
pub fn member<'de, T: Deserialize<'de>>(name: &'de str) -> T {
    let name: StrDeserializer<'de, Error> = name.into_deserializer();
    T::deserialize(name).expect("a listed member can be read")
}

/// A host read of one page of a unit's first plane.
pub fn read(unit: u32) -> FlashCommand {
    FlashCommand { unit: BusyUnit(unit), planes: 1, codewords: CODEWORDS, block: 0, ..FlashCommand::BLANK }
}

/// The program of a page of host data.
pub fn program(unit: u32) -> FlashCommand {
    by(Occupant::UserProgram, FlashCommand { kind: OpKind::Program, ..read(unit) })
}

/// The erase of a block.
pub fn erase(unit: u32) -> FlashCommand {
    by(Occupant::Erase, FlashCommand { kind: OpKind::Erase, codewords: 0, ..read(unit) })
}

/// The copy of a page of the first type to one of the second.
pub fn copyback(unit: u32) -> FlashCommand {
    copyback_to(unit, 0, 1)
}

/// The copy of a page of the first type to a page of a block.
pub fn copyback_to(unit: u32, block: u32, page: u32) -> FlashCommand {
    let target = Target::Copy(CopyTo { ppa: Ppa::NONE, page, block });
    by(Occupant::GcRead, FlashCommand { kind: OpKind::Copyback, codewords: 0, target, ..read(unit) })
}

/// The same command for another occupant.
pub fn by(occupant: Occupant, cmd: FlashCommand) -> FlashCommand {
    FlashCommand { occupant, ..cmd }
}

/// The single-plane command of an occupant on a unit.
pub fn of(occupant: Occupant, unit: u32) -> FlashCommand {
    let cmd = match occupant.act() {
        ArrayAct::Read => read(unit),
        ArrayAct::Program => program(unit),
        ArrayAct::Erase => erase(unit),
    };
    by(occupant, cmd)
}

/// The same command on another plane and page.
pub fn on(plane: u32, page: u32, cmd: FlashCommand) -> FlashCommand {
    FlashCommand { planes: 1 << plane, page, ..cmd }
}
