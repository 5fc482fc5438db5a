//! The server: one thread that owns a drive and its sockets.
//!
//! The loop fires the drive's due timers, answers requests that have ended, reads from clients, and sleeps until the
//! next deadline of the drive or the next data of a client. It is the only place that reads the clock.

use crate::clock::Clock;
use crate::engine::{Ended, Engine, IntervenedError};
use crate::lateness::Lateness;
use crate::listen::{Listener, Stream};
use crate::nbd::{Export, Session};
use crate::port::{Done, Inbox, Port};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::collections::HashMap;
use std::io::{self, ErrorKind, Read, Write};
use std::time::{Duration, Instant};
use tailcut_core::intervention::Intervention;
use tailcut_units::SimTime;

/// The most connections at one time. Further clients wait until a connection is closed.
const MOST_CONNECTIONS: usize = 256;
/// Bytes read from a connection at once.
const READ: usize = 256 << 10;
/// The longest sleep, after which a request to stop is noticed.
const DOZE: Duration = Duration::from_millis(50);
/// The thread does not sleep within this time before a deadline, if it may spin.
const SPIN: Duration = Duration::from_micros(60);
/// Requests of the port are numbered from here on, above all connection numbers.
const OF_PORT: u64 = 1 << 63;
/// If all connections are in use, a client that has not chosen an export within this time is disconnected.
const HANDSHAKE: Duration = Duration::from_secs(10);
/// How long a server that stops waits for outstanding requests.
const PATIENCE: Duration = Duration::from_secs(10);

/// The options of a server.
#[derive(Clone, Debug)]
pub struct ServeOptions {
    /// The export.
    pub export: Export,
    /// Speed of the model's time relative to the clock.
    pub speed: f64,
    /// Spin before a deadline, which makes completions less late.
    pub spin: bool,
}

/// Statistics of a server.
#[derive(Clone, Debug, Default)]
pub struct Served {
    /// Accepted connections.
    pub connections: u64,
    /// Connections that were closed because the client violated the protocol.
    pub broken: u64,
    /// The reason of the last one.
    pub last_broken: Option<String>,
    /// Answered requests, failed ones included.
    pub requests: u64,
    /// Requests that failed.
    pub failed: u64,
}

struct Connection {
    stream: Stream,
    session: Session,
    /// Unique among all connections, so that an answer never goes to a later client in the same slot.
    number: u64,
    /// When it was accepted.
    since: Instant,
    /// The client has closed its side.
    closed: bool,
}

/// The sources that have data to read.
#[derive(Default)]
struct Ready {
    listeners: bool,
    inbox: bool,
    /// Slots of connections.
    places: Vec<usize>,
}

/// A drive, its sockets and its clients.
pub struct Server {
    engine: Engine,
    clock: Clock,
    listeners: Vec<Listener>,
    connections: Vec<Option<Connection>>,
    options: ServeOptions,
    served: Served,
    lateness: Lateness,
    scratch: Vec<u8>,
    /// Front ends of this process, and the callbacks of their requests by number.
    inbox: Option<Inbox>,
    asked: HashMap<u64, Done>,
    next_asked: u64,
}

impl Server {
    /// Create a server for a drive at its present time.
    pub fn new(engine: Engine, listeners: Vec<Listener>, options: ServeOptions) -> Server {
        let clock = Clock::starting(engine.drive().now(), options.speed);
        Server {
            engine,
            clock,
            listeners,
            connections: Vec::new(),
            options,
            served: Served::default(),
            lateness: Lateness::default(),
            scratch: vec![0; READ],
            inbox: None,
            asked: HashMap::new(),
            next_asked: OF_PORT,
        }
    }

    /// Create a port for a front end of this process. There can be one.
    ///
    /// # Errors
    /// The system has no sockets left.
    pub fn port(&mut self) -> io::Result<Port> {
        let (port, inbox) = Inbox::new()?;
        self.inbox = Some(inbox);
        Ok(port)
    }

    /// Statistics so far.
    pub fn served(&self) -> &Served {
        &self.served
    }

    /// The lateness of completions.
    pub fn lateness(&self) -> &Lateness {
        &self.lateness
    }

    /// The engine.
    pub fn engine(&self) -> &Engine {
        &self.engine
    }

    /// The engine, mutable, after the server has stopped.
    pub fn engine_mut(&mut self) -> &mut Engine {
        &mut self.engine
    }

    /// Apply an intervention to the drive now. Returns its time.
    ///
    /// # Errors
    /// The drive refuses it, or the store cannot be written.
    pub fn intervene(&mut self, what: &Intervention) -> Result<SimTime, IntervenedError> {
        self.engine.intervene(self.clock.now(), what)
    }

    /// Speed of the model's time relative to the clock.
    pub fn speed(&self) -> f64 {
        self.clock.speed()
    }

