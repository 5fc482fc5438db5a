//! How reading a trace is given up.

use std::io::{self, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Asks everything that reads a trace to stop. Clones share one flag; a reader looks at it
/// at every buffer and then ends with [`TraceError::Interrupted`].
///
/// [`TraceError::Interrupted`]: crate::trace::TraceError::Interrupted
#[derive(Clone, Debug, Default)]
pub struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// Ask. Returns whether somebody had asked before.
    pub fn raise(&self) -> bool {
        self.0.swap(true, Ordering::Relaxed)
    }

    /// Whether somebody has asked.
    #[inline]
    pub fn is_raised(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// All interrupts are equal: what is read does not depend on who may stop it.
impl PartialEq for Interrupt {
    fn eq(&self, _: &Interrupt) -> bool {
        true
    }
}

/// An input that fails once the interrupt is raised: a decoder may swallow any number of
/// empty frames before it hands out a byte.
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
