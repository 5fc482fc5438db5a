//! The physical parameters. None has a default: a device is a preset or a complete file.

use super::loops::MOST_LOOPS;
use crate::problem::{ConfigProblem, check_count, check_rate, check_time, refuse};
use serde::{Deserialize, Serialize};
use tailcut_units::quantity::format_time;
use tailcut_units::{Span, quantity};

/// Which part of a die an array operation keeps busy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BusyKind {
    /// A die has one operation at a time (multi-plane operations count as one).
    Die,
    /// Planes work independently; multi-plane operations are then refused.
    Plane,
}

/// What a read keeps busy on a die whose array operations keep the whole die busy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PlaneReading {
    /// Its die, like any other operation.
    #[default]
    Together,
    /// Its planes: reads on different planes of a die run side by side, each at its own time, on any block and page.
    /// A program, an erase or a copyback has the die to itself.
    Independent,
}

/// The numbers of channels, chips, dies, planes, blocks and pages, and the size of a page.
///
/// - Read by: the address arithmetic (`ftl::layout`), set up in `device::shape`
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GeometryConfig {
    /// Channels of the drive. Each has one bus and one error-correction engine.
    ///
    /// - Range: 1 to 256; at most 4096 dies in all
    pub channels: u32,
    /// Chips (ways) on each channel.
    ///
    /// - Range: 1 to 256; at most 4096 dies in all
    pub chips_per_channel: u32,
    /// Dies (LUNs) in each chip.
    ///
    /// - Range: 1 to 64; at most 4096 dies in all
    pub dies_per_chip: u32,
    /// Planes in each die.
    ///
    /// - Range: 1 to 32
    pub planes: u32,
    /// Blocks in each plane, bad ones included.
    ///
    /// - Range: 1 to 1048576; at most 67108864 blocks and 1 EiB in all; enough for the extents that
    ///   collection reserves
    pub blocks: u32,
    /// Pages in each block.
    ///
    /// - Range: 1 to 65536
    pub pages: u32,
    /// Bytes of user data in a page.
    ///
    /// - Range: 512B to 1MiB; in steps of 512 B
    #[serde(with = "quantity::bytes")]
    pub page: u64,
    /// Share of blocks that are bad from the factory. Each block is drawn from the seed.
    ///
    /// - Range: 0% to 50%
    /// - Read by: the blocks of the flash (`nand::blocks`)
    #[serde(with = "quantity::fraction")]
    pub bad_blocks: f64,
    /// The part of a die that an array operation keeps busy.
    ///
    /// - Range: `plane` needs `ftl.extent = "block"` where a die has several planes
    /// - Read by: the queues of dies and planes (`device::shape`)
    pub busy_unit: BusyKind,
    /// What a read keeps busy where the busy unit is a die with several planes. Data sheets call `independent`
    /// independent multi-plane reads, or independent word line reads. Queued reads begin as the schedule serves them:
    /// none overtakes a program or an erase that goes before it.
    ///
    /// - Range: `independent` needs `geometry.busy_unit = "die"` and several planes, and excludes `ftl.join_reads`,
    ///   `ftl.gc.join_reads` and `policy.read_retry.walk.pipelined`
    /// - Read by: the dies (`flash::plane_reads`)
    #[serde(default)]
    pub plane_reads: PlaneReading,
    /// Whether the busy unit has a second page register for programs (ONFI: program page cache, 15h). While the array
    /// programs, the unit takes the next program of its queues and transfers its data; when the array is done, it
    /// begins that program at once. It takes a program only if the schedule would serve it now, so that it overtakes
    /// no read or erase, and only while nothing is suspended on the unit. Programs of a block keep their order. A
    /// program that has the register runs next: a read that comes later waits for both programs. Only while the
    /// program still waits for the channel does a read with channel priority take its place. Copybacks do not use the
    /// register.
    ///
    /// - Range: `true` excludes suspended programs (`policy.suspend_program`), whose data the register would keep, and
    ///   `ftl.kind = "pblk"`, which sends a LUN one program at a time
    /// - Read by: the dies (`flash::cache`)
    #[serde(default)]
    pub cache_program: bool,
}

impl GeometryConfig {
    /// Dies of the drive.
    pub fn dies(&self) -> u32 {
        self.channels * self.chips_per_channel * self.dies_per_chip
    }

    /// Bytes of user data in a block.
    pub fn block_bytes(&self) -> u64 {
        u64::from(self.pages) * self.page
    }

