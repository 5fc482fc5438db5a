//! The causes that make up a request's latency, and the ledger that adds them up.
//!
//! Every host request ends with a [`Ledger`] whose sum is exactly its latency.

use crate::occupant::Occupant;
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// One named part of a request's latency; an index into a [`Ledger`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Cause(pub u8);

/// Define the causes that are not waits for an occupant. Each has its constant, its name in output,
/// and a one-line description.
macro_rules! causes {
    ($($constant:ident $name:literal $words:literal;)+) => {
        const FIXED: &[(&str, &str)] = &[$(($name, $words)),+];

        #[allow(non_camel_case_types, clippy::upper_case_acronyms)]
        enum Index { $($constant),+ }

        impl Cause {
            $(#[doc = concat!("`", $name, "`: ", $words, ".")]
            pub const $constant: Cause = Cause(Index::$constant as u8);)+
        }
    };
}

causes! {
    HOST_QUEUE "host_queue" "waited for a place in the device queue";
    HOST_LATENCY "host_latency" "fixed host and driver time around the drive";
    CONTROLLER_WAIT "controller_wait" "waited for the controller behind other commands";
    CONTROLLER "controller" "own command processing in the controller";
    HOST_LINK_WAIT "host_link_wait" "waited for the host link behind other transfers";
    HOST_LINK "host_link" "own data transfer on the host link";
    COMMAND "command" "own command and address cycles on the channel";
    ARRAY "array" "own sense, program or erase time in the flash array";
    TRANSFER "transfer" "own data transfer on the channel";
    ECC_QUEUE "ecc_queue" "channel stalled because the decode queue was full";
    DECODE "decode" "own error-correction decoding";
    PREDICT "predict" "prediction whether the data of an own read can be decoded";
    RETRY_ARRAY "retry.array" "array time of an own operation that failed and was repeated or replaced";
    RETRY_TRANSFER "retry.transfer" "channel time of an own operation that failed and was repeated or replaced";
    RETRY_DECODE "retry.decode" "decoding time of an own read that failed and was repeated or replaced";
    BUFFER_FLUSH "buffer_flush" "waited for buffer room or in a flush while data ahead were programmed";
    ADMISSION "admission" "waited before pblk's ring because the rate limiter holds users back";
    RING_ROOM "ring_room" "waited for room in pblk's ring while programs ahead were under way";
    LUN_SEMAPHORE "lun_semaphore" "waited for room in pblk's ring while its writer waited for a LUN";
    WRITE_GATE "write_gate" "waited for room in pblk's ring while its writer waited at the gate of a stride";
    FREE_SPACE "free_space" "waited for buffer room while no free block was left to flush into";
    SUSPENDED "suspended" "own program suspended, being resumed, or repeating cancelled work";
    RECONSTRUCTION "reconstruction" "own data computed from the rest of their stripe";
    GC_HOLD "gc_hold.copy" "held back by a collection that moves data and blocks its plane, channel or controller";
    GC_HOLD_ERASE "gc_hold.erase" "held back by a collection that erases and blocks its plane, channel or controller";
    DIE_IDLE "die_wait.idle" "die idle, but closed to the operation";
    SUSPEND_POINT "die_wait.suspend_point" "die busy with an operation on its way to a suspend point";
    SUSPEND_OVERHEAD "die_wait.suspend_overhead" "die busy suspending or resuming an operation";
}

impl Cause {
    const DIE_WAIT: usize = FIXED.len();
    const CHANNEL_WAIT: usize = Cause::DIE_WAIT + Occupant::COUNT;
    /// The number of causes.
    pub const COUNT: usize = Cause::CHANNEL_WAIT + Occupant::COUNT;
    /// The waits for a die.
    pub const DIE_WAITS: Range<usize> = Cause::GC_HOLD.0 as usize..Cause::CHANNEL_WAIT;
    /// The waits for a die or a channel.
    pub const FLASH_WAITS: Range<usize> = Cause::DIE_WAITS.start..Cause::COUNT;

    /// The wait for a die that was busy for `occupant`.
    #[inline]
    pub const fn die_wait(occupant: Occupant) -> Cause {
        Cause((Cause::DIE_WAIT + occupant as usize) as u8)
    }

    /// The wait for a channel that was busy for `occupant`.
    #[inline]
    pub const fn channel_wait(occupant: Occupant) -> Cause {
        Cause((Cause::CHANNEL_WAIT + occupant as usize) as u8)
    }

