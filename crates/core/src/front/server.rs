//! FIFO servers without preemption, whose times are computed at each request.

use serde::{Deserialize, Serialize};
use tailcut_units::Span;

/// A processor that does one piece of work after another.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Server {
    /// When its last work ends, ns.
    free: u64,
}

impl Server {
    /// Do work of `span` ns that is ready at `from`. Returns when it begins.
    #[inline]
    pub fn serve(&mut self, from: u64, span: u64) -> u64 {
        let begin = from.max(self.free);
        self.free = begin + span;
        begin
    }
}

/// One direction of the host link.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct LinkWay {
    /// When the last transfer granted ends, ns.
    free: u64,
    /// Time of the transfers granted so far, ns. A transfer counts in full when it is granted.
    granted: u64,
    /// Bytes of the last transfer, and its time, ns. Most transfers have the same size.
    #[serde(skip)]
    last: (u64, u64),
}

impl LinkWay {
    /// Grant the link for a transfer, from `from` on, as soon as it is free. Returns the start of the transfer and its
    /// duration.
    #[inline]
    pub fn grant(&mut self, from: u64, bytes: u64, rate: u64) -> (u64, u64) {
        if self.last.0 != bytes {
            self.last = (bytes, Span::transfer(bytes, rate).0);
        }
        let (begin, span) = (from.max(self.free), self.last.1);
        self.free = begin + span;
        self.granted += span;
        (begin, span)
    }

    /// Time of the transfers granted so far, ns.
    pub fn granted(&self) -> u64 {
        self.granted
    }

    /// Time up to `now` in which data were transferred, ns, if the transfers that have not ended follow one another
    /// without gaps.
    pub fn moved(&self, now: u64) -> u64 {
        self.granted - self.free.saturating_sub(now).min(self.granted)
    }
}