    /// Check that the counts and their products can be modelled.
    pub(crate) fn check(&self) -> Result<(), ConfigProblem> {
        check_count("geometry.channels", self.channels, 256)?;
        check_count("geometry.chips_per_channel", self.chips_per_channel, 256)?;
        check_count("geometry.dies_per_chip", self.dies_per_chip, 64)?;
        check_count("geometry.planes", self.planes, 32)?;
        check_count("geometry.blocks", self.blocks, 1 << 20)?;
        check_count("geometry.pages", self.pages, 1 << 16)?;
        if !(512..=1 << 20).contains(&self.page) || !self.page.is_multiple_of(512) {
            return refuse(
                "geometry.page",
                format!("{} bytes; a page has 512 B to 1 MiB, in steps of 512 B", self.page),
            );
        }
        let dies = self.dies();
        if dies > 4096 {
            return refuse("geometry", format!("{dies} dies; at most 4096 are modelled"));
        }
        if !(0.0..=0.5).contains(&self.bad_blocks) {
            return refuse("geometry.bad_blocks", "a share from 0% to 50%");
        }
        let blocks = u128::from(dies) * u128::from(self.planes) * u128::from(self.blocks);
        if blocks * u128::from(self.block_bytes()) > 1 << 60 {
            return refuse("geometry", "more than 1 EiB of flash");
        }
        if blocks > 1 << 26 {
            return refuse(
                "geometry.blocks",
                format!("{blocks} blocks in all; at most {} are modelled", 1 << 26),
            );
        }
        Ok(())
    }

    /// Check that extents are single blocks if planes work independently.
    pub(crate) fn check_busy_unit(&self, extents_of_one_block: bool) -> Result<(), ConfigProblem> {
        if self.busy_unit == BusyKind::Plane && self.planes > 1 && !extents_of_one_block {
            return refuse("geometry.busy_unit", "independent planes need ftl.extent = \"block\"");
        }
        Ok(())
    }

    /// Whether reads on different planes of a die run side by side.
    pub(crate) fn reads_by_plane(&self) -> bool {
        self.plane_reads == PlaneReading::Independent
    }

    /// Planes of a busy unit whose reads run side by side, or 1.
    pub(crate) fn planes_read(&self) -> u32 {
        if self.reads_by_plane() { self.planes } else { 1 }
    }

    /// Check that a die has planes whose reads can run side by side.
    pub(crate) fn check_plane_reads(&self) -> Result<(), ConfigProblem> {
        if self.reads_by_plane() && (self.busy_unit == BusyKind::Plane || self.planes == 1) {
            let problem = "`independent`, but each plane is a busy unit of its own: it needs geometry.busy_unit = \"die\" and several planes";
            return refuse("geometry.plane_reads", problem);
        }
        Ok(())
    }
}

/// How long array operations take.
///
/// - Read by: the array times (`nand::timing`)
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TimingConfig {
    /// Sense time by page type (tR): one value for SLC, two for MLC, three for TLC. Page `p` of a
    /// block has type `p mod` the number of values.
    ///
    /// - Range: each 0ns to 1000s; 1 to 16 values
    #[serde(with = "quantity::times")]
    pub read: Vec<Span>,
    /// Incremental-step-pulse programming.
    pub program: ProgramTiming,
    /// Incremental-step-pulse erasing.
    pub erase: EraseTiming,
    /// Whether programs and erases take the configured times.
    pub program_erase: ProgramErase,
}

impl TimingConfig {
    /// Check the numbers of values, pulses and loops, and every time.
    pub(crate) fn check(&self) -> Result<(), ConfigProblem> {
        if self.read.is_empty() || self.read.len() > 16 {
            return refuse("timing.read", "give one sense time for each page type, 1 to 16 of them");
        }
        self.program.check_pulses(self.read.len())?;
        check_count("timing.erase.loops", self.erase.loops, MOST_LOOPS as u32)?;
        for &time in &self.read {
            check_time("timing.read", time)?;
        }
        self.program.check_times()?;
        self.erase.check_times()
    }
}

/// Which times programs and erases take: the configured times, or one of two bounds that show what
/// these times cost (PER and PE0 of Wu and He, FAST'12).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ProgramErase {
    /// The configured times.
    Timed,
    /// A program takes as long as a read of the same page type, an erase as long as a read of the
    /// first page type.
    AsRead,
    /// Programs and erases take no time.
    Zero,
}

/// A program is `pulses` times (pulse, verify).
///
/// - Read by: the array times (`nand::timing`)
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProgramTiming {
    /// Length of one program pulse.
    ///
    /// - Range: 0ns to 1000s
    #[serde(with = "quantity::time")]
    pub pulse: Span,
    /// Length of the verify after each program pulse.
    ///
    /// - Range: 0ns to 1000s
    #[serde(with = "quantity::time")]
    pub verify: Span,
    /// Program pulses by page type. The program time (tPROG) is `pulses` times (`pulse` +
    /// `verify`).
    ///
    /// - Range: each 1 to 10000; one value, or as many as `timing.read` has
    pub pulses: Vec<u32>,
}

