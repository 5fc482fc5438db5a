//! Arbitrary (ES): stop the pulse where it is, resume the exact remainder.
//!
//! **What it does.** The voltage is lowered at once (`suspend.erase.suspend`), and all operations
//! that may interrupt the erase are served. Then the voltage is raised again
//! (`suspend.erase.resume`) and the pulse continues where it stopped. An operation that arrives
//! while the voltage is raised cancels the resume.
//!
//! **Why it helps the tail.** A read waits only until the voltage has fallen, and not for the
//! erase. Under reads without a pause the erase does not end.
//!
//! **Parameters and source.** None. Wu and He, FAST'12 and JSA'14 section 4; ES of ATC'19.
//!
//! **Left out.** The silicon cost of a generator for pulses of arbitrary length.
//!
//! **Checked by** `flash` of `core`, `suspension`.

super::constant!(AtOnce, All);
