//! Applies each option to a [`JobSpec`].

use super::error::{JobError, Place, Problem, Warning, excerpt};
use super::lists;
use super::options::{self, Engine, Handling};
use super::spec::{JobSpec, LARGEST_BLOCK, MOST_JOBS, Mode, READ, Rate, TRIM, WRITE};
use super::text::Entry;
use super::value::{self, Extent, Units};

const SECOND: u64 = 1_000_000_000;
const MICROSECOND: u64 = 1_000;

const BYTES: &str = "bytes with an optional k, m, g, t or p (powers of 1024)";
const EXTENT: &str = "bytes (k, m, g, t: powers of 1024) or a percentage of the host capacity";
const TIME: &str = "a time such as 30, 30s, 5m, 100ms or 10us";
const BOOLEAN: &str = "0 or 1";
const MODES: &str = "read, write, trim, randread, randwrite, randtrim, rw, readwrite or randrw, with `:N` for N \
                     requests at each random offset or N bytes skipped after each sequential request";
const RATE: &str = "up to three numbers `read,write,trim`; 0 or empty means no limit";

/// A job under construction, with the units and warnings so far.
#[derive(Clone, Debug)]
pub(super) struct Draft {
    pub spec: JobSpec,
    pub units: Units,
    pub warnings: Vec<Warning>,
    /// The options without effect.
    pub no_effect: Vec<String>,
}

impl Draft {
    pub fn new(name: &str, place: Place) -> Draft {
        Draft {
            spec: JobSpec::new(name, place),
            units: Units::default(),
            warnings: Vec::new(),
            no_effect: Vec::new(),
        }
    }

    pub fn warn(&mut self, place: &Place, text: String) {
        self.warnings.push(Warning { place: place.clone(), text });
    }

    /// Apply one option.
    pub fn apply(&mut self, entry: &Entry) -> Result<(), JobError> {
        let key = options::canonical(&entry.key);
        let fail = |problem| Err(JobError::new(entry.place.clone(), problem));
        match options::handling(key) {
            None => fail(Problem::UnknownOption {
                option: excerpt(&entry.key),
                nearest: options::nearest(&entry.key),
            }),
            Some(Handling::Unsupported(why)) => {
                fail(Problem::Unsupported { option: excerpt(&entry.key), why: why.to_string() })
            }
            Some(Handling::Only(values, why)) => {
                let value = entry.value.as_deref().unwrap_or("1");
                if !values.contains(&value) {
                    let option = format!("{}={}", entry.key, excerpt(value));
                    return fail(Problem::Unsupported { option, why: why.to_string() });
                }
                self.no_effect.push(entry.key.clone());
                Ok(())
            }
            Some(Handling::NoEffect) => {
                self.no_effect.push(entry.key.clone());
                Ok(())
            }
            Some(Handling::Honoured) => self.honour(key, entry),
        }
    }

    fn honour(&mut self, key: &str, entry: &Entry) -> Result<(), JobError> {
        if self.flag(key, entry)? {
            return Ok(());
        }
        let allowed = allowed(key);
        let Some(text) = entry.value.as_deref().filter(|v| !v.is_empty()) else {
            let problem = Problem::MissingValue { option: entry.key.clone(), allowed };
            return Err(JobError::new(entry.place.clone(), problem));
        };
        let result = match key {
            "rw" | "bs" | "bsrange" | "bssplit" | "blockalign" | "random_distribution" => {
                self.shape(key, text)
            }
            "rate" | "rate_iops" | "rate_process" | "io_submit_mode" => self.pacing(key, text),
            "rate_min" | "rate_iops_min" => self.least_rate(entry, text),
            "hot_sets" => self.hot_sets(text),
            "runtime" | "ramp_time" | "startdelay" | "thinktime" => self.times(key, text),
            "size" | "io_size" | "offset" | "offset_increment" => self.extents(key, text),
            "filename" | "filename_format" | "directory" | "filesize" => self.file(key, text),
            "ioengine" => match options::engine(text) {
                Ok(Engine::Refused(why)) => {
                    let problem = Problem::Engine { name: text.to_string(), why };
                    return Err(JobError::new(entry.place.clone(), problem));
                }
                Ok(engine) => {
                    self.spec.synchronous = engine == Engine::Synchronous;
                    Ok(())
                }
                Err(wrong) => Err(wrong),
            },
            "rw_sequencer" | "sync" | "verify" => self.word(key, text),
            _ => self.count(key, text),
        };
        result.map_err(|wrong| bad_value(entry, wrong, allowed))
    }