impl ProgramTiming {
    fn check_pulses(&self, page_types: usize) -> Result<(), ConfigProblem> {
        let n = self.pulses.len();
        if n != 1 && n != page_types {
            return refuse(
                "timing.program.pulses",
                format!("{n} values; give one, or as many as timing.read has ({page_types})"),
            );
        }
        if self.pulses.iter().any(|&p| p == 0 || p > 10_000) {
            return refuse("timing.program.pulses", "each value is in 1..=10000");
        }
        Ok(())
    }

    fn check_times(&self) -> Result<(), ConfigProblem> {
        check_time("timing.program.pulse", self.pulse)?;
        check_time("timing.program.verify", self.verify)
    }
}

/// An erase is `loops` loops of ramp-up, execution, recovery and verify.
///
/// - Read by: the array times (`nand::timing`)
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EraseTiming {
    /// Erase loops. The erase time (tBERS) is the sum over all loops of `ramp_up` + `execution` +
    /// `recovery` + `verify`.
    ///
    /// - Range: 1 to 12
    pub loops: u32,
    /// Time to raise the erase voltage.
    ///
    /// - Range: 0ns to 1000s
    #[serde(with = "quantity::time")]
    pub ramp_up: Span,
    /// Length of the erase pulse itself: of all loops, or a list with that of each loop. Loops after
    /// the last of the list are as long as the last.
    ///
    /// - Range: each 0ns to 4s; 1 to `loops` values
    #[serde(with = "quantity::time_or_times")]
    pub execution: Vec<Span>,
    /// Time to lower the erase voltage.
    ///
    /// - Range: 0ns to 1000s
    #[serde(with = "quantity::time")]
    pub recovery: Span,
    /// Length of the verify read.
    ///
    /// - Range: 0ns to 1000s
    #[serde(with = "quantity::time")]
    pub verify: Span,
}

/// The longest erase pulse.
pub(super) const LONGEST_PULSE: Span = Span(4_000_000_000);

impl EraseTiming {
    /// The length of the pulse of each loop, for as many loops as there are.
    pub fn pulses(&self) -> impl Iterator<Item = Span> {
        let last = self.execution.last().copied().unwrap_or(Span(0));
        self.execution.iter().copied().chain(std::iter::repeat(last)).take(self.loops as usize)
    }

    /// Time of a whole erase (tBERS).
    pub fn total(&self) -> Span {
        let others = self.ramp_up.0.saturating_add(self.recovery.0).saturating_add(self.verify.0);
        let pulses = self.pulses().take(MOST_LOOPS).fold(0u64, |sum, pulse| sum.saturating_add(pulse.0));
        Span(others.saturating_mul(u64::from(self.loops)).saturating_add(pulses))
    }

    fn check_times(&self) -> Result<(), ConfigProblem> {
        check_time("timing.erase.ramp_up", self.ramp_up)?;
        let values = self.execution.len();
        if values == 0 || values > self.loops as usize {
            let problem =
                format!("{values} pulses: give 1 to {}, at most as many as timing.erase.loops", self.loops);
            return refuse("timing.erase.execution", problem);
        }
        if let Some(&long) = self.execution.iter().find(|time| **time > LONGEST_PULSE) {
            let problem = format!("{}: at most {}", format_time(long), format_time(LONGEST_PULSE));
            return refuse("timing.erase.execution", problem);
        }
        check_time("timing.erase.recovery", self.recovery)?;
        check_time("timing.erase.verify", self.verify)
    }
}

/// The bus between the controller and the dies of one channel.
///
/// - Read by: the transfer times (`nand::timing`)
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ChannelConfig {
    /// Payload bytes a second; `"inf"` for a bus that takes no time.
    ///
    /// - Range: 1000B/s to inf
    #[serde(with = "quantity::rate")]
    pub rate: u64,
    /// Length of the command and address cycles that start an operation, per plane addressed.
    ///
    /// - Range: 0ns to 1000s
    #[serde(with = "quantity::time")]
    pub command: Span,
    /// Which of the operations that wait for the channel gets it next. In each group of an order, the kinds of work
    /// to which `policy.schedule` gives channel priority go first, then the order is that of arrival.
    ///
    /// - Read by: the queues of a channel (`flash::channel`)
    pub order: ChannelOrder,
}

