//! The erases of extents, and the option to defer their last loop (`erase.defer_last_loop`).
//!
//! An erase is a sequence of loops, each an erase pulse and a verify (ISPE). A collection erases its victim. With the
//! option, it executes all loops except the last, and the extent then counts as free. When the first program gets a row
//! of such an extent, the last loop is issued. All programs to the extent are held until that loop has ended. Rows are
//! allocated as without the option, so that it changes neither placement nor space.
//!
//! The simulator of the AERO authors has this rule too. There, a last loop has a priority between the reads of
//! collections and the earlier loops of other erases. Here, the schedule treats it like any other erase, in order of
//! arrival. An extent with several blocks waits for the loops of all of them. Another difference concerns the extent
//! into which a collection moves data: here its last loop is issued when the collection takes its first row, while in
//! the authors' simulator it may wait for the whole copy phase.

use crate::address::{BusyUnit, Extent, Ppa};
use crate::containers::NONE;
use crate::containers::list::{Link, List};
use crate::containers::slab::Slab;
use crate::device::drive::{Deferred, Device};
use crate::device::gc::collect::Stage;
use crate::device::gc::state::Gc;
use crate::device::limits::Limits;
use crate::device::shape::Shape;
use crate::device::work::Work;
use crate::device::write::state::Writes;
use crate::flash::Flash;
use crate::flash::{DieTimes, FlashCommand, OpId, SLOTS};
use crate::ftl::config::ExtentKind;
use crate::ftl::extents::Extents;
use crate::ftl::extents::Writer;
use crate::medium::Medium;
use crate::nand::config::BusyKind;
use crate::nand::{ErasePart, OpKind};
use crate::observer::{Observer, WriteStep};
use serde::{Deserialize, Serialize};
use tailcut_units::Occupant;

/// A program or copyback whose row has been allocated, and which is ready to be queued.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(in crate::device) enum Program {
    /// The program of a write unit.
    Unit { write_unit: u32, occupant: Occupant },
    /// A copyback inside a plane.
    Copyback { lane: u32, source: Ppa, target: Ppa },
}

/// A program that waits for the last loop of its extent's erase.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct HeldProgram {
    program: Program,
    /// The busy unit of the extent; `NONE` if the extent is on several.
    unit: BusyUnit,
    /// The time account of that busy unit when the wait began. The difference at the end shows what the program waited
    /// for.
    seen: DieTimes,
}

/// The state of an extent's missing last loop.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct Lacking {
    /// Whether the last loop is missing and has not been issued.
    deferred: bool,
    /// Erase operations under way that execute the last loop.
    erases: u32,
    /// Programs that wait for the last loop, in the order of their rows.
    held: List,
}

/// The deferred last loops, and the programs that wait for them.
#[derive(Serialize, Deserialize)]
pub(in crate::device) struct LastLoops {
    /// By extent. Empty if no last loop is ever deferred.
    lacking: Vec<Lacking>,
    programs: Slab<HeldProgram>,
    links: Vec<Link>,
}

impl LastLoops {
    pub fn new(shape: &Shape, limits: &Limits) -> LastLoops {
        let program = Program::Unit { write_unit: NONE, occupant: Occupant::UserProgram };
        let blank = HeldProgram { program, unit: BusyUnit::NONE, seen: [0; SLOTS] };
        let extents = if limits.held_programs > 0 { shape.layout.extents() } else { 0 };
        LastLoops {
            lacking: vec![Lacking::default(); extents as usize],
            programs: Slab::new(limits.held_programs as usize, blank),
            links: vec![Link::default(); limits.held_programs as usize],
        }
    }

    /// Whether programs to an extent must wait for the last loop of its erase.
    #[inline(never)]
    fn lacks(&self, extent: u32) -> bool {
        let l = &self.lacking[extent as usize];
        l.deferred || l.erases > 0 || !l.held.is_empty()
    }

    /// Whether the last loop of an extent's erase has not ended.
    pub fn is_unfinished(&self, extent: u32) -> bool {
        self.lacking.get(extent as usize).is_some_and(|l| l.deferred || l.erases > 0)
    }

