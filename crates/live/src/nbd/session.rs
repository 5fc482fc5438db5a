//! One connection of NBD: its state, its buffers, and the transmission phase.

use super::handshake::Handshake;
use super::wire::{self, Errno, PAYLOAD_MAX, REQUEST_HEAD, chunk, command, export};

/// The export of a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Export {
    /// The name. Clients may also use the empty name.
    pub name: String,
    /// A description for people.
    pub description: String,
    /// Its size in bytes.
    pub bytes: u64,
    /// The smallest block that is written without reading first, in bytes.
    pub preferred: u32,
    /// The longest request, in bytes; at most [`PAYLOAD_MAX`].
    pub longest: u32,
}

impl Export {
    /// The flags of the export.
    pub(super) fn flags(&self) -> u16 {
        export::HAS_FLAGS
            | export::SEND_FLUSH
            | export::SEND_FUA
            | export::SEND_TRIM
            | export::SEND_WRITE_ZEROES
            | export::SEND_DF
            | export::CAN_MULTI_CONN
            | export::SEND_FAST_ZERO
    }
}

/// A request of the client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// The client's number of the request. The reply repeats it.
    pub cookie: u64,
    /// The operation.
    pub kind: RequestKind,
    /// First byte; 0 for a flush.
    pub offset: u64,
    /// Length in bytes; 0 for a flush.
    pub length: u32,
    /// The data must be durable when the request ends.
    pub fua: bool,
}

/// The operation of a request. Requests are checked: they are inside the export, and their length is not 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RequestKind {
    /// Read.
    Read,
    /// Write these bytes.
    Write(Vec<u8>),
    /// Declare a range unused.
    Trim,
    /// Zero a range. With `allocate` it must take space on flash.
    WriteZeroes {
        /// Zeros must be written.
        allocate: bool,
    },
    /// Make all completed writes durable.
    Flush,
}

/// Why a session ends early.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProtocolError {
    /// A magic number is wrong.
    #[error("{what} is {found:#x} and not {wanted:#x}")]
    Magic {
        /// Which magic number.
        what: &'static str,
        /// What the client sent.
        found: u64,
        /// The value in the protocol.
        wanted: u64,
    },
    /// Unknown flags.
    #[error("unknown flags {0:#x} of the client")]
    Flags(u32),
    /// The client does not know the fixed newstyle handshake.
    #[error("the client does not negotiate options in the fixed newstyle way")]
    OldStyle,
    /// A length is above its limit.
    #[error("{what} of {found} bytes; at most {most} are allowed")]
    TooLong {
        /// What is too long.
        what: &'static str,
        /// Its length.
        found: u64,
        /// The limit.
        most: u64,
    },
    /// The export does not exist, and the option has no reply for this error.
    #[error("there is no export `{0}`")]
    UnknownExport(String),
    /// Too many options.
    #[error("more than {0} options")]
    TooManyOptions(u32),
}

enum Phase {
    Handshake(Box<Handshake>),
    Transmission,
    Ended,
}

/// One connection.
pub struct Session {
    export: Export,
    phase: Phase,
    /// Bytes from the client. Those from `used` on are not processed yet.
    input: Vec<u8>,
    used: usize,
    /// Bytes for the client. Those from `sent` on are not sent yet.
    output: Vec<u8>,
    sent: usize,
    structured: bool,
    block_status: bool,
    /// Outstanding requests, and the bytes of their data.
    open: u32,
    open_bytes: u64,
}

impl Session {
    /// The most outstanding requests of a session.
    const MOST_OPEN: u32 = 1024;
    /// The most bytes of outstanding requests and unsent replies of a session. Further requests wait in the input.
    const MOST_BYTES: u64 = 2 * PAYLOAD_MAX as u64;

    /// Start a session with a new client.
    pub fn new(export: Export) -> Session {
        let mut output = Vec::new();
        let handshake = Handshake::greet(&mut output);
        Session {
            export,
            phase: Phase::Handshake(Box::new(handshake)),
            input: Vec::new(),
            used: 0,
            output,
            sent: 0,
            structured: false,
            block_status: false,
            open: 0,
            open_bytes: 0,
        }
    }

    /// Process bytes from the client.
    pub fn receive(&mut self, bytes: &[u8]) {
        if self.used > 0 && self.used == self.input.len() {
            self.input.clear();
            self.used = 0;
        } else if self.used >= 1 << 16 {
            self.input.drain(..self.used);
            self.used = 0;
        }
        self.input.extend_from_slice(bytes);
    }

    /// Whether the session has room for more bytes.
    pub fn wants_bytes(&self) -> bool {
        !self.has_ended()
            && self.input.len() - self.used < (PAYLOAD_MAX as usize) + REQUEST_HEAD
            && self.has_room(0)
    }

    /// Whether another request with `bytes` of data may be taken.
    fn has_room(&self, bytes: u64) -> bool {
        let held = self.open_bytes + self.unsent().len() as u64;
        self.open < Session::MOST_OPEN && (held == 0 || held + bytes <= Session::MOST_BYTES)
    }

