//! The times of array operations and transfers, precomputed from the configuration.

use super::config::{ChannelConfig, EccConfig, EraseTiming, ProgramTiming};
use super::config::{ProgramErase, SuspendConfig, TimingConfig};
use super::loops::Loops;
use super::slc::{SlcConfig, SlcTimes};
use crate::divider::Divider;
use std::ops::Range;
use tailcut_units::Span;

/// A phase of an array operation. A suspension may stop the operation between two phases.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// A program pulse.
    ProgramPulse,
    /// The verify after a program pulse.
    ProgramVerify,
    /// Raising the erase voltage.
    EraseRampUp,
    /// The erase pulse.
    EraseExecution,
    /// Lowering the erase voltage.
    EraseRecovery,
    /// The verify after an erase pulse.
    EraseVerify,
}

/// Array and transfer times in nanoseconds.
#[derive(Clone, Debug)]
pub struct Timing {
    by_types: Divider,
    read: Vec<u64>,
    program: Vec<u64>,
    program_pulses: Vec<u32>,
    program_step: ProgramTiming,
    erase: EraseTiming,
    /// The loops of an erase.
    pub loops: Loops,
    pub(super) suspend: SuspendConfig,
    /// Time of a whole erase (tBERS).
    pub erase_ns: u64,
    /// Time of the command and address cycles of one plane.
    pub command_ns: u64,
    /// Transfer time of `n` codewords, by `n`.
    codewords: Vec<u64>,
    /// First page number of blocks in SLC mode; `u32::MAX` if there are none.
    slc_from: u32,
    slc: Option<SlcTimes>,
}

impl Timing {
    /// Compute the times. `row_codewords` is the largest number of codewords that one operation
    /// moves.
    pub fn new(
        t: &TimingConfig,
        suspend: &SuspendConfig,
        channel: &ChannelConfig,
        ecc: &EccConfig,
        row_codewords: u32,
    ) -> Timing {
        let pulses: Vec<u32> =
            (0..t.read.len()).map(|i| t.program.pulses[i % t.program.pulses.len()]).collect();
        let step = t.program.pulse.0 + t.program.verify.0;
        let read: Vec<u64> = t.read.iter().map(|s| s.0).collect();
        let erase_ns = t.erase.total().0;
        let (program, erase_ns) = match t.program_erase {
            ProgramErase::Timed => (pulses.iter().map(|&n| u64::from(n) * step).collect(), erase_ns),
            ProgramErase::AsRead => (read.clone(), read[0]),
            ProgramErase::Zero => (vec![0; read.len()], 0),
        };
        Timing {
            by_types: Divider::new(read.len() as u32),
            read,
            program,
            program_pulses: pulses,
            program_step: t.program.clone(),
            erase: t.erase.clone(),
            loops: Loops::of(&t.erase),
            suspend: suspend.clone(),
            erase_ns,
            command_ns: channel.command.0,
            codewords: (0..=u64::from(row_codewords))
                .map(|n| Span::transfer(n * ecc.codeword, channel.rate).0)
                .collect(),
            slc_from: u32::MAX,
            slc: None,
        }
    }

    /// Add the times of blocks in SLC mode, if there are any. Ordinary blocks have `pages` pages.
    pub fn with_slc(self, slc: Option<&SlcConfig>, t: &TimingConfig, pages: u32) -> Timing {
        let Some(slc) = slc else { return self };
        Timing { slc_from: pages, slc: Some(SlcTimes::new(slc, t)), ..self }
    }

    /// Whether a page belongs to a block in SLC mode.
    #[inline]
    pub fn is_slc(&self, page: u32) -> bool {
        page >= self.slc_from
    }

    /// The times of blocks in SLC mode. Call this only for pages of such blocks.
    #[cold]
    fn slc(&self) -> &SlcTimes {
        self.slc.as_ref().expect("only a drive with blocks in SLC mode has their pages")
    }

    /// The times under an erase scheme. An erase takes `erase_ns` on average, which is used for predictions. A program
    /// takes longer by the factor `program`.
    pub fn with_scheme(self, erase_ns: u64, program: f64) -> Timing {
        let longer = |ns: u64| libm::round(ns as f64 * program) as u64;
        let step = &self.program_step;
        let (pulse, verify) = (Span(longer(step.pulse.0)), Span(longer(step.verify.0)));
        let program_step = ProgramTiming { pulse, verify, pulses: step.pulses.clone() };
        Timing {
            program: self.program_pulses.iter().map(|&n| u64::from(n) * (pulse.0 + verify.0)).collect(),
            program_step,
            erase_ns,
            ..self
        }
    }

    /// Number of page types.
    pub fn page_types(&self) -> u32 {
        self.read.len() as u32
    }

    /// The type of a page of a block.
    #[inline]
    pub fn page_type(&self, page: u32) -> usize {
        self.by_types.div_rem(page).1 as usize
    }

    /// Sense time of a page (tR).
    #[inline]
    pub fn read_ns(&self, page: u32) -> u64 {
        if self.is_slc(page) {
            return self.slc().read;
        }
        self.read[self.page_type(page)]
    }

    /// Program time of a page (tPROG).
    #[inline]
    pub fn program_ns(&self, page: u32) -> u64 {
        if self.is_slc(page) {
            return self.slc().program;
        }
        self.program[self.page_type(page)]
    }

