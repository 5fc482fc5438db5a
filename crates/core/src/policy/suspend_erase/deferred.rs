//! Deferred (D-ES): finish the loop, then serve what waits, then go on.
//!
//! **What it does.** A loop that has begun always completes. Between two loops the die serves what
//! was queued when the first ended, and no later arrival.
//!
//! **Why it helps the tail.** A read waits for a loop at most, and every erase ends in bounded time: no
//! starvation, no cost, no wear.
//!
//! **Parameters and source.** None. ATC'19 section 2.3.
//!
//! **Left out.** Nothing.
//!
//! **Checked by** `suspension`.

super::constant!(AfterLoop, Queued);
