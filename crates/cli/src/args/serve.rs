//! The arguments of `tailcut serve`.

use super::LayerArgs;
use clap::Args;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use tailcut_live::{Address, ControlAddress};
use tailcut_units::Span;
use tailcut_units::quantity::parse_time;

#[derive(Debug, Args)]
pub struct ServeArgs {
    /// Device preset (see `tailcut show devices`) or a device file ending in .toml
    pub device: String,
    /// The scheme; `A+B` applies both to the device
    #[arg(long, default_value = "baseline")]
    pub scheme: String,
    #[command(flatten)]
    pub layers: LayerArgs,
    /// The address of the drive for clients: `nbd+unix:PATH`, `nbd://HOST[:PORT]`, or `fuse:DIR`, in which it is the
    /// file `drive`; may be repeated
    #[arg(long, value_name = "ADDRESS", required = true)]
    pub listen: Vec<Address>,
    /// Allow addresses that other machines can reach. The protocol has no encryption and no password
    #[arg(long)]
    pub allow_remote: bool,
    /// Fill the drive and overwrite it uniformly to its steady state first
    #[arg(long)]
    pub aged: bool,
    /// Keep the drive and its data in this folder, which is created if missing. A drive in the folder continues from
    /// its last state, even if its server was killed. Without this option, or with `memory`, everything is in memory
    #[arg(long, value_name = "FOLDER")]
    pub store: Option<PathBuf>,
    /// Speed of the model's time relative to the clock: with 0.1 every latency takes ten times as long
    #[arg(long, value_name = "F", default_value_t = 1.0, value_parser = super::speed)]
    pub speed: f64,
    /// Subtract the time that a request needs on this machine from the model's host latencies: `auto` measures it, or a
    /// time such as 12us
    #[arg(long, value_name = "TIME", conflicts_with = "store")]
    pub floor: Option<Floor>,
    /// Write every command with its times to this new file, for `tailcut run --replay`
    #[arg(long, value_name = "FILE")]
    pub log: Option<PathBuf>,
    /// The address of the live page, the summary and the metrics: `unix:PATH` or `http://HOST:PORT` on this machine
    #[arg(long, value_name = "ADDRESS")]
    pub control: Option<ControlAddress>,
    /// Seed of every random stream
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
}

impl ServeArgs {
    /// The folder of the drive, if it is not in memory.
    pub fn folder(&self) -> Option<&Path> {
        self.store.as_deref().filter(|path| *path != Path::new("memory"))
    }
}

/// The time that a request needs on this machine without a drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Floor {
    /// It is measured.
    Auto,
    /// It is known.
    Known(Span),
}

impl FromStr for Floor {
    type Err = String;

    fn from_str(text: &str) -> Result<Floor, String> {
        match text {
            "auto" => Ok(Floor::Auto),
            _ => parse_time(text).map(Floor::Known).map_err(|e| format!("`auto`, or a time: {e}")),
        }
    }
}

#[derive(Debug, Args)]
pub struct CheckArgs {
    /// The folder of a store that no server has open
    pub store: PathBuf,
}
