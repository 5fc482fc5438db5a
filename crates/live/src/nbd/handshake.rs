//! The handshake of NBD: fixed newstyle, with options.

use super::session::{Export, ProtocolError, be16, be32, be64};
use super::wire::{self, NAME_MAX, OPTION_HEAD, handshake, info, option, option_reply};

/// The only metadata context. It tells which ranges are allocated.
const CONTEXT: &str = "base:allocation";
/// The number of the context in replies.
pub(super) const CONTEXT_ID: u32 = 1;
/// The longest data of an option, in bytes. All supported options are shorter.
const OPTION_MAX: u32 = 16 << 10;
/// The most options of a client.
const MOST_OPTIONS: u32 = 256;

/// The state of a handshake.
pub(super) struct Handshake {
    /// The client's flags, if they have arrived.
    flags: Option<u32>,
    options: u32,
    /// Structured replies are negotiated.
    pub structured: bool,
    /// The context `base:allocation` is negotiated.
    pub block_status: bool,
}

/// The result of an option.
#[derive(Default)]
pub(super) struct Step {
    /// Bytes of the input that were consumed.
    pub used: usize,
    /// The transmission phase begins.
    pub transmits: bool,
    /// The session ends.
    pub aborts: bool,
}

impl Handshake {
    /// Send the greeting.
    pub fn greet(out: &mut Vec<u8>) -> Handshake {
        out.extend_from_slice(&wire::GREETING.to_be_bytes());
        out.extend_from_slice(&wire::OPTION.to_be_bytes());
        out.extend_from_slice(&(handshake::FIXED_NEWSTYLE | handshake::NO_ZEROES).to_be_bytes());
        Handshake { flags: None, options: 0, structured: false, block_status: false }
    }

    /// Handle the client's flags or its next option, if it has arrived completely.
    ///
    /// # Errors
    /// The client has violated the protocol.
    pub fn next(
        &mut self,
        input: &[u8],
        export: &Export,
        out: &mut Vec<u8>,
    ) -> Result<Option<Step>, ProtocolError> {
        let Some(flags) = self.flags else {
            let Some(bytes) = input.first_chunk::<4>() else { return Ok(None) };
            let flags = u32::from_be_bytes(*bytes);
            if flags & !u32::from(handshake::FIXED_NEWSTYLE | handshake::NO_ZEROES) != 0 {
                return Err(ProtocolError::Flags(flags));
            }
            if flags & u32::from(handshake::FIXED_NEWSTYLE) == 0 {
                return Err(ProtocolError::OldStyle);
            }
            self.flags = Some(flags);
            return Ok(Some(Step { used: 4, ..Step::default() }));
        };
        let Some(head) = input.first_chunk::<OPTION_HEAD>() else { return Ok(None) };
        let (magic, number, length) = (be64(head, 0), be32(head, 8), be32(head, 12));
        if magic != wire::OPTION {
            return Err(ProtocolError::Magic {
                what: "the beginning of an option",
                found: magic,
                wanted: wire::OPTION,
            });
        }
        if length > OPTION_MAX {
            let (found, most) = (u64::from(length), u64::from(OPTION_MAX));
            return Err(ProtocolError::TooLong { what: "an option", found, most });
        }
        let used = OPTION_HEAD + length as usize;
        let Some(data) = input.get(OPTION_HEAD..used) else { return Ok(None) };
        self.options += 1;
        if self.options > MOST_OPTIONS {
            return Err(ProtocolError::TooManyOptions(MOST_OPTIONS));
        }
        let mut step = Step { used, ..Step::default() };
        let mut reply = |kind: u32, parts: &[&[u8]]| reply(out, number, kind, parts);
        match number {
            option::EXPORT_NAME => {
                let name = String::from_utf8_lossy(data);
                if !is_known(&name, export) {
                    return Err(ProtocolError::UnknownExport(name.chars().take(80).collect()));
                }
                out.extend_from_slice(&export.bytes.to_be_bytes());
                out.extend_from_slice(&export.flags().to_be_bytes());
                if flags & u32::from(handshake::NO_ZEROES) == 0 {
                    out.extend_from_slice(&[0; 124]);
                }
                step.transmits = true;
            }
            option::ABORT => {
                reply(option_reply::ACK, &[]);
                step.aborts = true;
            }
            option::LIST if !data.is_empty() => reply(option_reply::ERR_INVALID, &[]),
            option::LIST => {
                let name = export.name.as_bytes();
                reply(
                    option_reply::SERVER,
                    &[&(name.len() as u32).to_be_bytes(), name, export.description.as_bytes()],
                );
                reply(option_reply::ACK, &[]);
            }
            option::INFO | option::GO => match asked(data) {
                None => reply(option_reply::ERR_INVALID, &[]),
                Some((name, _)) if !is_known(name, export) => reply(option_reply::ERR_UNKNOWN, &[]),
                Some((_, wanted)) => {
                    describe(export, &wanted, &mut reply);
                    reply(option_reply::ACK, &[]);
                    step.transmits = number == option::GO;
                }
            },
            option::STRUCTURED_REPLY if data.is_empty() => {
                self.structured = true;
                reply(option_reply::ACK, &[]);
            }
            option::STRUCTURED_REPLY => reply(option_reply::ERR_INVALID, &[]),
            option::LIST_META_CONTEXT | option::SET_META_CONTEXT => {
                let sets = number == option::SET_META_CONTEXT;
                match queries(data).filter(|_| self.structured || !sets) {
                    None => reply(option_reply::ERR_INVALID, &[]),
                    Some((name, _)) if !is_known(name, export) => reply(option_reply::ERR_UNKNOWN, &[]),
                    Some((_, queries)) => {
                        let wanted = |q: &&str| *q == CONTEXT || !sets && *q == "base:";
                        let found = queries.iter().any(wanted) || !sets && queries.is_empty();
                        if sets {
                            self.block_status = found;
                        }
                        if found {
                            let id = if sets { CONTEXT_ID } else { 0 };
                            reply(option_reply::META_CONTEXT, &[&id.to_be_bytes(), CONTEXT.as_bytes()]);
                        }
                        reply(option_reply::ACK, &[]);
                    }
                }
            }
            _ => reply(option_reply::ERR_UNSUP, &[]),
        }
        Ok(Some(step))
    }
}

