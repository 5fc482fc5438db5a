//! The drive as one file in a folder (FUSE), for loop devices and any file system on them.

use crate::nbd::{Errno, Request, RequestKind};
use crate::port::Port;
use fuser::{
    BackgroundSession, Config, FileAttr, FileHandle, FileType, Filesystem, FopenFlags, Generation, INodeNo,
    InitFlags, KernelConfig, LockOwner, MountOption, OpenFlags, ReplyAttr, ReplyData, ReplyDirectory,
    ReplyEmpty, ReplyEntry, ReplyOpen, ReplyStatfs, ReplyWrite, WriteFlags,
};
use std::ffi::OsStr;
use std::io;
use std::path::Path;
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

/// The name of the file.
pub const FILE: &str = "drive";
const INODE: INodeNo = INodeNo(2);
/// How long the kernel may cache the attributes of the file, which never change.
const TTL: Duration = Duration::from_secs(3600);
/// `O_DSYNC` and `O_SYNC` of Linux.
const SYNC: i32 = 0o10000;
/// `FALLOC_FL_KEEP_SIZE`, `FALLOC_FL_PUNCH_HOLE` and `FALLOC_FL_ZERO_RANGE`.
const KEEP_SIZE: i32 = 1;
const PUNCH_HOLE: i32 = 2;
const ZERO_RANGE: i32 = 16;
/// Longer ranges are trimmed or zeroed in parts of these lengths, so that other requests are served in between.
const HOLE: u64 = 1 << 28;
const ZEROS: u64 = 1 << 22;

/// A folder with one file.
struct OneFile {
    port: Arc<Mutex<Port>>,
    bytes: u64,
    /// Whether TRIM is sufficient to make a hole.
    has_holes: bool,
    owner: (u32, u32),
    since: SystemTime,
}

/// A mounted folder. Dropping it unmounts the folder.
pub struct Mounted {
    _session: BackgroundSession,
}

/// Mount a drive of `bytes` bytes as the file `drive` in a folder. Discard is only offered if `has_holes`. If a
/// trimmed unit may keep its data, because parity covers it, a hole must be written with zeros.
///
/// # Errors
/// The operating system refuses: there is no FUSE, or the folder cannot be used as a mount point.
pub fn mount(folder: &Path, bytes: u64, has_holes: bool, port: Port) -> io::Result<Mounted> {
    if !std::fs::metadata(folder)?.is_dir() {
        return Err(io::Error::new(io::ErrorKind::NotADirectory, "it is not a folder"));
    }
    let owner = (rustix::process::getuid().as_raw(), rustix::process::getgid().as_raw());
    let port = Arc::new(Mutex::new(port));
    let file = OneFile { port, bytes, has_holes, owner, since: SystemTime::now() };
    let mut config = Config::default();
    config.mount_options =
        vec![MountOption::FSName("tailcut".to_string()), MountOption::NoDev, MountOption::NoSuid];
    let session = fuser::Session::new(file, folder, &config)?.spawn()?;
    Ok(Mounted { _session: session })
}

impl OneFile {
    fn attr(&self, inode: INodeNo) -> Option<FileAttr> {
        let (kind, size, perm, nlink) = match inode {
            INodeNo::ROOT => (FileType::Directory, 0, 0o755, 2),
            INODE => (FileType::RegularFile, self.bytes, 0o600, 1),
            _ => return None,
        };
        let (uid, gid) = self.owner;
        let at = self.since;
        Some(FileAttr {
            ino: inode,
            size,
            blocks: size.div_ceil(512),
            atime: at,
            mtime: at,
            ctime: at,
            crtime: at,
            kind,
            perm,
            nlink,
            uid,
            gid,
            rdev: 0,
            blksize: 4096,
            flags: 0,
        })
    }

    fn ask(
        &self,
        kind: RequestKind,
        (offset, length): (u64, u32),
        fua: bool,
        done: impl FnOnce(Result<Vec<u8>, Errno>) + Send + 'static,
    ) {
        ask(&self.port, Request { cookie: 0, kind, offset, length, fua }, done);
    }

