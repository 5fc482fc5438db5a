//! Runs the program.
#![allow(dead_code)] // Each test file uses a part.

pub mod chromium;
#[cfg(unix)]
pub mod served;

use serde_json::Value;
use std::path::Path;
use std::process::{Command, Stdio};

/// The result of a run of the program.
pub struct Ended {
    pub code: Option<i32>,
    pub out: String,
    pub err: String,
}

/// The program, with its own cache folder, and on a wide page: what it says is not broken into lines.
pub fn command(cache: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tailcut"));
    command.env("TAILCUT_CACHE", cache).env("COLUMNS", "250").stdin(Stdio::null());
    command
}

/// Run the program to its end. Its cache is a folder that does not exist and cannot be
/// created.
pub fn tailcut(args: &[&str]) -> Ended {
    let mut args: Vec<&str> = args.to_vec();
    if args[0] == "run" && !args.contains(&"--snapshot") {
        args.push("--no-cache");
    }
    end(command(Path::new("/nonexistent")).args(&args))
}

/// Run the program to its end as without a terminal, where nothing says how wide the page is.
pub fn piped(args: &[&str]) -> Ended {
    end(command(Path::new("/nonexistent")).env_remove("COLUMNS").args(args))
}

/// Run the program to its end.
pub fn end(command: &mut Command) -> Ended {
    let output = command.output().expect("the program starts");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("output is UTF-8");
    Ended { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
}

impl Ended {
    /// Check that the program succeeded; returns its standard output.
    #[track_caller]
    pub fn ok(self) -> String {
        assert_eq!(self.code, Some(0), "{}\n{}", self.out, self.err);
        self.out
    }

    /// Check that the program refused its input with one message that contains all
    /// `needles`.
    #[track_caller]
    pub fn refused(self, needles: &[&str]) {
        assert_eq!(self.code, Some(2), "{}\n{}", self.out, self.err);
        let errors: Vec<&str> = self.err.lines().filter(|l| l.starts_with("error: ")).collect();
        assert_eq!(errors.len(), 1, "one message: {}", self.err);
        for needle in needles {
            assert!(self.err.contains(needle), "`{needle}` is not in: {}", self.err);
        }
        assert!(!self.err.contains("panicked"), "{}", self.err);
    }
}

/// Parse a summary and check its form.
#[track_caller]
pub fn summary(text: &str) -> Value {
    let value: Value = serde_json::from_str(text).expect("the summary is JSON");
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/summary.schema.json");
    let schema: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let errors: Vec<String> =
        validator.iter_errors(&value).map(|e| format!("{}: {e}", e.instance_path())).collect();
    assert_eq!(errors, [""; 0]);
    value
}

/// The digests of a summary's schemes.
pub fn digests(summary: &Value) -> Vec<String> {
    let schemes = summary["schemes"].as_array().unwrap();
    schemes.iter().map(|s| s["digest"].as_str().unwrap().to_string()).collect()
}

/// Names of the files in a folder, in order; empty if there is no folder.
pub fn files(folder: &Path) -> Vec<String> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let mut names: Vec<String> =
        entries.map(|e| e.unwrap().file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}