    /// Whether the client has ended the session regularly.
    pub fn has_ended(&self) -> bool {
        matches!(self.phase, Phase::Ended)
    }

    /// Whether the client has not chosen the export yet.
    pub fn is_in_handshake(&self) -> bool {
        matches!(self.phase, Phase::Handshake(_))
    }

    /// Whether requests are outstanding.
    pub fn has_open_requests(&self) -> bool {
        self.open > 0
    }

    /// Bytes for the client that are not sent yet.
    pub fn unsent(&self) -> &[u8] {
        &self.output[self.sent..]
    }

    /// The first `count` unsent bytes were sent.
    pub fn sent(&mut self, count: usize) {
        self.sent += count;
        debug_assert!(self.sent <= self.output.len(), "more was sent than there was");
        if self.sent == self.output.len() {
            self.output.clear();
            self.sent = 0;
            // Release the memory of a long reply.
            if self.output.capacity() > 1 << 20 {
                self.output = Vec::new();
            }
        } else if self.sent >= 1 << 20 {
            self.output.drain(..self.sent);
            self.sent = 0;
        }
    }

    /// The next complete request. Options and invalid requests are answered here.
    ///
    /// # Errors
    /// The client has violated the protocol. Its connection must be closed.
    pub fn next_request(&mut self) -> Result<Option<Request>, ProtocolError> {
        loop {
            match &mut self.phase {
                Phase::Ended => return Ok(None),
                Phase::Handshake(handshake) => {
                    let input = &self.input[self.used..];
                    let Some(step) = handshake.next(input, &self.export, &mut self.output)? else {
                        return Ok(None);
                    };
                    self.used += step.used;
                    if step.aborts {
                        self.phase = Phase::Ended;
                    } else if step.transmits {
                        (self.structured, self.block_status) = (handshake.structured, handshake.block_status);
                        self.phase = Phase::Transmission;
                    }
                }
                Phase::Transmission => match self.take_request()? {
                    Taken::Nothing => return Ok(None),
                    Taken::Answered => {}
                    Taken::Request(request) => return Ok(Some(request)),
                },
            }
        }
    }

    fn take_request(&mut self) -> Result<Taken, ProtocolError> {
        let input = &self.input[self.used..];
        let Some(head) = input.first_chunk::<REQUEST_HEAD>() else { return Ok(Taken::Nothing) };
        let (magic, flags, kind) = (be32(head, 0), be16(head, 4), be16(head, 6));
        let (cookie, offset, length) = (be64(head, 8), be64(head, 16), be32(head, 24));
        if magic != wire::REQUEST {
            let (found, wanted) = (u64::from(magic), u64::from(wire::REQUEST));
            return Err(ProtocolError::Magic { what: "the beginning of a request", found, wanted });
        }
        let payload = if kind == command::WRITE { length } else { 0 };
        if payload > PAYLOAD_MAX {
            let (found, most) = (u64::from(payload), u64::from(PAYLOAD_MAX));
            return Err(ProtocolError::TooLong { what: "a write", found, most });
        }
        let data = if matches!(kind, command::READ | command::WRITE) { u64::from(length) } else { 0 };
        // An invalid request is answered at once and takes no room.
        let problem = self.problem(kind, flags, offset, length);
        if problem.is_none() && !self.has_room(data) {
            return Ok(Taken::Nothing);
        }
        let whole = REQUEST_HEAD + payload as usize;
        if input.len() < whole {
            return Ok(Taken::Nothing);
        }
        if kind == command::DISCONNECT {
            self.phase = Phase::Ended;
            return Ok(Taken::Answered);
        }
        let bytes = if kind == command::WRITE && problem.is_none() {
            input[REQUEST_HEAD..whole].to_vec()
        } else {
            Vec::new()
        };
        self.used += whole;
        if let Some(errno) = problem {
            self.fail_cookie(cookie, errno);
            return Ok(Taken::Answered);
        }
        let kind = match kind {
            command::READ => RequestKind::Read,
            command::WRITE => RequestKind::Write(bytes),
            command::TRIM => RequestKind::Trim,
            command::WRITE_ZEROES => {
                RequestKind::WriteZeroes { allocate: flags & command::FLAG_NO_HOLE != 0 }
            }
            command::FLUSH => RequestKind::Flush,
            _ => {
                // All of the drive counts as allocated. Units that were never written read as zeros.
                let mut extent = [0; 12];
                extent[..4].copy_from_slice(&super::handshake::CONTEXT_ID.to_be_bytes());
                extent[4..8].copy_from_slice(&length.to_be_bytes());
                self.chunk(cookie, chunk::FLAG_DONE, chunk::BLOCK_STATUS, &[&extent]);
                return Ok(Taken::Answered);
            }
        };
        self.open += 1;
        self.open_bytes += data;
        let fua = flags & command::FLAG_FUA != 0;
        let (offset, length) = if kind == RequestKind::Flush { (0, 0) } else { (offset, length) };
        Ok(Taken::Request(Request { cookie, kind, offset, length, fua }))
    }