    /// Zero a long range in parts, on a thread of its own.
    fn zero_in_parts(&self, allocate: bool, (offset, length): (u64, u64), reply: ReplyEmpty) {
        let port = Arc::clone(&self.port);
        std::thread::spawn(move || {
            let end = offset + length;
            for at in (offset..end).step_by(part_of(allocate) as usize) {
                let kind = RequestKind::WriteZeroes { allocate };
                let length = part_of(allocate).min(end - at) as u32;
                let request = Request { cookie: 0, kind, offset: at, length, fua: false };
                let (done, ended) = channel();
                ask(&port, request, move |result| drop(done.send(result)));
                if let Err(error) = ended.recv().unwrap_or(Err(Errno::ShuttingDown)) {
                    return reply.error(errno(error));
                }
            }
            reply.ok();
        });
    }
}

/// Send a request to the server.
fn ask(port: &Mutex<Port>, request: Request, done: impl FnOnce(Result<Vec<u8>, Errno>) + Send + 'static) {
    port.lock().unwrap_or_else(PoisonError::into_inner).ask(request, Box::new(done));
}

/// The length of the parts of a long range.
fn part_of(allocate: bool) -> u64 {
    if allocate { ZEROS } else { HOLE }
}

fn errno(error: Errno) -> fuser::Errno {
    fuser::Errno::from_i32(error as u32 as i32)
}

/// The most requests that the kernel may send in the background.
const AT_ONCE: u16 = 1024;

impl Filesystem for OneFile {
    fn init(&mut self, _: &fuser::Request, config: &mut KernelConfig) -> io::Result<()> {
        // Without this flag a loop device and asynchronous I/O only have one outstanding request. A kernel that does
        // not support the flag or the limit still serves the file.
        let _ = config.add_capabilities(InitFlags::FUSE_ASYNC_DIO);
        let _ = config.set_max_background(AT_ONCE);
        let _ = config.set_congestion_threshold(AT_ONCE);
        Ok(())
    }

    fn lookup(&self, _: &fuser::Request, parent: INodeNo, name: &OsStr, reply: ReplyEntry) {
        match self.attr(INODE) {
            Some(attr) if parent == INodeNo::ROOT && name == FILE => reply.entry(&TTL, &attr, Generation(0)),
            _ => reply.error(fuser::Errno::ENOENT),
        }
    }

    fn getattr(&self, _: &fuser::Request, inode: INodeNo, _: Option<FileHandle>, reply: ReplyAttr) {
        match self.attr(inode) {
            Some(attr) => reply.attr(&TTL, &attr),
            None => reply.error(fuser::Errno::ENOENT),
        }
    }

    fn setattr(
        &self,
        _: &fuser::Request,
        inode: INodeNo,
        _: Option<u32>,
        _: Option<u32>,
        _: Option<u32>,
        size: Option<u64>,
        _: Option<fuser::TimeOrNow>,
        _: Option<fuser::TimeOrNow>,
        _: Option<SystemTime>,
        _: Option<FileHandle>,
        _: Option<SystemTime>,
        _: Option<SystemTime>,
        _: Option<SystemTime>,
        _: Option<fuser::BsdFileFlags>,
        reply: ReplyAttr,
    ) {
        // A drive keeps its size. Times, owners and modes are ignored.
        match self.attr(inode) {
            Some(attr) if size.is_none_or(|size| size == attr.size) => reply.attr(&TTL, &attr),
            Some(_) => reply.error(fuser::Errno::EPERM),
            None => reply.error(fuser::Errno::ENOENT),
        }
    }

    fn open(&self, _: &fuser::Request, inode: INodeNo, _: OpenFlags, reply: ReplyOpen) {
        match inode {
            // Without the page cache each request reaches the drive. Writes may run in parallel.
            INODE => {
                let flags = FopenFlags::FOPEN_DIRECT_IO | FopenFlags::FOPEN_PARALLEL_DIRECT_WRITES;
                reply.opened(FileHandle(0), flags);
            }
            _ => reply.error(fuser::Errno::EISDIR),
        }
    }

