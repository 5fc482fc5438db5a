//! The control socket of a running server: HTTP on a Unix socket or on loopback, for people and programs.
//!
//! A thread takes requests one after another and passes them to the server's loop. The loop answers between two
//! wake-ups. A client that is slow or breaks the protocol only delays the next client of the control socket.

use crate::listen::{ListenError, make_way};
use std::fmt;
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener, ToSocketAddrs};
use std::os::unix::net::UnixListener;
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::{Duration, Instant};

/// The longest header section of a request, in bytes.
const HEAD_MAX: usize = 8 << 10;
/// The longest body of a request, in bytes.
const BODY_MAX: usize = 4 << 10;
/// The most header fields of a request.
const FIELDS_MAX: usize = 32;
/// Timeout for a client to send some bytes of its request, and to receive the answer.
const PATIENCE: Duration = Duration::from_secs(2);
/// Timeout for a client to send its whole request.
const WHOLE: Duration = Duration::from_secs(10);
/// Timeout for the server's loop to answer.
const ANSWER: Duration = Duration::from_secs(10);

/// An address for control: `unix:PATH` or `http://HOST:PORT`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ControlAddress {
    /// A Unix socket.
    Unix(PathBuf),
    /// A host and a port; loopback only.
    Http(String, u16),
}

impl FromStr for ControlAddress {
    type Err = String;

    fn from_str(text: &str) -> Result<ControlAddress, String> {
        let wrong = || format!("`{text}`: an address for control is `unix:PATH` or `http://HOST:PORT`");
        if let Some(path) = text.strip_prefix("unix:").filter(|path| !path.is_empty()) {
            return Ok(ControlAddress::Unix(PathBuf::from(path)));
        }
        let rest = text.strip_prefix("http://").ok_or_else(wrong)?.trim_end_matches('/');
        let (host, port) = rest.rsplit_once(':').ok_or_else(wrong)?;
        let host = host.trim_start_matches('[').trim_end_matches(']');
        match port.parse() {
            Ok(port) if !host.is_empty() => Ok(ControlAddress::Http(host.to_string(), port)),
            _ => Err(wrong()),
        }
    }
}

impl fmt::Display for ControlAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ControlAddress::Unix(path) => write!(f, "unix:{}", path.display()),
            ControlAddress::Http(host, port) => write!(f, "http://{host}:{port}"),
        }
    }
}

/// The answer to a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The HTTP status.
    pub status: u16,
    /// The content type of the body.
    pub kind: &'static str,
    /// The body.
    pub body: Vec<u8>,
}

impl Answer {
    /// A successful answer.
    pub fn ok(kind: &'static str, body: impl Into<Vec<u8>>) -> Answer {
        Answer { status: 200, kind, body: body.into() }
    }

    /// An answer for a failure, with a sentence.
    pub fn failed(status: u16, text: &str) -> Answer {
        Answer { status, kind: "text/plain; charset=utf-8", body: format!("{text}\n").into_bytes() }
    }
}

/// The method of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// It reads.
    Get,
    /// It changes the server or its drive.
    Post,
}

/// A request as it is received.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Request {
    method: Method,
    path: String,
    body: String,
}

/// A request that waits for the answer of the server's loop.
#[derive(Debug)]
pub struct Asked {
    /// The method.
    pub method: Method,
    /// The path, without a query.
    pub path: String,
    /// The body, trimmed.
    pub body: String,
    answer: SyncSender<Answer>,
    /// It is disconnected after the answer was sent.
    sent: Receiver<()>,
}

impl Asked {
    /// Send the answer.
    pub fn answer(self, answer: Answer) {
        // The client may have closed the connection.
        let _ = self.answer.try_send(answer);
    }

    /// Send the answer and wait until it was sent. The program may end afterwards.
    pub fn answer_last(self, answer: Answer) {
        let Asked { answer: to, sent, .. } = self;
        let _ = to.try_send(answer);
        let _ = sent.recv_timeout(PATIENCE);
    }
}

