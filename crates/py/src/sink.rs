//! Collects the requests and the fine intervals of runs in memory, as Parquet.

use std::sync::{Arc, Mutex, PoisonError};
use tailcut_report::parquet::{RequestsWriter, SeriesWriter};
use tailcut_sim::Sink;
use tailcut_sim::measure::SinkError;
use tailcut_stats::{Interval, Sample};

/// What is collected of one scheme.
#[derive(Clone, Debug, Default)]
pub struct Collected {
    /// All requests.
    pub requests: Option<Vec<u8>>,
    /// Figures over time.
    pub series: Option<Vec<u8>>,
}

/// What is collected of each scheme.
pub struct Sinks {
    schemes: Vec<(String, Arc<Mutex<Collected>>)>,
    wanted: (bool, bool),
}

impl Sinks {
    /// Sinks of requests and of fine intervals.
    pub fn new(schemes: impl Iterator<Item = String>, requests: bool, series: bool) -> Sinks {
        let schemes = schemes.map(|name| (name, Arc::default())).collect();
        Sinks { schemes, wanted: (requests, series) }
    }

    /// The sink of a scheme, if anything is wanted.
    pub fn open(&self, scheme: usize, jobs: &[String]) -> Result<Option<Box<dyn Sink>>, SinkError> {
        let (name, to) = &self.schemes[scheme];
        let (requests, series) = self.wanted;
        let requests = requests.then(|| RequestsWriter::new(Vec::new(), name, jobs)).transpose()?;
        let series = series.then(|| SeriesWriter::new(Vec::new(), name)).transpose()?;
        if requests.is_none() && series.is_none() {
            return Ok(None);
        }
        Ok(Some(Box::new(Writers { requests, series, to: Arc::clone(to) })))
    }

    /// What was collected of each scheme.
    pub fn collected(self) -> Vec<Collected> {
        let take = |of: Arc<Mutex<Collected>>| {
            std::mem::take(&mut *of.lock().unwrap_or_else(PoisonError::into_inner))
        };
        self.schemes.into_iter().map(|(_, of)| take(of)).collect()
    }
}

struct Writers {
    requests: Option<RequestsWriter<Vec<u8>>>,
    series: Option<SeriesWriter<Vec<u8>>>,
    to: Arc<Mutex<Collected>>,
}

impl Sink for Writers {
    fn request(&mut self, sample: &Sample) -> Result<(), SinkError> {
        Ok(self.requests.as_mut().map_or(Ok(()), |w| w.push(sample))?)
    }

    fn interval(&mut self, interval: &Interval) -> Result<(), SinkError> {
        Ok(self.series.as_mut().map_or(Ok(()), |w| w.push(interval))?)
    }

    fn finish(self: Box<Self>) -> Result<(), SinkError> {
        let Writers { requests, series, to } = *self;
        let mut to = to.lock().unwrap_or_else(PoisonError::into_inner);
        to.requests = requests.map(RequestsWriter::finish).transpose()?;
        to.series = series.map(SeriesWriter::finish).transpose()?;
        Ok(())
    }
}
