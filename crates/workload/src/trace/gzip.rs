//! Decompresses a gzip file of one or more streams without other content.

use flate2::bufread::GzDecoder;
use std::io::{self, BufRead, BufReader, Read};

/// The bytes after the last stream are not a gzip stream.
#[derive(Debug, thiserror::Error)]
#[error("the bytes after the stream are not a gzip stream")]
pub(super) struct TrailingGarbage;

/// Decompresses all streams of a file in turn. `flate2` can do this too, but it does not
/// distinguish a truncated stream from a few foreign bytes after a complete stream.
pub(super) struct Streams<R> {
    current: Option<GzDecoder<BufReader<R>>>,
}

impl<R: Read> Streams<R> {
    pub fn new(input: R) -> Streams<R> {
        Streams { current: Some(GzDecoder::new(BufReader::new(input))) }
    }
}

impl<R: Read> Read for Streams<R> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        while let Some(stream) = &mut self.current {
            let bytes = stream.read(to)?;
            if bytes > 0 || to.is_empty() {
                return Ok(bytes);
            }
            match stream.get_mut().fill_buf()? {
                [] => self.current = None,
                [0x1f] | [0x1f, 0x8b, ..] => {
                    let whole = self.current.take().expect("a stream has just ended");
                    self.current = Some(GzDecoder::new(whole.into_inner()));
                }
                _ => return Err(io::Error::new(io::ErrorKind::InvalidData, TrailingGarbage)),
            }
        }
        Ok(0)
    }
}
