//! The constants of the NBD protocol (`doc/proto.md` of the NetworkBlockDevice project). All integers are big-endian.

/// The greeting of the server: `NBDMAGIC`.
pub const GREETING: u64 = u64::from_be_bytes(*b"NBDMAGIC");
/// The magic number of an option, and the second word of the greeting: `IHAVEOPT`.
pub const OPTION: u64 = u64::from_be_bytes(*b"IHAVEOPT");
/// The magic number of a reply to an option.
pub const OPTION_REPLY: u64 = 0x0003_e889_0455_65a9;
/// The magic number of a request.
pub const REQUEST: u32 = 0x2560_9513;
/// The magic number of a simple reply.
pub const SIMPLE_REPLY: u32 = 0x6744_6698;
/// The magic number of a chunk of a structured reply.
pub const STRUCTURED_REPLY: u32 = 0x668e_33ef;

/// Bytes of an option before its data.
pub const OPTION_HEAD: usize = 16;
/// Bytes of a request before its payload.
pub const REQUEST_HEAD: usize = 28;

/// The longest payload of a request or a reply, in bytes. Clients assume that servers accept it.
pub const PAYLOAD_MAX: u32 = 32 << 20;
/// The longest name of an export, in bytes.
pub const NAME_MAX: u32 = 4096;

/// Flags of the handshake, of either side.
pub mod handshake {
    /// Options are negotiated in the fixed newstyle way.
    pub const FIXED_NEWSTYLE: u16 = 1;
    /// No 124 zeros follow the answer to `EXPORT_NAME`.
    pub const NO_ZEROES: u16 = 2;
}

/// Options of a client.
pub mod option {
    /// Begin transmission, without a reply.
    pub const EXPORT_NAME: u32 = 1;
    /// End the session.
    pub const ABORT: u32 = 2;
    /// List the exports.
    pub const LIST: u32 = 3;
    /// Describe an export.
    pub const INFO: u32 = 6;
    /// Describe an export and begin transmission.
    pub const GO: u32 = 7;
    /// Use structured replies.
    pub const STRUCTURED_REPLY: u32 = 8;
    /// List the contexts of metadata.
    pub const LIST_META_CONTEXT: u32 = 9;
    /// Choose contexts of metadata.
    pub const SET_META_CONTEXT: u32 = 10;
}

/// Types of replies to options.
pub mod option_reply {
    /// Done.
    pub const ACK: u32 = 1;
    /// An export.
    pub const SERVER: u32 = 2;
    /// Information on an export.
    pub const INFO: u32 = 3;
    /// A context of metadata.
    pub const META_CONTEXT: u32 = 4;
    /// The option is not known.
    pub const ERR_UNSUP: u32 = (1 << 31) + 1;
    /// The option is malformed.
    pub const ERR_INVALID: u32 = (1 << 31) + 3;
    /// The export is not known.
    pub const ERR_UNKNOWN: u32 = (1 << 31) + 6;
}

/// Types of information on an export.
pub mod info {
    /// Size and flags.
    pub const EXPORT: u16 = 0;
    /// The canonical name.
    pub const NAME: u16 = 1;
    /// A text.
    pub const DESCRIPTION: u16 = 2;
    /// Smallest, preferred and largest block.
    pub const BLOCK_SIZE: u16 = 3;
}

/// Flags of an export.
pub mod export {
    /// The flags are valid.
    pub const HAS_FLAGS: u16 = 1;
    /// `FLUSH` is served.
    pub const SEND_FLUSH: u16 = 1 << 2;
    /// Forced unit access is served.
    pub const SEND_FUA: u16 = 1 << 3;
    /// `TRIM` is served.
    pub const SEND_TRIM: u16 = 1 << 5;
    /// `WRITE_ZEROES` is served.
    pub const SEND_WRITE_ZEROES: u16 = 1 << 6;
    /// Reads can be asked not to be fragmented.
    pub const SEND_DF: u16 = 1 << 7;
    /// A `FLUSH` covers the writes of all connections.
    pub const CAN_MULTI_CONN: u16 = 1 << 8;
    /// `WRITE_ZEROES` with `FAST_ZERO` fails at once where it would be slow.
    pub const SEND_FAST_ZERO: u16 = 1 << 11;
}

/// Commands.
pub mod command {
    /// Read.
    pub const READ: u16 = 0;
    /// Write.
    pub const WRITE: u16 = 1;
    /// End the session.
    pub const DISCONNECT: u16 = 2;
    /// Make all completed writes durable.
    pub const FLUSH: u16 = 3;
    /// Declare a range unused.
    pub const TRIM: u16 = 4;
    /// Make a range zero.
    pub const WRITE_ZEROES: u16 = 6;
    /// Describe a range.
    pub const BLOCK_STATUS: u16 = 7;

    /// Forced unit access.
    pub const FLAG_FUA: u16 = 1;
    /// Zeros are to be allocated.
    pub const FLAG_NO_HOLE: u16 = 1 << 1;
    /// A read is not to be fragmented.
    pub const FLAG_DF: u16 = 1 << 2;
    /// One extent is enough.
    pub const FLAG_REQ_ONE: u16 = 1 << 3;
    /// Fail rather than be slow.
    pub const FLAG_FAST_ZERO: u16 = 1 << 4;
}

/// Chunks of structured replies.
pub mod chunk {
    /// The last chunk of a reply.
    pub const FLAG_DONE: u16 = 1;
    /// Data at an offset.
    pub const OFFSET_DATA: u16 = 1;
    /// Extents.
    pub const BLOCK_STATUS: u16 = 5;
    /// An error.
    pub const ERROR: u16 = (1 << 15) + 1;
}

/// Errors of replies: those of Linux.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Errno {
    /// The drive does not accept changes any more.
    ReadOnly = 1,
    /// The data cannot be read.
    Io = 5,
    /// A request that is not allowed.
    Invalid = 22,
    /// A write beyond the end.
    NoSpace = 28,
    /// A reply that would be too long.
    Overflow = 75,
    /// Not served in this form.
    NotSupported = 95,
    /// The server ends.
    ShuttingDown = 108,
}
