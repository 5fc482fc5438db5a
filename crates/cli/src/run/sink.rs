//! Requests and fine intervals to Parquet files, and the timeline to its own, as they come.

use super::timeline::Timeline;
use crate::args::OutputArgs;
use crate::error::CliError;
use std::fs::File;
use std::io::BufWriter;
use std::sync::Mutex;
use tailcut_core::device::Shape;
use tailcut_report::OutputFolder;
use tailcut_report::parquet::{self, RequestsWriter, SeriesWriter};
use tailcut_sim::Sink;
use tailcut_sim::measure::SinkError;
use tailcut_sim::timeline::Tracks;
use tailcut_stats::{Interval, Sample};

/// The files of every scheme, created before anything runs: the folder keeps them under
/// temporary names until all is well.
pub struct Sinks {
    files: Vec<SchemeFiles>,
}

struct SchemeFiles {
    scheme: String,
    // Taken by the thread that runs the scheme.
    requests: Mutex<Option<File>>,
    series: Mutex<Option<File>>,
    timeline: Mutex<Option<File>>,
}

impl Sinks {
    /// Create what is wanted. `files` names each scheme's file for a kind of result.
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
                (Some(folder), true) => folder.create(&file(kind, i, extension)).map(Some),
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

    /// What receives this scheme's requests, if anything is wanted of it.
    pub fn open(&self, scheme: usize, jobs: &[String]) -> Result<Option<Box<dyn Sink>>, SinkError> {
        let SchemeFiles { scheme, requests, series, timeline } = &self.files[scheme];
        let take =
            |file: &Mutex<Option<File>>| file.lock().ok().and_then(|mut f| f.take()).map(BufWriter::new);
        let writers = Writers {
            requests: take(requests).map(|f| RequestsWriter::new(f, scheme, jobs)).transpose()?,
            series: take(series).map(|f| SeriesWriter::new(f, scheme)).transpose()?,
            timeline: take(timeline),
            scheme: scheme.clone(),
        };
        let wanted = writers.requests.is_some() || writers.series.is_some() || writers.timeline.is_some();
        Ok(wanted.then(|| -> Box<dyn Sink> { Box::new(writers) }))
    }
}

struct Writers {
    requests: Option<RequestsWriter<BufWriter<File>>>,
    series: Option<SeriesWriter<BufWriter<File>>>,
    /// Until the drive is there.
    timeline: Option<BufWriter<File>>,
    scheme: String,
}

impl Sink for Writers {
    fn request(&mut self, sample: &Sample) -> Result<(), SinkError> {
        self.requests.as_mut().map_or(Ok(()), |w| Ok(w.push(sample)?))
    }

    fn interval(&mut self, interval: &Interval) -> Result<(), SinkError> {
        self.series.as_mut().map_or(Ok(()), |w| Ok(w.push(interval)?))
    }

    fn tracks(&mut self, shape: &Shape) -> Result<Option<Box<dyn Tracks>>, SinkError> {
        let file = self.timeline.take();
        Ok(file.map(|f| -> Box<dyn Tracks> { Box::new(Timeline::new(f, &self.scheme, shape)) }))
    }

    fn finish(self: Box<Self>) -> Result<(), SinkError> {
        let Writers { requests, series, .. } = *self;
        let closed = [requests.map(RequestsWriter::finish), series.map(SeriesWriter::finish)];
        for file in closed.into_iter().flatten() {
            file?.into_inner().map_err(|e| e.into_error())?;
        }
        Ok(())
    }
}