/// Whether an export name is valid: the name of the export, or the empty name for the default.
fn is_known(name: &str, export: &Export) -> bool {
    name.is_empty() || name == export.name
}

/// The name and the kinds of information in `INFO` or `GO`; `None` if the data are malformed.
fn asked(data: &[u8]) -> Option<(&str, Vec<u16>)> {
    let (name, rest) = name(data)?;
    let count = usize::from(be16(rest.first_chunk::<2>()?, 0));
    let kinds = rest.get(2..)?;
    (kinds.len() == 2 * count).then(|| (name, kinds.chunks_exact(2).map(|k| be16(k, 0)).collect()))
}

/// The name and the queries in an option about metadata contexts; `None` if the data are malformed.
fn queries(data: &[u8]) -> Option<(&str, Vec<&str>)> {
    let (export, rest) = name(data)?;
    let count = be32(rest.first_chunk::<4>()?, 0);
    let mut rest = rest.get(4..)?;
    let mut found = Vec::new();
    for _ in 0..count {
        let (query, after) = name(rest)?;
        found.push(query);
        rest = after;
    }
    rest.is_empty().then_some((export, found))
}

/// A length and that many bytes of text. Returns the text and the bytes after it.
fn name(data: &[u8]) -> Option<(&str, &[u8])> {
    let length = be32(data.first_chunk::<4>()?, 0);
    if length > NAME_MAX {
        return None;
    }
    let text = data.get(4..4 + length as usize)?;
    Some((std::str::from_utf8(text).ok()?, &data[4 + length as usize..]))
}

fn describe(export: &Export, wanted: &[u16], reply: &mut impl FnMut(u32, &[&[u8]])) {
    let kind = |kind: u16| kind.to_be_bytes();
    let (bytes, flags) = (export.bytes.to_be_bytes(), export.flags().to_be_bytes());
    reply(option_reply::INFO, &[&kind(info::EXPORT), &bytes, &flags]);
    if wanted.contains(&info::NAME) {
        reply(option_reply::INFO, &[&kind(info::NAME), export.name.as_bytes()]);
    }
    if wanted.contains(&info::DESCRIPTION) {
        reply(option_reply::INFO, &[&kind(info::DESCRIPTION), export.description.as_bytes()]);
    }
    if wanted.contains(&info::BLOCK_SIZE) {
        let sizes = [1, export.preferred, export.longest].map(u32::to_be_bytes);
        reply(option_reply::INFO, &[&kind(info::BLOCK_SIZE), &sizes[0], &sizes[1], &sizes[2]]);
    }
}

fn reply(out: &mut Vec<u8>, option: u32, kind: u32, parts: &[&[u8]]) {
    let length: usize = parts.iter().map(|p| p.len()).sum();
    out.extend_from_slice(&wire::OPTION_REPLY.to_be_bytes());
    out.extend_from_slice(&option.to_be_bytes());
    out.extend_from_slice(&kind.to_be_bytes());
    out.extend_from_slice(&(length as u32).to_be_bytes());
    for part in parts {
        out.extend_from_slice(part);
    }
}
