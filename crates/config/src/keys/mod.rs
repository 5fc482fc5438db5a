//! The reference of the keys: the meaning, the allowed values and the reader of each key.
//!
//! - `comments`: structs, fields and their comments, read from the sources;
//! - `range`: the range that a comment states;
//! - `kind`: the values that the type of a field allows;
//! - `list`: all keys;
//! - `page`: the reference as a text;
//! - `schema`: the reference as a JSON Schema.

mod comments;
mod kind;
mod list;
mod page;
mod range;
mod schema;

pub use list::{KeyDefault, KeyEntry, KeyValue, key_entries, select_keys};
pub use page::{keys_markdown, keys_text};
pub use range::{KeyBound, KeyRange};
pub use schema::keys_schema;
