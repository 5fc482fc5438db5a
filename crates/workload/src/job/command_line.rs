//! The options of a pasted fio command line.

use super::error::{JobError, Place, excerpt};
use super::text::{Entry, Section, malformed};

/// The sections of a text such as `fio --name=a --rw=randread --bs=4k`; `None` if the text is no
/// command line. As in fio, each `--name` begins a job, and options before the first are the defaults
/// of all jobs.
///
/// # Errors
/// A quotation without an end, a word that is no option, or no `--name`.
pub(super) fn sections(text: &str) -> Result<Option<Vec<Section>>, JobError> {
    let first = text.split_whitespace().next().unwrap_or("");
    let program = first.rsplit('/').next() == Some("fio") && text.split_whitespace().nth(1).is_some();
    if !program && !first.starts_with("--") {
        return Ok(None);
    }
    let place = |job: Option<&str>| Place {
        source: "inline job".to_string(),
        line: None,
        job: job.map(ToString::to_string),
    };
    let section = |name: &str, global: bool| Section {
        name: name.to_string(),
        place: place((!global).then_some(name)),
        entries: Vec::new(),
        global,
    };
    let mut sections = vec![section("global", true)];
    let words = words(text).map_err(|wrong| malformed(place(None), wrong))?;
    let mut words = words.into_iter().skip(usize::from(program)).peekable();
    while let Some(word) = words.next() {
        let Some(option) = word.strip_prefix("--").filter(|o| !o.is_empty()) else {
            let wrong = format!(
                "`{}` is no option of a job; give a job file itself as the workload, without `fio`",
                excerpt(&word)
            );
            return Err(malformed(place(None), wrong));
        };
        let (key, value) = match option.split_once('=') {
            Some((key, value)) => (key, Some(value.to_string())),
            // fio also takes the value as the next word.
            None => (option, words.next_if(|next| !next.starts_with("--"))),
        };
        // fio takes `-` for `_` in the names of options.
        let key = if super::options::is_known(key) { key.to_string() } else { key.replace('-', "_") };
        if let ("name", Some(name)) = (key.as_str(), &value) {
            sections.push(section(name, false));
            continue;
        }
        let section = sections.last_mut().expect("the defaults are the first section");
        let place = section.place.clone();
        section.entries.push(Entry { key, value, place });
    }
    if sections.len() == 1 {
        let wrong = "a command line of fio needs `--name=…` before the options of its job";
        return Err(malformed(place(None), wrong.to_string()));
    }
    Ok(Some(sections))
}

/// The words of a command line: separated by blanks, with quotation marks and backslashes as in a
/// shell.
fn words(text: &str) -> Result<Vec<String>, String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match c {
            '\'' | '"' => {
                let word = word.get_or_insert_default();
                loop {
                    match chars.next() {
                        None => return Err(format!("the quotation that begins with {c} has no end")),
                        Some(end) if end == c => break,
                        Some('\\') if c == '"' => word.extend(chars.next()),
                        Some(inside) => word.push(inside),
                    }
                }
            }
            // A backslash at the end of a line continues the command.
            '\\' => match chars.next() {
                Some('\n') | None => {}
                Some(next) => word.get_or_insert_default().push(next),
            },
            c if c.is_whitespace() => words.extend(word.take()),
            c => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    Ok(words)
}