    /// Why a request is invalid, if it is.
    fn problem(&self, kind: u16, flags: u16, offset: u64, length: u32) -> Option<Errno> {
        let allowed = match kind {
            command::READ => command::FLAG_DF | command::FLAG_FUA,
            command::WRITE | command::TRIM => command::FLAG_FUA,
            command::WRITE_ZEROES => command::FLAG_FUA | command::FLAG_NO_HOLE | command::FLAG_FAST_ZERO,
            command::BLOCK_STATUS if self.block_status => command::FLAG_REQ_ONE | command::FLAG_FUA,
            command::FLUSH => command::FLAG_FUA,
            command::DISCONNECT => return None,
            _ => return Some(Errno::Invalid),
        };
        // Unfragmented reads only exist with structured replies.
        let allowed = if self.structured { allowed } else { allowed & !command::FLAG_DF };
        if flags & !allowed != 0 {
            return Some(Errno::Invalid);
        }
        if kind == command::FLUSH {
            return (offset != 0 || length != 0).then_some(Errno::Invalid);
        }
        let end = offset.checked_add(u64::from(length));
        if end.is_none_or(|end| end > self.export.bytes) {
            let writes = matches!(kind, command::WRITE | command::WRITE_ZEROES);
            return Some(if writes { Errno::NoSpace } else { Errno::Invalid });
        }
        if length == 0 {
            return Some(Errno::Invalid);
        }
        if kind == command::READ && length > PAYLOAD_MAX {
            return Some(Errno::Overflow);
        }
        let slow = command::FLAG_NO_HOLE | command::FLAG_FAST_ZERO;
        (kind == command::WRITE_ZEROES && flags & slow == slow).then_some(Errno::NotSupported)
    }

    /// Answer a read with its data.
    pub fn answer_read(&mut self, request: &Request, data: &[u8]) {
        debug_assert_eq!(data.len(), request.length as usize);
        self.close(request);
        if self.structured {
            let at = request.offset.to_be_bytes();
            self.chunk(request.cookie, chunk::FLAG_DONE, chunk::OFFSET_DATA, &[&at, data]);
        } else {
            self.simple(request.cookie, 0);
            self.output.extend_from_slice(data);
        }
    }

    /// Answer a successful request without data.
    pub fn answer(&mut self, request: &Request) {
        self.close(request);
        // With structured replies, only reads need structured replies.
        self.simple(request.cookie, 0);
    }

    /// Answer a request that has failed.
    pub fn fail(&mut self, request: &Request, errno: Errno) {
        self.close(request);
        self.fail_cookie(request.cookie, errno);
    }

    fn close(&mut self, request: &Request) {
        self.open -= 1;
        if matches!(request.kind, RequestKind::Read | RequestKind::Write(_)) {
            self.open_bytes -= u64::from(request.length);
        }
    }

    fn fail_cookie(&mut self, cookie: u64, errno: Errno) {
        if self.structured {
            let (number, text) = ((errno as u32).to_be_bytes(), 0u16.to_be_bytes());
            self.chunk(cookie, chunk::FLAG_DONE, chunk::ERROR, &[&number, &text]);
        } else {
            self.simple(cookie, errno as u32);
        }
    }

    fn simple(&mut self, cookie: u64, errno: u32) {
        self.output.extend_from_slice(&wire::SIMPLE_REPLY.to_be_bytes());
        self.output.extend_from_slice(&errno.to_be_bytes());
        self.output.extend_from_slice(&cookie.to_be_bytes());
    }

    fn chunk(&mut self, cookie: u64, flags: u16, kind: u16, parts: &[&[u8]]) {
        let length: usize = parts.iter().map(|p| p.len()).sum();
        let out = &mut self.output;
        out.extend_from_slice(&wire::STRUCTURED_REPLY.to_be_bytes());
        out.extend_from_slice(&flags.to_be_bytes());
        out.extend_from_slice(&kind.to_be_bytes());
        out.extend_from_slice(&cookie.to_be_bytes());
        out.extend_from_slice(&(length as u32).to_be_bytes());
        for part in parts {
            out.extend_from_slice(part);
        }
    }
}

enum Taken {
    Nothing,
    Answered,
    Request(Request),
}

pub(super) fn be16(bytes: &[u8], at: usize) -> u16 {
    u16::from_be_bytes([bytes[at], bytes[at + 1]])
}

pub(super) fn be32(bytes: &[u8], at: usize) -> u32 {
    (u32::from(be16(bytes, at)) << 16) | u32::from(be16(bytes, at + 2))
}

pub(super) fn be64(bytes: &[u8], at: usize) -> u64 {
    (u64::from(be32(bytes, at)) << 32) | u64::from(be32(bytes, at + 4))
}
