//! The physical parameters. None has a default: a device is a preset or a complete file.

use serde::{Deserialize, Serialize};
use tailcut_units::{Span, quantity};

/// Which part of a die an array operation keeps busy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BusyUnit {
    /// One operation a die at a time (multi-plane operations count as one).
    Die,
    /// Planes work independently; multi-plane operations are then refused.
    Plane,
}

/// How many of everything there is.
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
    /// - Read by: the count of usable extents (`device::shape`)
    #[serde(with = "quantity::fraction")]
    pub bad_blocks: f64,
    /// What an array operation keeps busy.
    ///
    /// - Range: `plane` needs `ftl.extent = "block"` where a die has several planes
    /// - Read by: the queues of dies and planes (`device::shape`)
    pub busy_unit: BusyUnit,
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

/// How long programs and erases take: as given, or one of two bounds that show what
/// their length costs (PER and PE0 of Wu and He, FAST'12).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ProgramErase {
    /// As configured.
    Timed,
    /// As long as a read of the same page type; an erase as long as one of the first type.
    AsRead,
    /// No time.
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

/// An erase is `loops` times (ramp-up, execution, recovery, verify).
///
/// - Read by: the array times (`nand::timing`)
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EraseTiming {
    /// Erase loops. The erase time (tBERS) is `loops` times (`ramp_up` + `execution` + `recovery` +
    /// `verify`).
    ///
    /// - Range: 1 to 10000
    pub loops: u32,
    /// Time to raise the erase voltage.
    ///
    /// - Range: 0ns to 1000s
    #[serde(with = "quantity::time")]
    pub ramp_up: Span,
    /// Length of the erase pulse itself.
    ///
    /// - Range: 0ns to 1000s
    #[serde(with = "quantity::time")]
    pub execution: Span,
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
}

/// One error-correction engine a channel.
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
    /// Codewords that the engine can hold, the one that it decodes included. When it is full the
    /// channel stalls.
    ///
    /// - Range: 1 to 65536
    pub queue: u32,
}

/// What suspending an operation costs the flash, and how much of it the flash bears.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SuspendConfig {
    /// Erases.
    pub erase: EraseSuspend,
    /// Programs.
    pub program: ProgramSuspend,
}

/// The costs of suspending an erase. A published penalty is the sum of the three times.
///
/// - Read by: suspension (`flash::suspend`, `nand::suspend`)
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EraseSuspend {
    /// From the command to a free die, when the pulse is cut while its voltage is up.
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
    /// What is served at the end of a loop, before the erase goes on.
    ///
    /// - Read by: the erase rules that wait for the end of a loop
    ///   (`policy::suspend_erase::deferred`, `policy::suspend_erase::timeout`)
    pub serve: ServedAfterLoop,
    /// What the flash bears.
    pub limits: SuspendLimits,
    /// Growth of the raw bit error rate with 1,000 suspensions of a block. It changes no latency.
    ///
    /// - Read by: the account of wear (`device::drive`)
    #[serde(with = "quantity::fraction")]
    pub rber_growth: f64,
}

/// What is served between two loops of an erase that defers its suspension.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ServedAfterLoop {
    /// What waits when the loop ends; a later arrival waits for the next loop.
    Queued,
    /// Whatever may interrupt the erase, until none of it waits.
    All,
}

/// The costs of suspending a program.
///
/// - Read by: suspension (`flash::suspend`, `nand::suspend`)
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProgramSuspend {
    /// From the command to a free die, when a phase is cancelled.
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
    /// What the flash bears.
    pub limits: SuspendLimits,
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
    /// The smallest remainder that is worth suspending: of the nominal course, at the point where
    /// the operation would stop.
    ///
    /// - Range: 0ns to 1000s
    #[serde(with = "quantity::time_limit")]
    pub least_left: Option<Span>,
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
