//! Addresses and sockets at which clients connect.

use std::fmt;
use std::io;
use std::net::{SocketAddr, TcpListener, TcpStream, ToSocketAddrs};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::FileTypeExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// The registered port of NBD.
const PORT: u16 = 10809;

/// An address to listen on: `nbd+unix:PATH`, `nbd://HOST[:PORT]` or `fuse:DIR`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Address {
    /// A Unix socket.
    Unix(PathBuf),
    /// A host and a port.
    Tcp(String, u16),
    /// A folder in which the drive appears as a file.
    Fuse(PathBuf),
}

impl FromStr for Address {
    type Err = String;

    fn from_str(text: &str) -> Result<Address, String> {
        const FORM: &str = "an address is `nbd+unix:PATH`, `nbd://HOST[:PORT]` or `fuse:DIR`";
        if let Some(folder) = text.strip_prefix("fuse:").filter(|folder| !folder.is_empty()) {
            return Ok(Address::Fuse(PathBuf::from(folder)));
        }
        if let Some(path) = text.strip_prefix("nbd+unix:") {
            // The form of NBD's URIs: nbd+unix:///export?socket=PATH.
            let path = path.split_once("socket=").map_or(path, |(_, path)| path);
            return match path {
                "" => Err(FORM.to_string()),
                path => Ok(Address::Unix(PathBuf::from(path))),
            };
        }
        let Some(rest) = text.strip_prefix("nbd://") else { return Err(format!("`{text}`: {FORM}")) };
        let rest = rest.trim_end_matches('/');
        let (host, port) = match rest.rsplit_once(':') {
            // An IPv6 address in brackets contains colons.
            Some((host, port)) if !port.contains(']') => {
                let port = port.parse().map_err(|_| format!("`{port}` is no port: 1 to 65535"))?;
                (host, port)
            }
            _ => (rest, PORT),
        };
        let host = host.trim_start_matches('[').trim_end_matches(']');
        if host.is_empty() || port == 0 {
            return Err(format!("`{text}`: {FORM}"));
        }
        Ok(Address::Tcp(host.to_string(), port))
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Address::Fuse(folder) => write!(f, "fuse:{}", folder.display()),
            Address::Unix(path) => write!(f, "nbd+unix:///?socket={}", path.display()),
            Address::Tcp(host, port) if host.contains(':') => write!(f, "nbd://[{host}]:{port}"),
            Address::Tcp(host, port) => write!(f, "nbd://{host}:{port}"),
        }
    }
}

/// Why a server cannot listen.
#[derive(Debug, thiserror::Error)]
pub enum ListenError {
    /// The address is reachable from other machines.
    #[error(
        "{address} is reachable from other machines, and the protocol has no encryption and no password; add --allow-remote \
         if that is meant"
    )]
    Remote {
        /// The address.
        address: SocketAddr,
    },
    /// The control address is reachable from other machines.
    #[error("{address} is reachable from other machines; a server is controlled from its own machine alone")]
    RemoteControl {
        /// The address.
        address: SocketAddr,
    },
    /// The file at the path is not a socket.
    #[error("{path}: exists and is no socket; it is not replaced")]
    NoSocket {
        /// The path.
        path: String,
    },
    /// Another server listens at the address.
    #[error("{address}: another server listens there")]
    InUse {
        /// The address.
        address: String,
    },
    /// The operating system refuses.
    #[error("{address}: {source}")]
    System {
        /// The address.
        address: String,
        /// The error of the operating system.
        source: io::Error,
    },
}

/// A socket that accepts connections.
pub enum Listener {
    /// A Unix socket. Its file is removed at the end.
    Unix(UnixListener, PathBuf),
    /// A TCP socket.
    Tcp(TcpListener),
}

impl Listener {
    /// Listen at a socket address.
    ///
    /// # Errors
    /// The address is remote without `allow_remote`, it is in use, or the operating system refuses it.
    pub fn bind(address: &Address, allow_remote: bool) -> Result<Listener, ListenError> {
        let system = |source| match io::Error::kind(&source) {
            io::ErrorKind::AddrInUse => ListenError::InUse { address: address.to_string() },
            _ => ListenError::System { address: address.to_string(), source },
        };
        match address {
            Address::Fuse(_) => Err(system(io::Error::from(io::ErrorKind::Unsupported))),
            Address::Unix(path) => {
                make_way(path)?;
                let listener = UnixListener::bind(path).map_err(system)?;
                listener.set_nonblocking(true).map_err(system)?;
                Ok(Listener::Unix(listener, path.clone()))
            }
            Address::Tcp(host, port) => {
                let all: Vec<SocketAddr> =
                    (host.as_str(), *port).to_socket_addrs().map_err(system)?.collect();
                if let Some(&address) = all.iter().find(|a| !allow_remote && !a.ip().is_loopback()) {
                    return Err(ListenError::Remote { address });
                }
                let listener = TcpListener::bind(&all[..]).map_err(system)?;
                listener.set_nonblocking(true).map_err(system)?;
                Ok(Listener::Tcp(listener))
            }
        }
    }