    /// Whether this is time spent waiting for a die.
    pub fn is_die_wait(self) -> bool {
        Cause::DIE_WAITS.contains(&usize::from(self.0))
    }

    /// Whether this is time spent waiting for a channel.
    pub const fn is_channel_wait(self) -> bool {
        self.0 as usize >= Cause::CHANNEL_WAIT
    }

    /// All causes in ledger order.
    pub fn all() -> impl Iterator<Item = Cause> {
        (0..Cause::COUNT as u8).map(Cause)
    }

    /// The name used in output, e.g. `die_wait.erase`.
    pub fn name(self) -> String {
        let i = usize::from(self.0);
        match i {
            _ if i < FIXED.len() => FIXED[i].0.to_string(),
            _ if i < Cause::CHANNEL_WAIT => {
                format!("die_wait.{}", Occupant::ALL[i - Cause::DIE_WAIT].name())
            }
            _ => format!("channel_wait.{}", Occupant::ALL[i - Cause::CHANNEL_WAIT].name()),
        }
    }

    /// A one-line description.
    pub fn describe(self) -> String {
        let i = usize::from(self.0);
        match i {
            _ if i < FIXED.len() => FIXED[i].1.to_string(),
            _ if i < Cause::CHANNEL_WAIT => {
                format!("die busy with {}", Occupant::ALL[i - Cause::DIE_WAIT].describe())
            }
            _ => format!("channel busy for {}", Occupant::ALL[i - Cause::CHANNEL_WAIT].describe()),
        }
    }
}

/// Nanoseconds by cause.
///
/// Adding ledgers and clearing one always takes all causes, so that it needs no branch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "Vec<(u8, u64)>", try_from = "Vec<(u8, u64)>")]
pub struct Ledger {
    /// By cause. The length is a multiple of four, so that adding takes whole vectors; what is beyond the causes is 0.
    ns: [u64; Ledger::LANES],
}

impl Default for Ledger {
    fn default() -> Ledger {
        Ledger::new()
    }
}

impl From<Ledger> for Vec<(u8, u64)> {
    fn from(ledger: Ledger) -> Vec<(u8, u64)> {
        ledger.iter().map(|(cause, ns)| (cause.0, ns)).collect()
    }
}

impl TryFrom<Vec<(u8, u64)>> for Ledger {
    type Error = String;
    fn try_from(charges: Vec<(u8, u64)>) -> Result<Ledger, String> {
        let mut ledger = Ledger::new();
        for (cause, ns) in charges {
            if usize::from(cause) >= Cause::COUNT || ledger.get(Cause(cause)) != 0 {
                return Err(format!("{cause} is not a cause, or is charged twice"));
            }
            ledger.charge(Cause(cause), ns);
        }
        Ok(ledger)
    }
}

impl Ledger {
    const LANES: usize = Cause::COUNT.next_multiple_of(4);
    /// The first causes, in whole vectors. They include those that a command has before its first operation.
    const HOST: usize = (Cause::HOST_LINK.0 as usize + 1).next_multiple_of(4);

    /// An empty ledger.
    pub const fn new() -> Ledger {
        Ledger { ns: [0; Ledger::LANES] }
    }

    /// Remove all charges.
    #[inline]
    pub fn clear(&mut self) {
        *self = Ledger::new();
    }

    /// Remove the charges of the host's side. The others mean nothing until [`Ledger::complete`] replaces them, or
    /// [`Ledger::clear_rest`] removes them.
    #[inline]
    pub fn clear_host(&mut self) {
        self.ns[..Ledger::HOST].fill(0);
    }

    /// Remove the charges that are not of the host's side.
    #[inline]
    pub fn clear_rest(&mut self) {
        self.ns[Ledger::HOST..].fill(0);
    }

    /// Add the charges of a request's last operation to those of the host's side. Others are replaced.
    #[inline]
    pub fn complete(&mut self, operation: &Ledger) {
        let (host, rest) = self.ns.split_at_mut(Ledger::HOST);
        for (sum, ns) in host.iter_mut().zip(&operation.ns) {
            *sum += ns;
        }
        for (ns, of_operation) in rest.iter_mut().zip(&operation.ns[Ledger::HOST..]) {
            *ns = *of_operation;
        }
    }

    /// Charge `ns` to `cause`.
    #[inline]
    pub fn charge(&mut self, cause: Cause, ns: u64) {
        self.ns[usize::from(cause.0)] += ns;
    }

