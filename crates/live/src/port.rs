//! Requests from other threads of this program: front ends without sockets.

use crate::nbd::{Errno, Request};
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

/// The most requests that wait for the server's thread. Another request blocks its thread.
const WAITING: usize = 1024;

/// Called when a request has ended, with the data of a read or the error.
pub type Done = Box<dyn FnOnce(Result<Vec<u8>, Errno>) + Send>;

/// Sends requests to a server from any thread.
pub struct Port {
    requests: SyncSender<(Request, Done)>,
    wake: UnixStream,
}

impl Port {
    /// Send a request to the server. `done` is called in the server's thread.
    pub fn ask(&self, request: Request, done: Done) {
        if let Err(returned) = self.requests.send((request, done)) {
            // The server has stopped.
            let (_, done) = returned.0;
            return done(Err(Errno::ShuttingDown));
        }
        // If the socket is full, the server has been woken already.
        let _ = (&self.wake).write(&[1]);
    }
}

/// The server's side of its port.
pub(crate) struct Inbox {
    requests: Receiver<(Request, Done)>,
    wake: UnixStream,
}

impl Inbox {
    /// Create a port and its inbox.
    pub fn new() -> io::Result<(Port, Inbox)> {
        let (requests, taken) = sync_channel(WAITING);
        let (wake, woken) = UnixStream::pair()?;
        wake.set_nonblocking(true)?;
        woken.set_nonblocking(true)?;
        Ok((Port { requests, wake }, Inbox { requests: taken, wake: woken }))
    }

    /// The next request.
    pub fn next(&self) -> Option<(Request, Done)> {
        self.requests.try_recv().ok()
    }

    /// Clear the wake-up signals. Call it before [`Inbox::next`], so that no request is missed. Returns whether the
    /// port still exists. Without it there are no more requests.
    pub fn calm(&self) -> bool {
        let mut bytes = [0; 256];
        loop {
            match (&self.wake).read(&mut bytes) {
                Ok(0) => return false,
                Ok(count) if count == bytes.len() => {}
                _ => return true,
            }
        }
    }
}

impl AsFd for Inbox {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.wake.as_fd()
    }
}