    /// Change the speed of the model's time. Returns the time of the model.
    pub fn change_speed(&mut self, speed: f64) -> SimTime {
        self.clock.change_speed(speed);
        self.note(&format!("speed {speed}"))
    }

    /// Restart the measurement of lateness, with an entry in the log. Returns its time, which is after that of all
    /// requests so far.
    pub fn measure(&mut self, text: &str) -> SimTime {
        self.lateness = Lateness::default();
        self.note(text)
    }

    /// Log an event that does not change the drive. Returns its time, which is after that of all requests so far.
    fn note(&mut self, text: &str) -> SimTime {
        self.engine.note_now(self.clock.now(), text)
    }

    /// Time since the server was started, in seconds of the wall clock.
    pub fn seconds(&self) -> f64 {
        self.clock.seconds()
    }

    /// Serve until `stop` returns true. `each` is called after every wake-up.
    ///
    /// # Errors
    /// The operating system cannot wait for the sockets, or the store of the drive cannot be written.
    pub fn run(&mut self, stop: &dyn Fn() -> bool, each: &mut dyn FnMut(&mut Server)) -> io::Result<()> {
        // With the default timer slack a sleep of some microseconds takes 50 us longer. A failure only increases the
        // lateness.
        let _ = rustix::thread::set_current_timer_slack(std::num::NonZeroU64::new(1));
        while !stop() && !self.has_reached_the_end() {
            self.step()?;
            each(self);
        }
        self.listeners.clear();
        let end = Instant::now() + PATIENCE;
        while self.engine.outstanding() > 0 && Instant::now() < end {
            self.step()?;
        }
        Ok(())
    }

    /// Whether the drive has run for the longest time that a run may take, 146 years of its own time.
    pub fn has_reached_the_end(&self) -> bool {
        self.clock.now() > SimTime::LATEST
    }

    /// Handle due events, then sleep until the next one.
    fn step(&mut self) -> io::Result<()> {
        self.work()?;
        let ready = self.wait()?;
        for place in ready.places {
            self.read(place);
        }
        if ready.inbox {
            self.take_asked();
        }
        if ready.listeners {
            self.accept();
        }
        Ok(())
    }

    /// Fire the drive's timers that are due, and answer requests that have ended.
    fn work(&mut self) -> io::Result<()> {
        // The first answer is sent at once, so that its client wakes up while the others are prepared.
        let mut first = true;
        loop {
            let now = self.clock.now().min(SimTime::LATEST);
            self.engine.advance(now);
            let mut any = false;
            while let Some(ended) = self.engine.next_ended().map_err(io::Error::other)? {
                any = true;
                self.lateness.count(self.clock.wall_ns(now.0.saturating_sub(ended.times[1].0)));
                let place = self.answer(ended);
                if let Some(place) = place.filter(|_| first && self.engine.has_ended()) {
                    first = false;
                    self.write(place);
                }
            }
            if !any {
                break;
            }
        }
        for place in 0..self.connections.len() {
            self.write(place);
        }
        Ok(())
    }

    /// Send the answer of a request to its client. Returns the slot of the connection, if it has one.
    fn answer(&mut self, ended: Ended) -> Option<usize> {
        let Ended { client, request, data, error, .. } = ended;
        self.served.requests += 1;
        self.served.failed += u64::from(error.is_some());
        if let Some(done) = self.asked.remove(&client) {
            done(error.map_or(Ok(data), Err));
            return None;
        }
        let of = |c: &Option<Connection>| c.as_ref().is_some_and(|c| c.number == client);
        let place = self.connections.iter().position(of)?;
        let connection = self.connections[place].as_mut()?;
        match error {
            Some(errno) => connection.session.fail(&request, errno),
            None if request.kind == crate::nbd::RequestKind::Read => {
                connection.session.answer_read(&request, &data)
            }
            None => connection.session.answer(&request),
        }
        Some(place)
    }

