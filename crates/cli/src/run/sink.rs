//! Writes requests and intervals to Parquet files, and the timeline to its own file, during the run.

use super::timeline::Timeline;
use crate::args::OutputArgs;
use crate::error::CliError;
use std::fs::File;
use std::io::BufWriter;
use std::sync::Mutex;
use tailcut_core::figures::Dimensions;
use tailcut_report::parquet::{self, RequestsWriter, SeriesWriter};
use tailcut_report::{OutputFolder, ReportError};
use tailcut_sim::Sink;
use tailcut_sim::measure::SinkError;
use tailcut_sim::timeline::Tracks;
use tailcut_stats::{Interval, Sample};

/// The files of every scheme. They are created before anything runs. The folder keeps them under temporary names
/// until the run has succeeded.
pub struct Sinks {
    files: Vec<SchemeFiles>,
}

struct SchemeFiles {
    scheme: String,
    // Taken by the thread that runs the scheme.
    requests: Mutex<Option<Named>>,
    series: Mutex<Option<Named>>,
    timeline: Mutex<Option<Named>>,
}

/// A file, and its name for errors.
struct Named {
    name: String,
    file: File,
}

impl Sinks {
    /// Create the requested files. `file` gives the name of a scheme's file for a kind of result.
    pub fn create(
        mut folder: Option<&mut OutputFolder>,
        schemes: &[String],
        file: impl Fn(&str, usize, &str) -> String,
        wanted: &OutputArgs,
    ) -> Result<Sinks, CliError> {
        if wanted.requests_parquet || wanted.series_parquet.is_some() {
            parquet::available()?;
        }
        let mut files = Vec::new();
        for (i, scheme) in schemes.iter().enumerate() {
            let mut create = |wanted: bool, kind, extension| match (&mut folder, wanted) {
                (Some(folder), true) => {
                    let name = file(kind, i, extension);
                    let shown = folder.path().join(&name).display().to_string();
                    folder.create(&name).map(|file| Some(Named { name: shown, file }))
                }
                _ => Ok(None),
            };
            files.push(SchemeFiles {
                scheme: scheme.clone(),
                requests: Mutex::new(create(wanted.requests_parquet, "requests", "parquet")?),
                series: Mutex::new(create(wanted.series_parquet.is_some(), "series", "parquet")?),
                timeline: Mutex::new(create(wanted.timeline.is_some(), "timeline", "pftrace")?),
            });
        }
        Ok(Sinks { files })
    }

    /// The sink of this scheme's requests; `None` if no file is wanted.
    pub fn open(&self, scheme: usize, jobs: &[String]) -> Result<Option<Box<dyn Sink>>, SinkError> {
        let SchemeFiles { scheme, requests, series, timeline } = &self.files[scheme];
        let take = |file: &Mutex<Option<Named>>| {
            let taken = file.lock().ok().and_then(|mut f| f.take());
            taken.map(|Named { name, file }| (name, BufWriter::new(file)))
        };
        let writers = Writers {
            requests: Output::open(take(requests), |f| RequestsWriter::new(f, scheme, jobs))?,
            series: Output::open(take(series), |f| SeriesWriter::new(f, scheme))?,
            timeline: take(timeline),
            scheme: scheme.clone(),
        };
        let wanted = writers.requests.is_some() || writers.series.is_some() || writers.timeline.is_some();
        Ok(wanted.then(|| -> Box<dyn Sink> { Box::new(writers) }))
    }
}

/// The writer of a file, and the file's name for errors.
struct Output<W> {
    name: String,
    writer: W,
}

impl<W> Output<W> {
    fn open(
        file: Option<(String, BufWriter<File>)>,
        make: impl FnOnce(BufWriter<File>) -> Result<W, ReportError>,
    ) -> Result<Option<Output<W>>, SinkError> {
        let Some((name, file)) = file else { return Ok(None) };
        let writer = make(file).map_err(|e| named(&name, e))?;
        Ok(Some(Output { name, writer }))
    }

    fn push(&mut self, how: impl FnOnce(&mut W) -> Result<(), ReportError>) -> Result<(), SinkError> {
        how(&mut self.writer).map_err(|e| named(&self.name, e))
    }

    fn close(self, finish: impl FnOnce(W) -> Result<BufWriter<File>, ReportError>) -> Result<(), SinkError> {
        let file = finish(self.writer).map_err(|e| named(&self.name, e))?;
        file.into_inner().map_err(|e| named(&self.name, e.into_error()))?;
        Ok(())
    }
}

/// Prefix an error with the name of the file.
fn named(name: &str, error: impl std::fmt::Display) -> SinkError {
    format!("cannot write {name}: {error}").into()
}

struct Writers {
    requests: Option<Output<RequestsWriter<BufWriter<File>>>>,
    series: Option<Output<SeriesWriter<BufWriter<File>>>>,
    /// The timeline's file, until the drive is created.
    timeline: Option<(String, BufWriter<File>)>,
    scheme: String,
}

impl Sink for Writers {
    fn request(&mut self, sample: &Sample) -> Result<(), SinkError> {
        self.requests.as_mut().map_or(Ok(()), |f| f.push(|w| w.push(sample)))
    }

    fn interval(&mut self, interval: &Interval) -> Result<(), SinkError> {
        self.series.as_mut().map_or(Ok(()), |f| f.push(|w| w.push(interval)))
    }

    fn tracks(&mut self, dimensions: &Dimensions) -> Result<Option<Box<dyn Tracks>>, SinkError> {
        let file = self.timeline.take();
        Ok(file.map(|(name, f)| -> Box<dyn Tracks> {
            Box::new(Timeline::new(f, name, &self.scheme, dimensions))
        }))
    }

    fn finish(self: Box<Self>) -> Result<(), SinkError> {
        let Writers { requests, series, .. } = *self;
        requests.map_or(Ok(()), |f| f.close(RequestsWriter::finish))?;
        series.map_or(Ok(()), |f| f.close(SeriesWriter::finish))
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use tailcut_units::{HostOp, Ledger, SimTime, Status};

    #[test]
    fn a_full_disk_is_named_with_its_file() {
        let full = || Named { name: "out/requests.parquet".into(), file: File::create("/dev/full").unwrap() };
        let sinks = Sinks {
            files: vec![SchemeFiles {
                scheme: "baseline".into(),
                requests: Mutex::new(Some(full())),
                series: Mutex::new(None),
                timeline: Mutex::new(None),
            }],
        };
        let mut sink = sinks.open(0, &["job".to_string()]).unwrap().unwrap();
        let ledger = Ledger::new();
        let sample = Sample {
            index: 0,
            job: 0,
            op: HostOp::Read,
            offset: 0,
            bytes: 4096,
            arrived: SimTime(0),
            completed: SimTime(0),
            status: Status::Ok,
            ledger: &ledger,
        };
        let error = sink.request(&sample).and_then(|()| sink.finish()).unwrap_err().to_string();
        assert!(error.contains("out/requests.parquet") && error.contains("No space left"), "{error}");
    }
}
