//! The gate of strides. It limits which LUNs may program or erase at one time, and marks LUNs that reads avoid.
//!
//! Every program and erase takes the semaphore of its LUN. If the rules of the gate cover it, it also takes a place
//! in its stride. The writer retries after each event until it gets both. It retries the same operation.

use super::strides::Strides;
use crate::observer::RingWait;
use crate::pblk::drive::State;
use crate::pblk::lines::LunRange;
use crate::pblk::ring::Heat;
use crate::pblk::shape::Shape;
use crate::pblk::writer::Chunk;
use crate::pblk::writer::Writer;
use crate::policy::write_gate::{Covered, GateRules};
use serde::{Deserialize, Serialize};

/// Period in which host reads are counted to open or close the gate, ns.
const WINDOW_NS: u64 = 1_000_000_000;

/// The kind of program or erase that takes a LUN.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum Class {
    /// A program whose first sector is one of collection.
    Collection,
    /// Any other program.
    Other,
    /// An erase.
    Erase,
}

/// A program or erase that waits at the gate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Waiting {
    /// The chunk that it writes or erases.
    chunk: Chunk,
    /// Whether it has its place in the stride and only waits for host reads.
    has_place: bool,
}

/// The state of the gate.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(in super::super) struct Gate {
    /// The strides, or those of the open hot line if there are hot and cold lines. LUNs outside the strides have no
    /// gate.
    strides: Option<Strides>,
    /// By LUN position: whether it was marked when the strides changed and has stayed marked since.
    carried: Vec<bool>,
    /// By stride: LUNs that program or erase, and the number of these that have taken a place.
    under_way: Vec<u32>,
    passed: Vec<u32>,
    /// By LUN position: whether it is marked, so that reads avoid it.
    marked: Vec<bool>,
    /// By LUN position: outstanding host reads.
    reads: Vec<u32>,
    /// By lane of the writer: the operation that waits at the gate.
    waiting: [Option<Waiting>; 2],
    /// The present period, the host reads in it, and whether the gate is open.
    window: u64,
    reads_of_window: u64,
    is_open: bool,
}

impl Gate {
    /// Create the gate. Without strides it has no effect.
    pub fn new(of: Option<&Strides>, luns: u32) -> Gate {
        let strides = of.map_or(0, |strides| strides.count as usize);
        let luns = if strides > 0 { luns as usize } else { 0 };
        Gate {
            strides: of.copied(),
            carried: vec![false; luns],
            under_way: vec![0; strides],
            passed: vec![0; strides],
            marked: vec![false; luns],
            reads: vec![0; luns],
            waiting: [None; 2],
            window: 0,
            reads_of_window: 0,
            is_open: false,
        }
    }

    /// Whether reads avoid a LUN.
    #[inline]
    pub fn is_marked(&self, position: u32) -> bool {
        self.marked[position as usize]
    }

    /// Check the number of LUNs that are marked or busy.
    ///
    /// # Errors
    /// The invariant that is violated.
    pub fn audit(&self, rules: &GateRules) -> Result<(), String> {
        let Some(strides) = &self.strides else { return Ok(()) };
        let all = self.passed.iter().zip(&self.under_way).take(strides.count as usize);
        for (stride, (&passed, &under_way)) in all.enumerate() {
            let members = strides.members(stride as u32);
            let carried = members.clone().filter(|&member| self.carried[member as usize]).count() as u32;
            let marked = members.filter(|&member| self.marked[member as usize]).count() as u32;
            // In each lane one more LUN that waits at the gate may be marked.
            let early = 2 * u32::from(rules.marks_early);
            law!(
                passed <= strides.parities.max(carried) && marked <= passed + early,
                "stride {stride}: {passed} LUNs have passed its gate and {marked} are marked"
            );
            let places = self.places(strides, stride as u32);
            // If the gate never opens and covers everything, each stride has at most as many busy LUNs as parities.
            let strict =
                rules.off_below == 0 && rules.covers == Covered::All && rules.against == Covered::All;
            law!(
                !strict || under_way + places <= strides.parities.max(carried),
                "stride {stride}: {under_way} LUNs are busy and {places} wait for reads"
            );
            law!(passed <= under_way + places, "stride {stride}: {passed} have passed, {under_way} are busy");
        }
        Ok(())
    }

    /// A host read is sent to a LUN.
    #[inline]
    pub fn read_sent(&mut self, position: u32) {
        self.reads[position as usize] += 1;
    }

    /// A host read of a LUN has ended. Returns whether the writer may have waited for it.
    #[inline]
    pub fn read_ended(&mut self, position: u32) -> bool {
        let reads = &mut self.reads[position as usize];
        *reads -= 1;
        *reads == 0 && self.waiting.iter().flatten().any(|waiting| waiting.has_place)
    }

    /// Count a host read at `now`.
    #[inline]
    pub fn count_read(&mut self, now: u64, off_below: u32) {
        self.turn_window(now, off_below);
        self.reads_of_window += 1;
    }

