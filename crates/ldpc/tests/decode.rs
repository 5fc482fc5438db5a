//! Do the decoders do what their definition says, on any codeword, on any number of threads?

mod common;

use common::{code, job, min_sum, payload, run};
use tailcut_ldpc::{
    CHECKS, CODEWORD_BITS, Channel, Decoded, Decoder, Encoder, Errors, Mark, Method, Schedule, Sensing,
    Settings, Word, measure,
};

/// Min-sum as it is defined, one edge at a time and with 64-bit integers.
struct Plain {
    checks: Vec<Vec<usize>>,
    messages: Vec<Vec<i64>>,
    channel: Vec<i64>,
    totals: Vec<i64>,
}

impl Plain {
    fn new() -> Plain {
        let code = code();
        let checks: Vec<Vec<usize>> = (0..CHECKS).map(|check| code.bits_of(check).collect()).collect();
        let messages = checks.iter().map(|bits| vec![0; bits.len()]).collect();
        Plain { checks, messages, channel: vec![0; CODEWORD_BITS], totals: vec![0; CODEWORD_BITS] }
    }

    /// What a check sends to one of its bits: the smallest magnitude of the others, clamped, times 3/4,
    /// rounded, with the product of their signs.
    fn answer(inputs: &[i64], to: usize) -> i64 {
        let others = || inputs.iter().enumerate().filter(|&(i, _)| i != to).map(|(_, &input)| input);
        let least = others().map(i64::abs).min().expect("other bits").min(8000);
        let size = (least * 3 + 2) / 4;
        if others().filter(|&input| input < 0).count() % 2 == 1 { -size } else { size }
    }

    fn decode(
        &mut self,
        sent: &Word,
        marks: &[Mark],
        sensing: &Sensing,
        schedule: Schedule,
    ) -> (Decoded, Word) {
        let sign = |bit: usize| if sent.bit(bit) { -1 } else { 1 };
        for bit in 0..CODEWORD_BITS {
            self.channel[bit] = sign(bit) * i64::from(sensing.values()[0]);
        }
        for mark in marks {
            let bit = usize::from(mark.bit);
            self.channel[bit] = sign(bit) * i64::from(sensing.values()[usize::from(mark.level)]);
        }
        self.totals.clone_from(&self.channel);
        self.messages.iter_mut().for_each(|of_check| of_check.fill(0));
        for iterations in 0..=20 {
            let word = self.word();
            if self.checks.iter().all(|bits| bits.iter().filter(|&&bit| word.bit(bit)).count() % 2 == 0) {
                return (Decoded { success: true, iterations }, word);
            }
            if iterations == 20 {
                return (Decoded { success: false, iterations }, word);
            }
            for (bits, messages) in self.checks.iter().zip(&mut self.messages) {
                let inputs: Vec<i64> =
                    bits.iter().zip(&*messages).map(|(&bit, m)| self.totals[bit] - m).collect();
                for (i, &bit) in bits.iter().enumerate() {
                    messages[i] = Plain::answer(&inputs, i);
                    if schedule == Schedule::Layered {
                        // Checks of one block row share no bit, so that their order has no meaning.
                        self.totals[bit] = inputs[i] + messages[i];
                    }
                }
            }
            if schedule == Schedule::Flooding {
                self.totals.clone_from(&self.channel);
                for (bits, messages) in self.checks.iter().zip(&self.messages) {
                    bits.iter().zip(messages).for_each(|(&bit, message)| self.totals[bit] += message);
                }
            }
        }
        unreachable!("the loop returns")
    }

    fn word(&self) -> Word {
        let mut word = Word::zero();
        for bit in 0..CODEWORD_BITS {
            if self.totals[bit] < 0 || self.totals[bit] == 0 && self.channel[bit] < 0 {
                word.flip(bit);
            }
        }
        word
    }
}

#[test]
fn the_vectorised_decoder_is_the_plain_one_bit_for_bit() {
    let encoder = Encoder::new(&code()).unwrap();
    let mut plain = Plain::new();
    let (mut decoded, mut failed) = (0, 0);
    for schedule in [Schedule::Flooding, Schedule::Layered] {
        let mut decoder = Decoder::new(&code(), &min_sum(schedule, "0.75"));
        for (senses, p) in [(0, 0.004), (0, 0.0085), (0, 0.012), (2, 0.016), (4, 0.02)] {
            let sensing = Sensing::new(senses, p).unwrap();
            let mut channel = Channel::new(3, Errors::Rate(p), &sensing);
            for frame in 0..2 {
                let sent = encoder.encode(&payload(frame));
                let marks = channel.draw(frame);
                let (expected, word) = plain.decode(&sent, marks, &sensing, schedule);
                assert_eq!(
                    decoder.decode(&sent, marks, &sensing),
                    expected,
                    "{schedule:?} {senses} {p} {frame}"
                );
                assert_eq!(*decoder.word(), word, "{schedule:?} {senses} {p} {frame}");
                (decoded, failed) = (decoded + u32::from(word == sent), failed + u32::from(word != sent));
            }
        }
    }
    assert!(decoded >= 5 && failed >= 3, "both kinds were compared: {decoded}, {failed}");
}