/// The order in which a channel serves its waiters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ChannelOrder {
    /// The order of arrival, whatever the channel is for.
    Arrival,
    /// Commands without data before transfers of data: a die begins to sense or to erase while others transfer. A
    /// program carries its data with its command, and is a transfer. Where the schedule gives reads priority on the
    /// channel, their commands and data go before the commands of other work.
    CommandsFirst,
    /// The data of sensed reads before everything else, and with them the second commands of copybacks. A program,
    /// with its data, is one of the commands that follow.
    DataFirst,
}

impl ChannelOrder {
    /// Every order.
    pub const ALL: [ChannelOrder; 3] =
        [ChannelOrder::Arrival, ChannelOrder::CommandsFirst, ChannelOrder::DataFirst];
}

impl ChannelConfig {
    pub(crate) fn check_times(&self) -> Result<(), ConfigProblem> {
        check_time("channel.command", self.command)
    }

    pub(crate) fn check_rate(&self) -> Result<(), ConfigProblem> {
        check_rate("channel.rate", self.rate)
    }
}

/// The error correction of each channel.
///
/// - Read by: the decoder (`nand::ecc`)
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EccConfig {
    /// Bytes of user data in a codeword. A read transfers and decodes whole codewords.
    ///
    /// - Range: at least 1B; divides `ftl.mapping_unit` and `geometry.page`; at most 65536
    ///   codewords in a write unit
    /// - Read by: transfers (`nand::timing`) and reads (`device::host::read`)
    #[serde(with = "quantity::bytes")]
    pub codeword: u64,
    /// Decode time of one codeword.
    ///
    /// - Range: 0ns to 1000s
    #[serde(with = "quantity::time")]
    pub decode: Span,
    /// Codewords of a channel that the error correction can hold, those that it decodes included. When it is
    /// full the channel stalls.
    ///
    /// - Range: 1 to 65536
    pub queue: u32,
    /// Engines of a channel. Each decodes one codeword at a time. Without it: one.
    ///
    /// - Range: 1 to 64
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub engines: Option<u32>,
}

impl EccConfig {
    pub(crate) fn check_times(&self) -> Result<(), ConfigProblem> {
        check_time("ecc.decode", self.decode)
    }

    pub(crate) fn check_queue(&self) -> Result<(), ConfigProblem> {
        if self.queue == 0 || self.queue > 65_536 {
            return refuse("ecc.queue", format!("{} is out of range: 1 to 65536 codewords", self.queue));
        }
        if let Some(engines) = self.engines.filter(|engines| !(1..=64).contains(engines)) {
            return refuse("ecc.engines", format!("{engines} is out of range: 1 to 64 engines"));
        }
        Ok(())
    }

    /// Check that codewords divide a mapping unit of `unit` bytes and a page of `page` bytes.
    pub(crate) fn check_codeword(&self, unit: u64, page: u64) -> Result<(), ConfigProblem> {
        let codeword = self.codeword;
        if codeword == 0 || !unit.is_multiple_of(codeword) || !page.is_multiple_of(codeword) {
            return refuse(
                "ecc.codeword",
                format!("{codeword} bytes does not divide the mapping unit ({unit} bytes) and the page"),
            );
        }
        Ok(())
    }

    /// Check that a write unit of `bytes` bytes does not hold too many codewords.
    pub(crate) fn check_write_unit(&self, bytes: u64) -> Result<(), ConfigProblem> {
        if bytes / self.codeword > 65_536 {
            return refuse("ecc.codeword", "more than 65536 codewords in a write unit");
        }
        Ok(())
    }
}

/// The costs of suspending operations, and the limits on suspensions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SuspendConfig {
    /// Suspension of erases.
    pub erase: EraseSuspend,
    /// Suspension of programs.
    pub program: ProgramSuspend,
}

impl SuspendConfig {
    pub(crate) fn check(&self) -> Result<(), ConfigProblem> {
        self.erase.check_times()?;
        self.program.check_times()
    }
}

