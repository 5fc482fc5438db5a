//! Predictions that a page cannot be decoded, against what the decoder makes of it.

use crate::channel::{Channel, Errors};
use crate::code::{Code, Word};
use crate::decoder::{Decoder, Settings};
use crate::measure::in_batches;
use crate::sensing::Sensing;
use crate::weight::at_rate;
use crate::wilson::{Interval, wilson};
use crate::{BLOCK_ROWS, Table};

/// Codewords of a page of 16 KiB.
pub const PAGE_CODEWORDS: u64 = 4;

/// The largest syndrome weights that count as correctable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Thresholds {
    /// Over all checks of the codewords of a page.
    pub page: u32,
    /// Over the first 1,024 checks of its first codeword.
    pub chunk: u32,
}

impl Thresholds {
    /// The mean weights at the correction limit of the code.
    pub fn at_limit(code: &Code, table: &Table) -> Thresholds {
        let mean = |block_rows| at_rate(code, block_rows, table.limit()).mean;
        let page = PAGE_CODEWORDS as f64 * mean(BLOCK_ROWS);
        Thresholds { page: libm::round(page) as u32, chunk: libm::round(mean(1)) as u32 }
    }
}

/// What is measured.
#[derive(Clone, Copy, Debug)]
pub struct Predict {
    /// Seed of the error patterns.
    pub seed: u64,
    /// How to decode.
    pub settings: Settings,
    /// Raw bit error rate of all codewords (0 to 0.5).
    pub rber: f64,
    /// When a page is predicted to fail.
    pub thresholds: Thresholds,
    /// Number of pages, at least 1.
    pub pages: u64,
}

/// Predictions of one kind that did not come true.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wrong {
    /// Pages that were predicted to fail, and would have been decoded.
    pub needless: u64,
    /// Pages that were predicted to be decoded, and failed.
    pub missed: u64,
}

impl Wrong {
    fn count(&mut self, predicted: bool, failed: bool) {
        self.needless += u64::from(predicted && !failed);
        self.missed += u64::from(!predicted && failed);
    }

    fn add(&mut self, other: Wrong) {
        self.needless += other.needless;
        self.missed += other.missed;
    }

    /// Share of `pages` predictions that came true.
    pub fn accuracy(&self, pages: u64) -> Interval {
        wilson(pages - self.needless - self.missed, pages)
    }
}

/// Predictions for many pages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Predictions {
    /// Pages.
    pub pages: u64,
    /// Pages with a codeword that was not decoded.
    pub failed: u64,
    /// Predictions from all checks of a page.
    pub page: Wrong,
    /// Predictions from the first 1,024 checks of the first codeword.
    pub chunk: Wrong,
}

/// Predict and decode pages on `threads` threads. The result does not depend on their number.
///
/// `progress` is called from the threads with the number of pages that are newly done; it returns whether to go
/// on. `None` if it ever said no.
///
/// # Panics
/// If the rate is outside of 0 to 0.5.
pub fn predict(
    code: &Code,
    what: &Predict,
    threads: usize,
    progress: &(dyn Fn(u64) -> bool + Sync),
) -> Option<Predictions> {
    let sensing = Sensing::new(0, what.rber).expect("a rate from 0 to 0.5");
    let new = || Pages {
        code,
        what,
        channel: Channel::new(what.seed, Errors::Rate(what.rber), &sensing),
        decoder: Decoder::new(code, &what.settings),
        sensing: &sensing,
        found: Predictions::default(),
    };
    let all = in_batches(what.pages, threads, &new, &|pages: &mut Pages, page| pages.take(page), progress)?;
    let mut sum = Predictions::default();
    for Pages { found, .. } in all {
        sum.pages += found.pages;
        sum.failed += found.failed;
        sum.page.add(found.page);
        sum.chunk.add(found.chunk);
    }
    Some(sum)
}

struct Pages<'a> {
    code: &'a Code,
    what: &'a Predict,
    channel: Channel,
    decoder: Decoder,
    sensing: &'a Sensing,
    found: Predictions,
}

impl Pages<'_> {
    fn take(&mut self, page: u64) {
        let sent = Word::zero();
        let (mut failed, mut weight, mut first) = (false, 0, 0);
        for number in 0..PAGE_CODEWORDS {
            let marks = self.channel.draw(PAGE_CODEWORDS * page + number);
            let syndrome = self.code.syndrome(&Channel::received(&sent, marks, self.sensing));
            weight += syndrome.weight();
            if number == 0 {
                first = syndrome.first_weight();
            }
            // One codeword is enough for the page to fail.
            if !failed {
                let decoded = self.decoder.decode(&sent, marks, self.sensing);
                failed = !decoded.success || *self.decoder.word() != sent;
            }
        }
        self.found.pages += 1;
        self.found.failed += u64::from(failed);
        self.found.page.count(weight > self.what.thresholds.page, failed);
        self.found.chunk.count(first > self.what.thresholds.chunk, failed);
    }
}
