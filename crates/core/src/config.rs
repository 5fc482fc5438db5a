//! The whole configuration of a drive, and the parts of it that belong to the device.

use crate::ftl::config::FtlConfig;
use crate::nand::blocks::{AgeLaw, MOST_PAST_CYCLES, Past};
use crate::nand::config::{ChannelConfig, EccConfig, GeometryConfig, TimingConfig};
use crate::nand::config::{EnergyConfig, ServedAfterLoop, SuspendConfig};
use crate::nand::erase::config::EraseConfig;
use crate::nand::erase::requirement::Row;
use crate::nand::errors::config::ErrorsConfig;
use crate::nand::faults::config::{self, FaultConfig, FaultsConfig};
use crate::nand::slc::{self, SlcConfig};
use crate::pblk::config::PblkConfig;
use crate::policy::PolicyConfig;
use crate::policy::erase_scheme::{EraseContext, EraseSchemeConfig};
use crate::policy::read_retry::ReadRetryConfig;
use crate::policy::suspend_erase::Serve;
use crate::problem::{ConfigProblem, check_count, check_rate, check_time, refuse};
use serde::{Deserialize, Serialize};
use tailcut_units::quantity::Level;
use tailcut_units::{Span, quantity};

/// The files that define the structs of a configuration, except those of policy members. The
/// comments of the fields are the reference of the keys.
pub const SOURCES: [&str; 10] = [
    include_str!("config.rs"),
    include_str!("nand/blocks/past.rs"),
    include_str!("nand/config.rs"),
    include_str!("nand/erase/config.rs"),
    include_str!("nand/errors/config.rs"),
    include_str!("nand/faults/config.rs"),
    include_str!("nand/slc.rs"),
    include_str!("ftl/config.rs"),
    include_str!("pblk/config.rs"),
    include_str!("policy/mod.rs"),
];

/// A complete drive: what a device preset holds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DeviceConfig {
    /// One line of text for `tailcut show devices`.
    ///
    /// - Read by: nothing in the model: it is printed
    pub description: String,
    /// Channels, dies, blocks, pages.
    pub geometry: GeometryConfig,
    /// Array times.
    pub timing: TimingConfig,
    /// Costs and limits of suspending programs and erases.
    pub suspend: SuspendConfig,
    /// Power of the array.
    pub energy: EnergyConfig,
    /// The flash bus.
    pub channel: ChannelConfig,
    /// Error correction.
    pub ecc: EccConfig,
    /// The host interface: queue, link and fixed times.
    pub host: HostConfig,
    /// The controller's processor.
    pub controller: ControllerConfig,
    /// The translation layer.
    pub ftl: FtlConfig,
    /// pblk, with `ftl.kind = "pblk"`.
    #[serde(default, skip_serializing_if = "PblkConfig::is_default")]
    pub pblk: PblkConfig,
    /// One member of each policy family, as the source of the device describes it.
    pub policy: PolicyConfig,
    /// How preconditioning ages the drive before the first measured request.
    pub age: AgeConfig,
    /// How blocks erase, for the erase schemes that choose their pulses.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub erase: Option<EraseConfig>,
    /// Raw bit errors of the pages. Without this table every sense is free of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub errors: Option<ErrorsConfig>,
    /// Blocks that hold one bit a cell and take the host's writes first. Without this table there are none.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "slc::region")]
    pub slc: Option<SlcConfig>,
    /// Faults at random.
    #[serde(default, skip_serializing_if = "is_default")]
    pub faults: FaultsConfig,
    /// Faults at exact places.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fault: Vec<FaultConfig>,
}

impl DeviceConfig {
    /// The same drive without raw bit errors and what reacts to them. If it had them, a codeword takes as much longer in the
    /// decoder as one without errors took there.
    pub fn without_errors(mut self) -> DeviceConfig {
        if let Some(errors) = self.errors.take() {
            self.policy.read_retry = ReadRetryConfig::default();
            self.ecc.decode.0 += errors.least_decoding(self.codewords_of_page());
        }
        self
    }

    /// Check what fails.
    pub(crate) fn check_faults(&self) -> Result<(), ConfigProblem> {
        let blocks_wear = !matches!(self.policy.erase_scheme, EraseSchemeConfig::Fixed(_));
        config::check(&self.faults, &self.fault, &self.geometry, blocks_wear)
    }

    /// Check the table `erase`.
    pub(crate) fn check_erase(&self) -> Result<(), ConfigProblem> {
        let Some(erase) = &self.erase else { return Ok(()) };
        erase.check()?;
        let names = &EraseSchemeConfig::MEMBERS[1..];
        // `aero-50` is `aero` with a requirement of 50 errors.
        let known = |row: &Row| names.contains(&row.scheme.as_str()) || row.errors("aero").is_some();
        if let Some(row) = erase.rows.iter().find(|row| !known(row)) {
            let names = names.join(", ");
            let problem =
                format!("no scheme is called `{}`: one of {names}, or aero-N for N errors", row.scheme);
            return refuse("erase.rows", problem);
        }
        Ok(())
    }