    fn read(
        &self,
        _: &fuser::Request,
        _: INodeNo,
        _: FileHandle,
        offset: u64,
        size: u32,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyData,
    ) {
        let length = u64::from(size).min(self.bytes.saturating_sub(offset)) as u32;
        if length == 0 {
            return reply.data(&[]);
        }
        self.ask(RequestKind::Read, (offset, length), false, |done| match done {
            Ok(data) => reply.data(&data),
            Err(error) => reply.error(errno(error)),
        });
    }

    fn write(
        &self,
        _: &fuser::Request,
        _: INodeNo,
        _: FileHandle,
        offset: u64,
        data: &[u8],
        _: WriteFlags,
        flags: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyWrite,
    ) {
        let length = (data.len() as u64).min(self.bytes.saturating_sub(offset)) as usize;
        if length == 0 {
            return reply.error(fuser::Errno::ENOSPC);
        }
        let kind = RequestKind::Write(data[..length].to_vec());
        self.ask(kind, (offset, length as u32), flags.0 & SYNC != 0, move |done| match done {
            Ok(_) => reply.written(length as u32),
            Err(error) => reply.error(errno(error)),
        });
    }

    fn flush(&self, _: &fuser::Request, _: INodeNo, _: FileHandle, _: LockOwner, reply: ReplyEmpty) {
        // Closing the file is not an fsync.
        reply.ok();
    }

    fn fsync(&self, _: &fuser::Request, _: INodeNo, _: FileHandle, _: bool, reply: ReplyEmpty) {
        self.ask(RequestKind::Flush, (0, 0), false, |done| match done {
            Ok(_) => reply.ok(),
            Err(error) => reply.error(errno(error)),
        });
    }

    fn fallocate(
        &self,
        _: &fuser::Request,
        _: INodeNo,
        _: FileHandle,
        offset: u64,
        length: u64,
        mode: i32,
        reply: ReplyEmpty,
    ) {
        let allocate = match mode & !KEEP_SIZE {
            // All of the drive is always allocated.
            0 if offset.saturating_add(length) <= self.bytes => return reply.ok(),
            0 => return reply.error(fuser::Errno::ENOSPC),
            PUNCH_HOLE if self.has_holes => false,
            ZERO_RANGE => true,
            _ => return reply.error(fuser::Errno::EOPNOTSUPP),
        };
        let length = length.min(self.bytes.saturating_sub(offset));
        if length == 0 {
            return reply.ok();
        }
        if length > part_of(allocate) {
            return self.zero_in_parts(allocate, (offset, length), reply);
        }
        let kind = RequestKind::WriteZeroes { allocate };
        self.ask(kind, (offset, length as u32), false, |done| match done {
            Ok(_) => reply.ok(),
            Err(error) => reply.error(errno(error)),
        });
    }

    fn readdir(
        &self,
        _: &fuser::Request,
        inode: INodeNo,
        _: FileHandle,
        offset: u64,
        mut reply: ReplyDirectory,
    ) {
        if inode != INodeNo::ROOT {
            return reply.error(fuser::Errno::ENOTDIR);
        }
        let entries = [
            (INodeNo::ROOT, FileType::Directory, "."),
            (INodeNo::ROOT, FileType::Directory, ".."),
            (INODE, FileType::RegularFile, FILE),
        ];
        for (i, (inode, kind, name)) in entries.into_iter().enumerate().skip(offset as usize) {
            if reply.add(inode, i as u64 + 1, kind, name) {
                break;
            }
        }
        reply.ok();
    }

    fn statfs(&self, _: &fuser::Request, _: INodeNo, reply: ReplyStatfs) {
        reply.statfs(self.bytes / 4096, 0, 0, 1, 0, 4096, 255, 4096);
    }
}
