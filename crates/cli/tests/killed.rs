//! Does a database on a file system on the drive keep what it has committed when the server of the drive is killed? What
//! becomes of the folder in which the drive is a file?
#![cfg(unix)]

mod common;

use common::served::{SMALL_BUFFER, Served, serve, serve_store};
use common::tailcut;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// What a line of the shell prints; `None` if it fails.
fn shell(line: &str) -> Option<String> {
    let ended = Command::new("sh").args(["-c", line]).output().unwrap();
    let text = String::from_utf8_lossy(&ended.stdout).trim().to_string();
    ended.status.success().then_some(text)
}

/// Whether FUSE and these programs are there.
fn has_fuse_and(programs: &str) -> bool {
    let each = format!("for p in fusermount3 {programs}; do command -v $p || exit; done");
    shell(&format!("{each}; test -w /dev/fuse")).is_some()
}

/// Why a file system cannot be mounted here.
fn lacks(programs: &str) -> Option<String> {
    let has_all = has_fuse_and(&format!("mkfs.ext4 fsck.ext4 losetup {programs}"));
    let is_there = has_all && shell("id -u").as_deref() == Some("0") && shell("losetup -f").is_some();
    (!is_there).then(|| format!("it needs root, FUSE, loop devices, mkfs.ext4 and {programs}"))
}

/// Undoes mounts, however a test ends.
struct Mounted(Vec<String>);

impl Drop for Mounted {
    fn drop(&mut self) {
        for line in self.0.iter().rev() {
            shell(line);
        }
    }
}

/// The folder of the mounts and of the store.
struct Place(tempfile::TempDir);

impl Place {
    fn new() -> Place {
        let dir = tempfile::tempdir().unwrap();
        for name in ["mount", "fs"] {
            std::fs::create_dir_all(dir.path().join(name)).unwrap();
        }
        // Other users come through it too.
        shell(&format!("chmod 755 {}", dir.path().display())).unwrap();
        Place(dir)
    }

    fn at(&self, name: &str) -> String {
        self.0.path().join(name).display().to_string()
    }

    /// Serve the drive as a file.
    fn serve(&self) -> (Served, Mounted) {
        let listen = format!("fuse:{}", self.at("mount"));
        let args = [&["tiny", "--speed", "20", "--listen", &listen][..], &SMALL_BUFFER].concat();
        let mounted = Mounted(vec![format!("umount -l {}", self.at("mount"))]);
        (serve_store(self.0.path(), &args), mounted)
    }

    /// Mount the file system of the drive by a loop device; `None` if there is no loop device.
    fn mount(&self, mounted: &mut Mounted) -> Option<()> {
        let (file, fs) = (self.at("mount/drive"), self.at("fs"));
        let device = shell(&format!("losetup -f --show {file}"))?;
        mounted.0.push(format!("losetup -d {device}"));
        shell(&format!("mount {device} {fs}")).expect("the file system is mounted");
        mounted.0.push(format!("umount {fs} || umount -l {fs}"));
        Some(())
    }

    /// A new file system on a new drive.
    fn begin(&self) -> Option<(Served, Mounted)> {
        let (server, mut mounted) = self.serve();
        shell(&format!("mkfs.ext4 -q -F {}", self.at("mount/drive"))).expect("a file system");
        if self.mount(&mut mounted).is_none() {
            println!("skipped: there is no loop device here");
            server.stop();
            return None;
        }
        Some((server, mounted))
    }

    /// The drive and its file system after the end of the server.
    fn go_on(&self) -> (Served, Mounted) {
        let (server, mut mounted) = self.serve();
        // 0: clean; 1: the journal was replayed.
        let repair = format!("fsck.ext4 -fy {} || test $? = 1", self.at("mount/drive"));
        shell(&repair).expect("the file system can be repaired");
        self.mount(&mut mounted).expect("a loop device");
        (server, mounted)
    }
}

/// Let transactions be committed one after another until the server is killed. Returns how many were.
fn commit_until_killed(server: Served, commit: impl Fn(u64) -> bool) -> u64 {
    let killer = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(1500));
        server.kill();
    });
    let committed = (1..).take_while(|&i| commit(i)).last().unwrap_or(0);
    killer.join().unwrap();
    assert!(committed > 3, "{committed} transactions");
    committed
}

/// The transaction under way when the server ended may be there or not.
fn assert_rows(count: &str, committed: u64) {
    let count: u64 = count.parse().unwrap();
    assert!(count == committed || count == committed + 1, "{count} rows of {committed} transactions");
}

#[test]
fn sqlite_keeps_what_it_committed() {
    if let Some(why) = lacks("sqlite3") {
        return println!("skipped: {why}");
    }
    let place = Place::new();
    let Some((server, mounted)) = place.begin() else { return };
    let db = place.at("fs/db");
    shell(&format!("sqlite3 {db} 'create table t(i integer primary key, x text)'")).expect("a database");
    // `extra` also synchronises the folder after the journal is removed; else the last transaction may be undone.
    let committed = commit_until_killed(server, |i| {
        let row = format!("insert into t values({i}, hex(randomblob(200)))");
        shell(&format!("sqlite3 {db} \"pragma synchronous=extra; {row}\"")).is_some()
    });
    drop(mounted);

    let (server, mounted) = place.go_on();
    let found = shell(&format!("sqlite3 {db} 'pragma integrity_check; select count(*) from t'")).unwrap();
    let (integrity, count) = found.split_once('\n').unwrap();
    assert_eq!(integrity, "ok");
    assert_rows(count, committed);
    drop(mounted);
    server.stop();
}

