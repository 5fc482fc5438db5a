//! The kinds of array operations.

use serde::{Deserialize, Serialize};
use strum::{IntoStaticStr, VariantNames};

/// What an operation does in the array.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, IntoStaticStr, VariantNames)]
pub enum OpKind {
    /// Sense a page and transfer data out.
    Read,
    /// Transfer data in and program a page.
    Program,
    /// Sense a page and program it elsewhere in the plane.
    Copyback,
    /// Erase a block on each plane.
    Erase,
}