    /// At the start of a new period, open or close the gate by the number of reads in the period before.
    #[inline]
    fn turn_window(&mut self, now: u64, off_below: u32) {
        let window = now / WINDOW_NS;
        if window != self.window {
            let last = if window == self.window + 1 { self.reads_of_window } else { 0 };
            self.is_open = last < u64::from(off_below);
            (self.window, self.reads_of_window) = (window, 0);
        }
    }

    /// Number of places in a stride that are held by operations that only wait for host reads.
    fn places(&self, strides: &Strides, stride: u32) -> u32 {
        let here = |w: &&Waiting| w.has_place && strides.stride_of(w.chunk.position) == stride;
        self.waiting.iter().flatten().filter(here).count() as u32
    }

    /// Whether the operation that waits at the gate in the other lane is for the same LUN.
    fn is_taken_by_other(&self, chunk: Chunk) -> bool {
        self.waiting[1 - chunk.heat as usize].is_some_and(|waiting| waiting.chunk.position == chunk.position)
    }

    /// Try to let a program or erase pass the gate. No other lane can take the LUN of an operation that waits.
    fn lets_pass(&mut self, rules: &GateRules, chunk: Chunk, class: Class, now: u64) -> bool {
        self.turn_window(now, rules.off_below);
        let (lane, position) = (chunk.heat as usize, chunk.position);
        let Some(strides) = self.strides.filter(|strides| position < strides.used()) else {
            // Lines with older strides on this LUN are still read.
            self.marked[position as usize] = true;
            self.waiting[lane] = None;
            return true;
        };
        let stride = strides.stride_of(position);
        let covered = rules.covers == Covered::All || class != Class::Other;
        let has_place = self.waiting[lane].is_some_and(|waiting| waiting.has_place);
        if has_place || covered && !self.is_open {
            if !has_place {
                self.marked[position as usize] |= rules.marks_early;
                self.waiting[lane] = Some(Waiting { chunk, has_place: false });
                let busy = match rules.against {
                    Covered::All => self.under_way[stride as usize] + self.places(&strides, stride),
                    Covered::Collection => self.passed[stride as usize],
                };
                if busy >= strides.parities {
                    return false;
                }
                self.waiting[lane] = Some(Waiting { chunk, has_place: true });
                self.marked[position as usize] = true;
                self.passed[stride as usize] += 1;
            }
            if rules.waits_for_reads && self.reads[position as usize] > 0 {
                return false;
            }
        } else {
            // The gate may have opened while the operation waited.
            self.marked[position as usize] = false;
        }
        self.waiting[lane] = None;
        self.under_way[stride as usize] += 1;
        true
    }

    /// A program or erase has ended.
    fn ends(&mut self, position: u32) {
        let was_marked = std::mem::take(&mut self.marked[position as usize]);
        self.carried[position as usize] = false;
        if let Some(strides) = self.strides.filter(|strides| position < strides.used()) {
            let stride = strides.stride_of(position) as usize;
            self.under_way[stride] -= 1;
            self.passed[stride] -= u32::from(was_marked);
        }
    }

    /// Change the strides. LUNs that program or erase according to `is_taken` continue, and count in their new
    /// strides.
    pub fn follow(&mut self, strides: Strides, is_taken: impl Fn(u32) -> bool) {
        if self.strides == Some(strides) {
            return;
        }
        self.strides = Some(strides);
        // Operations that only wait for host reads must take a place again.
        for waiting in self.waiting.iter_mut().flatten() {
            self.marked[waiting.chunk.position as usize] = false;
            waiting.has_place = false;
        }
        self.under_way.fill(0);
        self.passed.fill(0);
        self.carried.clone_from(&self.marked);
        for position in (0..strides.used()).filter(|&position| is_taken(position)) {
            let stride = strides.stride_of(position) as usize;
            self.under_way[stride] += 1;
            self.passed[stride] += u32::from(self.marked[position as usize]);
        }
    }

    /// Return the semaphore of a LUN and the place in its stride.
    #[inline]
    pub(in super::super) fn give_lun(&mut self, shape: &Shape, writer: &mut Writer, position: u32) {
        writer.set_taken(position, false);
        if shape.gate.is_some() {
            self.ends(position);
        }
    }

    /// Change the strides to those of a hot line on these LUNs, which is opened now.
    pub(in super::super) fn gate_follows(&mut self, shape: &Shape, writer: &Writer, luns: LunRange) {
        if let (Some(_), Some(strides)) = (&shape.gate, shape.strides_on(Heat::Hot, luns)) {
            self.follow(strides, |position| writer.is_taken(position));
        }
    }
}

impl State {
    /// Take the semaphore of a LUN, and a place in its stride, for a program or an erase. Returns false if the
    /// operation must wait.
    #[inline]
    pub(in super::super) fn take_lun(&mut self, shape: &Shape, chunk: Chunk, class: Class) -> bool {
        if self.writer.is_taken(chunk.position) || shape.gate.is_some() && self.gate.is_taken_by_other(chunk)
        {
            self.writer.waits(chunk.heat, RingWait::Lun);
            return false;
        }
        if let Some(rules) = &shape.gate
            && !self.gate.lets_pass(rules, chunk, class, self.now)
        {
            self.writer.waits(chunk.heat, RingWait::Gate);
            return false;
        }
        self.writer.set_taken(chunk.position, true);
        true
    }
}