/// The server's side of the control socket.
pub struct Control {
    asked: Receiver<Asked>,
    address: String,
    socket: Option<PathBuf>,
}

impl Control {
    /// Listen at an address, in a thread that runs until the program ends.
    ///
    /// # Errors
    /// The address is not loopback, it is in use, or the operating system refuses it.
    pub fn listen(address: &ControlAddress) -> Result<Control, ListenError> {
        let system = |source| ListenError::System { address: address.to_string(), source };
        let (asks, asked) = sync_channel(16);
        let mut control = Control { asked, address: address.to_string(), socket: None };
        match address {
            ControlAddress::Unix(path) => {
                make_way(path)?;
                let listener = UnixListener::bind(path).map_err(system)?;
                control.socket = Some(path.clone());
                std::thread::spawn(move || {
                    for stream in listener.incoming().flatten() {
                        let set = stream.set_read_timeout(Some(PATIENCE));
                        if set.and_then(|()| stream.set_write_timeout(Some(PATIENCE))).is_ok() {
                            serve(&stream, &asks, None);
                        }
                    }
                });
            }
            ControlAddress::Http(host, port) => {
                let all: Vec<SocketAddr> =
                    (host.as_str(), *port).to_socket_addrs().map_err(system)?.collect();
                if let Some(&address) = all.iter().find(|a| !a.ip().is_loopback()) {
                    return Err(ListenError::RemoteControl { address });
                }
                let listener = TcpListener::bind(&all[..]).map_err(system)?;
                let own = listener.local_addr().map_err(system)?;
                control.address = format!("http://{own}/");
                std::thread::spawn(move || {
                    for stream in listener.incoming().flatten() {
                        let set = stream.set_read_timeout(Some(PATIENCE));
                        if set.and_then(|()| stream.set_write_timeout(Some(PATIENCE))).is_ok() {
                            serve(&stream, &asks, Some(own.port()));
                        }
                    }
                });
            }
        }
        Ok(control)
    }

    /// The address in the form that clients write.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// The next request, if there is one.
    pub fn next(&self) -> Option<Asked> {
        self.asked.try_recv().ok()
    }
}

impl Drop for Control {
    fn drop(&mut self) {
        if let Some(path) = &self.socket {
            // If this fails, the next server removes the socket file.
            let _ = std::fs::remove_file(path);
        }
    }
}

/// Read a request and answer it. An error closes the connection.
fn serve<S>(stream: &S, asks: &SyncSender<Asked>, port: Option<u16>)
where
    for<'a> &'a S: Read + Write,
{
    // Dropped at the end of this function, which disconnects `sent`.
    let (_sends, sent) = sync_channel(1);
    let answer = match read_request(&mut &*stream, port) {
        Ok(Ok(Request { method, path, body })) => {
            let (answer, answered) = sync_channel(1);
            match asks.send(Asked { method, path, body, answer, sent }) {
                Ok(()) => answered
                    .recv_timeout(ANSWER)
                    .unwrap_or_else(|_| Answer::failed(503, "the server does not answer")),
                Err(_) => Answer::failed(503, "the server has stopped"),
            }
        }
        Ok(Err(refused)) => refused,
        Err(_) => return,
    };
    let reason = if answer.status == 200 { "OK" } else { "Error" };
    let head = format!(
        "HTTP/1.1 {} {reason}\r\nContent-Type: {}\r\nContent-Length: {}\r\nCache-Control: no-store\r\n\
         X-Content-Type-Options: nosniff\r\nConnection: close\r\n\r\n",
        answer.status,
        answer.kind,
        answer.body.len()
    );
    let mut to = stream;
    // The client may have closed the connection.
    let _ = to.write_all(head.as_bytes()).and_then(|()| to.write_all(&answer.body));
}

