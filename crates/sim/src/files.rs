//! The output folder.

use crate::finished::Finished;
use tailcut_config::Resolved;
use tailcut_report::folder::SUMMARY;
use tailcut_report::{OutputFolder, ReportError, hlog, lost, slowest};
use tailcut_stats::Measured;

/// The name of a scheme's file: `config.toml`, or with several schemes
/// `config.t-es.toml`. Characters that a file name may not hold become `_`.
pub fn file_name(kind: &str, schemes: &[String], scheme: usize, extension: &str) -> String {
    if schemes.len() == 1 {
        return format!("{kind}.{extension}");
    }
    let plain = |name: &str| -> String {
        let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '+' | '.');
        name.chars().map(|c| if fits(c) { c } else { '_' }).collect()
    };
    let name = plain(&schemes[scheme]);
    // Names that differ only in replaced characters get a number.
    let twin = schemes[..scheme].iter().filter(|other| plain(other) == name).count();
    let number = if twin > 0 { format!(".{}", twin + 1) } else { String::new() };
    format!("{kind}.{name}{number}.{extension}")
}

/// Write all files except the Parquet files, which are already written, and put all files
/// in place.
///
/// # Errors
/// A file that cannot be written.
pub fn write(
    mut folder: OutputFolder,
    resolved: &[(String, Resolved)],
    finished: &Finished,
) -> Result<(), ReportError> {
    let names: Vec<String> = resolved.iter().map(|(name, _)| name.clone()).collect();
    for (i, (_, one)) in resolved.iter().enumerate() {
        folder.write(&file_name("config", &names, i, "toml"), &one.toml)?;
    }
    let mut runs: Vec<(String, &Measured)> = Vec::new();
    for (name, measured) in &finished.measured {
        for (run, measured) in measured.iter().enumerate() {
            let tag = if run == 0 { name.clone() } else { format!("{name}#{}", run + 1) };
            runs.push((tag, measured));
        }
    }
    let tagged: Vec<(&str, &Measured)> = runs.iter().map(|(tag, m)| (tag.as_str(), *m)).collect();
    hlog::write(folder.create(hlog::FILE)?, &tagged)?;
    let mut file = folder.create(slowest::FILE)?;
    for (name, measured) in &finished.measured {
        let path = folder.path().join(slowest::FILE);
        slowest::write(&mut file, name, &measured[0]).map_err(ReportError::io(&path))?;
    }
    if finished.lost.iter().any(|(_, lost)| !lost.is_empty()) {
        let mut file = folder.create(lost::FILE)?;
        let path = folder.path().join(lost::FILE);
        for (name, lost) in &finished.lost {
            lost::write(&mut file, name, lost).map_err(ReportError::io(&path))?;
        }
    }
    folder.write(SUMMARY, &finished.summary.to_json())?;
    folder.commit()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_scheme_has_its_own_plain_file_name() {
        let names = ["t-es", "a/b.toml", "a:b.toml"].map(String::from);
        let of = |i| file_name("config", &names, i, "toml");
        assert_eq!(
            [of(0), of(1), of(2)],
            ["config.t-es.toml", "config.a_b.toml.toml", "config.a_b.toml.2.toml"]
        );
        assert_eq!(file_name("config", &names[..1], 0, "toml"), "config.toml");
    }
}