    /// Check the table `errors`, and that no read is to be retried where there are none.
    pub(crate) fn check_errors(&self) -> Result<(), ConfigProblem> {
        if let Some(errors) = &self.errors {
            if let ReadRetryConfig::Walk(walk) = &self.policy.read_retry
                && walk.pipelined
                && self.geometry.reads_by_plane()
            {
                let problem = "true, but a plane that reads independently (geometry.plane_reads) begins no sense before the last one is decoded: leave one of the two out";
                return refuse("policy.read_retry.walk.pipelined", problem);
            }
            return errors.check(self.timing.read.len(), self.ecc.codeword);
        }
        match self.policy.read_retry.name() {
            "none" => Ok(()),
            name => {
                let problem =
                    format!("`{name}` reacts to raw bit errors, and this drive has no table `errors`");
                refuse("policy.read_retry", problem)
            }
        }
    }

    /// The array under erase pulses, as policies know it.
    pub(crate) fn erase_context(&self) -> Option<EraseContext> {
        let e = self.erase.as_ref()?;
        Some(EraseContext {
            step_ns: e.step.0,
            steps_per_level: e.steps_per_level(),
            levels: e.levels,
            gamma: e.gamma,
            delta: e.delta,
            high: e.high,
            residual_errors: e.residual_errors,
        })
    }

    /// Which operations are served between two loops of an erase.
    pub(crate) fn served_after_loop(&self) -> Serve {
        match self.suspend.erase.serve {
            ServedAfterLoop::Queued => Serve::Queued,
            ServedAfterLoop::All => Serve::All,
        }
    }

    /// Codewords of a page.
    pub(crate) fn codewords_of_page(&self) -> u64 {
        self.geometry.page / self.ecc.codeword.max(1)
    }
}

fn is_default(faults: &FaultsConfig) -> bool {
    *faults == FaultsConfig::default()
}

/// What preconditioning does to the drive.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AgeConfig {
    /// Share of the host capacity that preconditioning fills for a trace. A generated job fills the
    /// region that it addresses.
    ///
    /// - Read by: preconditioning (`sim::experiment`)
    #[serde(with = "quantity::fraction")]
    pub fill: f64,
    /// What overwrites the drive before the workload.
    ///
    /// - Read by: preconditioning (`sim::precondition`)
    pub overwrites: Overwrites,
    /// Extents of every lane that are free when the workload begins. The drive is put into that
    /// state directly, with stale units at random in the other extents, and is not overwritten.
    /// Without this key the drive is overwritten until it is steady.
    ///
    /// - Range: leaves room for the data, and at least the extents that collection reserves
    /// - Read by: the aged state (`device::age::scatter`)
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub free: Option<Level>,
    /// Program/erase cycles of every block before the run, in addition to those of preconditioning.
    ///
    /// - Range: 0 to 4194304
    /// - Read by: what a block remembers (`nand::blocks`), set up in `config`, for faults by cycle
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pe_cycles: Option<u32>,
    /// Age of the data that are on flash when the workload begins. Data written later have none.
    ///
    /// - Read by: what a block remembers (`nand::blocks::past`), for faults of old data
    #[serde(default, skip_serializing_if = "Option::is_none", with = "quantity::maybe_time")]
    pub retention: Option<Span>,
    /// Least age of these data. With this key the age differs by block, from here to `age.retention` as `age.law`
    /// says. Without it all data have that age.
    ///
    /// - Range: at most `age.retention`; at least 1ns with `age.law = "log-uniform"`
    /// - Read by: what a block remembers (`nand::blocks::past`), for faults of old data and raw bit errors
    #[serde(default, skip_serializing_if = "Option::is_none", with = "quantity::maybe_time")]
    pub retention_from: Option<Span>,
    /// How ages that differ are distributed over the blocks: uniformly, as without this key, or with a uniform logarithm, so
    /// that as many blocks are six to twelve hours old as 20 to 40 days.
    ///
    /// - Read by: what a block remembers (`nand::blocks::past`), for faults of old data and raw bit errors
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub law: Option<AgeLaw>,
    /// Reads that every block has had since its erase when the workload begins. They add errors only with
    /// `errors.model = "power-law"`.
    ///
    /// - Read by: what a block remembers (`nand::blocks`), for faults by reads and raw bit errors
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reads: Option<u32>,
}

impl AgeConfig {
    /// The past of every block.
    pub(crate) fn past(&self) -> Past {
        let retention = self.retention.unwrap_or(Span(0)).0;
        Past {
            cycles: self.pe_cycles.unwrap_or(0),
            reads: self.reads.unwrap_or(0),
            retention,
            retention_from: self.retention_from.map_or(retention, |from| from.0),
            law: self.law.unwrap_or_default(),
        }
    }

