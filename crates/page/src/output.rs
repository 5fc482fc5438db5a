//! The files of `tailcut report`. A file is written only where nothing is, or in the place of one that this program has
//! written.

use crate::error::PageError;
use crate::table::HEADERS;
use std::io::Read;
use std::path::Path;
use tailcut_report::regular::{open, regular, replace};

/// By this, files are recognised: as a comment, or as the generator of a page. It stands at the beginning or at the end.
pub const MARK: &str = "tailcut report";

/// Bytes at both ends of a file in which the mark is looked for.
const ENDS: u64 = 512;

/// Check that a file may be written there, before there is work that could be lost.
///
/// # Errors
/// Something else is there than a file of this program, or the folder is missing.
pub fn check(path: &Path) -> Result<(), PageError> {
    let cannot = |source| PageError::NotWritable { path: path.to_path_buf(), source };
    if !regular(path).map_err(cannot)? {
        let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
        std::fs::read_dir(folder).map_err(cannot)?;
        return Ok(());
    }
    if marked(path).map_err(cannot)? { Ok(()) } else { Err(PageError::Foreign { path: path.to_path_buf() }) }
}

/// Write a file completely or not at all.
///
/// # Errors
/// As [`check`], or it cannot be written.
pub fn write(path: &Path, text: &[u8]) -> Result<(), PageError> {
    check(path)?;
    replace(path, text).map_err(|source| PageError::NotWritable { path: path.to_path_buf(), source })
}

/// Whether a file has the mark.
fn marked(path: &Path) -> std::io::Result<bool> {
    use std::io::{Seek, SeekFrom};
    let mut file = open(path)?;
    let length = file.metadata()?.len();
    let mut ends = Vec::new();
    (&mut file).take(ENDS).read_to_end(&mut ends)?;
    file.seek(SeekFrom::Start(length.saturating_sub(ENDS)))?;
    file.take(ENDS).read_to_end(&mut ends)?;
    let marked = ends.windows(MARK.len()).any(|part| part == MARK.as_bytes());
    // A table for a spreadsheet has no place for a comment: its header is the mark.
    Ok(marked || HEADERS.iter().any(|header| ends.starts_with(header.as_bytes())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_files_of_this_program_are_replaced() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        std::fs::write(at("foreign.html"), "<html>mine</html>").unwrap();
        assert!(matches!(write(&at("foreign.html"), b"x"), Err(PageError::Foreign { .. })));
        assert_eq!(std::fs::read_to_string(at("foreign.html")).unwrap(), "<html>mine</html>");
        for text in [format!("<!-- {MARK} -->first"), format!("{}% {MARK}\n", "x".repeat(5_000))] {
            write(&at("own"), text.as_bytes()).unwrap();
            assert_eq!(std::fs::read(at("own")).unwrap(), text.as_bytes());
        }
        assert!(matches!(write(dir.path(), b"x"), Err(PageError::NotWritable { .. })));
        assert!(matches!(check(&at("missing/page.html")), Err(PageError::NotWritable { .. })));
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 2);
    }
}
