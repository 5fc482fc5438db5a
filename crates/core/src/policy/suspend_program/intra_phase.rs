//! Intra-phase cancellation (IPC): cancel the phase under way, repeat it later.
//!
//! **What it does.** When a read arrives, the voltage is reset (`suspend.program.suspend`), reads
//! are served, the page register is filled again (`suspend.program.reload`, or a second transfer)
//! and the cancelled phase starts again.
//!
//! **Why it helps the tail.** A read waits only for the reset. The write pays with the work that is
//! lost.
//!
//! **Parameters and source.** None. Wu and He, FAST'12 and JSA'14 section 4.
//!
//! **Left out.** Nothing.
//!
//! **Checked by** `flash` of `core`.

super::always!(CancelPhase);
