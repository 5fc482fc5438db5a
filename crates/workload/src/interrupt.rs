//! Stops the reading of a trace on request.

use std::io::{self, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A request to stop, given to everything that reads a trace. Clones share one flag. A
/// reader checks the flag at every buffer and then ends with [`TraceError::Interrupted`].
///
/// [`TraceError::Interrupted`]: crate::trace::TraceError::Interrupted
#[derive(Clone, Debug, Default)]
pub struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// Set the flag. Returns whether it was set before.
    pub fn raise(&self) -> bool {
        self.0.swap(true, Ordering::Relaxed)
    }

    /// Whether the flag is set.
    #[inline]
    pub fn is_raised(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// All interrupts are equal: the data read do not depend on the interrupt.
impl PartialEq for Interrupt {
    fn eq(&self, _: &Interrupt) -> bool {
        true
    }
}

/// An input that fails once the interrupt is raised. The check is needed at each read
/// because a decoder may consume any number of empty frames before it returns a byte.
pub(crate) struct Interruptible<R> {
    pub input: R,
    pub interrupt: Interrupt,
}

impl<R: Read> Read for Interruptible<R> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        if self.interrupt.is_raised() {
            return Err(io::Error::other("interrupted"));
        }
        self.input.read(to)
    }
}