    /// Apply an option that is a boolean, whose value may be missing. Returns false if
    /// `key` is not a boolean.
    fn flag(&mut self, key: &str, entry: &Entry) -> Result<bool, JobError> {
        let known = matches!(
            key,
            "norandommap"
                | "time_based"
                | "bs_unaligned"
                | "randrepeat"
                | "end_fsync"
                | "fsync_on_close"
                | "stonewall"
                | "new_group"
                | "group_reporting"
                | "do_verify"
                | "writefua"
                | "direct"
                | "buffered"
        );
        if !known {
            return Ok(false);
        }
        let on = value::boolean(entry.value.as_deref()).map_err(|w| bad_value(entry, w, BOOLEAN))?;
        match key {
            "norandommap" => self.spec.norandommap = on,
            "time_based" => self.spec.time_based = on,
            "bs_unaligned" => self.spec.unaligned = on,
            // The file is closed when the job ends.
            "end_fsync" | "fsync_on_close" => self.spec.end_fsync = on,
            "stonewall" => self.spec.stonewall = on,
            "new_group" => self.spec.new_group = on,
            "group_reporting" => self.spec.group_reporting = on,
            "do_verify" => self.spec.do_verify = on,
            "writefua" => self.spec.forces_unit_access = on,
            "direct" | "buffered" if (key == "direct") == on => self.no_effect.push(entry.key.clone()),
            "direct" | "buffered" => {
                let text =
                    format!("`{key}={}`: there is no page cache here, so all I/O is direct", u8::from(on));
                self.warn(&entry.place, text);
            }
            _ if !on => self.warn(
                &entry.place,
                "`randrepeat=0` has no effect: a run always repeats exactly; its seed decides".into(),
            ),
            _ => {}
        }
        Ok(true)
    }

    fn shape(&mut self, key: &str, text: &str) -> Result<(), String> {
        let units = self.units;
        match key {
            "rw" => self.spec.mode = mode(text, units)?,
            "bs" => lists::set_sizes(&mut self.spec, text, units)?,
            "bsrange" => lists::set_ranges(&mut self.spec, text, units)?,
            "bssplit" => {
                if lists::set_splits(&mut self.spec, text, units)? {
                    let place = self.spec.place.clone();
                    let text = "`bssplit` adds up to less than 100 percent: the rest goes to its \
                                last size, as in fio";
                    self.warn(&place, text.to_string());
                }
            }
            "blockalign" => {
                let read = |t: &str| value::bounded(t, units, 1, LARGEST_BLOCK);
                self.spec.align = value::by_direction(text, read)?;
            }
            _ => self.spec.distribution = lists::distribution(text, units)?,
        }
        Ok(())
    }

    fn pacing(&mut self, key: &str, text: &str) -> Result<(), String> {
        let units = self.units;
        let limit = |t: &str| value::bounded(t, units, 0, 1 << 50);
        match (key, text) {
            ("rate", _) => {
                let rates = value::by_direction(text, limit)?;
                self.spec.rate = rates.map(|r| r.filter(|r| *r > 0));
            }
            ("rate_iops", _) => {
                let rates = value::by_direction(text, limit)?;
                self.spec.rate_iops =
                    rates.map(|r| r.filter(|r| *r > 0).map(|r| Rate { per_second: r, scale: 1 }));
            }
            ("rate_process", "linear") => self.spec.poisson = false,
            ("rate_process", "poisson") => self.spec.poisson = true,
            ("io_submit_mode", "inline") => self.spec.offload = false,
            ("io_submit_mode", "offload") => self.spec.offload = true,
            _ => return Err("not one of the choices".to_string()),
        }
        Ok(())
    }

    /// In fio, a job below its least rate ends with an error.
    fn least_rate(&mut self, entry: &Entry, text: &str) -> Result<(), String> {
        value::by_direction(text, |t: &str| value::bounded(t, self.units, 0, 1 << 50))?;
        let text = format!("`{}`: fio ends a job that is slower; here it goes on", entry.key);
        self.warn(&entry.place, text);
        Ok(())
    }

