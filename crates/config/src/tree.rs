//! A parsed layer with the origin of each value.
//!
//! The comment next to a value is its *source*: the paper and table, the data sheet, or the
//! word `assumption` and the reason. Following lines that hold only an indented comment
//! continue it. A comment next to a table's header is the source of every value of the
//! table without its own source. A comment at the start of a line is for the reader of the
//! file only.

use crate::error::{ConfigError, Place};
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;
use toml::de::{DeTable, DeValue};

/// A layer's name, and its text with the starts of the lines if it is a text.
#[derive(Debug)]
pub(crate) struct Source {
    /// The name in messages and in the origin of values.
    pub(crate) name: String,
    /// Byte offsets of line starts; empty when the layer has no lines.
    lines: Vec<usize>,
    text: String,
}

impl Source {
    /// A layer without a text.
    pub(crate) fn bare(name: &str) -> Arc<Source> {
        Arc::new(Source { name: name.to_string(), lines: Vec::new(), text: String::new() })
    }

    /// A layer that was read from `text`.
    pub(crate) fn text(name: &str, text: &str) -> Arc<Source> {
        let starts = text.bytes().enumerate().filter(|&(_, b)| b == b'\n').map(|(i, _)| i + 1);
        let lines = std::iter::once(0).chain(starts).collect();
        Arc::new(Source { name: name.to_string(), lines, text: text.to_string() })
    }

    /// The place of a byte offset.
    pub(crate) fn place(&self, offset: Option<usize>) -> Place {
        let at = offset.filter(|_| !self.lines.is_empty()).map(|offset| {
            let line = self.lines.partition_point(|&start| start <= offset);
            let start = self.lines[line - 1];
            let column = self.text.get(start..offset).map_or(0, |s| s.chars().count());
            (line, column + 1)
        });
        // "file a.toml" in tables, but "a.toml:3:1" in messages, in the style of compilers.
        let layer = match (at, self.name.strip_prefix("file ")) {
            (Some(_), Some(path)) => path.to_string(),
            _ => self.name.clone(),
        };
        Place { layer, at }
    }
}

/// The origin of one value.
#[derive(Clone, Debug)]
pub(crate) struct Origin {
    pub(crate) source: Arc<Source>,
    /// Byte offset of the value's key.
    key: Option<usize>,
    /// Byte offset of the value.
    value: Option<usize>,
    /// The source of the value that the layer names.
    pub(crate) citation: Option<Arc<str>>,
}

impl Origin {
    pub(crate) fn of(source: &Arc<Source>) -> Origin {
        Origin { source: Arc::clone(source), key: None, value: None, citation: None }
    }
    pub(crate) fn key_place(&self) -> Place {
        self.source.place(self.key.or(self.value))
    }
    pub(crate) fn value_place(&self) -> Place {
        self.source.place(self.value.or(self.key))
    }
}

/// A value with its origin.
#[derive(Clone, Debug)]
pub(crate) struct Tree {
    pub(crate) data: Data,
    pub(crate) origin: Origin,
}

#[derive(Clone, Debug)]
pub(crate) enum Data {
    Table(BTreeMap<String, Tree>),
    List(Vec<Tree>),
    Text(String),
    Integer(i64),
    Float(f64),
    Bool(bool),
}

impl Tree {
    pub(crate) fn table(origin: Origin) -> Tree {
        Tree { data: Data::Table(BTreeMap::new()), origin }
    }

    /// A value as a tree; every part of it has this origin.
    pub(crate) fn of_value(value: toml::Value, origin: &Origin) -> Tree {
        let of = |value| Tree::of_value(value, origin);
        let data = match value {
            toml::Value::Table(t) => {
                Data::Table(t.into_iter().map(|(key, value)| (key, of(value))).collect())
            }
            toml::Value::Array(list) => Data::List(list.into_iter().map(of).collect()),
            toml::Value::String(text) => Data::Text(text),
            toml::Value::Integer(n) => Data::Integer(n),
            toml::Value::Float(x) => Data::Float(x),
            toml::Value::Boolean(b) => Data::Bool(b),
            toml::Value::Datetime(d) => Data::Text(d.to_string()),
        };
        Tree { data, origin: origin.clone() }
    }

    /// The value at a dotted key.
    pub(crate) fn at(&self, key: &str) -> Option<&Tree> {
        key.split('.').try_fold(self, |tree, part| match &tree.data {
            Data::Table(t) => t.get(part),
            _ => None,
        })
    }

    /// Put a value at a dotted key whose table exists.
    pub(crate) fn put(&mut self, key: &str, value: Tree) {
        let mut tree = self;
        for part in key.split('.') {
            let Data::Table(t) = &mut tree.data else { return };
            tree = t.entry(part.to_string()).or_insert_with(|| value.clone());
        }
    }