    /// Time of a whole erase of the block that a page belongs to, if no scheme chooses its pulses.
    #[inline]
    pub fn erase_ns_of(&self, page: u32) -> u64 {
        if self.is_slc(page) { self.slc().erase } else { self.erase_ns }
    }

    /// The loops of such an erase.
    pub fn loops_of(&self, page: u32) -> &Loops {
        if self.is_slc(page) { &self.slc().loops } else { &self.loops }
    }

    /// The times of pulse and verify of a page's program, and the number of pulses.
    fn pulses_of(&self, page: u32) -> (u64, u64, u64) {
        if self.is_slc(page) {
            let slc = self.slc();
            return (slc.pulse, slc.program - slc.pulse, 1);
        }
        let step = &self.program_step;
        (step.pulse.0, step.verify.0, u64::from(self.program_pulses[self.page_type(page)]))
    }

    /// Channel time of `n` codewords.
    #[inline]
    pub fn transfer_codewords_ns(&self, n: u32) -> u64 {
        self.codewords[n as usize]
    }

    /// The phase that a program of `page` is in after `elapsed` ns, and the end of that phase (ns from the program's
    /// start). `None` after the end of the program.
    pub fn program_phase(&self, page: u32, elapsed: u64) -> Option<(Phase, u64)> {
        let (pulse, verify, n) = self.pulses_of(page);
        let step = pulse + verify;
        if elapsed >= n * step {
            return None;
        }
        let start = elapsed / step * step;
        Some(if elapsed - start < pulse {
            (Phase::ProgramPulse, start + pulse)
        } else {
            (Phase::ProgramVerify, start + step)
        })
    }

    /// Start of the phase that a program of `page` is in after `elapsed` ns (ns from the program's
    /// start).
    pub(super) fn phase_start(&self, page: u32, elapsed: u64) -> u64 {
        let (pulse, verify, _) = self.pulses_of(page);
        match self.program_phase(page, elapsed) {
            Some((Phase::ProgramPulse, end)) => end - pulse,
            Some((_, end)) => end - verify,
            None => elapsed,
        }
    }

    /// Length of the verify of an erase loop, ns.
    pub(super) fn erase_verify(&self) -> u64 {
        self.erase.verify.0
    }

    /// The phase that an erase is in after `elapsed` ns, and the end of that phase (ns from the erase's start). `None`
    /// after the end of the erase.
    pub fn erase_phase(&self, loops: &Loops, elapsed: u64) -> Option<(Phase, u64)> {
        let e = &self.erase;
        let Range { start, end } = loops.around(elapsed)?;
        let (ramped, recovered) = (start + e.ramp_up.0, end - e.verify.0);
        let executed = recovered - e.recovery.0;
        let phases = [
            (Phase::EraseRampUp, ramped),
            (Phase::EraseExecution, executed),
            (Phase::EraseRecovery, recovered),
            (Phase::EraseVerify, end),
        ];
        phases.into_iter().find(|&(_, end)| elapsed < end)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::super::config::{
        ChannelOrder, EraseSuspend, LeastLeftOf, ProgramSuspend, ServedAfterLoop, SuspendLimits,
        SuspendedData,
    };
    use super::*;

    pub fn timing() -> Timing {
        let t = TimingConfig {
            read: vec![Span(10), Span(20)],
            program: ProgramTiming { pulse: Span(8), verify: Span(2), pulses: vec![3, 5] },
            erase: EraseTiming {
                loops: 2,
                ramp_up: Span(1),
                execution: vec![Span(6)],
                recovery: Span(1),
                verify: Span(2),
            },
            program_erase: ProgramErase::Timed,
        };
        let limits = SuspendLimits { most: None, spacing: None, least_left: None };
        let suspend = SuspendConfig {
            erase: EraseSuspend {
                suspend: Span(3),
                resume: Span(4),
                verify: Span(2),
                serve: ServedAfterLoop::Queued,
                limits: limits.clone(),
                least_left_of: LeastLeftOf::Erase,
                keep_last_loop: false,
                rber_growth: 0.0,
            },
            program: ProgramSuspend {
                suspend: Span(5),
                data: SuspendedData::Shadow,
                reload: Span(1),
                limits,
            },
        };
        let channel = ChannelConfig { rate: 1_000_000_000, command: Span(3), order: ChannelOrder::Arrival };
        let ecc = EccConfig { codeword: 512, decode: Span(1), queue: 2, engines: None };
        Timing::new(&t, &suspend, &channel, &ecc, 4)
    }

    #[test]
    fn totals_are_the_sums_of_their_phases() {
        let t = timing();
        assert_eq!((t.program_ns(0), t.program_ns(1), t.program_ns(2)), (30, 50, 30));
        assert_eq!((t.read_ns(3), t.erase_ns), (20, 20));
        let walk = |next: &dyn Fn(u64) -> Option<(Phase, u64)>| {
            let (mut at, mut count) = (0, 0);
            while let Some((_, end)) = next(at) {
                assert!(end > at);
                (at, count) = (end, count + 1);
            }
            (at, count)
        };
        assert_eq!(walk(&|e| t.program_phase(1, e)), (50, 10));
        assert_eq!(walk(&|e| t.erase_phase(&t.loops, e)), (20, 8));
        assert_eq!(t.erase_phase(&t.loops, 11), Some((Phase::EraseExecution, 17)));
    }
}
