//! Runs the tests of the Python package (`python/tests`) on the extension that was built with this test.
//!
//! A virtual environment with the packages that they need is made once, below the target directory. Where there is no
//! Python, or the packages cannot be had, the test says so and does nothing.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// The longest that the packages may take to come.
const PATIENCE: Duration = Duration::from_secs(240);
/// The longest that the tests may take.
const LONGEST: Duration = Duration::from_secs(600);

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Say something although the output of tests is not shown.
fn say(text: &str) {
    let _ = writeln!(std::io::stderr(), "{text}");
}

/// Run a command; its output, or why it did not succeed.
fn run(command: &mut Command, longest: Duration) -> Result<String, String> {
    let log = tempfile::NamedTempFile::new().expect("a temporary file");
    // Both outputs go to the end of one file.
    let file = fs::OpenOptions::new().append(true).open(log.path()).expect("a temporary file");
    let copy = file.try_clone().expect("a file");
    let name = format!("{command:?}");
    let begun = Instant::now();
    let mut child =
        command.stdin(Stdio::null()).stdout(file).stderr(copy).spawn().map_err(|e| e.to_string())?;
    let status = loop {
        match child.try_wait().map_err(|e| e.to_string())? {
            Some(status) => break status,
            None if begun.elapsed() > longest => {
                let _ = child.kill();
                let _ = child.wait();
                return Err(format!("it takes longer than {longest:?}: {name}\n{}", text(log.path())));
            }
            None => std::thread::sleep(Duration::from_millis(50)),
        }
    };
    if status.success() { Ok(text(log.path())) } else { Err(format!("{status}\n{}", text(log.path()))) }
}

fn text(path: &Path) -> String {
    String::from_utf8_lossy(&fs::read(path).expect("a log")).into_owned()
}

/// Python of at least 3.10, and its version.
fn python() -> Result<(String, String), String> {
    let python = std::env::var("PYTHON").unwrap_or_else(|_| "python3".into());
    let version = "import sys; assert sys.version_info >= (3, 10), 'older than 3.10'; print('.'.join(map(str, sys.version_info[:3])))";
    match run(Command::new(&python).args(["-c", version]), PATIENCE) {
        Ok(version) => Ok((python, version.trim().to_string())),
        Err(e) => Err(format!("no Python of 3.10 or newer: {python}: {}", last_line(&e))),
    }
}

fn last_line(text: &str) -> &str {
    text.trim().lines().last().unwrap_or_default()
}

/// The Python of an environment with the packages; it is made if it is not there. `target` is cargo's.
fn environment(target: &Path) -> Result<PathBuf, String> {
    let (python, version) = python()?;
    let folder = target.join(format!("python-{version}"));
    let inside = folder.join("bin/python");
    let requirements = root().join("python/tests/requirements.txt");
    let wanted = text(&requirements) + &text(&root().join("python/tests/requirements-ray.txt"));
    // Written last.
    let mark = folder.join("requirements");
    if fs::read_to_string(&mark).is_ok_and(|held| held == wanted) {
        return Ok(inside);
    }
    run(Command::new(&python).args(["-m", "venv", "--clear"]).arg(&folder), PATIENCE)
        .map_err(|e| format!("no virtual environment: {}", last_line(&e)))?;
    let install = |file: &Path| {
        let mut pip = Command::new(&inside);
        pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--only-binary=:all:"]);
        pip.args(["--timeout", "20", "--retries", "1", "-r"]).arg(file);
        run(&mut pip, PATIENCE)
    };
    install(&requirements).map_err(|e| format!("packages cannot be had: {}", last_line(&e)))?;
    if let Err(e) = install(&root().join("python/tests/requirements-ray.txt")) {
        say(&format!("skipped: the tests of the Ray engine: {}", last_line(&e)));
    }
    fs::write(&mark, wanted).map_err(|e| e.to_string())?;
    Ok(inside)
}

/// The package as it is installed: the modules of Python, and the extension beside them.
fn package(extension: &Path, to: &Path) {
    let from = root().join("python/tailcut");
    let package = to.join("tailcut");
    fs::create_dir_all(&package).expect("a folder");
    for entry in fs::read_dir(from).expect("the package") {
        let path = entry.expect("a file").path();
        if path.is_file() {
            fs::copy(&path, package.join(path.file_name().expect("a name"))).expect("a copy");
        }
    }
    fs::copy(extension, package.join("_tailcut.abi3.so")).expect("the extension");
}

#[test]
fn the_python_package_passes_its_tests() {
    let deps = std::env::current_exe().expect("this test").parent().expect("a folder").to_path_buf();
    let built = deps.parent().expect("the folder of the build").to_path_buf();
    let names = if cfg!(target_os = "macos") { ["lib_tailcut.dylib"] } else { ["lib_tailcut.so"] };
    let extension = names.iter().map(|name| deps.join(name)).find(|path| path.is_file());
    let Some(extension) = extension else {
        panic!("cargo has not built the extension in {}", deps.display())
    };
    let python = match environment(built.parent().expect("the target directory")) {
        Ok(python) => python,
        Err(why) => return say(&format!("skipped: the tests of the Python package: {why}")),
    };
    let folder = tempfile::tempdir().expect("a folder");
    package(&extension, folder.path());
    let mut pytest = Command::new(python);
    pytest.args(["-m", "pytest", "-q", "-rs", "-p", "no:cacheprovider", "--durations=5", "python/tests"]);
    pytest.args(std::env::var("TAILCUT_PYTEST").iter().flat_map(|more| more.split_whitespace()));
    pytest.current_dir(root()).env("PYTHONPATH", folder.path()).env("PYTHONDONTWRITEBYTECODE", "1");
    let command = built.join("tailcut");
    if command.is_file() {
        pytest.env("TAILCUT_COMMAND", command);
    }
    let said = run(&mut pytest, LONGEST).unwrap_or_else(|e| panic!("{e}"));
    for line in said.lines().filter(|line| line.starts_with("SKIPPED")) {
        say(&format!("skipped: {line}"));
    }
    let last = last_line(&said);
    assert!(last.contains(" passed"), "{said}");
    say(&format!("python: {last}"));
}