    pub(crate) fn check(&self) -> Result<(), ConfigProblem> {
        if !(0.0..=1.0).contains(&self.fill) {
            return refuse("age.fill", "a share from 0% to 100%");
        }
        if self.pe_cycles.is_some_and(|n| n > MOST_PAST_CYCLES) {
            return refuse("age.pe_cycles", format!("at most {MOST_PAST_CYCLES}"));
        }
        if self.retention_from.is_some_and(|from| from > self.retention.unwrap_or(Span(0))) {
            return refuse("age.retention_from", "at most age.retention");
        }
        if self.law == Some(AgeLaw::LogUniform) && self.retention_from.is_none_or(|from| from.0 == 0) {
            return refuse(
                "age.retention_from",
                "at least 1ns with age.law = \"log-uniform\": a logarithm has no 0",
            );
        }
        Ok(())
    }
}

/// What brings a filled drive to its steady state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Overwrites {
    /// The workload's own writes. Those of a trace are folded onto what is filled, lap after lap.
    Workload,
    /// Single mapping units, uniformly at random over what is filled.
    Uniform,
    /// As `uniform` before a trace, and as `workload` before generated jobs.
    UniformTraces,
    /// As `uniform` before a trace that writes less than what is filled, since its laps would overwrite only a part of
    /// the drive; otherwise as `workload`.
    WorkloadOrUniform,
}

/// The host side.
///
/// - Read by: the host side (`device::host::commands`)
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HostConfig {
    /// Commands that the drive accepts at once. A further one waits in the host.
    ///
    /// - Range: 1 to 65535; times `host.max_transfer` at most 4 Mi mapping units
    /// - Read by: the host queue (`device::drive`)
    pub queue_depth: u32,
    /// Payload bytes a second in each direction of the link; `"inf"` for a link that takes no time.
    ///
    /// - Range: 1000B/s to inf
    #[serde(with = "quantity::rate")]
    pub link_rate: u64,
    /// Payload bytes a second from the host, if they are not those to the host.
    ///
    /// - Range: 1000B/s to inf
    /// - Read by: the host link (`config`)
    #[serde(default, skip_serializing_if = "Option::is_none", with = "quantity::maybe_rate")]
    pub write_link_rate: Option<u64>,
    /// When the data of a read that needs several operations go over the link.
    pub transfer: Transfer,
    /// Fixed time from the host's submission to the controller's fetch.
    ///
    /// - Range: 0ns to 1000s
    #[serde(with = "quantity::time")]
    pub submit_latency: Span,
    /// Fixed time from the drive's completion to the host's notice of it.
    ///
    /// - Range: 0ns to 1000s
    #[serde(with = "quantity::time")]
    pub complete_latency: Span,
    /// Largest command. The host splits larger requests.
    ///
    /// - Range: more than 0B, at most 256MiB; at least `ftl.mapping_unit`; times `host.queue_depth`
    ///   at most 4 Mi mapping units
    #[serde(with = "quantity::bytes")]
    pub max_transfer: u64,
}

/// When the data of a read that needs several operations go over the host link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Transfer {
    /// The data of each operation as soon as they are decoded.
    ByPage,
    /// All data at once, when the last are decoded.
    Whole,
}

impl HostConfig {
    pub(crate) fn check_times(&self) -> Result<(), ConfigProblem> {
        check_time("host.submit_latency", self.submit_latency)?;
        check_time("host.complete_latency", self.complete_latency)
    }

    pub(crate) fn check_rate(&self) -> Result<(), ConfigProblem> {
        check_rate("host.link_rate", self.link_rate)?;
        self.write_link_rate.map_or(Ok(()), |rate| check_rate("host.write_link_rate", rate))
    }

    /// Payload bytes a second from the host.
    #[inline]
    pub fn rate_from_host(&self) -> u64 {
        self.write_link_rate.unwrap_or(self.link_rate)
    }

    pub(crate) fn check_queue(&self) -> Result<(), ConfigProblem> {
        check_count("host.queue_depth", self.queue_depth, 65_535)
    }

    /// Check that a command holds at least one mapping unit of `unit` bytes, and that not too many
    /// mapping units are under way.
    pub(crate) fn check_transfer(&self, unit: u64) -> Result<(), ConfigProblem> {
        const MOST: u64 = 256 << 20;
        if self.max_transfer < unit || self.max_transfer > MOST {
            return refuse(
                "host.max_transfer",
                format!("{} bytes is not between one mapping unit and 256 MiB", self.max_transfer),
            );
        }
        let parts = self.most_parts(unit) * u64::from(self.queue_depth);
        if parts > 1 << 22 {
            return refuse(
                "host.max_transfer",
                format!(
                    "queue_depth x max_transfer amounts to {parts} mapping units; at most 4 Mi may be under way"
                ),
            );
        }
        Ok(())
    }

    /// Largest number of mapping units of `unit` bytes that one command touches.
    pub(crate) fn most_parts(&self, unit: u64) -> u64 {
        self.max_transfer / unit + 2
    }
}

/// The controller's firmware processor: a FIFO server.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ControllerConfig {
    /// Processing time of one host command.
    ///
    /// - Range: 0ns to 1000s
    /// - Read by: the controller (`device::host::commands`), set up in `device::shape`
    #[serde(with = "quantity::time")]
    pub command: Span,
}

impl ControllerConfig {
    pub(crate) fn check(&self) -> Result<(), ConfigProblem> {
        check_time("controller.command", self.command)
    }
}
