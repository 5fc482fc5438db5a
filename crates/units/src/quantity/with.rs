//! The serde modules. Each text goes through `parse_*` and `format_*`.

use super::error::{Kind, QuantityError};
use super::{format_bytes, format_fraction, format_power, format_rate, format_time};
use super::{parse_bytes, parse_fraction, parse_power, parse_rate, parse_ratio, parse_time};
use crate::time::Span;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use std::fmt;
use std::marker::PhantomData;

/// How to read a value of one kind. A type, so that it can be in a `Vec` or an `Option` that serde
/// reads itself.
trait Quantity {
    type Value;
    const KIND: Kind;
    fn parse(text: &str) -> Result<Self::Value, QuantityError>;
}

struct Read<Q: Quantity>(Q::Value);
struct Visit<Q>(PhantomData<Q>);

impl<'de, Q: Quantity> Deserialize<'de> for Read<Q> {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Read<Q>, D::Error> {
        d.deserialize_str(Visit::<Q>(PhantomData)).map(Read)
    }
}

impl<Q: Quantity> de::Visitor<'_> for Visit<Q> {
    type Value = Q::Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} as a string such as \"{}\" ({})", Q::KIND.name, Q::KIND.example, Q::KIND.units)
    }
    fn visit_str<E: de::Error>(self, text: &str) -> Result<Q::Value, E> {
        Q::parse(text).map_err(E::custom)
    }
    // Formats with numbers offer a bare number here. It is refused with "no unit".
    fn visit_i64<E: de::Error>(self, n: i64) -> Result<Q::Value, E> {
        self.visit_str(&n.to_string())
    }
    fn visit_u64<E: de::Error>(self, n: u64) -> Result<Q::Value, E> {
        self.visit_str(&n.to_string())
    }
    fn visit_f64<E: de::Error>(self, n: f64) -> Result<Q::Value, E> {
        self.visit_str(&n.to_string())
    }
}

macro_rules! quantity {
    ($tag:ident $value:ty, $kind:ident, $parse:path) => {
        struct $tag;
        impl Quantity for $tag {
            type Value = $value;
            const KIND: Kind = Kind::$kind;
            fn parse(text: &str) -> Result<$value, QuantityError> {
                $parse(text)
            }
        }
    };
}

quantity!(Time Span, TIME, parse_time);
quantity!(Bytes u64, BYTES, parse_bytes);
quantity!(Fraction f64, FRACTION, parse_fraction);
quantity!(Ratio f64, RATIO, parse_ratio);
quantity!(Rate u64, RATE, parse_rate);
quantity!(Power u64, POWER, parse_power);