    fn file(&mut self, key: &str, text: &str) -> Result<(), String> {
        let spec = &mut self.spec;
        match key {
            "filename" => {
                // A colon separates files unless it is escaped.
                let name = text.replace("\\:", "\0");
                if name.contains(':') {
                    return Err("a job has one file here; use a job for each file".to_string());
                }
                if name == "-" {
                    return Err("standard input and output are not on a drive".to_string());
                }
                spec.filename = Some(name.replace('\0', ":"));
            }
            "filename_format" => spec.filename_format = Some(text.to_string()),
            "directory" => spec.directory = Some(text.to_string()),
            _ => {
                if text.contains('-') {
                    return Err("a range of lengths is not modelled; give one length".to_string());
                }
                let length = value::bounded(text, self.units, 1, u64::MAX)?;
                spec.filesize = Some(length);
            }
        }
        Ok(())
    }

    fn word(&mut self, key: &str, text: &str) -> Result<(), String> {
        let spec = &mut self.spec;
        match (key, text) {
            ("rw_sequencer", "sequential") => spec.identical_runs = false,
            ("rw_sequencer", "identical") => spec.identical_runs = true,
            ("sync", "0" | "none") => spec.durable_writes = false,
            ("sync", "1" | "sync" | "dsync") => spec.durable_writes = true,
            ("verify", "0" | "none") => spec.verify = None,
            ("verify", _) => spec.verify = Some(text.to_string()),
            _ => return Err("not one of the choices".to_string()),
        }
        Ok(())
    }

    fn hot_sets(&mut self, text: &str) -> Result<(), String> {
        self.spec.one_hot_set = match text {
            "one" => true,
            "per-job" => false,
            _ => return Err("not one of the choices".to_string()),
        };
        Ok(())
    }

    fn times(&mut self, key: &str, text: &str) -> Result<(), String> {
        let unit = if key == "thinktime" { MICROSECOND } else { SECOND };
        if key == "startdelay"
            && let Some((least, most)) = text.split_once('-')
        {
            let range = (value::time(least, unit)?, value::time(most, unit)?);
            if range.0 > range.1 {
                return Err(format!("`{least}` is more than `{most}`"));
            }
            self.spec.start_delay_ns = range;
            return Ok(());
        }
        let ns = value::time(text, unit)?;
        match key {
            // As in fio, 0 means no limit.
            "runtime" => self.spec.runtime_ns = Some(ns).filter(|ns| *ns > 0),
            "ramp_time" => self.spec.ramp_ns = ns,
            "startdelay" => self.spec.start_delay_ns = (ns, ns),
            _ => self.spec.think_ns = ns,
        }
        Ok(())
    }

    fn extents(&mut self, key: &str, text: &str) -> Result<(), String> {
        let extent = value::extent(text, self.units)?;
        let is_zero = matches!(extent, Extent::Bytes(0) | Extent::PartsPerMillion(0));
        if is_zero && key == "size" {
            return Err("the size is 0, so there is nothing to access".to_string());
        }
        match key {
            "size" => self.spec.size = Some(extent),
            "io_size" => self.spec.io_size = Some(extent).filter(|_| !is_zero),
            "offset" => self.spec.offset = extent,
            _ => self.spec.offset_increment = extent,
        }
        Ok(())
    }

    fn count(&mut self, key: &str, text: &str) -> Result<(), String> {
        let units = self.units;
        let bounded = |least, most| value::bounded(text, units, least, most);
        let spec = &mut self.spec;
        match key {
            "rwmixread" | "rwmixwrite" => {
                // fio takes a fraction of zero.
                let whole = text.split_once('.').map_or(text, |(whole, zeros)| {
                    if zeros.bytes().all(|b| b == b'0') { whole } else { text }
                });
                let percent = value::bounded(whole, units, 0, 100)? as u32;
                spec.read_percent = Some(if key == "rwmixread" { percent } else { 100 - percent });
            }
            "iodepth" => spec.iodepth = Some(bounded(1, 1 << 20)? as u32),
            "numjobs" => spec.numjobs = bounded(1, MOST_JOBS)? as u32,
            "number_ios" => spec.number_ios = Some(bounded(0, u64::MAX)?).filter(|n| *n > 0),
            "loops" => spec.loops = bounded(1, u64::from(u32::MAX))?,
            "randseed" => spec.randseed = Some(bounded(0, u64::MAX)?),
            "thinktime_blocks" => spec.think_blocks = bounded(1, u64::MAX)?,
            "fsync" | "fdatasync" => spec.fsync = bounded(0, u64::MAX)?,
            "percentage_random" => {
                let read = |t: &str| value::bounded(t, units, 0, 100).map(|p| p as u32);
                spec.percentage_random = value::by_direction(text, read)?.map(|p| p.unwrap_or(100));
            }
            "name" => spec.name = text.to_string(),
            "kb_base" => {
                self.units = match text {
                    "1024" => Units { kilo: 1024, kibi: Some(1000) },
                    "1000" => Units { kilo: 1000, kibi: Some(1024) },
                    _ => return Err("not one of the choices".to_string()),
                }
            }
            // A test checks that this match covers the option table.
            _ => return Err("not handled".to_string()),
        }
        Ok(())
    }
}

