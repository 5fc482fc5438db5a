//! `each` in an experiment file: one table in place of several that have keys in common.
//!
//! ```toml
//! [[check]]
//! run = "seq-read"
//! measure = "read.bw"
//! unit = "MB/s"
//! band.because = "set beforehand"
//! each = [
//!     { label = "drive", published = 3300, band.relative = 5 },
//!     { label = "simulator", published = 3250, band.relative = 10 },
//! ]
//! ```
//!
//! These are two checks. A table with `each` can stand wherever a list has tables: it becomes one table for each row,
//! with the keys of both. Tables of the same name are merged, as `band` here.

use std::ops::Range;
use toml::Spanned;
use toml::de::{DeArray, DeTable, DeValue};

const KEY: &str = "each";
/// The largest number of values that all rows of a file may take from their tables; more are a mistake.
const MOST: usize = 1_000_000;

/// What is wrong with an `each`, and where in the text.
pub(crate) struct Wrong {
    pub message: String,
    pub at: Range<usize>,
}

/// Replaces each table that has `each` by the tables of its rows.
pub(crate) fn expand(file: &mut DeTable<'_>) -> Result<(), Wrong> {
    Expansion { taken: 0 }.in_table(file)
}

struct Expansion {
    /// Values that rows took from their tables.
    taken: usize,
}

impl Expansion {
    fn in_table<'i>(&mut self, table: &mut DeTable<'i>) -> Result<(), Wrong> {
        table.iter_mut().try_for_each(|(_, value)| self.in_value(value.get_mut()))
    }

    fn in_value<'i>(&mut self, value: &mut DeValue<'i>) -> Result<(), Wrong> {
        match value {
            DeValue::Table(table) => self.in_table(table),
            DeValue::Array(list) => {
                let mut out: DeArray<'i> = DeArray::new();
                for mut item in std::mem::replace(list, DeArray::new()) {
                    let at = item.span();
                    let rows = match item.get_mut() {
                        DeValue::Table(table) => table.remove(KEY),
                        _ => None,
                    };
                    self.in_value(item.get_mut())?;
                    match (rows, item.into_inner()) {
                        (Some(rows), DeValue::Table(table)) => self.rows(table, rows, at, &mut out)?,
                        (_, value) => out.push(Spanned::new(at, value)),
                    }
                }
                *list = out;
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// One table for each row: the keys of `table` and those of the row.
    fn rows<'i>(
        &mut self,
        table: DeTable<'i>,
        rows: Spanned<DeValue<'i>>,
        at: Range<usize>,
        out: &mut DeArray<'i>,
    ) -> Result<(), Wrong> {
        let span = rows.span();
        let wrong = |message: &str, at| Err(Wrong { message: message.to_string(), at });
        let mut rows = rows.into_inner();
        self.in_value(&mut rows)?;
        let DeValue::Array(rows) = rows else {
            return wrong("`each` must be a list of tables", span);
        };
        if rows.is_empty() {
            return wrong("`each` has no rows", span);
        }
        self.taken = self.taken.saturating_add(values(&table).saturating_mul(rows.len()));
        if self.taken > MOST {
            return wrong(&format!("`each`: the tables have more than {MOST} values"), span);
        }
        for row in rows {
            let row_at = row.span();
            let DeValue::Table(row) = row.into_inner() else {
                return wrong("`each` must be a list of tables", row_at);
            };
            let mut whole = table.clone();
            merge(&mut whole, row)?;
            out.push(Spanned::new(at.clone(), DeValue::Table(whole)));
        }
        Ok(())
    }
}

/// Adds the keys of a row to a table.
fn merge<'i>(table: &mut DeTable<'i>, row: DeTable<'i>) -> Result<(), Wrong> {
    for (key, value) in row {
        let at = key.span();
        match (table.get_mut(&key).map(Spanned::get_mut), value.get_ref()) {
            (None, _) => {
                table.insert(key, value);
            }
            (Some(DeValue::Table(inner)), DeValue::Table(_)) => {
                if let DeValue::Table(row) = value.into_inner() {
                    merge(inner, row)?;
                }
            }
            (Some(_), _) => {
                let message = format!("`{}` is given both beside `each` and in its row", key.get_ref());
                return Err(Wrong { message, at });
            }
        }
    }
    Ok(())
}

/// The number of values in a table, with those of the tables in it.
fn values(table: &DeTable<'_>) -> usize {
    fn of(value: &DeValue<'_>) -> usize {
        match value {
            DeValue::Table(table) => 1 + values(table),
            DeValue::Array(list) => 1 + list.iter().map(|v| of(v.get_ref())).sum::<usize>(),
            _ => 1,
        }
    }
    table.values().map(|v| of(v.get_ref())).sum()
}

#[cfg(test)]
mod tests {
    use crate::list::parse;

    const FILE: &str = r#"
id = "x/y"
title = "t"
source = "s"
shows = "s"
misses = ""

[time]
quick = "1 s"
full = "2 s"

[[run]]
name = "a"
device = "tiny"
schemes = ["baseline"]
workload = "randread,{size}"
full = "number_ios=10"
quick = "number_ios=10"

[[check]]
run = "a"
unit = "us"
band.because = "set beforehand"
each = [
    { label = "mean", scheme = "baseline", measure = "read.mean", published = 3, band.relative = 5 },
    { label = "tail", scheme = "baseline", measure = "read.p99", published = 4, band.relative = 6 },
]

[defaults]
source = "s"
trust = "stated"
"#;

    #[test]
    fn a_row_and_its_table_are_one_table() {
        let e = parse("x.toml", FILE).expect("valid");
        let checks: Vec<_> =
            e.check.iter().map(|c| (c.label.as_str(), c.run.as_deref(), c.published)).collect();
        assert_eq!(checks, [("mean", Some("a"), Some(3.0)), ("tail", Some("a"), Some(4.0))]);
        let bands: Vec<_> = e.check.iter().map(|c| c.band.as_ref().and_then(|b| b.relative)).collect();
        assert_eq!(bands, [Some(5.0), Some(6.0)]);
    }

    #[test]
    fn errors_say_where() {
        let refused =
            |from: &str, to: &str| parse("x.toml", &FILE.replacen(from, to, 1)).unwrap_err().to_string();
        let both = refused("label = \"tail\"", "run = \"b\", label = \"tail\"");
        assert_eq!(both, "x.toml: line 26: `run` is given both beside `each` and in its row");
        let list = refused("each = [", "each = 3\nx = [");
        assert_eq!(list, "x.toml: line 24: `each` must be a list of tables");
        let misspelt = refused("measure = \"read.p99\"", "meazure = \"read.p99\"");
        assert!(misspelt.contains("line 26") && misspelt.contains("meazure"), "{misspelt}");
    }

    #[test]
    fn rows_of_rows_end_at_the_limit() {
        let rows = format!("[{}]", vec!["{ }"; 100].join(","));
        let inner = (0..6).fold("[1]".to_string(), |inner, _| format!("[{{ x = {inner}, each = {rows} }}]"));
        let error = parse("x.toml", &format!("check = {inner}")).unwrap_err().to_string();
        assert!(error.contains("more than 1000000 values"), "{error}");
    }
}
