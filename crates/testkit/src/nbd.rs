//! A client of the NBD protocol that is independent of the server's code.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::path::Path;

/// Read.
pub const READ: u16 = 0;
/// Write.
pub const WRITE: u16 = 1;
/// End the session.
pub const DISCONNECT: u16 = 2;
/// Make completed writes durable.
pub const FLUSH: u16 = 3;
/// Declare a range unused.
pub const TRIM: u16 = 4;
/// Make a range zero.
pub const WRITE_ZEROES: u16 = 6;
/// Describe a range.
pub const BLOCK_STATUS: u16 = 7;

/// A connected socket.
trait Socket: Read + Write + Send {}
impl<S: Read + Write + Send> Socket for S {}

/// One connection.
pub struct Client {
    stream: Box<dyn Socket>,
    structured: bool,
    /// Bytes of the export.
    pub size: u64,
    /// Its flags.
    pub flags: u16,
    next: u64,
}

/// The answer to a request.
#[derive(Debug, PartialEq, Eq)]
pub struct Answer {
    /// The number of the request.
    pub cookie: u64,
    /// 0, or the error.
    pub error: u32,
    /// The data of a read.
    pub data: Vec<u8>,
}

impl Client {
    /// Connect to a Unix socket, and negotiate.
    pub fn connect(path: &Path, structured: bool) -> Client {
        Client::over(Box::new(UnixStream::connect(path).expect("a server listens")), structured)
    }

    /// Connect by TCP, and negotiate.
    pub fn connect_tcp(address: &str, structured: bool) -> Client {
        Client::over(Box::new(TcpStream::connect(address).expect("a server listens")), structured)
    }

    fn over(mut stream: Box<dyn Socket>, structured: bool) -> Client {
        let mut greeting = [0; 18];
        stream.read_exact(&mut greeting).unwrap();
        assert_eq!(&greeting[..16], b"NBDMAGICIHAVEOPT");
        assert_eq!(greeting[17] & 3, 3, "fixed newstyle, no zeros");
        stream.write_all(&3u32.to_be_bytes()).unwrap();
        let mut client = Client { stream, structured, size: 0, flags: 0, next: 1 };
        if structured {
            client.option(8, &[]);
            assert_eq!(client.option_reply(8).0, 1, "structured replies are agreed");
        }
        client.option(7, &[0, 0, 0, 0, 0, 0]);
        loop {
            let (kind, data) = client.option_reply(7);
            match kind {
                1 => break,
                3 if data[..2] == [0, 0] => {
                    client.size = u64::from_be_bytes(data[2..10].try_into().unwrap());
                    client.flags = u16::from_be_bytes(data[10..12].try_into().unwrap());
                }
                3 => {}
                other => panic!("an unexpected reply {other}"),
            }
        }
        client
    }

    fn option(&mut self, number: u32, data: &[u8]) {
        let mut out = b"IHAVEOPT".to_vec();
        out.extend(number.to_be_bytes());
        out.extend((data.len() as u32).to_be_bytes());
        out.extend(data);
        self.stream.write_all(&out).unwrap();
    }

    fn option_reply(&mut self, number: u32) -> (u32, Vec<u8>) {
        let head: [u8; 20] = self.take();
        assert_eq!(head[..8], 0x0003_e889_0455_65a9_u64.to_be_bytes());
        assert_eq!(head[8..12], number.to_be_bytes());
        let length = u32::from_be_bytes(head[16..20].try_into().unwrap());
        (u32::from_be_bytes(head[12..16].try_into().unwrap()), self.bytes(length as usize))
    }

    fn take<const N: usize>(&mut self) -> [u8; N] {
        self.try_take().unwrap()
    }

    fn try_take<const N: usize>(&mut self) -> io::Result<[u8; N]> {
        let mut bytes = [0; N];
        self.stream.read_exact(&mut bytes)?;
        Ok(bytes)
    }

    fn bytes(&mut self, count: usize) -> Vec<u8> {
        self.try_bytes(count).unwrap()
    }

    fn try_bytes(&mut self, count: usize) -> io::Result<Vec<u8>> {
        let mut bytes = vec![0; count];
        self.stream.read_exact(&mut bytes)?;
        Ok(bytes)
    }

    /// Send a request. Returns its cookie.
    pub fn send(&mut self, kind: u16, flags: u16, offset: u64, length: u32, data: &[u8]) -> u64 {
        self.try_send(kind, flags, offset, length, data).unwrap()
    }

    /// As [`Client::send`], to a server that may be gone.
    pub fn try_send(
        &mut self,
        kind: u16,
        flags: u16,
        offset: u64,
        length: u32,
        data: &[u8],
    ) -> io::Result<u64> {
        let cookie = self.next;
        self.next += 1;
        let mut out = 0x2560_9513_u32.to_be_bytes().to_vec();
        out.extend(flags.to_be_bytes());
        out.extend(kind.to_be_bytes());
        out.extend(cookie.to_be_bytes());
        out.extend(offset.to_be_bytes());
        out.extend(length.to_be_bytes());
        out.extend(data);
        self.stream.write_all(&out)?;
        Ok(cookie)
    }

    /// Take the next answer; `length` gives the bytes that a simple reply to a read has.
    pub fn answer(&mut self, length: impl Fn(u64) -> usize) -> Answer {
        self.try_answer(length).unwrap()
    }

    /// As [`Client::answer`], of a server that may be gone.
    pub fn try_answer(&mut self, length: impl Fn(u64) -> usize) -> io::Result<Answer> {
        let magic: [u8; 4] = self.try_take()?;
        if magic == 0x6744_6698_u32.to_be_bytes() {
            let rest: [u8; 12] = self.try_take()?;
            let error = u32::from_be_bytes(rest[..4].try_into().unwrap());
            let cookie = u64::from_be_bytes(rest[4..].try_into().unwrap());
            let data = if error == 0 { self.try_bytes(length(cookie))? } else { Vec::new() };
            return Ok(Answer { cookie, error, data });
        }
        assert_eq!(magic, 0x668e_33ef_u32.to_be_bytes(), "the beginning of a reply");
        assert!(self.structured, "structured replies were not agreed");
        let rest: [u8; 16] = self.try_take()?;
        assert_eq!(rest[1] & 1, 1, "one chunk is the whole reply");
        let kind = u16::from_be_bytes(rest[2..4].try_into().unwrap());
        let cookie = u64::from_be_bytes(rest[4..12].try_into().unwrap());
        let payload = self.try_bytes(u32::from_be_bytes(rest[12..16].try_into().unwrap()) as usize)?;
        Ok(match kind {
            0 => Answer { cookie, error: 0, data: Vec::new() },
            1 => Answer { cookie, error: 0, data: payload[8..].to_vec() },
            32_769 => Answer {
                cookie,
                error: u32::from_be_bytes(payload[..4].try_into().unwrap()),
                data: Vec::new(),
            },
            other => panic!("an unexpected chunk {other}"),
        })
    }

    /// Send a request and take its answer.
    pub fn ask(&mut self, kind: u16, flags: u16, offset: u64, length: u32, data: &[u8]) -> Answer {
        let cookie = self.send(kind, flags, offset, length, data);
        let answer = self.answer(|_| if kind == READ { length as usize } else { 0 });
        assert_eq!(answer.cookie, cookie);
        answer
    }

    /// Send any bytes. Returns what the server sends until it closes the connection.
    pub fn raw(mut self, bytes: &[u8]) -> Vec<u8> {
        let _ = self.stream.write_all(bytes);
        let mut out = Vec::new();
        let _ = self.stream.read_to_end(&mut out);
        out
    }
}
