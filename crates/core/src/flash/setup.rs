//! The parts of a flash that depend only on the configuration, and not on the controller above it.

use crate::array::eraser::Eraser;
use crate::array::senses::Senses;
use crate::config::DeviceConfig;
use crate::nand::config::ProgramErase;
use crate::nand::errors::draw::Errors;
use crate::nand::timing::Timing;
use crate::policy::PolicyContext;
use crate::policy::erase_scheme::EraseSchemePolicy;
use crate::policy::read_retry::ReadRetryPolicy;
use crate::policy::schedule::SchedulePolicy;
use crate::policy::suspend_program::SuspendProgramPolicy;
use crate::problem::{ConfigProblem, of_policy, refuse};
use tailcut_units::{ArrayAct, Occupant};

/// The times of a flash, and its models of erases and senses.
#[derive(Clone, Debug)]
pub struct Parts {
    /// Array and transfer times.
    pub timing: Timing,
    /// The times of programs of blocks that were erased at the lower of two voltages, if the erase scheme chooses.
    pub slow_programs: Option<Timing>,
    /// The model of the erase scheme; `None` if erases use the configured loops.
    pub eraser: Option<Eraser>,
    /// The model of senses; `None` if pages have no raw bit errors.
    pub senses: Option<Senses>,
}

impl Parts {
    /// Create the parts for a configuration. An operation moves at most `most_bytes` bytes.
    ///
    /// # Errors
    /// If a policy cannot be created, or the array does not support it.
    pub fn new(
        c: &DeviceConfig,
        x: &PolicyContext,
        most_bytes: u64,
        seed: u64,
    ) -> Result<Parts, ConfigProblem> {
        let eraser = eraser(c, x, seed)?;
        let senses = senses(c, x, most_bytes, seed)?;
        let codewords = (most_bytes / c.ecc.codeword) as u32;
        let timing = Timing::new(&c.timing, &c.suspend, &c.channel, &c.ecc, codewords).with_slc(
            c.slc.as_ref(),
            &c.timing,
            c.geometry.pages,
        );
        let (timing, slow_programs) = match &eraser {
            Some(eraser) => {
                let erase_ns = eraser.mean_ns(c.age.past().cycles, timing.loops.others());
                let slow = timing.clone().with_scheme(erase_ns, eraser.program_time());
                if eraser.chooses_voltage() {
                    (timing.with_scheme(erase_ns, 1.0), Some(slow))
                } else {
                    (slow, None)
                }
            }
            None => (timing, None),
        };
        Ok(Parts { timing, slow_programs, eraser, senses })
    }
}

/// Whether programs of any kind are ever suspended.
pub fn suspends_programs(policy: &SuspendProgramPolicy) -> bool {
    Occupant::ALL.into_iter().any(|o| o.act() == ArrayAct::Program && policy.suspends(o))
}

/// Refuse suspension policies that would suspend nothing.
///
/// # Errors
/// If a policy would have no effect; the message names it.
pub fn check_suspension(
    config: &DeviceConfig,
    schedule: &SchedulePolicy,
    erases: bool,
    programs: bool,
) -> Result<(), ConfigProblem> {
    let p = &config.policy;
    let names = [
        ("suspend_erase", p.suspend_erase.name(), erases, Occupant::Erase),
        ("suspend_program", p.suspend_program.name(), programs, Occupant::UserProgram),
    ];
    for (key, name, suspends, holder) in names {
        let refuse = |why: String| refuse(&format!("policy.{key}"), format!("`{name}` {why}"));
        if !suspends {
            continue;
        }
        if schedule.interrupters(holder).is_empty() {
            let schedule = p.schedule.name();
            return refuse(format!("with policy.schedule `{schedule}`, which lets nothing be interrupted"));
        }
        if key == "suspend_program" && config.geometry.cache_program {
            let why = "with geometry.cache_program: the register that would keep the data of a suspended program takes those of the next one; leave one of the two out";
            return refuse(why.into());
        }
        if config.timing.program_erase != ProgramErase::Timed {
            let why = "with timing.program_erase other than `timed`: there are no phases to stop in";
            return refuse(why.into());
        }
    }
    Ok(())
}

/// The model of the erase scheme.
fn eraser(c: &DeviceConfig, x: &PolicyContext, seed: u64) -> Result<Option<Eraser>, ConfigProblem> {
    let scheme = EraseSchemePolicy::new(&c.policy.erase_scheme, x).map_err(of_policy("erase_scheme"))?;
    let Some(erase) = &c.erase else { return Ok(None) };
    let eraser =
        Eraser::new(erase, scheme, c.suspend.erase.rber_growth, seed).map_err(of_policy("erase_scheme"))?;
    if eraser.is_some() && c.timing.program_erase != ProgramErase::Timed {
        return refuse(
            "policy.erase_scheme",
            "chooses pulses, and timing.program_erase gives erases another time: leave one of them out",
        );
    }
    Ok(eraser)
}

/// The model of senses.
fn senses(
    c: &DeviceConfig,
    x: &PolicyContext,
    most_bytes: u64,
    seed: u64,
) -> Result<Option<Senses>, ConfigProblem> {
    let Some(errors) = &c.errors else { return Ok(None) };
    let retry = ReadRetryPolicy::new(&c.policy.read_retry, x).map_err(of_policy("read_retry"))?;
    let table = tailcut_ldpc::Table::shipped();
    let g = &c.geometry;
    let errors_of =
        Errors::new(errors, c.timing.read.len(), g.pages, tailcut_ldpc::CODEWORD_BITS as u64, seed);
    let codewords = (c.codewords_of_page(), (most_bytes / c.ecc.codeword) as u32);
    Ok(Some(Senses::new((errors_of, errors), &table, retry, c.suspend.erase.rber_growth, codewords)))
}
