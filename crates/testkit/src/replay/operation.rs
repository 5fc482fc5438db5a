//! The waits and steps of one flash operation.

use super::account::Account;
use super::history::History;
use super::write::Placed;
use tailcut_core::device::config::DeviceConfig;
use tailcut_core::device::{OpKind, QueueEvent, QueueStep, Step, StepEvent};
use tailcut_core::flash::setup::Parts;
use tailcut_core::nand::loops::MOST_LOOPS;
use tailcut_core::nand::timing::Timing;
use tailcut_core::policy::read_retry::{PredictorSite, ReadRetryConfig};
use tailcut_units::{Cause, Occupant};

/// The senses after the first, as a configuration has them.
#[derive(Clone, Copy, Default)]
pub struct Further {
    /// The share of a sense's time that is left out.
    shorter: f64,
    /// The time in which one that was begun ahead is dropped, ns.
    drop: Option<u64>,
}

impl Further {
    /// Those of this drive.
    pub fn of(config: &DeviceConfig) -> Further {
        match &config.policy.read_retry {
            ReadRetryConfig::Walk(walk) => {
                Further { shorter: walk.shorter, drop: walk.pipelined.then_some(walk.drop.0) }
            }
            _ => Further::default(),
        }
    }

    /// The time of one that would take `whole` as the first, ns.
    fn ns(self, whole: u64) -> u64 {
        (whole as f64 * (1.0 - self.shorter)).ceil() as u64
    }
}

/// A flash operation, kept until its number is used again.
pub struct Operation {
    /// The event of its arrival at the die.
    pub told: QueueEvent,
    /// Since when the operation is in the die's queue, ns.
    pub queued: Option<u64>,
    /// Since when the operation waits for the channel, ns.
    waits: Option<u64>,
    /// Time at which the operation first used the channel, ns.
    pub started: Option<u64>,
    /// It has the cache register of its die, where another program is in the array.
    pub cached: bool,
    /// When its data were in there, ns.
    pub loaded: Option<u64>,
    /// The operations that are done together with this one.
    pub joined: Vec<u32>,
    /// The operation is suspended or being resumed.
    suspended: bool,
    /// Time spent waiting for the channel while being resumed, ns.
    resuming: u64,
    /// Start of the last array phase (sense, program or erase), and the phase's nominal length,
    /// ns.
    array: (u64, u64),
    /// Senses that the controller has ordered.
    pub senses: u32,
    /// End of the last of them, ns.
    sensed: u64,
    /// If the die has begun the next sense: until when it is kept after the last transfer, ns.
    ahead: Option<u64>,
    /// Until when it is kept if the sense is not needed, ns.
    dropped: u64,
    /// End of the data transfer out, ns.
    out: u64,
    /// What the last codeword of a page with raw bit errors took in the decoder, ns.
    decode: Option<u64>,
    /// When it is decoded, ns.
    decoded: u64,
    /// Time at which the operation ended, ns.
    pub ended: Option<u64>,
    /// The write unit that the operation programs.
    pub placed: Option<Placed>,
    /// pblk: what its command waited for before it, from the request's look-up on.
    pub before: Account,
    /// Nanoseconds by cause.
    pub account: Account,
}

impl Operation {
    /// An operation that arrives at its die.
    pub fn new(told: QueueEvent, placed: Option<Placed>) -> Operation {
        Operation {
            told,
            queued: Some(told.at.0),
            waits: None,
            started: None,
            cached: false,
            loaded: None,
            joined: Vec::new(),
            suspended: false,
            resuming: 0,
            array: (0, 0),
            senses: 0,
            sensed: 0,
            ahead: None,
            dropped: 0,
            out: 0,
            decode: None,
            decoded: 0,
            ended: None,
            placed,
            before: Account::default(),
            account: Account::default(),
        }
    }

    /// Whether the operation is suspended or being resumed.
    pub fn is_suspended(&self) -> bool {
        self.suspended
    }

    /// The operation waits for the channel from `at` on.
    pub fn wait_for_channel(&mut self, at: u64) {
        self.waits = Some(at);
    }

    /// End the wait for the channel at `now` and charge it.
    pub fn charge_channel(&mut self, channel: &History, now: u64) {
        let Some(since) = self.waits.take() else { return };
        let before = self.account.sum();
        channel.charge(since, now, None, &mut self.account);
        if self.suspended {
            self.resuming += self.account.sum() - before;
        }
    }