    /// Extents whose last loop is missing and has not been issued.
    pub fn deferred(&self) -> impl Iterator<Item = u32> + '_ {
        (0..).zip(&self.lacking).filter(|(_, l)| l.deferred).map(|(extent, _)| extent)
    }

    /// By extent: the number of erases under way that execute its last loop, and of programs that wait for it.
    pub(super) fn under_way(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        self.lacking.iter().map(|l| (l.erases, l.held.len()))
    }

    /// Number of erases under way that execute the last loop of an extent.
    pub fn erases(&self, extent: u32) -> u32 {
        self.lacking.get(extent as usize).map_or(0, |l| l.erases)
    }

    /// The waiting programs, with their extents.
    pub fn held(&self) -> impl Iterator<Item = (u32, Program)> + '_ {
        (0..).zip(&self.lacking).flat_map(move |(extent, l)| {
            let first = Some(l.held.head()).filter(|&at| at != NONE);
            let next = move |&at: &u32| Some(l.held.after(&self.links, at)).filter(|&at| at != NONE);
            std::iter::successors(first, next).map(move |at| (extent, self.programs[at].program))
        })
    }
}

impl Gc {
    /// Note that a collection has executed all loops of an extent's erase except for the last.
    pub(super) fn defer_last_loop(&mut self, shape: &Shape, extent: u32) {
        if shape.fixed.defers_last_loop {
            debug_assert!(
                !self.last_loops.lacks(extent),
                "the last loop of extent {extent} is deferred before the one before has ended"
            );
            self.last_loops.lacking[extent as usize].deferred = true;
        }
    }

    /// Whether a program to this row must wait for the last loop of its extent's erase.
    #[inline]
    pub(in crate::device) fn lacks_last_loop(&self, shape: &Shape, row: Ppa) -> bool {
        shape.fixed.defers_last_loop && self.last_loops.lacks(shape.layout.extent_of(row).0)
    }

    /// The rows whose programs wait for last loops.
    pub(in crate::device) fn held_rows(&self, write: &Writes) -> impl Iterator<Item = Ppa> {
        self.last_loops.held().map(|(_, program)| match program {
            Program::Unit { write_unit, .. } => write.units[write_unit].ppa,
            Program::Copyback { target, .. } => target,
        })
    }

    /// Execute all deferred last loops without simulated time, before the drive is aged.
    pub(in crate::device) fn finish_last_loops<O: Observer>(
        &mut self,
        shape: &Shape,
        flash: &mut Flash<O>,
        extents: &Extents,
    ) {
        for extent in self.last_loops.deferred().collect::<Vec<_>>() {
            shape.count_erases_of(flash, extents, extent);
            self.last_loops.lacking[extent as usize].deferred = false;
        }
    }
}

impl<O: Observer, M: Medium> Device<O, M> {
    /// Erase the victim of a lane, except for a deferred last loop.
    pub(super) fn erase_victim(&mut self, lane: u32) {
        self.state.gc.close_to_erase(&self.shape, &mut self.flash, &mut self.state.deferred, lane);
        let c = &mut self.state.gc.collections[lane as usize];
        let victim = c.victim;
        debug_assert!(
            c.reads + c.programs + c.erases == 0 && c.staged.is_empty(),
            "lane {lane} erases its victim while data are moved: {}",
            c.describe()
        );
        c.stage = Stage::Erasing;
        let folds = c.folds();
        if !folds {
            self.shape.choose_voltage(
                &mut self.flash,
                &self.state.extents,
                &self.state.write.load(&self.shape, &self.state.host),
                victim,
            );
        }
        let part = if self.shape.fixed.defers_last_loop && !folds {
            ErasePart::AllButLast
        } else {
            ErasePart::Whole
        };
        let erases = self.order_erases(lane, victim, part);
        self.state.gc.collections[lane as usize].erases = erases;
        if erases == 0 {
            // Every block of the victim is bad, or the only loop of its erase is deferred.
            self.state.deferred.push(Deferred::Emptied { lane });
        }
        // Notify only now, so that the erases of several collections of a die that have moved their last unit in this
        // event can join.
        self.state.gc.tell_units(&self.shape, &mut self.flash, lane);
    }

    /// Issue the erase operations of an extent, for all loops or for `part` of them. Returns their number. None of them
    /// ends in this event.
    fn order_erases(&mut self, lane: u32, extent: u32, part: ErasePart) -> u32 {
        let layout = &self.shape.layout;
        let (first, luns, planes) = (layout.first_die(lane), layout.luns, layout.planes);
        let (_, block) = layout.lane_of(extent);
        let parts = self.shape.erases_per_die();
        let (mask, width) = match layout.kind {
            ExtentKind::Block => (1u32 << (lane % planes), 1),
            _ => (u32::MAX >> (32 - planes / parts), planes / parts),
        };
        let (mut erases, page) = (0, layout.page_number_of(Extent(extent), 0));
        for number in 0..luns * parts {
            let (die, mut mask) = (first + number / parts, mask << (number % parts * width));
            if self.shape.fixed.may_fail || self.shape.holes.is_some() {
                mask &= !self.state.faults.planes_not_erased(
                    &self.shape.layout,
                    &self.state.extents,
                    self.flash.blocks(),
                    extent,
                    die,
                );
            }
            if mask == 0 {
                continue;
            }
            let plane = if self.shape.busy == BusyKind::Plane { mask.trailing_zeros() } else { 0 };
            let command = FlashCommand {
                kind: OpKind::Erase,
                occupant: Occupant::Erase,
                part,
                owner: Work::Collection(lane).into(),
                unit: self.shape.unit_of(die, plane),
                planes: mask,
                block,
                page,
                extent,
                ..FlashCommand::BLANK
            };
            if part == ErasePart::AllButLast && !self.flash.has_earlier_loops(&command) {
                continue;
            }
            erases += 1;
            let id = self.flash.order(command);
            self.submit_op(id);
        }
        erases
    }

