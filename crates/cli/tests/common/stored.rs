//! A server whose drive is in a store, and that may be killed.

use super::command;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};

/// A write buffer that holds few of the blocks, so that most are on flash.
pub const SMALL_BUFFER: [&str; 2] = ["--set", "policy.buffer.lru.capacity=256KiB"];

pub struct Server {
    pub child: Child,
    out: BufReader<std::process::ChildStdout>,
    pub said: String,
    pub socket: PathBuf,
}

/// Serve the drive of a store.
pub fn serve(folder: &Path, args: &[&str]) -> Server {
    let socket = folder.join("socket");
    let listen = format!("nbd+unix:{}", socket.display());
    let store = folder.join("store").display().to_string();
    let mut program = command(Path::new("/nonexistent"));
    program.arg("serve").args(args).args(["--store", &store, "--listen", &listen]);
    let mut child = program.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    let mut said = String::new();
    while !said.contains("Ctrl-C") {
        if out.read_line(&mut said).unwrap() == 0 {
            panic!("{said} {:?}", child.wait_with_output());
        }
    }
    Server { child, out, said, socket }
}

impl Drop for Server {
    fn drop(&mut self) {
        // A test that fails leaves no server behind.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Server {
    pub fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    pub fn stop(mut self) -> String {
        let id = self.child.id().to_string();
        assert!(std::process::Command::new("kill").args(["-INT", &id]).status().unwrap().success());
        let mut text = String::new();
        self.out.read_to_string(&mut text).unwrap();
        let mut said = String::new();
        self.child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
        assert!(self.child.wait().unwrap().success(), "{text} {said}");
        text
    }
}