    /// The value in TOML, for messages.
    pub(crate) fn shown(&self) -> String {
        match &self.data {
            Data::Table(t) => {
                let entries: Vec<String> = t.iter().map(|(k, v)| format!("{k} = {}", v.shown())).collect();
                if entries.is_empty() { "{}".to_string() } else { format!("{{ {} }}", entries.join(", ")) }
            }
            Data::List(l) => format!("[{}]", l.iter().map(Tree::shown).collect::<Vec<_>>().join(", ")),
            Data::Text(s) => format!("{s:?}"),
            Data::Integer(n) => n.to_string(),
            Data::Float(x) => x.to_string(),
            Data::Bool(b) => b.to_string(),
        }
    }
}

/// The deepest nesting followed, more than any key needs; deeper nesting is refused.
const DEPTH: usize = 16;

/// Parse a whole TOML text as one layer.
pub(crate) fn parse(source: &Arc<Source>, text: &str) -> Result<Tree, ConfigError> {
    let table = DeTable::parse(text).map_err(|e| ConfigError::Syntax {
        place: source.place(e.span().map(|s| s.start)),
        message: e.message().to_string(),
    })?;
    Layer { source, text }.table(table.get_ref(), Origin::of(source), DEPTH)
}

struct Layer<'a> {
    source: &'a Arc<Source>,
    text: &'a str,
}

impl Layer<'_> {
    fn table(&self, table: &DeTable<'_>, origin: Origin, depth: usize) -> Result<Tree, ConfigError> {
        let mut tree = BTreeMap::new();
        for (key, value) in table.iter() {
            let own = match value.get_ref() {
                DeValue::Table(_) if !self.is_inline(value.span().start) => {
                    self.beside_header(key.span().end)
                }
                _ => self.beside(value.span().end),
            };
            let origin = Origin {
                source: Arc::clone(self.source),
                key: Some(key.span().start),
                value: Some(value.span().start),
                citation: own.or_else(|| origin.citation.clone()),
            };
            let value = self.value(value.get_ref(), origin, value.span(), depth)?;
            tree.insert(key.get_ref().to_string(), value);
        }
        Ok(Tree { data: Data::Table(tree), origin })
    }

    fn is_inline(&self, start: usize) -> bool {
        self.text.get(start..).is_some_and(|t| t.starts_with('{'))
    }

    /// The comment after a value that ends at `end`, with the lines that continue it.
    fn beside(&self, end: usize) -> Option<Arc<str>> {
        let mut lines = self.text.get(end..)?.lines();
        let mut comment = lines.next()?.trim_start().strip_prefix('#')?.trim().to_string();
        for line in lines {
            let Some(more) = line.trim_start().strip_prefix('#').filter(|_| !line.starts_with('#')) else {
                break;
            };
            comment.push(' ');
            comment.push_str(more.trim());
        }
        let comment = comment.trim();
        (!comment.is_empty()).then(|| comment.into())
    }

    /// The comment after the header of a `[table]` whose name ends at `end`.
    fn beside_header(&self, end: usize) -> Option<Arc<str>> {
        let behind = self.text.get(end..)?;
        let blank = behind.len() - behind.trim_start_matches([' ', '\t']).len();
        behind[blank..].starts_with(']').then(|| self.beside(end + blank + 1))?
    }

    fn value(
        &self,
        value: &DeValue<'_>,
        origin: Origin,
        span: Range<usize>,
        depth: usize,
    ) -> Result<Tree, ConfigError> {
        let syntax =
            |message: String| ConfigError::Syntax { place: self.source.place(Some(span.start)), message };
        if depth == 0 {
            return Err(syntax("nested too deeply for a configuration".to_string()));
        }
        let data = match value {
            DeValue::String(s) => Data::Text(s.to_string()),
            DeValue::Integer(n) => match i64::from_str_radix(n.as_str(), n.radix()) {
                Ok(n) => Data::Integer(n),
                Err(_) => return Err(syntax(format!("`{}` is too large a number", n.as_str()))),
            },
            DeValue::Float(x) => match x.as_str().parse() {
                Ok(x) => Data::Float(x),
                Err(_) => return Err(syntax(format!("`{}` is not a number", x.as_str()))),
            },
            DeValue::Boolean(b) => Data::Bool(*b),
            // No key takes a date; as a text it is refused with the type that the key
            // takes.
            DeValue::Datetime(d) => Data::Text(d.to_string()),
            DeValue::Array(list) => {
                let items = list.iter().map(|item| {
                    let origin = Origin { value: Some(item.span().start), ..origin.clone() };
                    self.value(item.get_ref(), origin, item.span(), depth - 1)
                });
                Data::List(items.collect::<Result<_, _>>()?)
            }
            DeValue::Table(t) => return self.table(t, origin, depth - 1),
        };
        Ok(Tree { data, origin })
    }
}