/// The costs of suspending an erase. A published penalty is the sum of the three times.
///
/// - Read by: suspension (`flash::suspend`, `nand::suspend`)
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EraseSuspend {
    /// Time from the suspend command until the die is free, if the pulse is cut while its voltage
    /// is up.
    ///
    /// - Range: 0ns to 1000s
    #[serde(with = "quantity::time")]
    pub suspend: Span,
    /// Time to raise the voltage again, to resume a pulse in its middle.
    ///
    /// - Range: 0ns to 1000s
    #[serde(with = "quantity::time")]
    pub resume: Span,
    /// Length of the verify before a cancelled loop is repeated.
    ///
    /// - Range: 0ns to 1000s
    #[serde(with = "quantity::time")]
    pub verify: Span,
    /// Which operations are served at the end of a loop, before the erase continues.
    ///
    /// - Read by: the erase rules that wait for the end of a loop
    ///   (`policy::suspend_erase::deferred`, `policy::suspend_erase::timeout`)
    pub serve: ServedAfterLoop,
    /// Limits on the suspensions of an erase.
    pub limits: SuspendLimits,
    /// Of what `suspend.erase.limits.least_left` is the smallest part that is worth a suspension.
    #[serde(default, skip_serializing_if = "LeastLeftOf::is_erase")]
    pub least_left_of: LeastLeftOf,
    /// Whether the last loop of an erase is never suspended.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub keep_last_loop: bool,
    /// Growth of the raw bit error rate with 1,000 suspensions of a block. It changes no latency.
    ///
    /// - Read by: the account of wear (`device::drive`)
    #[serde(with = "quantity::fraction")]
    pub rber_growth: f64,
}

impl EraseSuspend {
    fn check_times(&self) -> Result<(), ConfigProblem> {
        check_time("suspend.erase.suspend", self.suspend)?;
        check_time("suspend.erase.resume", self.resume)?;
        check_time("suspend.erase.verify", self.verify)?;
        self.limits.check_times("suspend.erase.limits")
    }
}

/// What the time is left of that is compared with a limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LeastLeftOf {
    /// The erase, at the point where it would stop.
    #[default]
    Erase,
    /// The loop under way. A loop with less left runs to its end, and the erase stops there: the limit holds
    /// no operation from being served between two loops.
    Loop,
}

impl LeastLeftOf {
    fn is_erase(&self) -> bool {
        *self == LeastLeftOf::Erase
    }
}

/// Which operations are served between two loops of an erase that defers its suspension.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ServedAfterLoop {
    /// The operations that wait when the loop ends. A later arrival waits for the next loop.
    Queued,
    /// All operations that may interrupt the erase. It resumes when none of them waits.
    All,
}

/// The costs of suspending a program.
///
/// - Read by: suspension (`flash::suspend`, `nand::suspend`)
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProgramSuspend {
    /// Time from the suspend command until the die is free, if a phase is cancelled.
    ///
    /// - Range: 0ns to 1000s
    #[serde(with = "quantity::time")]
    pub suspend: Span,
    /// Where the data of the page register are while the program is suspended.
    pub data: SuspendedData,
    /// Time to copy the data back into the page register, where the die keeps them.
    ///
    /// - Range: 0ns to 1000s
    #[serde(with = "quantity::time")]
    pub reload: Span,
    /// Limits on the suspensions of a program.
    pub limits: SuspendLimits,
}

impl ProgramSuspend {
    fn check_times(&self) -> Result<(), ConfigProblem> {
        check_time("suspend.program.suspend", self.suspend)?;
        check_time("suspend.program.reload", self.reload)?;
        self.limits.check_times("suspend.program.limits")
    }
}

/// Where the data of a suspended program are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SuspendedData {
    /// In a shadow register of the die.
    Shadow,
    /// Only in the controller: they are transferred again.
    Controller,
}

/// How often an operation may be suspended, and where. `"none"` means no such limit.
///
/// - Read by: suspension (`nand::course`)
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SuspendLimits {
    /// Most suspensions of one operation.
    #[serde(with = "quantity::count_limit")]
    pub most: Option<u32>,
    /// Time that the operation executes between a resume and the next suspension.
    ///
    /// - Range: 0ns to 1000s
    #[serde(with = "quantity::time_limit")]
    pub spacing: Option<Span>,
    /// Smallest remaining array time that is worth a suspension: nominal time, at the point where
    /// the operation would stop.
    ///
    /// - Range: 0ns to 1000s
    #[serde(with = "quantity::time_limit")]
    pub least_left: Option<Span>,
}

impl SuspendLimits {
    fn check_times(&self, section: &str) -> Result<(), ConfigProblem> {
        check_time(&format!("{section}.spacing"), self.spacing.unwrap_or_default())?;
        check_time(&format!("{section}.least_left"), self.least_left.unwrap_or_default())
    }
}

/// Power that the array draws while it works, for the energy account.
///
/// - Read by: the energy account (`device::drive`)
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EnergyConfig {
    /// Power while a die senses.
    #[serde(with = "quantity::power")]
    pub read: u64,
    /// Power while a die programs.
    #[serde(with = "quantity::power")]
    pub program: u64,
    /// Power while a die erases, suspends an erase or resumes one.
    #[serde(with = "quantity::power")]
    pub erase: u64,
}
