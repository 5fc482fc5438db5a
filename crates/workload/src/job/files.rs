//! Where the files of the jobs lie on the drive.
//!
//! As in fio, jobs that name the same file share it, and every other clone has a file of its own. Files
//! lie one after another from the drive's first byte on. A job is on the drive itself, and shares its
//! bytes with every other job there, if it names a device, or if nothing tells how long a file of its
//! own would be: no `size` and no `filesize` in bytes, or an `offset`, which then counts from the start
//! of the drive.

use super::error::{JobError, Problem};
use super::spec::JobSpec;
use super::value::Extent;
use std::collections::HashMap;
use std::ops::Range;

/// A file begins at a multiple of this many bytes, as in a file system.
const ALIGNMENT: u64 = 4096;

/// A file, and the job that is to blame if it does not fit.
struct File<'a> {
    spec: &'a JobSpec,
    /// Bytes; `None` if no job tells.
    length: Option<u64>,
}

/// The bytes of the drive in which the offsets of each clone count, by spec and clone.
///
/// # Errors
/// Several devices, a file of unknown length beside others, or files that exceed the capacity together.
pub(super) fn lay_out(specs: &[JobSpec], capacity: u64) -> Result<Vec<Vec<Range<u64>>>, JobError> {
    check_devices(specs)?;
    let mut numbers: HashMap<String, usize> = HashMap::new();
    let mut files: Vec<File> = Vec::new();
    let mut of: Vec<Vec<Option<usize>>> = Vec::new();
    for spec in specs {
        let clones = (0..spec.numjobs).map(|clone| {
            let name = file_name(spec, clone)?;
            let number = *numbers.entry(name).or_insert_with(|| {
                files.push(File { spec, length: None });
                files.len() - 1
            });
            let length = length(spec, clone);
            files[number].length = files[number].length.max(length);
            Some(number)
        });
        of.push(clones.collect());
    }
    let places = places(&files, capacity)?;
    let place = |file: Option<usize>| file.map_or(0..capacity, |number| places[number].clone());
    Ok(of.into_iter().map(|clones| clones.into_iter().map(place).collect()).collect())
}

/// The place of each file on the drive. A single file may be longer than the drive; it is cut.
fn places(files: &[File], capacity: u64) -> Result<Vec<Range<u64>>, JobError> {
    if let [only] = files {
        let whole = 0..only.length.unwrap_or(capacity).min(capacity);
        return Ok(vec![whole]);
    }
    let mut start = 0u64;
    let mut places = Vec::with_capacity(files.len());
    for file in files {
        let Some(length) = file.length else {
            let why = "the length of this file is not known; give `size` or `filesize` in bytes".to_string();
            let problem = Problem::Conflict { option: "filename", why };
            return Err(JobError::new(file.spec.place.clone(), problem));
        };
        let end = start.saturating_add(length);
        places.push(start..end);
        start = end.checked_next_multiple_of(ALIGNMENT).unwrap_or(u64::MAX);
    }
    match places.iter().position(|place| place.end > capacity) {
        Some(number) => {
            let end = places.last().map_or(0, |place| place.end);
            let why = format!(
                "the {} files of the jobs take {end} bytes, one file for each job or clone without `filename`; jobs with the \
                 same `filename` share one",
                files.len()
            );
            let problem = Problem::DoesNotFit { option: "size", why, capacity };
            Err(JobError::new(files[number].spec.place.clone(), problem))
        }
        None => Ok(places),
    }
}

/// One drive is simulated, so jobs may name one device.
fn check_devices(specs: &[JobSpec]) -> Result<(), JobError> {
    let mut devices = specs.iter().filter_map(|spec| Some((spec, device(spec)?)));
    let Some((_, first)) = devices.next() else { return Ok(()) };
    match devices.find(|(_, name)| *name != first) {
        Some((spec, other)) => {
            let why = format!(
                "the jobs name the devices {first} and {other}, but one drive is simulated; run the jobs of each \
                 device on their own (--section)"
            );
            Err(JobError::new(spec.place.clone(), Problem::Conflict { option: "filename", why }))
        }
        None => Ok(()),
    }
}

/// The device that a job names.
fn device(spec: &JobSpec) -> Option<&str> {
    let name = spec.filename.as_deref()?;
    // Windows names drives `\\.\PhysicalDrive1`, and engines by PCI address name a device without a path.
    let is_device = (name.starts_with("/dev/") && !name.starts_with("/dev/shm/"))
        || name.starts_with(r"\\.\")
        || name.starts_with("trtype=");
    is_device.then_some(name)
}

/// The name of a clone's file; `None` if the clone is on the drive itself.
fn file_name(spec: &JobSpec, clone: u32) -> Option<String> {
    let folder = spec.directory.as_deref().unwrap_or("");
    if device(spec).is_some() {
        return None;
    }
    if let Some(name) = &spec.filename {
        return Some(format!("{folder}/{name}"));
    }
    let at_start = |extent: Extent| matches!(extent, Extent::Bytes(0) | Extent::PartsPerMillion(0));
    length(spec, clone)?;
    if !at_start(spec.offset) || !at_start(spec.offset_increment) {
        return None;
    }
    let format = spec.filename_format.as_deref().unwrap_or("$jobname.$jobnum.$filenum");
    let name = format
        .replace("$jobname", &spec.name)
        .replace("$jobnum", &clone.to_string())
        .replace("$filenum", "0");
    Some(format!("{folder}/{name}"))
}

/// How long a clone's file must be, as far as the job tells.
fn length(spec: &JobSpec, clone: u32) -> Option<u64> {
    let bytes = |extent: Extent| match extent {
        Extent::Bytes(bytes) => Some(bytes),
        Extent::PartsPerMillion(_) => None,
    };
    if spec.filesize.is_some() {
        return spec.filesize;
    }
    let size = bytes(spec.size?)?;
    // As a percentage the offset lies within the size.
    let offset = bytes(spec.offset).unwrap_or(0);
    let step = bytes(spec.offset_increment).unwrap_or(0);
    Some(size.saturating_add(offset).saturating_add(step.saturating_mul(u64::from(clone))))
}

/// Whether a job has no file of its own only because it gives an `offset`.
pub(super) fn is_placed_by_offset(spec: &JobSpec) -> bool {
    spec.filename.is_none() && length(spec, 0).is_some() && file_name(spec, 0).is_none()
}
