//! Ideal: stop anywhere, resume anywhere, at no cost.
//!
//! **What it does.** The die is free at once. The erase continues as soon as no operation waits
//! that may interrupt it.
//!
//! **Why it helps the tail.** The bound that real suspension is compared with.
//!
//! **Parameters and source.** None. Ideal-ES of ATC'19 section 3.1.
//!
//! **Left out.** Nothing.
//!
//! **Checked by** `flash` of `core`, `suspension`.

super::constant!(AtOnceFree, All);
