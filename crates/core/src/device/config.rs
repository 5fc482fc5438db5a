//! The whole configuration of a drive, and the parts of it that belong to the device.

use crate::ftl::config::FtlConfig;
use crate::nand::config::{ChannelConfig, EccConfig, GeometryConfig, TimingConfig};
use crate::nand::config::{EnergyConfig, SuspendConfig};
use crate::policy::PolicyConfig;
use serde::{Deserialize, Serialize};
use tailcut_units::quantity::Level;
use tailcut_units::{Span, quantity};

/// A complete drive: what a device preset holds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DeviceConfig {
    /// One line for `tailcut show devices`.
    pub description: String,
    /// Channels, dies, blocks, pages.
    pub geometry: GeometryConfig,
    /// Array times.
    pub timing: TimingConfig,
    /// What suspending programs and erases costs.
    pub suspend: SuspendConfig,
    /// What the array draws.
    pub energy: EnergyConfig,
    /// The flash bus.
    pub channel: ChannelConfig,
    /// Error correction.
    pub ecc: EccConfig,
    /// The way from the host to the controller.
    pub host: HostConfig,
    /// The controller's processor.
    pub controller: ControllerConfig,
    /// The translation layer.
    pub ftl: FtlConfig,
    /// One member of each policy family: the drive as its source has it.
    pub policy: PolicyConfig,
    /// The drive's past, before the first measured request.
    pub age: AgeConfig,
}

/// What preconditioning does to the drive.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AgeConfig {
    /// Share of the host capacity that preconditioning fills for a trace; a generated
    /// job fills the region it addresses.
    #[serde(with = "quantity::fraction")]
    pub fill: f64,
    /// What overwrites it for a trace; a generated job ages by what it writes.
    pub overwrites: Overwrites,
    /// Extents of every lane that are free when the workload begins: the drive is put into that
    /// state, with stale units at random in the others, and nothing overwrites it. Without it
    /// overwriting goes on until it is steady.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub free: Option<Level>,
}

/// What brings a filled drive to its steady state before a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Overwrites {
    /// The trace's own writes, folded onto what is filled, lap after lap.
    Workload,
    /// Single mapping units, uniformly at random over what is filled.
    Uniform,
}

/// The host side.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HostConfig {
    /// Commands the drive accepts at once; a further one waits in the host.
    pub queue_depth: u32,
    /// Payload bytes a second in each direction of the link; `"inf"` for no time.
    #[serde(with = "quantity::rate")]
    pub link_rate: u64,
    /// Fixed time from the host's submission to the controller's fetch.
    #[serde(with = "quantity::time")]
    pub submit_latency: Span,
    /// Fixed time from the drive's completion to the host's notice of it.
    #[serde(with = "quantity::time")]
    pub complete_latency: Span,
    /// Largest command; the host splits larger requests.
    #[serde(with = "quantity::bytes")]
    pub max_transfer: u64,
}

/// The controller's firmware processor: a FIFO server.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ControllerConfig {
    /// Processing time of one host command.
    #[serde(with = "quantity::time")]
    pub command: Span,
}
