//! The pages that a trace touches, and their numbers for a dense remap.

use super::dense::DenseMap;
use super::error::{TraceError, bad};
use super::footprint::Footprint;
use super::options::{DeviceRule, Remap, TraceOptions};
use std::sync::Arc;

/// The most runs of pages in a dense map (256 MiB).
const RUNS_MAX: usize = 8 << 20;

/// Results of a first pass over a trace, for the replay.
#[derive(Clone)]
pub(crate) struct Touched {
    /// The touched pages, exact unless there are too many.
    pub pages: Arc<Footprint>,
    /// The numbers of the pages, for a dense remap.
    pub dense: Option<Arc<DenseMap>>,
}

impl std::fmt::Debug for Touched {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Touched").field("pages", &self.pages.pages()).finish_non_exhaustive()
    }
}

impl Touched {
    /// Prepare the pages of a whole pass that was made with the same options.
    pub fn new(pages: Footprint, options: &TraceOptions) -> Result<Touched, TraceError> {
        let overlaid = options.remap == Remap::Dense && options.device_rule == DeviceRule::Overlay;
        let pages = if overlaid { pages.overlaid() } else { pages };
        let dense = match options.remap {
            Remap::Modulo => None,
            Remap::Dense => {
                let exact = pages.pages().1;
                let map = exact.then(|| DenseMap::new(&pages, overlaid, RUNS_MAX)).flatten();
                let too_many = || bad("remap", "dense", "modulo: the trace touches too many scattered pages");
                Some(Arc::new(map.ok_or_else(too_many)?))
            }
        };
        Ok(Touched { pages: Arc::new(pages), dense })
    }
}
