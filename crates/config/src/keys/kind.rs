//! The values that the type of a field allows.

use super::range::KeyRange;
use tailcut_units::quantity::Kind;

/// A type of values, described for the user.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Type {
    /// The name of the type.
    pub(super) name: &'static str,
    /// The quantity, which gives the units.
    pub(super) quantity: Option<Kind>,
    /// The range if the field states none.
    pub(super) range: KeyRange,
}

/// The quantities with units, for the head of the page: the type's name, and the quantity.
pub(super) const QUANTITIES: [(&str, Kind); 7] = [
    ("time", Kind::TIME),
    ("size", Kind::BYTES),
    ("share", Kind::FRACTION),
    ("ratio", Kind::RATIO),
    ("rate", Kind::RATE),
    ("power", Kind::POWER),
    ("level", Kind::LEVEL),
];

/// The largest `u32`.
const MOST: &str = "4294967295";

/// The type of a field that is read by the module `with` or has the Rust type `ty`; `None` for a
/// struct or an enum.
pub(super) fn type_of(ty: &str, with: Option<&str>) -> Option<Type> {
    let (name, quantity, least, most) = match (with.unwrap_or_default(), ty) {
        ("quantity::time" | "quantity::maybe_time", _) => ("time", Some(Kind::TIME), Some("0ns"), None),
        ("quantity::times", _) => ("list of times", Some(Kind::TIME), Some("0ns"), None),
        ("quantity::time_or_times", _) => ("time or list of times", Some(Kind::TIME), Some("0ns"), None),
        ("quantity::time_limit", _) => ("time, or \"none\"", Some(Kind::TIME), Some("0ns"), None),
        ("quantity::count_limit", _) => ("whole number, or \"none\"", None, Some("0"), Some(MOST)),
        ("quantity::bytes" | "quantity::maybe_bytes", _) => ("size", Some(Kind::BYTES), Some("0B"), None),
        ("quantity::fraction" | "quantity::maybe_fraction", _) => {
            ("share", Some(Kind::FRACTION), Some("0%"), Some("100%"))
        }
        ("quantity::ratio" | "quantity::maybe_ratio", _) => {
            ("ratio", Some(Kind::RATIO), Some("0%"), Some("99999%"))
        }
        ("quantity::rate" | "quantity::maybe_rate", _) => {
            ("rate", Some(Kind::RATE), Some("1B/s"), Some("inf"))
        }
        ("quantity::power", _) => ("power", Some(Kind::POWER), Some("0uW"), None),
        ("", "u32") => ("whole number", None, Some("0"), Some(MOST)),
        ("", "f64") => ("number", None, Some("0"), None),
        ("", "Vec<Row>") => ("list of texts", None, None, None),
        ("", "Vec<u32>") => ("list of whole numbers", None, Some("0"), Some(MOST)),
        ("", "Vec<f64>") => ("list of numbers", None, Some("0"), None),
        ("", "bool") => ("true or false", None, None, None),
        ("", "String") => ("text", None, None, None),
        // A count or a share; each has its own bound.
        ("", "Level") => ("level", Some(Kind::LEVEL), Some("0"), None),
        _ => return None,
    };
    let mut range = KeyRange::new(least, most);
    range.each = name.starts_with("list");
    Some(Type { name, quantity, range })
}