fn bad_value(entry: &Entry, wrong: String, allowed: &'static str) -> JobError {
    let problem = Problem::BadValue {
        option: entry.key.clone(),
        value: excerpt(entry.value.as_deref().unwrap_or("")),
        wrong,
        allowed,
    };
    JobError::new(entry.place.clone(), problem)
}

/// The values allowed for an option, for messages.
fn allowed(key: &str) -> &'static str {
    match key {
        "rw" => MODES,
        "bs" | "blockalign" => "up to three sizes `read,write,trim`, each 1 to 1g",
        "bsrange" => "up to three ranges `least-most`, each size 1 to 1g",
        "bssplit" => "sizes `4k/70:64k/30` by direction `read,write,trim`; percents may be blank",
        "random_distribution" => {
            "random, zipf:theta[:centre] (0..=100), pareto:h[:centre] (0..1), normal:deviation% (0..=100), \
             zoned:accesses%/size%:… or zoned_abs:accesses%/bytes:…; a centre is a share, 0..=1"
        }
        "rate" | "rate_iops" | "rate_min" | "rate_iops_min" => RATE,
        "rate_process" => "linear or poisson",
        "io_submit_mode" => "inline or offload",
        "hot_sets" => "one (all jobs have their hot blocks at the same places) or per-job",
        "runtime" | "ramp_time" => TIME,
        "startdelay" => "a time, or a range of times as in 0-100ms; a bare number counts seconds",
        "thinktime" => "a time; a bare number counts microseconds",
        "size" | "io_size" | "offset" | "offset_increment" => EXTENT,
        "rwmixread" | "rwmixwrite" | "percentage_random" => "0 to 100 percent",
        "numjobs" => "1 to 4096",
        "iodepth" => "1 to 1048576",
        "kb_base" => "1024 or 1000",
        "name" | "filename" | "filename_format" | "directory" => "a name",
        "ioengine" => "an engine of fio that reaches a drive of this host, such as libaio, io_uring or psync",
        "rw_sequencer" => "sequential or identical",
        "sync" => "none, sync or dsync; 0 or 1",
        "verify" => "0, or any method in a job that does not read its writes back",
        "loops" => "1 to 4294967295",
        "number_ios" | "randseed" | "thinktime_blocks" | "fsync" | "fdatasync" => "a count",
        _ => BYTES,
    }
}

fn mode(text: &str, units: Units) -> Result<Mode, String> {
    let (text, step) = match text.split_once(':') {
        Some((mode, step)) => (mode.trim(), step.trim()),
        None => (text, ""),
    };
    let random = text.starts_with("rand");
    let step = match (step, random) {
        ("", _) => 0,
        (n, true) => value::bounded(n, units, 1, 1 << 32)
            .map_err(|wrong| format!("requests at each random offset: {wrong}"))? as i64,
        (bytes, false) => {
            let (digits, sign) = bytes.strip_prefix('-').map_or((bytes, 1), |digits| (digits, -1));
            let skip = value::bounded(digits, units, 0, 1 << 50);
            skip.map_err(|wrong| format!("bytes to skip after each request: {wrong}"))? as i64 * sign
        }
    };
    let uses = match text {
        "read" | "randread" => READ,
        "write" | "randwrite" => WRITE,
        "trim" | "randtrim" => TRIM,
        "rw" | "readwrite" | "randrw" => {
            return Ok(Mode { uses: [true, true, false], random, step });
        }
        "trimwrite" | "randtrimwrite" => {
            return Err("trim-then-write pairs are not modelled".to_string());
        }
        _ => return Err("unknown mode".to_string()),
    };
    let mut by_direction = [false; 3];
    by_direction[uses] = true;
    Ok(Mode { uses: by_direction, random, step })
}
