//! Reads and decompresses a byte stream through one fixed buffer.

use super::error::TraceError;
use super::gzip::{Streams, TrailingGarbage};
use crate::interrupt::{Interrupt, Interruptible};
use std::io::{self, Cursor, Read};

/// The longest line of a text format, in bytes.
pub const LINE_MAX: usize = 64 * 1024;
/// The buffer's size in bytes, which is also how far detection looks ahead.
const BUFFER: usize = 256 * 1024;
/// The most memory that the decoder of xz may use, in KiB; `xz -9` needs 65 MiB.
const XZ_MEMORY_KIB: u32 = 256 << 10;
/// The mark that some editors put before a text to say that it is UTF-8.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// The sample without a UTF-8 byte order mark.
pub(crate) fn text_of(sample: &[u8]) -> &[u8] {
    sample.strip_prefix(BYTE_ORDER_MARK).unwrap_or(sample)
}

/// The input from which a trace is read.
pub type Input = Box<dyn Read + Send>;

/// Decompress an input; the compression is recognised by its first bytes.
///
/// # Errors
/// The input cannot be read.
pub(crate) fn decompress(mut input: Input) -> io::Result<(Input, Option<&'static str>)> {
    let mut magic = [0u8; 6];
    let mut have = 0;
    while have < magic.len() {
        match input.read(&mut magic[have..]) {
            Ok(0) => break,
            Ok(n) => have += n,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Err(e),
        }
    }
    let whole = Cursor::new(magic[..have].to_vec()).chain(input);
    Ok(match magic[..have] {
        [0x1f, 0x8b, ..] => (Box::new(Streams::new(whole)), Some("gzip")),
        [b'B', b'Z', b'h', b'1'..=b'9', ..] => {
            (Box::new(bzip2::read::MultiBzDecoder::new(whole)), Some("bzip2"))
        }
        [0xfd, b'7', b'z', b'X', b'Z', 0] => {
            (Box::new(lzma_rust2::XzReader::new_mem_limit(whole, true, XZ_MEMORY_KIB)), Some("xz"))
        }
        [0x28, 0xb5, 0x2f, 0xfd, ..] => (Box::new(zstd::stream::read::Decoder::new(whole)?), Some("zstd")),
        _ => (Box::new(whole), None),
    })
}

/// A decompressed byte stream with a look-ahead of up to 256 KiB, in constant memory.
pub(crate) struct ByteStream {
    file: String,
    input: Input,
    compression: Option<&'static str>,
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    ended: bool,
    base: u64,
    interrupt: Interrupt,
}

impl ByteStream {
    /// Start reading; gzip, zstd, bzip2 and xz are recognised by their first bytes.
    pub fn open(file: &str, input: Input, interrupt: &Interrupt) -> Result<ByteStream, TraceError> {
        let input = Interruptible { input, interrupt: interrupt.clone() };
        let (input, compression) = decompress(Box::new(input)).map_err(|source| TraceError::Io {
            file: file.into(),
            action: "read",
            source,
        })?;
        Ok(ByteStream {
            file: file.into(),
            input,
            compression,
            buffer: vec![0; BUFFER],
            start: 0,
            end: 0,
            ended: false,
            base: 0,
            interrupt: interrupt.clone(),
        })
    }

    pub fn file(&self) -> &str {
        &self.file
    }

    pub fn compression(&self) -> Option<&'static str> {
        self.compression
    }

    /// Decompressed offset of the next byte.
    pub fn offset(&self) -> u64 {
        self.base + self.start as u64
    }

    /// Return at least `want` bytes (at most 256 KiB), or all remaining bytes.
    #[inline]
    pub fn peek(&mut self, want: usize) -> Result<&[u8], TraceError> {
        if self.end - self.start < want && !self.ended {
            self.fill(want)?;
        }
        Ok(&self.buffer[self.start..self.end])
    }

    /// Fill the look-ahead and return it, and whether the stream ends with it.
    pub fn sample(&mut self) -> Result<(&[u8], bool), TraceError> {
        self.fill(BUFFER)?;
        Ok((&self.buffer[self.start..self.end], self.ended))
    }

    /// Skip a UTF-8 byte order mark, if one is next. For text formats.
    pub fn skip_byte_order_mark(&mut self) -> Result<(), TraceError> {
        if self.peek(BYTE_ORDER_MARK.len())?.starts_with(BYTE_ORDER_MARK) {
            self.consume(BYTE_ORDER_MARK.len());
        }
        Ok(())
    }

    #[inline]
    pub fn consume(&mut self, bytes: usize) {
        self.start = (self.start + bytes).min(self.end);
    }

    /// Return the next line without its line break, and whether it had one; `None` at the
    /// end. A break is a line feed, a carriage return, or both in this order. A line
    /// longer than [`LINE_MAX`] is returned as its first `LINE_MAX + 1` bytes.
    #[inline]
    pub fn line(&mut self) -> Result<Option<(&[u8], bool)>, TraceError> {
        let mut searched = 0;
        loop {
            let window = &self.buffer[self.start..self.end];
            if let Some(at) = memchr::memchr2(b'\n', b'\r', &window[searched..]) {
                let length = searched + at;
                let line_break = match window[length..] {
                    [b'\r', b'\n', ..] => 2,
                    [b'\r'] if !self.ended && length <= LINE_MAX => {
                        // A line feed may follow after the end of the buffer.
                        self.fill(length + 2)?;
                        searched = length;
                        continue;
                    }
                    _ => 1,
                };
                let from = self.start;
                self.start += length + line_break;
                return Ok(Some((&self.buffer[from..from + length], true)));
            }
            searched = window.len();
            if searched > LINE_MAX {
                return Ok(Some((&self.buffer[self.start..=self.start + LINE_MAX], false)));
            }
            if self.ended {
                let from = self.start;
                self.start = self.end;
                let rest = &self.buffer[from..self.end];
                return Ok(if rest.is_empty() { None } else { Some((rest, false)) });
            }
            self.fill(searched + 1)?;
        }
    }

    #[cold]
    fn fill(&mut self, want: usize) -> Result<(), TraceError> {
        if self.interrupt.is_raised() {
            return Err(TraceError::Interrupted { file: self.file.clone() });
        }
        if self.start > 0 {
            self.buffer.copy_within(self.start..self.end, 0);
            self.base += self.start as u64;
            self.end -= self.start;
            self.start = 0;
        }
        while self.end < want.min(BUFFER) && !self.ended {
            match self.input.read(&mut self.buffer[self.end..]) {
                Ok(0) => self.ended = true,
                Ok(n) => self.end += n,
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => return Err(self.fault(e)),
            }
        }
        Ok(())
    }

    fn fault(&self, source: io::Error) -> TraceError {
        let (file, at) = (self.file.clone(), self.base + self.end as u64);
        if self.interrupt.is_raised() {
            return TraceError::Interrupted { file };
        }
        match self.compression {
            None => TraceError::Io { file, action: "read", source },
            // zstd reports an early end as this kind too ("incomplete frame").
            Some(kind) if source.kind() == io::ErrorKind::UnexpectedEof => {
                TraceError::Truncated { file, kind, at }
            }
            Some(kind) if source.get_ref().is_some_and(|e| e.is::<TrailingGarbage>()) => {
                TraceError::TrailingGarbage { file, kind, at }
            }
            Some(kind) => TraceError::Damaged { file, kind, at, source },
        }
    }
}