/// Read a request. `Ok(Err(…))` is the answer to a request that is refused. `port` is that of a TCP socket. Pages of
/// other sites, which reach loopback through a browser, must not be served.
fn read_request(from: &mut impl Read, port: Option<u16>) -> io::Result<Result<Request, Answer>> {
    let mut head = Vec::new();
    let mut chunk = [0; 1024];
    let end = Instant::now() + WHOLE;
    let mut read = |chunk: &mut [u8]| match from.read(chunk) {
        Ok(_) if Instant::now() > end => Err(io::ErrorKind::TimedOut.into()),
        count => count,
    };
    let not_understood =
        || Answer::failed(400, "not a request that is understood: GET or POST and a path, by HTTP/1.1");
    let (method, path, begin, length) = loop {
        let count = read(&mut chunk)?;
        if count == 0 {
            return Ok(Err(not_understood()));
        }
        head.extend_from_slice(&chunk[..count]);
        let mut fields = [httparse::EMPTY_HEADER; FIELDS_MAX];
        let mut request = httparse::Request::new(&mut fields);
        match request.parse(&head) {
            Ok(httparse::Status::Complete(begin)) => {
                let Some((method, path)) = understood(&request, port) else {
                    return Ok(Err(not_understood()));
                };
                match body_length(&request) {
                    Ok(length) => break (method, path, begin, length),
                    Err(refused) => return Ok(Err(refused)),
                }
            }
            Ok(httparse::Status::Partial) if head.len() < HEAD_MAX => {}
            _ => return Ok(Err(not_understood())),
        }
    };
    let mut body = head.split_off(begin);
    while body.len() < length {
        let count = read(&mut chunk)?;
        if count == 0 {
            return Ok(Err(Answer::failed(400, "the body is shorter than the Content-Length says")));
        }
        body.extend_from_slice(&chunk[..count]);
    }
    body.truncate(length);
    Ok(match String::from_utf8(body) {
        Ok(body) => Ok(Request { method, path, body: body.trim().to_string() }),
        Err(_) => Err(Answer::failed(400, "the body is no UTF-8")),
    })
}

/// The length of a request's body.
fn body_length(request: &httparse::Request<'_, '_>) -> Result<usize, Answer> {
    let field = |name: &str| request.headers.iter().find(|h| h.name.eq_ignore_ascii_case(name));
    if field("transfer-encoding").is_some() {
        return Err(Answer::failed(411, "a body needs a Content-Length"));
    }
    let Some(length) = field("content-length") else { return Ok(0) };
    match std::str::from_utf8(length.value).ok().and_then(|text| text.trim().parse().ok()) {
        Some(length) if length <= BODY_MAX => Ok(length),
        Some(_) => Err(Answer::failed(413, &format!("a body has at most {BODY_MAX} bytes"))),
        None => Err(Answer::failed(400, "the Content-Length is no number")),
    }
}

