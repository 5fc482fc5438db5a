//! A gzip file: one stream after another, and nothing else.

use flate2::bufread::GzDecoder;
use std::io::{self, BufRead, BufReader, Read};

/// What follows the last stream is none.
#[derive(Debug, thiserror::Error)]
#[error("bytes that are no gzip stream follow it")]
pub(super) struct TrailingGarbage;

/// Decompresses all streams of a file in turn. `flate2` does so too, but does not tell a
/// stream that is cut short from a few foreign bytes behind a whole one.
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
