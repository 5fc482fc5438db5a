//! Addresses, each with a type of its own: of data, of flash, and of the units that flash operations occupy.
//!
//! All are numbers of 32 bits that begin at 0. Tables are indexed with [`Lpn::index`] and its
//! like. The highest number of each type means "none".

use serde::{Deserialize, Serialize};
use std::fmt;
use std::ops::{Add, Range, Sub};

macro_rules! address {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub u32);

        impl $name {
            /// No address.
            pub const NONE: $name = $name(u32::MAX);

            /// The number, as an index of a table.
            #[inline]
            pub const fn index(self) -> usize {
                self.0 as usize
            }

            /// The `count` addresses from this one on.
            #[inline]
            pub fn run(self, count: u32) -> impl Iterator<Item = $name> + Clone {
                (self.0..self.0 + count).map($name)
            }
        }

        impl Add<u32> for $name {
            type Output = $name;
            #[inline]
            fn add(self, rhs: u32) -> $name {
                $name(self.0 + rhs)
            }
        }

        impl Sub for $name {
            type Output = u32;
            #[inline]
            fn sub(self, rhs: $name) -> u32 {
                self.0 - rhs.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }
    };
}

address! {
    /// A lane: a place where one extent can be open.
    Lane
}

address! {
    /// An extent, counted over all lanes.
    Extent
}

address! {
    /// Logical page number: a mapping unit of the host's address space. The numbers after the
    /// host's are those of parity units.
    Lpn
}

address! {
    /// Physical page address: the number of a mapping unit's place on flash, extent by extent and
    /// inside an extent in the order of programming ([`crate::ftl::layout`]).
    Ppa
}

address! {
    /// A busy unit: a die, or a plane where planes work independently (`geometry.busy_unit`).
    BusyUnit
}

address! {
    /// A block of a plane: plane by plane, with the planes counted by channel, die and plane, and
    /// inside a plane by its index ([`crate::nand::blocks`]).
    BlockId
}

impl BusyUnit {
    /// The busy units of a range, in order.
    #[inline]
    pub fn each(range: Range<BusyUnit>) -> impl ExactSizeIterator<Item = BusyUnit> + Clone {
        (range.start.0..range.end.0).map(BusyUnit)
    }
}
