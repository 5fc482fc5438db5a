//! Inter-phase suspension (IPS): finish the phase under way, then suspend.
//!
//! **What it does.** A program alternates between a pulse and its verify. When a read arrives, the
//! phase under way is completed, reads are served, the page register is filled again
//! (`suspend.program.reload`, or a second transfer) and the next phase begins.
//!
//! **Why it helps the tail.** A read waits for one phase at most, and no work is lost.
//!
//! **Parameters and source.** None. Wu and He, FAST'12 and JSA'14 section 4.
//!
//! **Left out.** Nothing.
//!
//! **Checked by** `flash` of `core`.

super::always!(AfterPhase);