    /// Handle the end of an erase of a part of an extent.
    #[inline(never)]
    pub(in crate::device) fn erased(&mut self, op: OpId, lane: u32) {
        self.state.counters.erase_failures +=
            u64::from(self.shape.fixed.may_fail && self.flash.has_failed(op));
        let FlashCommand { part, extent, .. } = self.flash.op(op).cmd;
        self.free_op(op);
        if part == ErasePart::Last {
            return self.last_loop_ended(extent);
        }
        let c = &mut self.state.gc.collections[lane as usize];
        debug_assert_eq!(
            (c.stage, c.victim),
            (Stage::Erasing, extent),
            "an erase of extent {extent} ends, and lane {lane} does something else"
        );
        c.erases -= 1;
        if c.erases == 0 {
            self.victim_erased(lane);
        }
    }

    /// Hold a program until the last loop of the erase of its extent has ended. The first program that is held issues
    /// that loop.
    #[cold]
    pub(in crate::device) fn hold_program(&mut self, row: Ppa, program: Program) {
        let (extent, _) = self.shape.layout.extent_of(row);
        let (lane, _) = self.shape.layout.lane_of(extent);
        let units = self.shape.units_of_lane(lane);
        // A wait for several units cannot be charged to one of them.
        let unit = if units.end - units.start == 1 { units.start } else { BusyUnit::NONE };
        let seen = if unit == BusyUnit::NONE { [0; SLOTS] } else { self.flash.account(unit) };
        let s = &mut self.state.gc.last_loops;
        let id = s.programs.take();
        s.programs[id] = HeldProgram { program, unit, seen };
        let of = &mut s.lacking[extent as usize];
        of.held.push_back(&mut s.links, id);
        let first = std::mem::take(&mut of.deferred);
        debug_assert!(
            first || of.erases > 0,
            "a program waits for the last loop of extent {extent}, which is neither deferred nor under way"
        );
        if let Program::Unit { write_unit, .. } = program {
            let g = &self.state.write.units[write_unit];
            if g.writer == Writer::Host {
                let alone = g.stripe == NONE || g.again;
                let number = if alone { write_unit } else { g.stripe };
                self.observe_write(number, !alone, WriteStep::Held { write_unit, unit });
            }
        }
        if first {
            let erases = self.order_erases(lane, extent, ErasePart::Last);
            debug_assert!(erases > 0, "an extent with rows has a block that is erased");
            self.state.gc.last_loops.lacking[extent as usize].erases = erases;
        }
    }

    /// Handle the end of an erase that executed the last loop of an extent or of a part of it.
    #[cold]
    fn last_loop_ended(&mut self, extent: u32) {
        let of = &mut self.state.gc.last_loops.lacking[extent as usize];
        of.erases -= 1;
        if of.erases > 0 {
            return;
        }
        // Programs that get a row meanwhile are queued after those that wait.
        loop {
            let s = &mut self.state.gc.last_loops;
            let of = &mut s.lacking[extent as usize];
            let id = of.held.head();
            if id == NONE {
                return;
            }
            of.held.remove(&mut s.links, id);
            s.programs.give(id);
            let HeldProgram { program, unit, seen } = s.programs[id];
            match program {
                Program::Unit { write_unit, occupant } => {
                    let g = &mut self.state.write.units[write_unit];
                    if g.writer == Writer::Host && unit != BusyUnit::NONE {
                        self.flash.charge_since(unit, &seen, &mut g.stalled);
                    }
                    self.release_program(write_unit, occupant);
                }
                Program::Copyback { lane, source, target } => self.copy_back_to(lane, source, target),
            }
        }
    }

    /// The extents whose last loop is missing and has not been issued, and the number of programs that wait for last
    /// loops.
    pub fn last_loops(&self) -> (impl Iterator<Item = u32> + '_, usize) {
        let s = &self.state.gc.last_loops;
        (s.deferred(), s.programs.used())
    }
}