    /// Charge the difference of two accounts, `after - before`, to the causes from `first` on.
    #[inline]
    pub fn charge_each<const N: usize>(&mut self, first: Cause, after: &[u64; N], before: &[u64; N]) {
        let first = usize::from(first.0);
        for ((sum, after), before) in self.ns[first..first + N].iter_mut().zip(after).zip(before) {
            *sum += after - before;
        }
    }

    /// The nanoseconds charged to `cause`.
    #[inline]
    pub fn get(&self, cause: Cause) -> u64 {
        self.ns[usize::from(cause.0)]
    }

    /// The causes with a charge, in ledger order, with their nanoseconds.
    pub fn iter(&self) -> impl Iterator<Item = (Cause, u64)> + '_ {
        Cause::all().zip(self.ns).filter(|&(_, ns)| ns != 0)
    }

    /// The nanoseconds charged to a range of causes.
    #[inline]
    pub fn part(&self, causes: Range<usize>) -> impl Iterator<Item = (Cause, u64)> + Clone + '_ {
        let first = causes.start;
        self.ns[causes].iter().enumerate().map(move |(i, &ns)| (Cause((first + i) as u8), ns))
    }

    /// The ledger of an operation that has failed: its own work becomes that of a failed attempt.
    pub fn retried(&self) -> Ledger {
        let mut retried = *self;
        let own = [
            (Cause::COMMAND, Cause::RETRY_TRANSFER),
            (Cause::TRANSFER, Cause::RETRY_TRANSFER),
            (Cause::ARRAY, Cause::RETRY_ARRAY),
            (Cause::ECC_QUEUE, Cause::RETRY_DECODE),
            (Cause::DECODE, Cause::RETRY_DECODE),
        ];
        for (of, to) in own {
            let ns = std::mem::take(&mut retried.ns[usize::from(of.0)]);
            retried.charge(to, ns);
        }
        retried
    }

    /// Add another ledger to this one.
    #[inline]
    pub fn merge(&mut self, other: &Ledger) {
        for (sum, ns) in self.ns.iter_mut().zip(&other.ns) {
            *sum += ns;
        }
    }

    /// Add the charges to sums by cause.
    #[inline]
    pub fn add_to(&self, sums: &mut [u64; Cause::COUNT]) {
        for (sum, ns) in sums.iter_mut().zip(&self.ns) {
            *sum += ns;
        }
    }

    /// The total, ns; for a finished request exactly its latency.
    #[inline]
    pub fn sum(&self) -> u64 {
        self.ns.iter().sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_every_cause_has_one() {
        let mut names: Vec<String> = Cause::all().map(Cause::name).collect();
        assert_eq!(names[usize::from(Cause::die_wait(Occupant::Erase).0)], "die_wait.erase");
        names.sort();
        names.dedup();
        assert_eq!(names.len(), Cause::COUNT);
    }

    #[test]
    fn an_operation_completes_the_ledger_of_a_request_whatever_the_request_before_has_left() {
        let all = || Cause::all().zip(1..);
        let (mut request, mut operation) = (Ledger::new(), Ledger::new());
        all().for_each(|(cause, ns)| request.charge(cause, 100 * ns));
        all().for_each(|(cause, ns)| operation.charge(cause, ns));
        request.clear_host();
        for cause in [Cause::HOST_QUEUE, Cause::HOST_LATENCY, Cause::CONTROLLER_WAIT, Cause::CONTROLLER] {
            request.charge(cause, 5000);
        }
        let mut without = request;
        without.clear_rest();
        assert_eq!(without.sum(), 4 * 5000);
        request.complete(&operation);
        without.merge(&operation);
        assert_eq!(request, without);
    }

    #[test]
    fn a_cleared_ledger_forgets_old_values() {
        let mut l = Ledger::new();
        l.charge(Cause::ARRAY, 5);
        l.clear();
        l.charge(Cause::ARRAY, 2);
        l.charge(Cause::ARRAY, 3);
        l.charge(Cause::COMMAND, 1);
        l.charge(Cause::DECODE, 0);
        assert_eq!((l.get(Cause::ARRAY), l.sum()), (5, 6));
        let listed: Vec<_> = l.iter().collect();
        assert_eq!(listed, [(Cause::COMMAND, 1), (Cause::ARRAY, 5)], "without the cause of 0 ns");
        let stored: Vec<(u8, u64)> = l.into();
        assert_eq!(Ledger::try_from(stored), Ok(l));
        assert!(Ledger::try_from(vec![(0, 1), (0, 1)]).is_err(), "a cause twice");
        assert!(Ledger::try_from(vec![(Cause::COUNT as u8, 1)]).is_err(), "no cause");
    }
}
