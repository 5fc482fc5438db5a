//! On whose behalf a die or a channel is busy, and sets of such kinds of work.

use serde::{Deserialize, Serialize};
use std::ops::{BitAnd, BitOr, Not};

/// What a die's array does for a kind of work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArrayAct {
    /// Read pages. A copyback reads, then is of another kind.
    Read,
    /// Program pages.
    Program,
    /// Erase blocks.
    Erase,
}

/// Define the kinds. Each has what the array does for it, its name in output, and a short description with the article.
macro_rules! occupants {
    ($($(#[$doc:meta])* $kind:ident $act:ident $name:literal $words:literal;)+) => {
        /// On whose behalf a die or a channel is busy.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
        #[repr(u8)]
        pub enum Occupant {
            $($(#[$doc])* $kind,)+
        }

        impl Occupant {
            /// All kinds, by index.
            pub const ALL: [Occupant; Occupant::COUNT] = [$(Occupant::$kind),+];
            /// The number of kinds.
            pub const COUNT: usize = [$($name),+].len();

            /// What the array does for this kind.
            #[inline]
            pub const fn act(self) -> ArrayAct {
                match self { $(Occupant::$kind => ArrayAct::$act,)+ }
            }

            /// The name used in output.
            pub const fn name(self) -> &'static str {
                match self { $(Occupant::$kind => $name,)+ }
            }

            /// A short description, with the article.
            pub const fn describe(self) -> &'static str {
                match self { $(Occupant::$kind => $words,)+ }
            }
        }
    };
}

occupants! {
    /// A host read.
    UserRead Read "user_read" "another host read";
    /// A program of host data.
    UserProgram Program "user_program" "a program of host data";
    /// A read that a write needs first: the rest of a mapping unit, or data for its parity.
    RmwRead Read "rmw_read" "a read that a write needs first";
    /// A read of garbage collection.
    GcRead Read "gc_read" "a read of garbage collection";
    /// A program (or the program half of a copyback) of garbage collection.
    GcProgram Program "gc_program" "a program of garbage collection";
    /// An erase.
    Erase Erase "erase" "an erase";
    /// A program of parity.
    ParityProgram Program "parity_program" "a program of parity";
    /// A program of the translation layer's own records: pblk's at the start and end of lines.
    MetaProgram Program "meta_program" "a program of metadata";
    /// A read of such records.
    MetaRead Read "meta_read" "a read of metadata";
    /// Idle-time work: scrubbing.
    Background Read "background" "idle-time work";
    /// A read that folds pages out of the SLC region.
    FoldRead Read "fold_read" "a read of a fold of the SLC region";
    /// A program of what was read there.
    FoldProgram Program "fold_program" "a program of a fold of the SLC region";
}

impl Occupant {
    /// The set of this kind alone.
    #[inline]
    pub const fn only(self) -> Occupants {
        Occupants(1 << self as u8)
    }
}

/// A set of kinds of work.
#[derive(Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Occupants(u16);

const _: () = assert!(Occupant::COUNT <= 16, "the set has a bit for each kind");

impl Occupants {
    /// No kind.
    pub const NONE: Occupants = Occupants(0);
    /// Every kind.
    pub const ALL: Occupants = Occupants(((1u32 << Occupant::COUNT) - 1) as u16);
    /// The kinds for which the array reads.
    pub const READS: Occupants = Occupants::that(ArrayAct::Read);
    /// The kinds for which the array programs.
    pub const PROGRAMS: Occupants = Occupants::that(ArrayAct::Program);
    /// The kinds for which the array erases.
    pub const ERASES: Occupants = Occupants::that(ArrayAct::Erase);
    /// The operations of garbage collection, and of folds, which are collections too.
    pub const COLLECTION: Occupants = Occupants::of(&[
        Occupant::GcRead,
        Occupant::GcProgram,
        Occupant::Erase,
        Occupant::FoldRead,
        Occupant::FoldProgram,
    ]);
    /// Reads that a host command waits for.
    pub const HOST_READS: Occupants = Occupants::of(&[Occupant::UserRead, Occupant::RmwRead]);
    /// Programs of host data and of their parity.
    pub const HOST_PROGRAMS: Occupants = Occupants::of(&[Occupant::UserProgram, Occupant::ParityProgram]);
    /// The operations that serve host commands.
    pub const HOST: Occupants = Occupants(Occupants::HOST_READS.0 | Occupants::HOST_PROGRAMS.0);

    /// The set of the kinds for which the array does this.
    const fn that(act: ArrayAct) -> Occupants {
        let (mut bits, mut i) = (0, 0);
        while i < Occupant::COUNT {
            bits |= ((Occupant::ALL[i].act() as u8 == act as u8) as u16) << i;
            i += 1;
        }
        Occupants(bits)
    }

    /// The set of these kinds.
    pub const fn of(kinds: &[Occupant]) -> Occupants {
        let (mut bits, mut i) = (0, 0);
        while i < kinds.len() {
            bits |= 1 << kinds[i] as u8;
            i += 1;
        }
        Occupants(bits)
    }

    /// Whether a kind is in the set.
    #[inline]
    pub const fn has(self, kind: Occupant) -> bool {
        self.0 >> kind as u8 & 1 != 0
    }

    /// Whether the set is empty.
    #[inline]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Whether some kind is in both sets.
    #[inline]
    pub const fn meets(self, other: Occupants) -> bool {
        self.0 & other.0 != 0
    }

    /// Put a kind into the set.
    #[inline]
    pub fn insert(&mut self, kind: Occupant) {
        self.0 |= 1 << kind as u8;
    }

    /// Take a kind out of the set.
    #[inline]
    pub fn remove(&mut self, kind: Occupant) {
        self.0 &= !(1 << kind as u8);
    }

    /// The kind with the lowest index; `None` if the set is empty.
    #[inline]
    pub fn first(self) -> Option<Occupant> {
        if self.0 == 0 { None } else { Some(Occupant::ALL[self.0.trailing_zeros() as usize]) }
    }

    /// The kind in a set of exactly one kind; otherwise `None`.
    #[inline]
    pub fn single(self) -> Option<Occupant> {
        if self.0 & self.0.wrapping_sub(1) == 0 { self.first() } else { None }
    }

    /// The kinds, by index.
    #[inline]
    pub fn iter(self) -> impl Iterator<Item = Occupant> {
        let mut left = self.0;
        std::iter::from_fn(move || {
            let kind = Occupants(left).first()?;
            left &= left - 1;
            Some(kind)
        })
    }
}

impl BitAnd for Occupants {
    type Output = Occupants;
    #[inline]
    fn bitand(self, other: Occupants) -> Occupants {
        Occupants(self.0 & other.0)
    }
}

impl BitOr for Occupants {
    type Output = Occupants;
    #[inline]
    fn bitor(self, other: Occupants) -> Occupants {
        Occupants(self.0 | other.0)
    }
}

impl Not for Occupants {
    type Output = Occupants;
    /// The kinds that are not in the set.
    #[inline]
    fn not(self) -> Occupants {
        Occupants(!self.0 & Occupants::ALL.0)
    }
}

impl FromIterator<Occupant> for Occupants {
    fn from_iter<I: IntoIterator<Item = Occupant>>(kinds: I) -> Occupants {
        let mut set = Occupants::NONE;
        for kind in kinds {
            set.insert(kind);
        }
        set
    }
}

impl std::fmt::Debug for Occupants {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    /// Compares the set with a plain set of numbers.
    #[test]
    fn it_is_a_set() {
        for bits in 0..1u32 << Occupant::COUNT {
            let model: BTreeSet<u8> = (0..Occupant::COUNT as u8).filter(|&i| bits >> i & 1 != 0).collect();
            let set: Occupants = model.iter().map(|&i| Occupant::ALL[usize::from(i)]).collect();
            assert!(set.iter().map(|o| o as u8).eq(model.iter().copied()));
            assert_eq!(set.first().map(|o| o as u8), model.first().copied());
            assert_eq!(set.single().is_some(), model.len() == 1);
            assert_eq!(set.is_empty(), model.is_empty());
            for kind in Occupant::ALL {
                assert_eq!(set.has(kind), model.contains(&(kind as u8)));
                assert_eq!((!set).has(kind), !set.has(kind));
                assert_eq!(set.meets(kind.only()), set.has(kind));
                let mut other = set;
                other.remove(kind);
                assert!(!other.has(kind) && (other | kind.only()).has(kind) && other == set & !kind.only());
            }
        }
        assert_eq!(Occupants::ALL.iter().count(), Occupant::COUNT);
        assert_eq!(Occupants::HOST & Occupants::COLLECTION, Occupants::NONE);
    }

    /// Is each kind in the sets to which it belongs, and in no other? The match has a line for each kind.
    #[test]
    fn each_kind_is_in_its_sets() {
        const R: Occupants = Occupants::READS;
        const P: Occupants = Occupants::PROGRAMS;
        const E: Occupants = Occupants::ERASES;
        const HOST_R: Occupants = Occupants::HOST_READS;
        const HOST_P: Occupants = Occupants::HOST_PROGRAMS;
        const GC: Occupants = Occupants::COLLECTION;
        for kind in Occupant::ALL {
            let expected: &[Occupants] = match kind {
                Occupant::UserRead | Occupant::RmwRead => &[R, HOST_R],
                Occupant::UserProgram | Occupant::ParityProgram => &[P, HOST_P],
                Occupant::GcRead | Occupant::FoldRead => &[R, GC],
                Occupant::GcProgram | Occupant::FoldProgram => &[P, GC],
                Occupant::Erase => &[E, GC],
                Occupant::MetaProgram => &[P],
                Occupant::MetaRead | Occupant::Background => &[R],
            };
            for set in [R, P, E, HOST_R, HOST_P, GC] {
                assert_eq!(set.has(kind), expected.contains(&set), "{kind:?} in {set:?}");
            }
            assert_eq!(Occupants::HOST.has(kind), HOST_R.has(kind) || HOST_P.has(kind), "{kind:?}");
        }
        assert_eq!(
            (R | P | E, R & P, R & E, P & E),
            (Occupants::ALL, Occupants::NONE, Occupants::NONE, Occupants::NONE)
        );
    }
}
