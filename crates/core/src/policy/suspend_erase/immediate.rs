//! Immediate (I-ES): cancel the loop under way, and repeat it later.
//!
//! **What it does.** The voltage is lowered at once (`suspend.erase.suspend`). The work of the loop
//! under way is lost; completed loops are kept. To resume, a verify (`suspend.erase.verify`) finds
//! the cells that are erased already and spares them, and the whole loop is repeated.
//!
//! **Why it helps the tail.** As with `arbitrary`, but no pulse of arbitrary length is needed. On
//! the other hand a loop completes only if no operation interrupts it for its whole length, so
//! writes starve sooner.
//!
//! **Parameters and source.** None. ATC'19 section 2.2.
//!
//! **Left out.** Nothing.
//!
//! **Checked by** `flash` of `core`, `suspension`.

super::constant!(CancelLoop, All);
