//! Structs, enums and their comments, read from the sources that define them.
//!
//! The sources are formatted, so an attribute, a field and a variant have one line each. The
//! comment of a field describes it in sentences. Below these, a list states what is stated
//! nowhere else: `- Range: …` (see `range`) and `- Read by: …`.

/// The comment of a field, or of a struct.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Comment {
    /// The description.
    pub(super) what: String,
    /// The allowed values, if the type does not determine them.
    pub(super) range: Option<String>,
    /// The mechanism that reads the key. That of a struct applies to its fields without their
    /// own.
    pub(super) read_by: Option<String>,
}

impl Comment {
    fn parse(lines: &[&str]) -> Comment {
        let mut comment = Comment::default();
        let mut items: Vec<String> = vec![String::new()];
        for line in lines.iter().filter_map(|l| l.strip_prefix("///")).map(str::trim) {
            match line.strip_prefix("- ") {
                Some(item) => items.push(item.to_string()),
                None => {
                    let item = items.last_mut().expect("never empty");
                    let gap = if item.is_empty() || line.is_empty() { "" } else { " " };
                    item.push_str(gap);
                    item.push_str(line);
                }
            }
        }
        for item in items {
            if let Some(range) = item.strip_prefix("Range: ") {
                comment.range = Some(range.to_string());
            } else if let Some(reader) = item.strip_prefix("Read by: ") {
                comment.read_by = Some(reader.to_string());
            } else {
                comment.what.push_str(&item);
            }
        }
        comment
    }
}

/// A field of a struct.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Field<'a> {
    pub(super) name: &'a str,
    /// The Rust type.
    pub(super) ty: &'a str,
    /// The module that reads and writes the field, if the type does not determine it:
    /// `quantity::time`.
    pub(super) with: Option<&'a str>,
    /// Whether it may be left out, and then has the default value of its type.
    pub(super) has_default: bool,
    pub(super) comment: Comment,
}

/// A struct with its comments, read from a source.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Struct<'a> {
    pub(super) comment: Comment,
    pub(super) fields: Vec<Field<'a>>,
}

/// The lines above a definition that belong to it, and the lines inside.
type Parts<'a> = (Vec<&'a str>, Vec<&'a str>);

/// Find `header` in the first source that contains it.
fn find<'a>(sources: &[&'a str], header: &str) -> Option<Parts<'a>> {
    sources.iter().find_map(|source| {
        let lines: Vec<&str> = source.lines().collect();
        let at = lines.iter().position(|l| *l == header)?;
        let belongs = |l: &&&str| l.starts_with("///") || l.starts_with("#[");
        let mut above: Vec<&str> = lines[..at].iter().rev().take_while(belongs).copied().collect();
        above.reverse();
        let inside = lines[at + 1..].iter().take_while(|l| **l != "}").map(|l| l.trim()).collect();
        Some((above, inside))
    })
}

/// The struct of this name. A struct made by a macro has no fields and is not found.
pub(super) fn struct_of<'a>(sources: &[&'a str], name: &str) -> Option<Struct<'a>> {
    let (above, inside) = find(sources, &format!("pub struct {name} {{"))?;
    let mut fields = Vec::new();
    let mut comment = Vec::new();
    let mut with = None;
    let mut has_default = false;
    for line in inside {
        if line.starts_with("///") {
            comment.push(line);
        } else if line.starts_with("#[") {
            with = line.split_once("with = \"").and_then(|(_, rest)| rest.split('"').next());
            has_default = line.starts_with("#[serde(default");
        } else if let Some((name, ty)) = line.strip_prefix("pub ").and_then(|l| l.split_once(": ")) {
            let ty = ty.trim_end_matches(',');
            let has_default = std::mem::take(&mut has_default);
            fields.push(Field {
                name,
                ty,
                with: with.take(),
                has_default,
                comment: Comment::parse(&comment),
            });
            comment.clear();
        }
    }
    Some(Struct { comment: Comment::parse(&above), fields })
}

/// The default value of the enum of this name, as written in a configuration; `None` if it has none.
pub(super) fn default_of(sources: &[&str], name: &str) -> Option<String> {
    let (_, inside) = find(sources, &format!("pub enum {name} {{"))?;
    let mut below = inside.into_iter().skip_while(|line| *line != "#[default]");
    below.find_map(|line| line.strip_suffix(',')).map(kebab)
}

/// The values of the enum of this name, as written in a configuration, and their meanings.
pub(super) fn values_of(sources: &[&str], name: &str) -> Option<Vec<(String, String)>> {
    let (_, inside) = find(sources, &format!("pub enum {name} {{"))?;
    let mut values = Vec::new();
    let mut comment = Vec::new();
    for line in inside {
        if line.starts_with("///") {
            comment.push(line);
        } else if let Some(variant) = line.strip_suffix(',') {
            values.push((kebab(variant), Comment::parse(&comment).what));
            comment.clear();
        }
    }
    Some(values)
}

/// `OldestWrite` becomes `oldest-write`, and `V5_1` becomes `v5-1`.
fn kebab(variant: &str) -> String {
    let mut text = String::new();
    for c in variant.chars() {
        if c.is_ascii_uppercase() && !text.is_empty() {
            text.push('-');
        }
        text.push(if c == '_' { '-' } else { c.to_ascii_lowercase() });
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOURCE: &str = "\
/// How it works.
///
/// - Read by: the mill
/// - Range: any
#[derive(Clone)]
pub struct Config {
    /// How long. It may be
    /// longer.
    ///
    /// - Range: 1s to 2s; not
    ///   above `most`
    #[serde(with = \"quantity::time\")]
    pub after: Span,
    /// Whose.
    pub clock: Clock,
}

/// Whose delay counts.
pub enum Clock {
    /// Its own.
    Erase,
    /// Another's.
    OldestWrite,
}
";

    #[test]
    fn a_comment_is_sentences_and_a_list() {
        let s = struct_of(&["", SOURCE], "Config").expect("it is there");
        assert_eq!(
            (s.comment.what.as_str(), s.comment.read_by.as_deref()),
            ("How it works.", Some("the mill"))
        );
        let after = &s.fields[0];
        assert_eq!((after.name, after.ty, after.with), ("after", "Span", Some("quantity::time")));
        assert_eq!(after.comment.what, "How long. It may be longer.");
        assert_eq!(after.comment.range.as_deref(), Some("1s to 2s; not above `most`"));
        let clock = &s.fields[1];
        assert_eq!((clock.ty, clock.with), ("Clock", None));
        assert_eq!(clock.comment, Comment { what: "Whose.".to_string(), ..Comment::default() });
        let values = values_of(&[SOURCE], "Clock").expect("it is there");
        let values: Vec<(&str, &str)> = values.iter().map(|(n, m)| (n.as_str(), m.as_str())).collect();
        assert_eq!(values, [("erase", "Its own."), ("oldest-write", "Another's.")]);
        assert_eq!((struct_of(&[SOURCE], "Clock"), values_of(&[SOURCE], "Config")), (None, None));
        assert_eq!(default_of(&[SOURCE], "Clock"), None);
        let with_default = SOURCE.replace("    OldestWrite,", "    #[default]\n    OldestWrite,");
        assert_eq!(default_of(&[&with_default], "Clock"), Some("oldest-write".to_string()));
        assert_eq!(values_of(&[&with_default], "Clock").expect("it is there").len(), 2);
    }
}
