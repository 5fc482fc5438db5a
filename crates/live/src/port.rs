//! Requests of other threads of the program: front ends that are no sockets.

use crate::nbd::{Errno, Request};
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

/// The most requests that wait for the server's thread. A further one blocks its own thread.
const WAITING: usize = 1024;

/// What is called when a request has ended: with the data of a read, or the error.
pub type Done = Box<dyn FnOnce(Result<Vec<u8>, Errno>) + Send>;

/// Gives requests to a server from any thread.
pub struct Port {
    requests: SyncSender<(Request, Done)>,
    wake: UnixStream,
}

impl Port {
    /// Give the server a request. `done` is called in its thread.
    pub fn ask(&self, request: Request, done: Done) {
        if let Err(returned) = self.requests.send((request, done)) {
            // The server has stopped.
            let (_, done) = returned.0;
            return done(Err(Errno::ShuttingDown));
        }
        // If the socket is full, the server is awake already.
        let _ = (&self.wake).write(&[1]);
    }
}

/// The server's side of its ports.
pub(crate) struct Inbox {
    requests: Receiver<(Request, Done)>,
    wake: UnixStream,
}

impl Inbox {
    /// A port and its inbox.
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

    /// Forget that there were requests. Call it before [`Inbox::next`], so that none is missed. Returns whether there is
    /// still a port: no request comes after the last one is gone.
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