    /// Sleep until a client has sent data or can receive data, or the drive has an event due. Returns the sources
    /// that have data to read.
    fn wait(&mut self) -> io::Result<Ready> {
        let mut places = Vec::with_capacity(self.connections.len());
        // Without room for another client the thread does not wake up for one.
        let has_room = self.has_room_for_client();
        let listeners = if has_room { &self.listeners[..] } else { &[] };
        let mut fds: Vec<PollFd> = listeners.iter().map(|l| PollFd::new(l, PollFlags::IN)).collect();
        fds.extend(self.inbox.iter().map(|inbox| PollFd::new(inbox, PollFlags::IN)));
        for (place, connection) in self.connections.iter().enumerate() {
            let Some(c) = connection else { continue };
            let mut wanted = PollFlags::empty();
            wanted.set(PollFlags::IN, !c.closed && c.session.wants_bytes());
            wanted.set(PollFlags::OUT, !c.session.unsent().is_empty());
            places.push(place);
            fds.push(PollFd::new(&c.stream, wanted));
        }
        let due = self.engine.next_deadline();
        let sleep = match due {
            SimTime::NEVER => DOZE,
            due => self.clock.until(due).min(DOZE),
        };
        let sleep = match self.options.spin && due != SimTime::NEVER {
            true => sleep.saturating_sub(SPIN),
            false => sleep,
        };
        let timeout = Timespec { tv_sec: sleep.as_secs() as i64, tv_nsec: i64::from(sleep.subsec_nanos()) };
        match poll(&mut fds, Some(&timeout)) {
            Ok(_) => {}
            Err(rustix::io::Errno::INTR) => return Ok(Ready::default()),
            Err(e) => return Err(e.into()),
        }
        let some = PollFlags::IN | PollFlags::HUP | PollFlags::ERR;
        let is_ready = |fd: &PollFd<'_>| fd.revents().intersects(some);
        let (listeners, others) = fds.split_at(listeners.len());
        let (inbox, connections) = others.split_at(usize::from(self.inbox.is_some()));
        let ready = places.into_iter().zip(connections).filter(|(_, fd)| is_ready(fd));
        Ok(Ready {
            listeners: listeners.iter().any(is_ready),
            inbox: inbox.iter().any(is_ready),
            places: ready.map(|(place, _)| place).collect(),
        })
    }

    /// Whether another client can connect. If all slots are in use, clients that have not chosen an export in time
    /// are disconnected.
    fn has_room_for_client(&mut self) -> bool {
        let is_full = |c: &[Option<Connection>]| c.iter().flatten().count() >= MOST_CONNECTIONS;
        if !is_full(&self.connections) {
            return true;
        }
        let is_silent = |c: &Connection| c.session.is_in_handshake() && c.since.elapsed() > HANDSHAKE;
        self.connections.iter_mut().for_each(|place| drop(place.take_if(|c| is_silent(c))));
        !is_full(&self.connections)
    }

    fn accept(&mut self) {
        for listener in &self.listeners {
            let Ok(stream) = listener.accept() else { continue };
            self.served.connections += 1;
            let session = Session::new(self.options.export.clone());
            let number = self.served.connections;
            let new = Connection { stream, session, number, since: Instant::now(), closed: false };
            match self.connections.iter_mut().find(|c| c.is_none()) {
                Some(place) => *place = Some(new),
                None => self.connections.push(Some(new)),
            }
        }
    }

    /// Take the requests of the other front ends of this process.
    fn take_asked(&mut self) {
        let Some(inbox) = &self.inbox else { return };
        let open = inbox.calm();
        while let Some((request, done)) = self.inbox.as_ref().and_then(Inbox::next) {
            let now = self.clock.now();
            self.engine.advance(now);
            self.asked.insert(self.next_asked, done);
            self.engine.take(now, self.next_asked, request);
            self.next_asked += 1;
        }
        if !open {
            // The front end has ended. Its closed socket would wake up the thread again and again.
            self.inbox = None;
        }
    }

    /// Read from a client, and submit its requests to the drive.
    fn read(&mut self, place: usize) {
        let Some(c) = self.connections[place].as_mut().filter(|c| c.session.wants_bytes()) else { return };
        match (&c.stream).read(&mut self.scratch) {
            Ok(0) => c.closed = true,
            Ok(count) => c.session.receive(&self.scratch[..count]),
            Err(e) if matches!(e.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => return,
            Err(_) => c.closed = true,
        }
        self.take(place);
    }

    /// Submit the requests of a session to the drive.
    fn take(&mut self, place: usize) {
        let Some(c) = self.connections[place].as_mut() else { return };
        loop {
            match c.session.next_request() {
                Ok(Some(request)) => {
                    let now = self.clock.now();
                    self.engine.advance(now);
                    self.engine.take(now, c.number, request);
                }
                Ok(None) => break,
                Err(error) => {
                    self.served.broken += 1;
                    self.served.last_broken = Some(error.to_string());
                    self.connections[place] = None;
                    return;
                }
            }
        }
    }

    /// Send pending bytes to a client, and drop a client that has disconnected.
    fn write(&mut self, place: usize) {
        let Some(c) = self.connections[place].as_mut() else { return };
        let held_back = !c.session.wants_bytes();
        while !c.session.unsent().is_empty() {
            match (&c.stream).write(c.session.unsent()) {
                Ok(0) => c.closed = true,
                Ok(count) => c.session.sent(count),
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(e) if e.kind() == ErrorKind::WouldBlock => break,
                Err(_) => {
                    // The client cannot be answered.
                    self.connections[place] = None;
                    return;
                }
            }
            if c.closed {
                break;
            }
        }
        let done = c.session.unsent().is_empty() && !c.session.has_open_requests();
        if done && (c.closed || c.session.has_ended()) {
            self.connections[place] = None;
        } else if held_back {
            // Requests that waited for room may fit now.
            self.take(place);
        }
    }
}
