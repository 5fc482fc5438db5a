//! Headless Chromium.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// The longest that the browser may take.
const PATIENCE: Duration = Duration::from_secs(120);

/// Chromium by one of its names, if it is here.
pub fn browser() -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let names = ["chromium", "chromium-browser", "google-chrome"];
    let found =
        std::env::split_paths(&path).flat_map(|dir| names.map(|name| dir.join(name))).find(|p| p.is_file());
    if found.is_none() {
        println!("skipped: none of {} is in PATH", names.join(", "));
    }
    found
}

/// Run the browser on a page; returns its output and its messages.
pub fn open(browser: &Path, dir: &Path, args: &[&str], url: &str) -> (String, String) {
    let (out, err) = (dir.join("out"), dir.join("err"));
    let file = |path: &Path| Stdio::from(std::fs::File::create(path).unwrap());
    let profile = format!("--user-data-dir={}", dir.join("profile").display());
    let mut child = Command::new(browser)
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=20000"])
        .args(["--enable-logging=stderr", &profile])
        .args(args)
        .arg(url)
        .stdout(file(&out))
        .stderr(file(&err))
        .stdin(Stdio::null())
        .spawn()
        .expect("the browser starts");
    let begun = Instant::now();
    while child.try_wait().unwrap().is_none() {
        if begun.elapsed() > PATIENCE {
            child.kill().unwrap();
            panic!("the browser takes longer than {PATIENCE:?}");
        }
        std::thread::yield_now();
        std::thread::park_timeout(Duration::from_millis(20));
    }
    let text = |path: &Path| String::from_utf8_lossy(&std::fs::read(path).unwrap()).into_owned();
    (text(&out), text(&err))
}