macro_rules! plain {
    ($(#[$doc:meta])* $module:ident $tag:ident $value:ty, $format:path) => {
        $(#[$doc])*
        pub mod $module {
            use super::*;
            /// Write the shortest exact text.
            pub fn serialize<S: Serializer>(value: &$value, s: S) -> Result<S::Ok, S::Error> {
                s.serialize_str(&$format(*value))
            }
            /// Read a text with a unit.
            pub fn deserialize<'de, D: Deserializer<'de>>(d: D) -> Result<$value, D::Error> {
                Read::<$tag>::deserialize(d).map(|r| r.0)
            }
        }
    };
}

macro_rules! maybe {
    ($(#[$doc:meta])* $module:ident $tag:ident $value:ty, $format:path) => {
        $(#[$doc])*
        pub mod $module {
            use super::*;
            /// Write the shortest exact text; `None` if there is no value.
            pub fn serialize<S: Serializer>(value: &Option<$value>, s: S) -> Result<S::Ok, S::Error> {
                value.map($format).serialize(s)
            }
            /// Read a text with a unit, if the value is present.
            pub fn deserialize<'de, D: Deserializer<'de>>(d: D) -> Result<Option<$value>, D::Error> {
                Ok(Option::<Read<$tag>>::deserialize(d)?.map(|r| r.0))
            }
        }
    };
}

plain!(
    /// A [`Span`] as `"100us"`.
    time Time Span, format_time
);
plain!(
    /// A `u64` of bytes as `"16KiB"`.
    bytes Bytes u64, format_bytes
);
plain!(
    /// An `f64` from 0 to 1 as `"7%"`.
    fraction Fraction f64, format_fraction
);
plain!(
    /// An `f64` of at least 0, which may exceed 1, as `"150%"`.
    ratio Ratio f64, format_fraction
);
plain!(
    /// A `u64` of bytes per second as `"1.2GB/s"`; `u64::MAX` as `"inf"`.
    rate Rate u64, format_rate
);
plain!(
    /// A `u64` of microwatts as `"82.5mW"`.
    power Power u64, format_power
);
maybe!(
    /// An optional time; give the field `#[serde(default)]` too.
    maybe_time Time Span, format_time
);
maybe!(
    /// An optional size; give the field `#[serde(default)]` too.
    maybe_bytes Bytes u64, format_bytes
);
maybe!(
    /// An optional share; give the field `#[serde(default)]` too.
    maybe_fraction Fraction f64, format_fraction
);
maybe!(
    /// An optional ratio, which may exceed 100 %; give the field `#[serde(default)]` too.
    maybe_ratio Ratio f64, format_fraction
);

maybe!(
    /// An optional rate; give the field `#[serde(default)]` too.
    maybe_rate Rate u64, format_rate
);

/// A list of [`Span`]s as `["40us", "60us"]`.
pub mod times {
    use super::*;

    /// Write the shortest exact texts.
    pub fn serialize<S: Serializer>(value: &[Span], s: S) -> Result<S::Ok, S::Error> {
        s.collect_seq(value.iter().map(|&v| format_time(v)))
    }
    /// Read a list of texts with units.
    pub fn deserialize<'de, D: Deserializer<'de>>(d: D) -> Result<Vec<Span>, D::Error> {
        Ok(Vec::<Read<Time>>::deserialize(d)?.into_iter().map(|r| r.0).collect())
    }
}

/// A list of [`Span`]s, at least one. One alone is `"40us"`, several are `["40us", "60us"]`.
pub mod time_or_times {
    use super::*;

    /// Write the shortest exact texts.
    pub fn serialize<S: Serializer>(value: &[Span], s: S) -> Result<S::Ok, S::Error> {
        match value {
            [one] => time::serialize(one, s),
            many => times::serialize(many, s),
        }
    }

    struct OneOrMore;

    impl<'de> de::Visitor<'de> for OneOrMore {
        type Value = Vec<Span>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            Visit::<Time>(PhantomData).expecting(f)?;
            f.write_str(", or a list of such strings")
        }
        fn visit_str<E: de::Error>(self, text: &str) -> Result<Vec<Span>, E> {
            Visit::<Time>(PhantomData).visit_str(text).map(|one| vec![one])
        }
        fn visit_i64<E: de::Error>(self, n: i64) -> Result<Vec<Span>, E> {
            self.visit_str(&n.to_string())
        }
        fn visit_u64<E: de::Error>(self, n: u64) -> Result<Vec<Span>, E> {
            self.visit_str(&n.to_string())
        }
        fn visit_f64<E: de::Error>(self, n: f64) -> Result<Vec<Span>, E> {
            self.visit_str(&n.to_string())
        }
        fn visit_seq<A: de::SeqAccess<'de>>(self, many: A) -> Result<Vec<Span>, A::Error> {
            times::deserialize(de::value::SeqAccessDeserializer::new(many))
        }
    }

    /// Read a text with a unit, or a list of such texts.
    pub fn deserialize<'de, D: Deserializer<'de>>(d: D) -> Result<Vec<Span>, D::Error> {
        d.deserialize_any(OneOrMore)
    }
}
