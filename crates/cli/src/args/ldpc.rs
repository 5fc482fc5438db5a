//! The arguments of `tailcut ldpc`.

use super::whole;
use clap::{Args, Subcommand, ValueEnum};
use std::path::PathBuf;
use tailcut_ldpc::{CODEWORD_BITS, Factor, Schedule};

#[derive(Debug, Subcommand)]
pub enum LdpcCommand {
    /// Decode many codewords at each raw bit error rate: failure rate, iterations, syndrome weights
    Curve(CurveArgs),
    /// Predict from syndrome weights whether pages can be decoded, and decode them: the accuracy
    Predict(PredictArgs),
    /// Measure the table from which the simulator draws; it takes minutes
    Table(TableArgs),
}

#[derive(Debug, Args)]
pub struct CurveArgs {
    /// Raw bit error rates, separated by commas, each 0 to 0.5
    #[arg(long, value_name = "RATES", value_delimiter = ',', value_parser = error_rate,
          default_value = "0.001,0.003,0.005,0.007,0.0075,0.008,0.0085,0.009,0.01")]
    pub rber: Vec<f64>,
    /// Instead of rates: exact numbers of raw bit errors of a codeword, separated by commas, each 0 to 36864
    #[arg(long, value_name = "NUMBERS", value_delimiter = ',', conflicts_with = "rber",
          value_parser = whole::<u32>(0, CODEWORD_BITS as u32))]
    pub errors: Vec<u32>,
    /// Codewords at each rate
    #[arg(long, value_name = "N", default_value_t = 2000, value_parser = whole::<u32>(1, u32::MAX))]
    pub frames: u32,
    /// The decoder
    #[arg(long, value_enum, default_value = "min-sum")]
    pub decoder: DecoderName,
    /// Order of the decoder's updates; by default flooding
    #[arg(long, value_enum)]
    pub schedule: Option<ScheduleName>,
    /// Factor of normalised min-sum, 0.001 to 1; by default 0.75
    #[arg(long, value_name = "F")]
    pub factor: Option<Factor>,
    /// Largest number of iterations; by default 20, and 100 for bit flipping
    #[arg(long, value_name = "N", value_parser = whole::<u8>(1, u8::MAX))]
    pub iterations: Option<u8>,
    /// Extra senses, in pairs around the first one, which give the decoder a confidence: 0, 2, 4 or 6
    #[arg(long, value_name = "N")]
    pub soft_senses: Option<u32>,
    /// Seed of the error patterns
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Decoders at the same time; by default one for each processor
    #[arg(long, value_parser = whole::<u16>(1, 1024))]
    pub threads: Option<u16>,
    /// As JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct PredictArgs {
    /// Raw bit error rates in increasing order, separated by commas, each 0 to 0.5
    #[arg(long, value_name = "RATES", value_delimiter = ',', value_parser = error_rate,
          default_value = "0.005,0.006,0.0065,0.007,0.0075,0.008,0.0085,0.009,0.0095,0.01,0.011")]
    pub rber: Vec<f64>,
    /// Pages of four codewords at each rate
    #[arg(long, value_name = "N", default_value_t = 500, value_parser = whole::<u32>(1, u32::MAX))]
    pub pages: u32,
    /// Predict for the decoder of this table, which `tailcut ldpc table` has measured, and for its correction
    /// limit; by default of the table from which drives draw
    #[arg(long, value_name = "FILE")]
    pub table: Option<PathBuf>,
    /// Order of the decoder's updates; by default that of the table
    #[arg(long, value_enum, conflicts_with = "table")]
    pub schedule: Option<ScheduleName>,
    /// Largest weight over the 16,384 checks of a page that counts as correctable; by default the mean at the
    /// correction limit of the table
    #[arg(long, value_name = "WEIGHT", value_parser = whole::<u32>(0, 16_384))]
    pub page_threshold: Option<u32>,
    /// Largest weight over the first 1,024 checks of the first codeword that counts as correctable; by default
    /// the mean at the correction limit of the table
    #[arg(long, value_name = "WEIGHT", value_parser = whole::<u32>(0, 1024))]
    pub chunk_threshold: Option<u32>,
    /// Seed of the error patterns
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Decoders at the same time; by default one for each processor
    #[arg(long, value_parser = whole::<u16>(1, 1024))]
    pub threads: Option<u16>,
    /// As JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct TableArgs {
    /// Write the table to this file, instead of to standard output
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Replace the file if it exists
    #[arg(long, requires = "out")]
    pub force: bool,
    /// Order of the decoder's updates
    #[arg(long, value_enum, default_value = "flooding")]
    pub schedule: ScheduleName,
    /// At most this many codewords in each row: a quick table
    #[arg(long, value_name = "N", value_parser = whole::<u32>(1, 1_000_000))]
    pub frames: Option<u32>,
    /// Seed of the error patterns
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Decoders at the same time; by default one for each processor
    #[arg(long, value_parser = whole::<u16>(1, 1024))]
    pub threads: Option<u16>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum DecoderName {
    /// Normalised min-sum
    MinSum,
    /// Bit flipping, on hard decisions
    BitFlip,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum ScheduleName {
    /// All checks, then all bits
    Flooding,
    /// The block rows of checks one after another
    Layered,
}

impl From<ScheduleName> for Schedule {
    fn from(name: ScheduleName) -> Schedule {
        match name {
            ScheduleName::Flooding => Schedule::Flooding,
            ScheduleName::Layered => Schedule::Layered,
        }
    }
}

fn error_rate(text: &str) -> Result<f64, String> {
    let value: f64 = text.trim().parse().map_err(|_| format!("`{text}` is not a number such as 0.0085"))?;
    if (0.0..=0.5).contains(&value) { Ok(value) } else { Err("it must be 0 to 0.5".to_string()) }
}
