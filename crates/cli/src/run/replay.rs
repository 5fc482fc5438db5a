//! `--replay`: replaces the device and the workload by the log of a served drive.

use crate::args::RunArgs;
use crate::error::CliError;
use tailcut_report::summary::Summary;
use tailcut_sim::{MODEL_VERSION, PastKind};
use tailcut_units::quantity::human_bytes;
use tailcut_workload::log::{LogError, LogFile};
use tempfile::TempDir;

/// A log, and the arguments of its run.
pub struct Replay {
    pub args: RunArgs,
    log: LogFile,
    /// The folder with the device of the log.
    _folder: TempDir,
}

impl Replay {
    /// The replay, if the arguments ask for one.
    ///
    /// # Errors
    /// The log cannot be read.
    pub fn of(args: &RunArgs) -> Result<Option<Replay>, CliError> {
        let Some(path) = &args.replay_log else { return Ok(None) };
        let log = LogFile::open(path).map_err(|e: LogError| CliError::Input(e.to_string()))?;
        let failed = |e: std::io::Error| CliError::Failed(format!("the device of {}: {e}", path.display()));
        let folder = TempDir::new().map_err(failed)?;
        let device = folder.path().join("served.toml");
        std::fs::write(&device, &log.header.config).map_err(failed)?;
        let mut args = args.clone();
        args.device = device.display().to_string();
        args.served = Some(log.header.device.clone());
        args.workload = vec![path.display().to_string()];
        args.seed = log.header.seed;
        let mut replay = Replay { args, log, _folder: folder };
        replay.args.precondition = Some(replay.past());
        Ok(Some(replay))
    }

    /// The past of the drives. The state of a served drive only fits its own configuration. A changed drive is filled
    /// with the same amount of data, and is overwritten to its steady state.
    fn past(&self) -> PastKind {
        let header = &self.log.header;
        match (self.log.has_past(), header.held.max(header.aged)) {
            (true, _) if self.is_same() => PastKind::Served,
            (_, 0) => PastKind::None,
            _ => PastKind::Steady,
        }
    }

    /// A warning if the run begins with another past than the served drive had.
    pub fn past_differs(&self) -> Option<String> {
        if !self.log.has_past() || self.is_same() {
            return None;
        }
        let here = match self.log.header.held {
            0 => "this one is new".to_string(),
            held => {
                let held = human_bytes(held);
                format!(
                    "this one is filled with {held} and overwritten until it is steady, and has no faults of its past"
                )
            }
        };
        Some(format!(
            "the log begins on a drive with a past, whose state fits its own configuration alone: {here}"
        ))
    }

    /// An error in the configuration of the log, with the log's name.
    pub fn renamed(&self, error: CliError) -> CliError {
        error.renamed(&self.args.device, &self.configuration())
    }

    /// A text about the configuration of the log, with the log's name.
    pub fn renamed_text(&self, text: &str) -> String {
        text.replace(&self.args.device, &self.configuration())
    }

    fn configuration(&self) -> String {
        format!("the configuration of {}", self.log.name())
    }

    /// Whether the drive of the replay has the configuration of the served drive.
    fn is_same(&self) -> bool {
        let layers = &self.args.layers;
        self.args.scheme == ["baseline"]
            && layers.config.is_empty()
            && layers.set.is_empty()
            && layers.fault.is_empty()
    }

    /// Compare the digests; `Err` is a warning.
    pub fn compared(&self, summary: &Summary) -> Option<Result<String, String>> {
        let (end, header) = (self.log.end?, &self.log.header);
        if !self.is_same() || summary.partial {
            return None;
        }
        let replayed = &summary.schemes.first()?.digest;
        let served = format!("{:016x}", end.digest);
        Some(if *replayed == served {
            Ok(format!(
                "replay        the completions are those of the served drive, to the nanosecond ({served})\n"
            ))
        } else if header.model_version != MODEL_VERSION {
            let (then, now) = (header.model_version, MODEL_VERSION);
            Err(format!(
                "the drive was served by model version {then}, and this is {now}: the replay is another run"
            ))
        } else {
            Err(format!("the completions are not those of the served drive: digest {replayed}, not {served}"))
        })
    }
}
