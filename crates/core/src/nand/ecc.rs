//! The decoder of a channel: a FIFO with room for a few codewords.
//!
//! Codewords come from one channel in order and are never preempted. All times can therefore be
//! computed when a transfer starts, without an event for each codeword.

use super::config::EccConfig;
use serde::{Deserialize, Serialize};

/// The times of one transfer and its decoding, ns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decoding {
    /// When the channel is free again.
    pub channel_free: u64,
    /// How long the channel stalled because the decoder was full.
    pub stalled: u64,
    /// How long the last codeword waited for the decoder.
    pub waited: u64,
    /// When the last codeword is decoded.
    pub done: u64,
    /// The part of the time until `done` that a prediction took.
    pub predicted: u64,
}

/// The decoder of one channel.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Ecc {
    decode: u64,
    /// When each of the last `queue` codewords is (or was) decoded; the oldest is at `next`.
    finished: Vec<u64>,
    next: usize,
    /// When the decoder becomes idle.
    free: u64,
    /// How the last transfer divides into codewords. Most transfers have the same size.
    #[serde(skip)]
    split: Split,
}

/// A transfer divided into codewords: codeword `i` of `n` ends after `transfer * i / n`, rounded up.
#[derive(Clone, Copy, Debug, Default)]
struct Split {
    transfer: u64,
    codewords: u32,
    /// `transfer / codewords` and its remainder.
    whole: u64,
    rest: u32,
}

impl Split {
    fn new(transfer: u64, codewords: u32) -> Split {
        let n = u64::from(codewords.max(1));
        Split { transfer, codewords, whole: transfer / n, rest: (transfer % n) as u32 }
    }
}

impl Ecc {
    /// An idle decoder.
    pub fn new(config: &EccConfig) -> Ecc {
        Ecc {
            decode: config.decode.0,
            finished: vec![0; config.queue as usize],
            next: 0,
            free: 0,
            split: Split::default(),
        }
    }

    /// Begin at `now` a transfer of `codewords` codewords that takes `transfer` ns without stalls.
    /// Returns its times.
    #[inline]
    pub fn transfer(&mut self, now: u64, codewords: u32, transfer: u64) -> Decoding {
        if self.decode == 0 {
            let end = now + transfer;
            return Decoding { channel_free: end, stalled: 0, waited: 0, done: end, predicted: 0 };
        }
        self.transfer_each(now, transfer, codewords, |decode, _| decode)
    }

    /// The same for codewords whose decoding takes different times: `time` gives them, from the configured
    /// time and the number of the codeword.
    #[inline]
    pub fn transfer_each(
        &mut self,
        now: u64,
        transfer: u64,
        codewords: u32,
        time: impl Fn(u64, u32) -> u64,
    ) -> Decoding {
        if self.split.transfer != transfer || self.split.codewords != codewords {
            self.split = Split::new(transfer, codewords);
        }
        let Split { whole, rest, .. } = self.split;
        // The fraction of a nanosecond, in codewords, by which `before` is rounded up.
        let mut ahead = 0;
        let mut stalled = 0;
        let mut arrival = now;
        let mut done = now;
        let mut waited = 0;
        let mut before = 0;
        for number in 0..codewords {
            // A codeword needs a place in the decoder before its transfer begins.
            let place = self.finished[self.next];
            let begin = now + stalled + before;
            stalled += place.saturating_sub(begin);
            before += whole;
            if rest > ahead {
                before += 1;
                ahead += codewords;
            }
            ahead -= rest;
            arrival = now + stalled + before;
            let start = arrival.max(self.free);
            waited = start - arrival;
            done = start + time(self.decode, number);
            self.free = done;
            self.finished[self.next] = done;
            self.next = if self.next + 1 == self.finished.len() { 0 } else { self.next + 1 };
        }
        Decoding { channel_free: arrival, stalled, waited, done, predicted: 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tailcut_units::Span;

    fn ecc(decode: u64, queue: u32) -> Ecc {
        Ecc::new(&EccConfig { codeword: 1024, decode: Span(decode), queue })
    }

    #[test]
    fn a_fast_decoder_adds_one_decode() {
        let d = ecc(5, 2).transfer(100, 4, 40);
        assert_eq!(d, Decoding { channel_free: 140, stalled: 0, waited: 0, done: 145, predicted: 0 });
    }

    #[test]
    fn a_slow_decoder_backs_up_into_the_channel() {
        // Codewords arrive every 10, decoding takes 25, two places: the third may only
        // begin when the first is decoded (135), the fourth when the second is (160).
        let d = ecc(25, 2).transfer(100, 4, 40);
        assert_eq!(d.done, 110 + 4 * 25);
        assert_eq!(d.channel_free, 170);
        assert_eq!((d.stalled, d.waited), (30, 15));
    }

    #[test]
    fn a_codeword_ends_at_its_share_of_the_transfer_rounded_up() {
        for transfer in 0..60u64 {
            for n in 1..20 {
                // The decoder never stalls the channel, and decodes each codeword at once.
                let mut ecc = ecc(1, 64);
                let d = ecc.transfer(1_000_000, n, transfer);
                assert_eq!(d.channel_free, 1_000_000 + transfer, "{transfer} in {n}");
                let ends = (1..=u64::from(n)).map(|i| (transfer * i).div_ceil(n.into()));
                let mut free = 0;
                for (i, end) in ends.enumerate() {
                    free = free.max(1_000_000 + end) + 1;
                    assert_eq!(ecc.finished[i], free, "codeword {i} of {n} in {transfer}");
                }
            }
        }
    }

    /// The arithmetic against a step-by-step simulation of the same queue.
    #[test]
    fn arithmetic_equals_stepping() {
        let mut s = tailcut_units::Stream::new(3, "ecc", 0);
        for _ in 0..200 {
            let (decode, queue) = (s.below(30), 1 + s.below(4) as u32);
            let mut fast = ecc(decode, queue);
            let (mut now, mut in_decoder, mut free) = (0u64, Vec::<u64>::new(), 0u64);
            for _ in 0..20 {
                now += s.below(100);
                let n = 1 + s.below(6) as u32;
                let per = 1 + s.below(20);
                let got = fast.transfer(now, n, per * u64::from(n));
                let mut t = now;
                for _ in 0..n {
                    loop {
                        in_decoder.retain(|&end| end > t);
                        if decode == 0 || in_decoder.len() < queue as usize {
                            break;
                        }
                        t += 1;
                    }
                    t += per;
                    free = free.max(t) + decode;
                    in_decoder.push(free);
                }
                assert_eq!((got.channel_free, got.done), (t, free.max(t)));
                now = t;
            }
        }
    }
}
