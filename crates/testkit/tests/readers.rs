//! Tests that a read keeps its blocks until its data are accepted: no erase of them arrives at the die while the
//! read waits, is sensed, is sensed again, or is decoded.

use std::collections::{BTreeMap, BTreeSet};
use tailcut_core::device::{Observer, QueueEvent, QueueStep, Step, StepEvent};
use tailcut_core::nand::OpKind;
use tailcut_testkit::swarm;

/// Reads under way, and what was seen of them.
#[derive(Default)]
struct Readers {
    /// By operation that waits in a queue or executes: its extent, and whether it is read again.
    reads: BTreeMap<u32, (u32, bool)>,
    /// Reads that have left their queue. One that neither gets its die nor joins another read is withdrawn.
    left: BTreeMap<u32, (u32, bool)>,
    /// Extents of which a page was sensed again.
    again: BTreeSet<u32>,
    /// Erases, and erases of an extent of which a page was sensed again since its last erase.
    erases: [u32; 2],
    broken: Vec<String>,
}

impl Readers {
    fn goes_on(&mut self, op: u32) {
        if let Some(read) = self.left.remove(&op) {
            self.reads.insert(op, read);
        }
    }
}

impl Observer for Readers {
    fn step(&mut self, e: &StepEvent) {
        if e.step == Step::Granted {
            self.goes_on(e.op);
        }
    }

    fn queued(&mut self, e: &QueueEvent) {
        if e.step == QueueStep::Arrives {
            // Its number may be that of a read that was withdrawn.
            self.left.remove(&e.op);
        }
        if e.kind == OpKind::Erase {
            if e.step == QueueStep::Arrives {
                let readers = self.reads.values().filter(|(extent, _)| *extent == e.extent);
                self.broken.extend(readers.map(|(_, again)| format!("{e:?} with a reader (again: {again})")));
                self.erases[0] += 1;
                self.erases[1] += u32::from(self.again.remove(&e.extent));
            }
            return;
        }
        if e.kind != OpKind::Read {
            return;
        }
        match e.step {
            QueueStep::Arrives => {
                self.reads.insert(e.op, (e.extent, false));
            }
            QueueStep::Leaves => {
                if let Some(read) = self.reads.remove(&e.op) {
                    self.left.insert(e.op, read);
                }
            }
            QueueStep::Joins(_) | QueueStep::Returns => self.goes_on(e.op),
            QueueStep::Retries | QueueStep::SensesOn => {
                self.again.insert(e.extent);
                self.reads.insert(e.op, (e.extent, true));
            }
            QueueStep::Ends | QueueStep::Fails => {
                self.reads.remove(&e.op);
            }
        }
    }
}

#[test]
fn no_block_is_erased_while_it_is_read() {
    let (mut erases, mut ran) = ([0; 2], 0);
    for seed in 0..1_500 {
        let case = swarm::draw(seed);
        if case.config.errors.is_none() {
            continue;
        }
        let (_, device) = swarm::observe(&case, Readers::default()).unwrap_or_else(|e| panic!("{seed}: {e}"));
        let readers = device.observer();
        assert!(readers.broken.is_empty(), "seed {seed}: {:#?}", readers.broken);
        erases.iter_mut().zip(readers.erases).for_each(|(sum, n)| *sum += n);
        ran += 1;
    }
    assert!(ran > 50 && erases[1] > 50, "{ran} drives, erases {erases:?}");
}
