//! Arbitrary (ES): stop the pulse where it is, resume the exact remainder.
//!
//! **What it does.** The voltage is taken down at once (`suspend.erase.suspend`), everything that
//! may interrupt the erase is served, the voltage is raised again (`suspend.erase.resume`)
//! and the pulse goes on where it stopped; a new arrival during that cancels it.
//!
//! **Why it helps the tail.** A read waits for the voltage to fall instead of for the erase. Under
//! reads without a pause the erase does not end.
//!
//! **Parameters and source.** None. Wu and He, FAST'12 and JSA'14 section 4; ES of ATC'19.
//!
//! **Left out.** What a pulse generator of arbitrary length costs in silicon.
//!
//! **Checked by** `suspension`.

super::constant!(AtOnce, All);