fn understood(request: &httparse::Request<'_, '_>, port: Option<u16>) -> Option<(Method, String)> {
    let method = match request.method? {
        "GET" => Method::Get,
        "POST" => Method::Post,
        _ => return None,
    };
    if let Some(port) = port {
        let field = |name: &str| {
            let of = |h: &&httparse::Header| h.name.eq_ignore_ascii_case(name);
            request.headers.iter().find(of).map(|h| String::from_utf8_lossy(h.value).into_owned())
        };
        let own = ["localhost", "127.0.0.1", "[::1]"].map(|host| format!("{host}:{port}"));
        let host = field("host")?;
        let origin = field("origin");
        let is_own = |origin: &String| own.iter().any(|own| *origin == format!("http://{own}"));
        if !own.contains(&host) || method == Method::Post && !origin.as_ref().is_none_or(is_own) {
            return None;
        }
    }
    let path = request.path?.split('?').next().unwrap_or_default();
    Some((method, path.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, port: Option<u16>) -> Result<Request, u16> {
        read_request(&mut text.as_bytes(), port).unwrap().map_err(|refused| refused.status)
    }

    fn parsed(text: &str, port: Option<u16>) -> Option<(Method, String)> {
        read(text, port).ok().map(|request| (request.method, request.path))
    }

    #[test]
    fn requests_are_read() {
        assert_eq!(parsed("GET /metrics?x=1 HTTP/1.1\r\n\r\n", None), Some((Method::Get, "/metrics".into())));
        assert_eq!(
            parsed("POST /stop HTTP/1.1\r\nHost: a\r\n\r\n", None),
            Some((Method::Post, "/stop".into()))
        );
        for text in ["DELETE / HTTP/1.1\r\n\r\n", "GET / HTTP/1.1\r\n", "\u{1}\u{2}\r\n\r\n", ""] {
            assert_eq!(parsed(text, None), None, "{text:?}");
        }
        let endless = format!("GET / HTTP/1.1\r\nA: {}", "a".repeat(100_000));
        assert_eq!(parsed(&endless, None), None);
        let many = format!("GET / HTTP/1.1\r\n{}\r\n", "A: b\r\n".repeat(40));
        assert_eq!(parsed(&many, None), None);
    }

    #[test]
    fn bodies_are_read() {
        let post = |fields: &str, body: &str| {
            read(&format!("POST /fault HTTP/1.1\r\n{fields}\r\n{body}"), None).map(|request| request.body)
        };
        assert_eq!(post("content-length: 7\r\n", "die=1\r\nnot of it"), Ok("die=1".into()));
        assert_eq!(post("", "nothing says how long"), Ok(String::new()));
        assert_eq!(post("Content-Length: 7\r\n", "die"), Err(400), "it ends before");
        assert_eq!(post("Content-Length: -7\r\n", ""), Err(400));
        assert_eq!(post("Content-Length: 4097\r\n", ""), Err(413));
        assert_eq!(post("Content-Length: 99999999999999999999\r\n", ""), Err(400));
        assert_eq!(post("Transfer-Encoding: chunked\r\n", "5\r\ndie=1\r\n0\r\n\r\n"), Err(411));
    }

    #[test]
    fn a_page_of_another_site_is_not_served() {
        let of = |host: &str, more: &str| {
            parsed(&format!("POST / HTTP/1.1\r\nHost: {host}\r\n{more}\r\n"), Some(8080))
        };
        assert!(of("127.0.0.1:8080", "").is_some());
        assert!(of("localhost:8080", "Origin: http://localhost:8080\r\n").is_some());
        assert!(of("rebound.example:8080", "").is_none());
        assert!(of("127.0.0.1:8080", "Origin: http://evil.example\r\n").is_none());
        assert!(parsed("GET / HTTP/1.1\r\n\r\n", Some(8080)).is_none(), "no host");
    }

    #[test]
    fn addresses_are_read() {
        assert_eq!("unix:/a".parse(), Ok(ControlAddress::Unix("/a".into())));
        assert_eq!("http://[::1]:80/".parse(), Ok(ControlAddress::Http("::1".into(), 80)));
        for text in ["unix:", "http://host", "/a", "http://:1"] {
            assert!(text.parse::<ControlAddress>().is_err(), "{text}");
        }
    }

    #[test]
    fn questions_reach_the_loop() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("control");
        let control = Control::listen(&ControlAddress::Unix(path.clone())).unwrap();
        let client = std::thread::spawn(move || {
            let mut stream = std::os::unix::net::UnixStream::connect(path).unwrap();
            stream.write_all(b"GET /x HTTP/1.1\r\n\r\n").unwrap();
            let mut text = String::new();
            stream.read_to_string(&mut text).unwrap();
            text
        });
        let asked = loop {
            match control.next() {
                Some(asked) => break asked,
                None => std::thread::sleep(Duration::from_millis(1)),
            }
        };
        assert_eq!((asked.method, asked.path.as_str()), (Method::Get, "/x"));
        asked.answer(Answer::ok("text/plain", "yes"));
        let text = client.join().unwrap();
        assert!(text.starts_with("HTTP/1.1 200 OK\r\n") && text.ends_with("\r\n\r\nyes"), "{text}");
    }
}
