//! Measures the round trip from a client to the server and back on this machine, without a drive.

use rustix::event::{PollFd, PollFlags, poll};
use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

/// Bytes of a request, and of an answer with a block of 4 KiB.
const REQUEST: usize = 28;
const ANSWER: usize = 16 + 4096;
/// Measured round trips, and those before them for warm-up.
const ROUNDS: usize = 2000;
const WARM_UP: usize = 200;

/// The median of a round trip. One thread sends requests of 4 KiB through a socket. Another one waits for them as the
/// server does, and answers.
///
/// # Errors
/// The system has no sockets left.
pub fn measure() -> io::Result<Duration> {
    let (mut client, server) = UnixStream::pair()?;
    let answers = std::thread::spawn(move || answer(&server));
    let mut times = Vec::with_capacity(ROUNDS);
    let mut bytes = [0; ANSWER];
    for round in 0..WARM_UP + ROUNDS {
        let begun = Instant::now();
        client.write_all(&[0; REQUEST])?;
        client.read_exact(&mut bytes)?;
        if round >= WARM_UP {
            times.push(begun.elapsed());
        }
    }
    drop(client);
    // The other thread ends when the connection is closed.
    let _ = answers.join();
    times.sort_unstable();
    Ok(times[times.len() / 2])
}

/// Answer until the client closes the connection.
fn answer(mut stream: &UnixStream) -> io::Result<()> {
    let mut bytes = [0; REQUEST];
    loop {
        poll(&mut [PollFd::new(stream, PollFlags::IN)], None)?;
        stream.read_exact(&mut bytes)?;
        stream.write_all(&[0; ANSWER])?;
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_round_trip_takes_time() {
        let taken = super::measure().unwrap();
        assert!(taken.as_nanos() > 500 && taken.as_millis() < 100, "{taken:?}");
    }
}
