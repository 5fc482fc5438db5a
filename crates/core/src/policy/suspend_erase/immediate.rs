//! Immediate (I-ES): cancel the loop under way, and repeat it later.
//!
//! **What it does.** The voltage is taken down at once (`suspend.erase.suspend`) and what the loop
//! had done is lost; loops completed are kept. To resume, a verify (`suspend.erase.verify`)
//! spares the cells that are erased already, and the whole loop is repeated.
//!
//! **Why it helps the tail.** As with `arbitrary`, without a pulse of arbitrary length; but a loop needs
//! its whole length without an arrival, so that writes starve sooner.
//!
//! **Parameters and source.** None. ATC'19 section 2.2.
//!
//! **Left out.** Nothing.
//!
//! **Checked by** `suspension`.

super::constant!(CancelLoop, All);
