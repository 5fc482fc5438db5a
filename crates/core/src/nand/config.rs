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
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GeometryConfig {
    /// Channels of the drive.
    pub channels: u32,
    /// Chips (ways) on each channel.
    pub chips_per_channel: u32,
    /// Dies (LUNs) in each chip.
    pub dies_per_chip: u32,
    /// Planes in each die.
    pub planes: u32,
    /// Blocks in each plane.
    pub blocks: u32,
    /// Pages in each block.
    pub pages: u32,
    /// Bytes of user data in a page.
    #[serde(with = "quantity::bytes")]
    pub page: u64,
    /// Share of blocks that are bad from the factory, drawn per block from the seed.
    #[serde(with = "quantity::fraction")]
    pub bad_blocks: f64,
    /// What an array operation keeps busy.
    pub busy_unit: BusyUnit,
}

/// How long array operations take.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TimingConfig {
    /// Sense time by page type (tR): one value for SLC, two for MLC, three for TLC…
    /// Page `p` of a block has type `p mod` the number of values.
    #[serde(with = "quantity::times")]
    pub read: Vec<Span>,
    /// Incremental-step-pulse programming.
    pub program: ProgramTiming,
    /// Incremental-step-pulse erasing.
    pub erase: EraseTiming,
    /// Whether programs and erases take the times above.
    pub program_erase: ProgramErase,
}

/// How long programs and erases take: as given, or one of two bounds that show what
/// their length costs (PER and PE0 of Wu and He, FAST'12).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ProgramErase {
    /// As given.
    Timed,
    /// As long as a read of the same page type; an erase as long as one of the first type.
    AsRead,
    /// No time.
    Zero,
}

/// A program is `pulses` times (pulse, verify).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProgramTiming {
    /// Length of one program pulse.
    #[serde(with = "quantity::time")]
    pub pulse: Span,
    /// Length of the verify after each pulse.
    #[serde(with = "quantity::time")]
    pub verify: Span,
    /// Number of pulses by page type; as many values as `timing.read`, or one for all.
    pub pulses: Vec<u32>,
}

/// An erase is `loops` times (ramp-up, execution, recovery, verify).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EraseTiming {
    /// Number of loops.
    pub loops: u32,
    /// Raising the erase voltage.
    #[serde(with = "quantity::time")]
    pub ramp_up: Span,
    /// The erase pulse itself.
    #[serde(with = "quantity::time")]
    pub execution: Span,
    /// Lowering the voltage again.
    #[serde(with = "quantity::time")]
    pub recovery: Span,
    /// The verify read.
    #[serde(with = "quantity::time")]
    pub verify: Span,
}

/// The bus between the controller and the dies of one channel.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ChannelConfig {
    /// Payload bytes a second; `"inf"` for a bus that takes no time.
    #[serde(with = "quantity::rate")]
    pub rate: u64,
    /// Command and address cycles that start an operation, per plane addressed.
    #[serde(with = "quantity::time")]
    pub command: Span,
}

/// One error-correction engine a channel.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EccConfig {
    /// Bytes of user data in a codeword; a read transfers and decodes whole codewords.
    #[serde(with = "quantity::bytes")]
    pub codeword: u64,
    /// Decode time of one codeword.
    #[serde(with = "quantity::time")]
    pub decode: Span,
    /// Codewords the engine can hold, the one it works on included; when it is full
    /// the channel stalls.
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
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EraseSuspend {
    /// From the command to a free die, when the pulse is cut while its voltage is up.
    #[serde(with = "quantity::time")]
    pub suspend: Span,
    /// Raising the voltage again to resume a pulse in its middle.
    #[serde(with = "quantity::time")]
    pub resume: Span,
    /// The verify before a cancelled loop is repeated.
    #[serde(with = "quantity::time")]
    pub verify: Span,
    /// What is served at the end of a loop, before the erase goes on.
    pub serve: ServedAfterLoop,
    /// What the flash bears.
    pub limits: SuspendLimits,
    /// Growth of the raw bit error rate with 1,000 suspensions of a block.
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
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProgramSuspend {
    /// From the command to a free die, when a phase is cancelled.
    #[serde(with = "quantity::time")]
    pub suspend: Span,
    /// Where the page register's data are meanwhile.
    pub data: SuspendedData,
    /// Copying them back into the page register, where the die keeps them.
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
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SuspendLimits {
    /// Suspensions of one operation.
    #[serde(with = "quantity::count_limit")]
    pub most: Option<u32>,
    /// Time it executes between a resume and the next suspension.
    #[serde(with = "quantity::time_limit")]
    pub spacing: Option<Span>,
    /// The smallest remainder that is worth suspending: of the nominal course, at the point
    /// where the operation would stop.
    #[serde(with = "quantity::time_limit")]
    pub least_left: Option<Span>,
}

/// Power that the array draws while it works, for the energy account.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EnergyConfig {
    /// While a die senses.
    #[serde(with = "quantity::power")]
    pub read: u64,
    /// While a die programs.
    #[serde(with = "quantity::power")]
    pub program: u64,
    /// While a die erases, suspends or resumes an erase.
    #[serde(with = "quantity::power")]
    pub erase: u64,
}
