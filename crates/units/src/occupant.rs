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

/// What a kind of work serves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// A command of the host: its data, or their parity.
    Host,
    /// Garbage collection, and folds of the SLC region, which are collections too.
    Collection,
    /// The drive itself.
    Upkeep,
}

/// Define the kinds. Each has what the array does for it, what it serves, its name in output, and a short description
/// with the article.
macro_rules! occupants {
    ($($(#[$doc:meta])* $kind:ident $act:ident $purpose:ident $name:literal $words:literal;)+) => {
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

            /// What this kind serves.
            pub const fn purpose(self) -> Purpose {
                match self { $(Occupant::$kind => Purpose::$purpose,)+ }
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
    UserRead Read Host "user_read" "another host read";
    /// A program of host data.
    UserProgram Program Host "user_program" "a program of host data";
    /// A read that a write needs first: the rest of a mapping unit, or data for its parity.
    RmwRead Read Host "rmw_read" "a read that a write needs first";
    /// A read of garbage collection.
    GcRead Read Collection "gc_read" "a read of garbage collection";
    /// A program (or the program half of a copyback) of garbage collection.
    GcProgram Program Collection "gc_program" "a program of garbage collection";
    /// An erase.
    Erase Erase Collection "erase" "an erase";
    /// A program of parity.
    ParityProgram Program Host "parity_program" "a program of parity";
    /// A program of the translation layer's own records: pblk's at the start and end of lines.
    MetaProgram Program Upkeep "meta_program" "a program of metadata";
    /// A read of such records.
    MetaRead Read Upkeep "meta_read" "a read of metadata";
    /// Idle-time work: scrubbing.
    Background Read Upkeep "background" "idle-time work";
    /// A read that folds pages out of the SLC region.
    FoldRead Read Collection "fold_read" "a read of a fold of the SLC region";
    /// A program of what was read there.
    FoldProgram Program Collection "fold_program" "a program of a fold of the SLC region";
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
    pub const COLLECTION: Occupants = Occupants::serving(Purpose::Collection);
    /// The operations that serve host commands.
    pub const HOST: Occupants = Occupants::serving(Purpose::Host);
    /// Reads that a host command waits for.
    pub const HOST_READS: Occupants = Occupants(Occupants::HOST.0 & Occupants::READS.0);
    /// Programs of host data and of their parity.
    pub const HOST_PROGRAMS: Occupants = Occupants(Occupants::HOST.0 & Occupants::PROGRAMS.0);

    /// The set of the kinds for which the array does this.
    const fn that(act: ArrayAct) -> Occupants {
        let (mut bits, mut i) = (0, 0);
        while i < Occupant::COUNT {
            bits |= ((Occupant::ALL[i].act() as u8 == act as u8) as u16) << i;
            i += 1;
        }
        Occupants(bits)
    }

    /// The set of the kinds that serve this.
    const fn serving(purpose: Purpose) -> Occupants {
        let (mut bits, mut i) = (0, 0);
        while i < Occupant::COUNT {
            bits |= ((Occupant::ALL[i].purpose() as u8 == purpose as u8) as u16) << i;
            i += 1;
        }
        Occupants(bits)
    }

    /// The number of kinds.
    pub const fn count(self) -> usize {
        self.0.count_ones() as usize
    }

    /// The kinds as an array, by index.
    ///
    /// # Panics
    /// `N` is not [`count`](Occupants::count): in a constant, when it is compiled.
    pub const fn to_array<const N: usize>(self) -> [Occupant; N] {
        assert!(N == self.count());
        let (mut kinds, mut left, mut i) = ([Occupant::ALL[0]; N], self.0, 0);
        while left != 0 {
            kinds[i] = Occupant::ALL[left.trailing_zeros() as usize];
            left &= left - 1;
            i += 1;
        }
        kinds
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
        for kind in Occupant::ALL {
            let (act, purpose) = (kind.act(), kind.purpose());
            let expected = match kind {
                Occupant::UserRead | Occupant::UserProgram | Occupant::RmwRead | Occupant::ParityProgram => {
                    Purpose::Host
                }
                Occupant::GcRead | Occupant::GcProgram | Occupant::Erase => Purpose::Collection,
                Occupant::FoldRead | Occupant::FoldProgram => Purpose::Collection,
                Occupant::MetaRead | Occupant::MetaProgram | Occupant::Background => Purpose::Upkeep,
            };
            assert_eq!(purpose, expected, "{kind:?}");
            let sets = [Occupants::READS, Occupants::PROGRAMS, Occupants::ERASES];
            let acts = [ArrayAct::Read, ArrayAct::Program, ArrayAct::Erase];
            assert_eq!(sets.map(|set| set.has(kind)), acts.map(|a| a == act), "{kind:?}");
            assert_eq!(Occupants::COLLECTION.has(kind), purpose == Purpose::Collection, "{kind:?}");
            assert_eq!(Occupants::HOST.has(kind), purpose == Purpose::Host, "{kind:?}");
            let of_host = [Occupants::HOST_READS, Occupants::HOST_PROGRAMS].map(|set| set.has(kind));
            assert_eq!(
                of_host,
                [ArrayAct::Read, ArrayAct::Program].map(|a| purpose == Purpose::Host && a == act)
            );
        }
        let collection: [Occupant; Occupants::COLLECTION.count()] = Occupants::COLLECTION.to_array();
        assert_eq!(collection.into_iter().collect::<Occupants>(), Occupants::COLLECTION);
    }
}
