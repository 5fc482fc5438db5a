//! The arguments of `tailcut serve`.

use super::{LayerArgs, positive};
use clap::Args;
use std::path::PathBuf;
use tailcut_live::{Address, ControlAddress};

#[derive(Debug, Args)]
pub struct ServeArgs {
    /// Device preset (see `tailcut show devices`) or a device file ending in .toml
    pub device: String,
    /// The scheme; `A+B` applies both to the device
    #[arg(long, default_value = "baseline")]
    pub scheme: String,
    #[command(flatten)]
    pub layers: LayerArgs,
    /// Where clients find the drive: `nbd+unix:PATH`, `nbd://HOST[:PORT]`, or `fuse:DIR`, where it is the file
    /// `drive`; may be repeated
    #[arg(long, value_name = "ADDRESS", required = true)]
    pub listen: Vec<Address>,
    /// Allow addresses that other machines reach. The protocol has no encryption and no password
    #[arg(long)]
    pub allow_remote: bool,
    /// Fill the drive and overwrite it uniformly to its steady state first
    #[arg(long)]
    pub aged: bool,
    /// Keep the drive and its data in this folder, which is made if it is missing; a drive that is there goes on where it
    /// was, also after its server was killed. Without it all is in memory
    #[arg(long, value_name = "FOLDER")]
    pub store: Option<PathBuf>,
    /// Let the model's time pass so many times as fast as the clock
    #[arg(long, value_name = "F", default_value_t = 1.0, value_parser = positive)]
    pub speed: f64,
    /// Write every command with its times to this new file, for `tailcut run --replay`
    #[arg(long, value_name = "FILE")]
    pub log: Option<PathBuf>,
    /// Where a live page, the summary and metrics are read: `unix:PATH` or `http://HOST:PORT` on this machine
    #[arg(long, value_name = "ADDRESS")]
    pub control: Option<ControlAddress>,
    /// Seed of every random stream
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
}

#[derive(Debug, Args)]
pub struct CheckArgs {
    /// The folder of a store that no server has open
    pub store: PathBuf,
}