    /// Apply a step that concerns this operation and not those that joined it.
    pub fn step(&mut self, e: &StepEvent, further: Further, parts: &Parts) -> Result<(), String> {
        match e.step {
            Step::Suspended => self.suspended = true,
            Step::Resuming => self.waits = Some(e.at.0),
            Step::ChannelOut => {
                let whole = parts.timing.transfer_codewords_ns(self.told.codewords);
                // A second sense may be for known cells alone.
                let known = parts.senses.as_ref().map_or(0, |senses| senses.known_ns(whole));
                let transfer = if self.senses == 2 && known > 0 { known } else { whole };
                let spent = e.until.0 - e.at.0;
                let stalled = spent.checked_sub(transfer).ok_or("data go out faster than the channel")?;
                self.account.add(Cause::TRANSFER, transfer);
                self.account.add(Cause::ECC_QUEUE, stalled);
                self.out = e.until.0;
            }
            Step::Decode => self.decodes(e, parts)?,
            Step::Ahead => self.senses_ahead(e, further, parts)?,
            _ => {}
        }
        Ok(())
    }

    /// Apply an array step. Returns `None` if the operation resumes. If the operation enters
    /// the array, checks the length of the step and returns it: the nominal array time, ns. `further`: that of the
    /// drive if no page is sensed for the first time.
    pub fn array(
        &mut self,
        e: &StepEvent,
        further: Option<Further>,
        parts: &Parts,
    ) -> Result<Option<u64>, String> {
        if std::mem::take(&mut self.suspended) {
            return Ok(None);
        }
        let t = &parts.timing;
        let nominal = match e.kind {
            OpKind::Read => {
                let whole = t.read_ns(e.page);
                let sense = further.map_or(whole, |further| further.ns(whole));
                if let Some(kept) = self.ahead.take() {
                    // It began when the last sense ended.
                    let rest = (self.sensed + sense).saturating_sub(kept);
                    return match (e.at.0, e.until.0 - e.at.0) == (kept, rest) {
                        true => Ok(Some(rest)),
                        false => Err(format!("{e:?} should take {rest} ns from {kept} on")),
                    };
                }
                let beyond = (e.until.0 - e.at.0).checked_sub(sense).ok_or("a sense is too short")?;
                self.check_beyond(beyond, whole, parts)?;
                return Ok(Some(sense));
            }
            OpKind::Copyback if e.occupant == Occupant::GcRead => t.read_ns(e.page),
            OpKind::Copyback | OpKind::Program => {
                program_ns(t, parts.slow_programs.as_ref(), e.page, e.until.0 - e.at.0)
            }
            OpKind::Erase => match &parts.eraser {
                _ if t.is_slc(e.page) => t.erase_ns_of(e.page),
                None => t.erase_ns,
                Some(eraser) => planned(e.until.0 - e.at.0, t.loops.others(), eraser.chip().step_ns),
            },
        };
        if e.until.0 - e.at.0 != nominal {
            return Err(format!("{e:?} should take {nominal} ns"));
        }
        Ok(Some(nominal))
    }

    /// Check what the senses of a read take beyond one: the prediction of the die, if the read or one that
    /// joined it is sensed for the first time, and a sense that the die makes by itself.
    fn check_beyond(&self, beyond: u64, sense: u64, parts: &Parts) -> Result<(), String> {
        let predict = predict_ns(parts, PredictorSite::Die);
        match [0, predict, sense_in_die(parts, sense)].contains(&beyond) {
            true => Ok(()),
            false => Err(format!("{:?}: {beyond} ns beyond a sense", self.told)),
        }
    }

    /// Charge what the senses of the read took beyond one, which takes `sense`, and `in_die` one that the die
    /// makes by itself. It has them at `sensed`.
    pub fn sensed_beyond(&mut self, sensed: u64, beyond: u64, sense: u64, in_die: u64) {
        self.senses += 1;
        self.sensed = sensed;
        // The die senses again only what it has predicted to fail.
        let again = if beyond == in_die { sense } else { 0 };
        self.account.add(Cause::RETRY_ARRAY, again);
        self.account.add(Cause::PREDICT, beyond - again);
    }

    /// The last codeword is in the decoder.
    fn decodes(&mut self, e: &StepEvent, parts: &Parts) -> Result<(), String> {
        let senses = parts.senses.as_ref().ok_or("a decode is reported of a drive without raw bit errors")?;
        let predict = if self.senses == 1 { senses.predict_ns(PredictorSite::Controller) } else { 0 };
        let took = e.until.0 - e.at.0;
        let decode = took.checked_sub(predict).ok_or("a prediction is too short")?;
        self.account.add(Cause::PREDICT, predict);
        self.decode = Some(decode);
        self.decoded = e.until.0;
        Ok(())
    }

