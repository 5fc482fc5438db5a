//! Splits text into sections of `key=value` entries, from a job file or from one line.

use super::error::{JobError, Place, Problem, excerpt};
use super::options;

/// One option as written.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub key: String,
    /// `None` for a bare word.
    pub value: Option<String>,
    pub place: Place,
}

/// One `[section]` or one inline job.
#[derive(Clone, Debug)]
pub(super) struct Section {
    pub name: String,
    pub place: Place,
    pub entries: Vec<Entry>,
    /// It holds the defaults of the jobs after it, and is no job.
    pub global: bool,
}

pub(super) fn malformed(place: Place, text: String) -> JobError {
    JobError::new(place, Problem::Malformed(text))
}

/// The sections of an ini job file. As in fio, `;` and `#` start a comment anywhere in
/// a line.
pub(super) fn file_sections(source: &str, text: &str) -> Result<Vec<Section>, JobError> {
    let mut sections: Vec<Section> = Vec::new();
    for (index, raw) in lines(text).enumerate() {
        let line = Some(u32::try_from(index + 1).unwrap_or(u32::MAX));
        let content = raw.split([';', '#']).next().unwrap_or("").trim();
        if content.is_empty() {
            continue;
        }
        let job = sections.last().map(|s| s.name.clone());
        let place = Place { source: source.to_string(), line, job };
        if let Some(rest) = content.strip_prefix('[') {
            sections.push(header(rest, place)?);
            continue;
        }
        let Some(section) = sections.last_mut() else {
            let wrong = format!("`{}` stands before the first [section]", excerpt(content));
            return Err(malformed(place, wrong));
        };
        section.entries.push(entry(content, place)?);
    }
    Ok(sections)
}

/// The lines of a text; a line ends with a line feed, a carriage return, or both.
pub(super) fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.split('\n').flat_map(|line| line.strip_suffix('\r').unwrap_or(line).split('\r'))
}

fn header(rest: &str, mut place: Place) -> Result<Section, JobError> {
    let (name, behind) = rest.split_once(']').unwrap_or_default();
    let name = name.trim();
    place.job = None;
    if name.is_empty() || !behind.trim().is_empty() {
        return Err(malformed(place, format!("`[{}` is not a [section] header", excerpt(rest))));
    }
    place.job = Some(name.to_string());
    Ok(Section { name: name.to_string(), place, entries: Vec::new(), global: name == "global" })
}

/// Replace `${NAME}` by the environment variable, as fio does.
fn expand(content: &str, place: &Place) -> Result<String, JobError> {
    let mut out = String::new();
    let mut rest = content;
    while let Some((before, behind)) = rest.split_once("${") {
        let fail = |wrong: String| malformed(place.clone(), format!("`{}`: {wrong}", excerpt(content)));
        let (name, after) = behind.split_once('}').ok_or_else(|| fail("a `}` is missing".to_string()))?;
        let value = std::env::var(name)
            .map_err(|_| fail(format!("the environment variable `{}` is not set", excerpt(name))))?;
        out.push_str(before);
        out.push_str(&value);
        rest = after;
    }
    Ok(out + rest)
}

fn entry(content: &str, place: Place) -> Result<Entry, JobError> {
    let content = &expand(content, &place)?;
    let first = content.split_whitespace().next().unwrap_or("");
    if first == "include" {
        let problem = Problem::Unsupported {
            option: "include".to_string(),
            why: "put everything in one job file".to_string(),
        };
        return Err(JobError::new(place, problem));
    }
    Ok(match content.split_once('=') {
        Some((key, value)) => {
            Entry { key: key.trim().to_string(), value: Some(value.trim().to_string()), place }
        }
        None => Entry { key: content.to_string(), value: None, place },
    })
}

/// The jobs of an inline description: options separated by commas, jobs by `;`. The
/// first bare word of a job is its `rw` mode. A later bare piece that starts with a
/// digit, or is empty, continues the value before it (`bs=4k,8k`, `rate_iops=,500`).
pub(super) fn inline_sections(text: &str) -> Result<Vec<Section>, JobError> {
    let jobs: Vec<&str> = text.split(';').map(str::trim).collect();
    let mut sections = Vec::with_capacity(jobs.len());
    for (index, job) in jobs.iter().enumerate() {
        let name = if jobs.len() == 1 { "job".to_string() } else { format!("job{index}") };
        let named = (jobs.len() > 1).then(|| name.clone());
        let place = Place { source: "inline job".to_string(), line: None, job: named };
        if job.is_empty() && jobs.len() > 1 {
            return Err(malformed(place, "an empty job; jobs are separated by one `;` each".to_string()));
        }
        if job.is_empty() {
            break;
        }
        let entries = inline_entries(job, &place)?;
        sections.push(Section { name, place, entries, global: false });
    }
    Ok(sections)
}

/// The job with commas, if its options are separated by blanks: a word after a blank is an option.
fn separated_by_blanks(job: &str) -> Option<String> {
    let is_option = |word: &str| match word.split_once('=') {
        Some((key, _)) => options::is_known(key),
        None => options::is_known(word),
    };
    // A description is free text.
    let described = |piece: &str| piece.trim_start().starts_with("description");
    let wrong = job
        .split(',')
        .filter(|piece| !described(piece))
        .any(|piece| piece.split_whitespace().skip(1).any(is_option));
    wrong.then(|| job.split_whitespace().collect::<Vec<&str>>().join(",").replace(",,", ","))
}

fn inline_entries(job: &str, place: &Place) -> Result<Vec<Entry>, JobError> {
    let mut entries: Vec<Entry> = Vec::new();
    if let Some(meant) = separated_by_blanks(job) {
        let wrong = format!("options are separated by commas; is `{}` meant?", excerpt(&meant));
        return Err(malformed(place.clone(), wrong));
    }
    for piece in job.split(',').map(str::trim) {
        let continues = piece.is_empty() || piece.starts_with(|c: char| c.is_ascii_digit());
        if !piece.contains('=') && continues {
            match entries.last_mut() {
                Some(Entry { value: Some(value), .. }) => {
                    value.push(',');
                    value.push_str(piece);
                    continue;
                }
                _ if piece.is_empty() => {
                    let wrong = "a comma with nothing before it; options are separated by one comma each";
                    return Err(malformed(place.clone(), wrong.to_string()));
                }
                _ => {
                    let wrong = format!("`{}` follows no option that takes a list", excerpt(piece));
                    return Err(malformed(place.clone(), wrong));
                }
            }
        }
        let has_mode = entries.iter().any(|e| options::canonical(&e.key) == "rw");
        // `rw` and `readwrite` are modes as well as options.
        let other_option = options::is_known(piece) && options::canonical(piece) != "rw";
        let bare_mode = !has_mode && !piece.contains('=') && !other_option;
        entries.push(if bare_mode {
            Entry { key: "rw".to_string(), value: Some(piece.to_string()), place: place.clone() }
        } else {
            entry(piece, place.clone())?
        });
    }
    Ok(entries)
}