#[test]
fn every_codeword_is_decoded_like_the_one_of_zeros() {
    let encoder = Encoder::new(&code()).unwrap();
    let methods = [
        (min_sum(Schedule::Flooding, "0.75"), 0, 0.0085),
        (min_sum(Schedule::Layered, "0.75"), 0, 0.0085),
        (min_sum(Schedule::Flooding, "0.75"), 2, 0.017),
        (min_sum(Schedule::Flooding, "1"), 0, 0.003),
        (Settings { method: Method::BitFlip, iterations: 50 }, 0, 0.005),
    ];
    for (settings, senses, p) in methods {
        let sensing = Sensing::new(senses, p).unwrap();
        let mut channel = Channel::new(5, Errors::Rate(p), &sensing);
        let (mut one, mut other) = (Decoder::new(&code(), &settings), Decoder::new(&code(), &settings));
        for frame in 0..12 {
            let marks = channel.draw(frame);
            let sent = encoder.encode(&payload(100 + frame));
            let of_zeros = one.decode(&Word::zero(), marks, &sensing);
            assert_eq!(other.decode(&sent, marks, &sensing), of_zeros, "{settings:?} {frame}");
            // The bits that are still wrong are the same too.
            let left: Vec<bool> =
                (0..CODEWORD_BITS).map(|bit| other.word().bit(bit) != sent.bit(bit)).collect();
            assert!(
                left.iter().enumerate().all(|(bit, &wrong)| one.word().bit(bit) == wrong),
                "{settings:?}"
            );
        }
    }
}

#[test]
fn a_codeword_without_errors_takes_no_iteration() {
    let sent = Encoder::new(&code()).unwrap().encode(&payload(0));
    for method in [Settings::DEFAULT.method, Method::BitFlip] {
        let mut decoder = Decoder::new(&code(), &Settings { method, iterations: 20 });
        assert_eq!(decoder.decode(&sent, &[], &Sensing::hard()), Decoded { success: true, iterations: 0 });
        // One wrong bit takes one.
        let mark = [Mark { bit: 77, level: 1 }];
        let decoded = decoder.decode(&sent, &mark, &Sensing::hard());
        assert_eq!((decoded.success, decoder.word() == &sent), (true, true));
        assert!((1..=3).contains(&decoded.iterations), "{method:?}: {decoded:?}");
    }
}

#[test]
fn results_do_not_depend_on_threads_and_a_stopped_job_has_none() {
    let job = job(Settings::DEFAULT, 0, 0.008, 100);
    let [one, two, five] = [1, 2, 5].map(|threads| measure(&code(), &job, threads, &|_| true).unwrap());
    assert_eq!(one, two);
    assert_eq!(one, five);
    assert_eq!(one.frames, 100);
    assert_eq!(one.failed + one.decoded_in.iter().sum::<u64>(), 100);
    assert_eq!(measure(&code(), &job, 2, &|_| false), None);
}

#[test]
fn the_channel_gives_the_errors_it_is_asked_for() {
    let sensing = Sensing::hard();
    for n in [0, 1, 313, CODEWORD_BITS as u32] {
        let mut channel = Channel::new(1, Errors::Exactly(n), &sensing);
        let received = Channel::received(&Word::zero(), channel.draw(4), &sensing);
        assert_eq!(received.distance(&Word::zero()), n, "at distinct positions");
    }
    let tally = run(&job(Settings { iterations: 1, ..Settings::DEFAULT }, 0, 0.0085, 2000));
    // 2,000 × 36,864 bits: a standard error of 1.07e-5; five of them.
    assert!((tally.raw_error_rate() - 0.0085).abs() < 5.4e-5, "{}", tally.raw_error_rate());
    let soft = run(&job(Settings { iterations: 1, ..Settings::DEFAULT }, 4, 0.0085, 2000));
    assert!((soft.raw_error_rate() - 0.0085).abs() < 5.4e-5, "{}", soft.raw_error_rate());
}

#[test]
#[should_panic(expected = "senses for one of 0.004")]
fn senses_for_another_error_rate_are_a_defect() {
    Channel::new(1, Errors::Rate(0.008), &Sensing::new(0, 0.004).unwrap());
}