/// PostgreSQL, which does not run as root.
struct Postgres {
    child: Child,
    socket: String,
}

impl Postgres {
    fn start(programs: &str, data: &str, socket: &str) -> Postgres {
        let options = ["-c", "listen_addresses=", "-c", "shared_buffers=16MB", "-k", socket];
        let mut program = Command::new("runuser");
        program.args(["-u", "postgres", "--", &format!("{programs}/postgres"), "-D", data]).args(options);
        let child = program.current_dir("/").stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let server = Postgres { child, socket: socket.to_string() };
        let ready = format!(
            "for i in $(seq 300); do {programs}/pg_isready -q -h {socket} && exit; sleep 0.1; done; false"
        );
        shell(&ready).expect("PostgreSQL starts");
        server
    }

    fn asks(&self, sql: &str) -> Option<String> {
        shell(&format!("cd / && timeout 20 psql -h {} -U postgres -qAt -c \"{sql}\" postgres", self.socket))
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        // An immediate stop: the drive below it may be gone.
        shell(&format!("pkill -QUIT -P {}", self.child.id()));
        let _ = self.child.wait();
    }
}

#[test]
fn postgresql_keeps_what_it_committed() {
    let programs = shell("ls -d /usr/lib/postgresql/*/bin | tail -1").unwrap_or_default();
    if let Some(why) = lacks("runuser pkill psql") {
        return println!("skipped: {why}");
    }
    if !Path::new(&programs).join("initdb").exists() {
        return println!("skipped: it needs PostgreSQL");
    }
    let place = Place::new();
    let Some((server, mounted)) = place.begin() else { return };
    let (data, socket) = (place.at("fs/pg"), place.at("socket-pg"));
    shell(&format!("mkdir {data} {socket} && chown postgres {data} {socket}")).unwrap();
    let init = format!("cd / && runuser -u postgres -- {programs}/initdb -D {data} -A trust --no-sync");
    shell(&init).expect("a cluster");
    shell(&format!("sync -f {data}")).expect("it is on the drive");
    let postgres = Postgres::start(&programs, &data, &socket);
    postgres.asks("create table t(i int primary key, x text)").expect("a table");
    let committed = commit_until_killed(server, |i| {
        postgres.asks(&format!("insert into t values({i}, repeat('x', 400))")).is_some()
    });
    drop(postgres);
    drop(mounted);

    let (server, mounted) = place.go_on();
    let postgres = Postgres::start(&programs, &data, &socket);
    assert_rows(&postgres.asks("select count(*) from t").expect("an answer"), committed);
    let damaged = postgres.asks("select count(*) from t where x <> repeat('x', 400)").expect("an answer");
    assert_eq!(damaged, "0");
    drop(postgres);
    drop(mounted);
    server.stop();
}

/// Whether a hole can be made in the file of a drive: discards of a loop device are holes.
fn takes_holes(drive: &[&str], folder: &Path) -> bool {
    let listen = format!("fuse:{}", folder.display());
    let served = serve(&[drive, &["--listen", &listen]].concat());
    let is_made = shell(&format!("fallocate -p -o 0 -l 65536 {}/drive", folder.display())).is_some();
    served.stop();
    is_made
}

/// Where a trim keeps the data of a part of a stripe, a hole would be written with zeros.
#[test]
fn holes_are_made_where_a_trim_makes_them() {
    if !has_fuse_and("fallocate") {
        return println!("skipped: it needs FUSE and fallocate");
    }
    let dir = tempfile::tempdir().unwrap();
    let rain = dir.path().join("rain.toml");
    std::fs::write(&rain, include_str!("common/rain.toml")).unwrap();
    let folder = dir.path().join("mount");
    std::fs::create_dir(&folder).unwrap();
    assert!(takes_holes(&["tiny"], &folder));
    let width = "policy.redundancy.rain.width=4";
    let rain = rain.display().to_string();
    assert!(!takes_holes(&[&rain, "--scheme", "ttflash", "--set", width], &folder));
}

/// A folder that a killed server left mounted is said, with what to do.
#[test]
fn a_folder_that_a_killed_server_left_is_said() {
    if !has_fuse_and("") {
        return println!("skipped: it needs FUSE");
    }
    let place = Place::new();
    let (server, mounted) = place.serve();
    server.kill();
    let listen = format!("fuse:{}", place.at("mount"));
    let ended = tailcut(&["serve", "tiny", "--listen", &listen]);
    assert_eq!(ended.code, Some(1), "{}", ended.err);
    assert!(ended.err.contains("a server left it mounted: fusermount3 -u"), "{}", ended.err);
    drop(mounted);
}
