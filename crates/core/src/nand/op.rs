//! The kinds of array operations, and the parts of an erase.

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

/// The loops of an erase that an operation executes. An erase in two parts consists of two operations; the first is
/// left out if the erase has only one loop. No other erase of the blocks comes between them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ErasePart {
    /// All loops.
    Whole,
    /// All but the last. The blocks are not erased yet.
    AllButLast,
    /// The last.
    Last,
}
