//! The decoder of a channel: a FIFO with room for a few codewords, in front of one engine or several.
//!
//! Codewords come from one channel in order and are never preempted. All times can therefore be
//! computed when a transfer starts, without an event for each codeword.

use super::config::EccConfig;
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The times of one transfer and its decoding, ns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decoding {
    /// When the channel is free again.
    pub channel_free: u64,
    /// Time in which the channel stalled because the decoder was full.
    pub stalled: u64,
    /// Time after the transfer in which the codeword that is decoded last waited for an engine.
    pub waited: u64,
    /// When all codewords are decoded.
    pub done: u64,
    /// The time of a prediction that is part of the time until `done`.
    pub predicted: u64,
}

impl Decoding {
    /// The times of codewords that do not wait for one another.
    #[inline]
    pub fn apart(channel_free: u64, done: u64) -> Decoding {
        Decoding { channel_free, stalled: 0, waited: 0, done, predicted: 0 }
    }
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
    /// Replaces the three fields above if there are several engines.
    parallel: Option<Box<Parallel>>,
    /// The division of the last transfer into codewords. Most transfers have the same size.
    #[serde(skip)]
    split: Split,
}

/// Several engines. A codeword goes to the one that becomes idle first.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Parallel {
    /// When each buffer for a codeword becomes free.
    places: BinaryHeap<Reverse<u64>>,
    /// When each engine becomes idle.
    engines: BinaryHeap<Reverse<u64>>,
}

