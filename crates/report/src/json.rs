//! JSON for people: one value a line, but lists of numbers in one line.

use serde::Serialize;
use serde_json::ser::{CompactFormatter, Formatter, Serializer};
use std::io::{self, Write};

/// The text of a value, with a newline at the end. Maps must have strings as keys.
pub fn text(value: &impl Serialize) -> String {
    let mut text = Vec::new();
    let mut serializer = Serializer::with_formatter(&mut text, Lines::default());
    value.serialize(&mut serializer).expect("a value with string keys, and memory that takes everything");
    text.push(b'\n');
    String::from_utf8(text).expect("JSON is UTF-8")
}

/// Indents by two blanks. What separates the items of a list depends on the item: it is written when the item is known.
#[derive(Default)]
struct Lines {
    indent: usize,
    /// Whether the innermost list or object has items that have lines of their own.
    lines: bool,
    /// The separator of the next item of a list, while it is not known what the item is.
    waiting: Option<&'static str>,
}

impl Lines {
    fn line(&self, out: &mut (impl Write + ?Sized)) -> io::Result<()> {
        write!(out, "\n{:1$}", "", 2 * self.indent)
    }

    /// A number of a list follows, or a value of an object.
    fn number(&mut self, out: &mut (impl Write + ?Sized)) -> io::Result<()> {
        match self.waiting.take() {
            Some(",") => out.write_all(b", "),
            _ => Ok(()),
        }
    }

    /// Something else follows.
    fn other(&mut self, out: &mut (impl Write + ?Sized)) -> io::Result<()> {
        if let Some(separator) = self.waiting.take() {
            out.write_all(separator.as_bytes())?;
            self.line(out)?;
            self.lines = true;
        }
        Ok(())
    }

    fn begin(&mut self, out: &mut (impl Write + ?Sized), bracket: u8) -> io::Result<()> {
        self.other(out)?;
        (self.indent, self.lines) = (self.indent + 1, false);
        out.write_all(&[bracket])
    }

    fn end(&mut self, out: &mut (impl Write + ?Sized), bracket: u8) -> io::Result<()> {
        self.indent -= 1;
        if self.lines {
            self.line(out)?;
        }
        // What is around has an item that is no number: this one.
        self.lines = true;
        out.write_all(&[bracket])
    }
}

impl Formatter for Lines {
    fn begin_array<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.begin(out, b'[')
    }

    fn end_array<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.end(out, b']')
    }

    fn begin_array_value<W: ?Sized + Write>(&mut self, _: &mut W, first: bool) -> io::Result<()> {
        self.waiting = Some(if first { "" } else { "," });
        Ok(())
    }

    fn begin_object<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.begin(out, b'{')
    }

    fn end_object<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.end(out, b'}')
    }

    fn begin_object_key<W: ?Sized + Write>(&mut self, out: &mut W, first: bool) -> io::Result<()> {
        self.waiting = Some(if first { "" } else { "," });
        self.other(out)
    }

    fn begin_object_value<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        out.write_all(b": ")
    }

    fn write_u64<W: ?Sized + Write>(&mut self, out: &mut W, value: u64) -> io::Result<()> {
        self.number(out)?;
        CompactFormatter.write_u64(out, value)
    }

    fn write_i64<W: ?Sized + Write>(&mut self, out: &mut W, value: i64) -> io::Result<()> {
        self.number(out)?;
        CompactFormatter.write_i64(out, value)
    }

    fn write_u32<W: ?Sized + Write>(&mut self, out: &mut W, value: u32) -> io::Result<()> {
        self.write_u64(out, u64::from(value))
    }

    fn write_f64<W: ?Sized + Write>(&mut self, out: &mut W, value: f64) -> io::Result<()> {
        self.number(out)?;
        CompactFormatter.write_f64(out, value)
    }

    fn begin_string<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.other(out)?;
        out.write_all(b"\"")
    }

    fn write_bool<W: ?Sized + Write>(&mut self, out: &mut W, value: bool) -> io::Result<()> {
        self.other(out)?;
        CompactFormatter.write_bool(out, value)
    }

    fn write_null<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.other(out)?;
        CompactFormatter.write_null(out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    #[test]
    fn lists_of_numbers_take_one_line_and_the_value_is_the_same() {
        let value = json!({
            "a": [1, -2, 3.5], "b": [], "c": {}, "d": [[1, 2], [3], "x", null, true], "e": {"f": [{"g": 1}, {"h": [0]}]}
        });
        let text = text(&value);
        assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), value);
        let expected = "{\n  \"a\": [1, -2, 3.5],\n  \"b\": [],\n  \"c\": {},\n  \"d\": [\n    [1, 2],\n    [3],\n    \
            \"x\",\n    null,\n    true\n  ],\n  \"e\": {\n    \"f\": [\n      {\n        \"g\": 1\n      },\n      {\n        \
            \"h\": [0]\n      }\n    ]\n  }\n}\n";
        assert_eq!(text, expected);
    }
}
