//! Ranked: reads before writes before collections before erases, by the kind of work alone.
//!
//! **What it does.** A die serves host reads first, then reads that writes need, programs of host data and of their
//! parity in order of arrival, programs of collections, reads of collections, other work, and erases last. In a kind the first to arrive
//! is served first. Where `suspend_program` and `suspend_erase` allow it, a host read interrupts programs and
//! erases.
//!
//! **Why it matters for the tail.** Host operations never wait behind a queue of a collection. Collections wait
//! as long as the host has work for the die.
//!
//! **Parameters and source.** None. The simulator of the AERO authors (ASPLOS'24, branch impl_lazy_erase) has this
//! order on each chip.
//!
//! **Left out.** The authors rank the last loop of an erase before earlier loops: here erases are served in
//! order of arrival.
//!
//! **Checked by** `policy_laws`, `policy_decisions`.

use super::{QueueView, Schedule};
use tailcut_units::Occupant;

parameterless!();

/// The kinds of work, first served first.
const RANKS: [Occupant; 12] = [
    Occupant::UserRead,
    Occupant::RmwRead,
    Occupant::UserProgram,
    Occupant::ParityProgram,
    Occupant::GcProgram,
    Occupant::FoldProgram,
    Occupant::MetaProgram,
    Occupant::GcRead,
    Occupant::FoldRead,
    Occupant::MetaRead,
    Occupant::Background,
    Occupant::Erase,
];

const _: () = assert!(RANKS.len() == Occupant::COUNT);

impl Schedule for Policy {
    #[inline]
    fn next(&mut self, view: &QueueView<'_>) -> Occupant {
        let first = RANKS.into_iter().find(|&o| view.waiting.has(o)).expect("something waits");
        let parity = Occupant::ParityProgram;
        // The pages of a block are programmed in order, whether they hold data or parity.
        let before = |o: Occupant| view.arrived[parity as usize] < view.arrived[o as usize];
        if first == Occupant::UserProgram && view.waiting.has(parity) && before(first) {
            return parity;
        }
        first
    }
}