/// Replace the earliest of these times by the result of `later`.
fn replace_first(times: &mut BinaryHeap<Reverse<u64>>, later: impl FnOnce(u64) -> u64) {
    if let Some(mut first) = times.peek_mut() {
        *first = Reverse(later(first.0));
    }
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

    /// The end of each codeword, counted from the beginning of the transfer, without stalls.
    #[inline]
    fn ends(self) -> impl Iterator<Item = u64> {
        // `ahead` is the fraction of a nanosecond, in codewords, by which `before` is rounded up.
        let (mut ahead, mut before) = (0, 0);
        (0..self.codewords).map(move |_| {
            before += self.whole;
            if self.rest > ahead {
                before += 1;
                ahead += self.codewords;
            }
            ahead -= self.rest;
            before
        })
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
            parallel: config.engines.filter(|&engines| engines > 1).map(|engines| {
                Box::new(Parallel {
                    places: (0..config.queue).map(|_| Reverse(0)).collect(),
                    engines: (0..engines).map(|_| Reverse(0)).collect(),
                })
            }),
            split: Split::default(),
        }
    }

    /// Divide a transfer into codewords, unless the last transfer had the same size.
    #[inline]
    fn divide(&mut self, transfer: u64, codewords: u32) {
        if self.split.transfer != transfer || self.split.codewords != codewords {
            self.split = Split::new(transfer, codewords);
        }
    }

    /// Begin at `now` a transfer of `codewords` codewords that takes `transfer` ns without stalls.
    /// Returns its times.
    #[inline]
    pub fn transfer(&mut self, now: u64, codewords: u32, transfer: u64) -> Decoding {
        if self.decode == 0 {
            return Decoding::apart(now + transfer, now + transfer);
        }
        match self.transfer_apart(now, transfer, codewords, (0, 0)) {
            Some(done) => Decoding::apart(now + transfer, done),
            None => self.transfer_each(now, transfer, codewords, |decode, _| decode),
        }
    }

    /// [`Ecc::transfer`] for codewords whose decoding takes the configured time and at most `most`; the last one takes
    /// the configured time and `last`. Returns when all are decoded, or `None` if one of them may wait for another,
    /// which needs [`Ecc::transfer_each`].
    #[inline]
    pub fn transfer_apart(
        &mut self,
        now: u64,
        transfer: u64,
        codewords: u32,
        (most, last): (u64, u64),
    ) -> Option<u64> {
        self.divide(transfer, codewords);
        // The condition: the engine is idle when the first codeword arrives, and decodes each one before the next has
        // arrived. With a single buffer, the transfer of the next one would have to wait.
        let whole = self.split.whole;
        let waits = self.free > now + whole || self.finished[self.next] > now || self.decode + most > whole;
        if waits || self.finished.len() < 2 || self.parallel.is_some() {
            return None;
        }
        // Only the last codeword may still be in the decoder when another transfer begins.
        let done = now + transfer + self.decode + last;
        self.free = done;
        self.finished[self.next] = done;
        self.next = if self.next + 1 == self.finished.len() { 0 } else { self.next + 1 };
        Some(done)
    }

    /// [`Ecc::transfer`] for codewords with different decoding times. `time` computes each from the configured time and
    /// the number of the codeword.
    #[inline]
    pub fn transfer_each(
        &mut self,
        now: u64,
        transfer: u64,
        codewords: u32,
        time: impl Fn(u64, u32) -> u64,
    ) -> Decoding {
        self.divide(transfer, codewords);
        if let Some(parallel) = &mut self.parallel {
            return parallel.transfer(now, self.split, |number| time(self.decode, number));
        }
        let (mut stalled, mut before, mut waited) = (0, 0, 0);
        let (mut arrival, mut done) = (now, now);
        for (number, end) in (0..).zip(self.split.ends()) {
            // A codeword needs a buffer in the decoder before its transfer begins.
            let place = self.finished[self.next];
            stalled += place.saturating_sub(now + stalled + before);
            before = end;
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

impl Parallel {
    /// [`Ecc::transfer_each`] for several engines.
    #[inline(never)]
    fn transfer(&mut self, now: u64, split: Split, time: impl Fn(u32) -> u64) -> Decoding {
        let (mut stalled, mut before) = (0, 0);
        let (mut arrival, mut done, mut last_start) = (now, now, now);
        for (number, end) in (0..).zip(split.ends()) {
            let mut decoded = 0;
            replace_first(&mut self.places, |place| {
                stalled += place.saturating_sub(now + stalled + before);
                before = end;
                arrival = now + stalled + before;
                replace_first(&mut self.engines, |idle| {
                    let start = arrival.max(idle);
                    decoded = start + time(number);
                    if decoded >= done {
                        (done, last_start) = (decoded, start);
                    }
                    decoded
                });
                decoded
            });
        }
        let waited = last_start.saturating_sub(arrival);
        // The arithmetic may finish a fast codeword after a slow one before the end of its own transfer, hence the
        // maximum.
        Decoding { channel_free: arrival, stalled, waited, done: done.max(arrival), predicted: 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use tailcut_units::Span;

    fn ecc(decode: u64, queue: u32) -> Ecc {
        Ecc::new(&EccConfig { codeword: 1024, decode: Span(decode), queue, engines: None })
    }

    #[test]
    fn a_fast_decoder_adds_one_decode() {
        let d = ecc(5, 2).transfer(100, 4, 40);
        assert_eq!(d, Decoding { channel_free: 140, stalled: 0, waited: 0, done: 145, predicted: 0 });
    }

    proptest! {
        /// Codewords that do not wait for one another have the times that they have one by one.
        #[test]
        fn codewords_apart_are_those_one_by_one(
            transfers in prop::collection::vec((0u64..300, 1u32..6, prop::collection::vec(0u64..40, 6)), 1..30),
            queue in 1u32..5,
        ) {
            let (mut each, mut apart) = (ecc(2, queue), ecc(2, queue));
            let (mut now, mut quick) = (0, 0);
            for (pause, codewords, times) in transfers {
                let transfer = u64::from(codewords) * 30 + 1;
                let time = |decode: u64, number: u32| decode + times[number as usize];
                let expected = each.transfer_each(now, transfer, codewords, time);
                let of = &times[..codewords as usize];
                let (most, last) = (*of.iter().max().unwrap(), of[of.len() - 1]);
                let found = apart.transfer_apart(now, transfer, codewords, (most, last));
                quick += u32::from(found.is_some());
                let found = match found {
                    Some(done) => Decoding::apart(now + transfer, done),
                    None => apart.transfer_each(now, transfer, codewords, time),
                };
                prop_assert_eq!(found, expected);
                now = expected.channel_free + pause;
            }
            prop_assume!(quick > 0);
        }
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
                let d = ecc.transfer_each(1_000_000, transfer, n, |decode, _| decode);
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

    #[test]
    fn engines_decode_at_the_same_time() {
        let config = EccConfig { codeword: 1024, decode: Span(25), queue: 4, engines: Some(2) };
        // Codewords arrive at 110, 120, 130 and 140. Two are decoded until 135 and 145, the next two until 160
        // and 170.
        let d = Ecc::new(&config).transfer(100, 4, 40);
        assert_eq!(d, Decoding { channel_free: 140, stalled: 0, waited: 5, done: 170, predicted: 0 });
        // A queue of two: the third codeword begins when the first is decoded, the fourth after the second.
        let d = Ecc::new(&EccConfig { queue: 2, ..config.clone() }).transfer(100, 4, 40);
        assert_eq!(d, Decoding { channel_free: 155, stalled: 15, waited: 0, done: 180, predicted: 0 });
        // The first codeword takes longer than all that follow.
        let d = Ecc::new(&config).transfer_each(100, 40, 4, |_, n| if n == 0 { 95 } else { 1 });
        assert_eq!(d, Decoding { channel_free: 140, stalled: 0, waited: 0, done: 205, predicted: 0 });
    }

    /// Engines one after another are as one engine if a codeword has one.
    #[test]
    fn a_queue_of_one_place_uses_one_engine() {
        let mut s = tailcut_units::Stream::new(4, "ecc engines", 0);
        for _ in 0..200 {
            let config = EccConfig { codeword: 1024, decode: Span(s.below(30)), queue: 1, engines: None };
            let (mut one, mut three) =
                (Ecc::new(&config), Ecc::new(&EccConfig { engines: Some(3), ..config }));
            let mut now = 0;
            for _ in 0..20 {
                now += s.below(100);
                let (n, transfer) = (1 + s.below(6) as u32, s.below(100));
                let [a, b] = [&mut one, &mut three]
                    .map(|ecc| ecc.transfer_each(now, transfer, n, |d, i| d + u64::from(i)));
                assert_eq!(a, b);
                now = a.channel_free;
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
