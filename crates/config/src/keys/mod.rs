//! The reference of the keys: what each one is, what it may be, and who reads it.
//!
//! - `comments`: structs, fields and their comments, read from the sources;
//! - `range`: the range that a comment states;
//! - `kind`: what the type of a field says of its values;
//! - `list`: all keys;
//! - `page`: texts for people.

mod comments;
mod kind;
mod list;
mod page;
mod range;

pub use list::{KeyDefault, KeyEntry, KeyValue, key_entries, select_keys};
pub use page::{keys_markdown, keys_text};
pub use range::{KeyBound, KeyRange};