    /// The die has begun the next sense when the last one ended, and is kept until the data of the last are decoded,
    /// or until it has dropped the next.
    fn senses_ahead(&mut self, e: &StepEvent, further: Further, parts: &Parts) -> Result<(), String> {
        let drop = further.drop.ok_or("a drive senses ahead that is not to")?;
        let sensed = self.sensed + further.ns(parts.timing.read_ns(e.page));
        self.dropped = self.decoded.max(sensed.min(self.decoded + drop));
        if self.senses < 2 || e.at.0 != self.out || ![self.decoded, self.dropped].contains(&e.until.0) {
            return Err(format!("{e:?}: decoded at {}, dropped at {}", self.decoded, self.dropped));
        }
        self.ahead = Some(e.until.0);
        Ok(())
    }

    /// The data could not be decoded, and the read is queued again, or sensed on by its die.
    pub fn retries(&mut self, e: QueueEvent, predict: u64) -> Result<(), String> {
        let now = e.at.0;
        self.charge_decoding(now, 0, predict)?;
        self.account = self.account.retried();
        self.told = QueueEvent { at: self.told.at, ..e };
        if e.step == QueueStep::SensesOn {
            return self
                .ahead
                .filter(|&kept| kept == now)
                .map(|_| ())
                .ok_or("nothing is sensed ahead".into());
        }
        if self.ahead.is_some() {
            return Err("it is queued again, and its die has begun to sense it".into());
        }
        (self.queued, self.started) = (Some(now), None);
        self.joined.clear();
        Ok(())
    }

    fn charge_decoding(&mut self, now: u64, decode: u64, predict: u64) -> Result<(), String> {
        let predict = if self.senses == 1 { predict } else { 0 };
        let decode = self.decode.take().unwrap_or(decode);
        let waited = (now - self.out).checked_sub(decode + predict).ok_or("data are decoded too soon")?;
        self.account.add(Cause::DECODE, decode);
        self.account.add(Cause::ECC_QUEUE, waited);
        Ok(())
    }

    /// The operation, or the one it joined, enters the array at `at` for nominally `ns`.
    pub fn sensed_or_pulsed(&mut self, at: u64, ns: u64) {
        self.array = (at, ns);
        self.account.add(Cause::ARRAY, ns);
    }

    /// End the operation and check that its account adds up to the time since its arrival.
    pub fn end(&mut self, now: u64, decode: u64, predict: u64) -> Result<(), String> {
        self.ended = Some(now);
        if self.told.kind == OpKind::Read {
            if self.ahead.is_some_and(|kept| kept != self.dropped) {
                return Err(format!(
                    "{:?} is kept until {:?} and not {}",
                    self.told, self.ahead, self.dropped
                ));
            }
            self.charge_decoding(now, decode, predict)?;
        } else {
            let (begun, nominal) = self.array;
            let beyond = (now - begun).checked_sub(nominal + self.resuming).ok_or("it ended too soon")?;
            self.account.add(Cause::SUSPENDED, beyond);
        }
        let (sum, span) = (self.account.sum(), now - self.told.at.0);
        match sum == span {
            true => Ok(()),
            false => Err(format!("operation {:?}: {sum} of {span} ns are accounted for", self.told)),
        }
    }
}

/// What a prediction at a place takes, ns; 0 where there is none.
pub fn predict_ns(parts: &Parts, place: PredictorSite) -> u64 {
    parts.senses.as_ref().map_or(0, |s| s.predict_ns(place))
}

/// What a sense that the die makes by itself takes, with its prediction, ns.
pub fn sense_in_die(parts: &Parts, sense: u64) -> u64 {
    let overlaps = parts.senses.as_ref().is_some_and(|s| s.prediction_overlaps());
    if overlaps { sense } else { predict_ns(parts, PredictorSite::Die) + sense }
}

/// The time of a program, if it can take `ns`. Where a scheme chooses the voltage of erases, there are two times.
pub fn program_ns(timing: &Timing, slow: Option<&Timing>, page: u32, ns: u64) -> u64 {
    let slow = slow.map(|t| t.program_ns(page));
    slow.filter(|&slow| slow == ns).unwrap_or(timing.program_ns(page))
}

/// The time of an erase whose pulses a scheme chooses, if it can be this one: some whole steps, and what
/// belongs to each pulse. Else the time of one step. ([`crate::erases`] computes it from the blocks.)
fn planned(ns: u64, others: u64, step_ns: u64) -> u64 {
    let whole = |pulses: u64| {
        ns.checked_sub(pulses * others)
            .is_some_and(|rest| rest >= pulses * step_ns && rest.is_multiple_of(step_ns))
    };
    if (1..=MOST_LOOPS as u64).any(whole) { ns } else { others + step_ns }
}