    /// Accept a waiting connection, if there is one.
    pub(crate) fn accept(&self) -> io::Result<Stream> {
        let stream = match self {
            Listener::Unix(listener, _) => Stream::Unix(listener.accept()?.0),
            Listener::Tcp(listener) => {
                let stream = listener.accept()?.0;
                stream.set_nodelay(true)?;
                Stream::Tcp(stream)
            }
        };
        stream.set_nonblocking()?;
        Ok(stream)
    }

    /// The address in the form that clients write.
    pub fn address(&self) -> String {
        match self {
            Listener::Unix(_, path) => Address::Unix(path.clone()).to_string(),
            Listener::Tcp(listener) => {
                listener.local_addr().map_or_else(|e| e.to_string(), |a| format!("nbd://{a}"))
            }
        }
    }
}

impl AsFd for Listener {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Listener::Unix(listener, _) => listener.as_fd(),
            Listener::Tcp(listener) => listener.as_fd(),
        }
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        if let Listener::Unix(_, path) = self {
            // If this fails, the next server removes the socket file.
            let _ = std::fs::remove_file(path);
        }
    }
}

/// Remove the socket file of a server that has ended.
pub(crate) fn make_way(path: &Path) -> Result<(), ListenError> {
    let Ok(there) = std::fs::symlink_metadata(path) else { return Ok(()) };
    if !there.file_type().is_socket() {
        return Err(ListenError::NoSocket { path: path.display().to_string() });
    }
    if UnixStream::connect(path).is_ok() {
        return Err(ListenError::InUse { address: path.display().to_string() });
    }
    std::fs::remove_file(path)
        .map_err(|source| ListenError::System { address: path.display().to_string(), source })
}

/// A connection.
pub(crate) enum Stream {
    Unix(UnixStream),
    Tcp(TcpStream),
}

impl Stream {
    fn set_nonblocking(&self) -> io::Result<()> {
        match self {
            Stream::Unix(stream) => stream.set_nonblocking(true),
            Stream::Tcp(stream) => stream.set_nonblocking(true),
        }
    }
}

impl io::Read for &Stream {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        match self {
            Stream::Unix(stream) => (&mut &*stream).read(into),
            Stream::Tcp(stream) => (&mut &*stream).read(into),
        }
    }
}

impl io::Write for &Stream {
    fn write(&mut self, from: &[u8]) -> io::Result<usize> {
        match self {
            Stream::Unix(stream) => (&mut &*stream).write(from),
            Stream::Tcp(stream) => (&mut &*stream).write(from),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl AsFd for Stream {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Stream::Unix(stream) => stream.as_fd(),
            Stream::Tcp(stream) => stream.as_fd(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read_and_written() {
        for (text, wanted) in [
            ("nbd+unix:/run/d.sock", Address::Unix("/run/d.sock".into())),
            ("nbd+unix:///?socket=/run/d.sock", Address::Unix("/run/d.sock".into())),
            ("nbd://localhost", Address::Tcp("localhost".into(), 10809)),
            ("nbd://127.0.0.1:99/", Address::Tcp("127.0.0.1".into(), 99)),
            ("nbd://[::1]:99", Address::Tcp("::1".into(), 99)),
            ("nbd://[::1]", Address::Tcp("::1".into(), 10809)),
            ("fuse:/mnt/d", Address::Fuse("/mnt/d".into())),
        ] {
            let address: Address = text.parse().unwrap();
            assert_eq!(address, wanted, "{text}");
            assert_eq!(address.to_string().parse::<Address>().unwrap(), wanted);
        }
        for text in ["nbd+unix:", "nbd://", "nbd://h:0", "nbd://h:99999", "http://h", "nbd://:1"] {
            assert!(text.parse::<Address>().is_err(), "{text}");
        }
    }

    #[test]
    fn what_is_no_socket_stays() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("notes");
        std::fs::write(&path, "text").unwrap();
        let error = Listener::bind(&Address::Unix(path.clone()), false).err().unwrap();
        assert!(error.to_string().contains("is no socket"), "{error}");
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "text");
        let socket = Address::Unix(dir.path().join("s"));
        let first = Listener::bind(&socket, false).unwrap();
        assert!(matches!(Listener::bind(&socket, false), Err(ListenError::InUse { .. })));
        drop(first);
        assert!(!dir.path().join("s").exists());
    }

    #[test]
    fn other_machines_are_let_in_only_if_that_is_meant() {
        let address = Address::Tcp("0.0.0.0".into(), 1);
        assert!(matches!(Listener::bind(&address, false), Err(ListenError::Remote { .. })));
    }
}
