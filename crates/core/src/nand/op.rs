//! What an array can be told to do.

use serde::{Deserialize, Serialize};
use strum::{IntoStaticStr, VariantNames};

/// What an operation does in the array.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, IntoStaticStr, VariantNames)]
pub enum OpKind {
    /// Sense a page and bring data out.
    Read,
    /// Bring data in and program a page.
    Program,
    /// Sense a page and program it elsewhere in the plane.
    Copyback,
    /// Erase a block on each plane.
    Erase,
}
