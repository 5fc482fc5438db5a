//! Decisions by the program around the drive, such as functions of Python.
//!
//! A family with a variant `External` asks a function for each decision. Only the program can provide the function; a
//! configuration contains its name. Without the feature `external` of this crate, a [`Door`] cannot be created. The
//! compiler then removes the variant, so that the drive has the same machine code as without it.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Creates the function for one drive; an error says why that is impossible.
pub type Maker<T> = Box<dyn Fn() -> Result<T, String> + Send + Sync>;

#[cfg(feature = "external")]
mod door {
    use std::sync::Arc;

    /// A handle of a `T` that belongs to the program outside of the core.
    pub struct Door<T>(Arc<T>);

    impl<T> Door<T> {
        /// Create a handle.
        pub fn new(to: T) -> Door<T> {
            Door(Arc::new(to))
        }

        /// The value of the program.
        #[inline]
        pub fn behind(&self) -> &T {
            &self.0
        }

        /// Whether both refer to the same value.
        pub fn is(&self, other: &Door<T>) -> bool {
            Arc::ptr_eq(&self.0, &other.0)
        }
    }

    impl<T> Clone for Door<T> {
        fn clone(&self) -> Door<T> {
            Door(Arc::clone(&self.0))
        }
    }

    impl<T> Door<super::Maker<T>> {
        /// Create the value for a drive.
        pub(super) fn make(&self) -> Result<Door<T>, String> {
            self.behind()().map(Door::new)
        }
    }
}

#[cfg(not(feature = "external"))]
mod door {
    use std::convert::Infallible;
    use std::marker::PhantomData;

    /// Without the feature, this type has no value.
    pub struct Door<T>(Infallible, PhantomData<T>);

    impl<T> Door<T> {
        /// The value of the program.
        #[inline]
        pub fn behind(&self) -> &T {
            match self.0 {}
        }

        /// Whether both refer to the same value.
        pub fn is(&self, _: &Door<T>) -> bool {
            match self.0 {}
        }
    }

    impl<T> Clone for Door<T> {
        fn clone(&self) -> Door<T> {
            match self.0 {}
        }
    }

    impl<T> Door<super::Maker<T>> {
        pub(super) fn make(&self) -> Result<Door<T>, String> {
            match self.0 {}
        }
    }
}

pub use door::Door;

/// A function of the program, by its name.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields, default, bound = "")]
pub struct Config<T> {
    /// Its name in outputs.
    pub name: String,
    /// The maker of the function for each drive; `None` if the configuration comes from a file.
    #[serde(skip)]
    pub door: Option<Door<Maker<T>>>,
}

impl<T> Config<T> {
    /// The policy of a drive.
    ///
    /// # Errors
    /// If there is no function, or it cannot be created.
    pub fn open(&self) -> Result<Policy<T>, String> {
        match &self.door {
            Some(door) => door.make().map(Policy),
            None => Err("`external` is a function of the program that runs the drive (in Python: \
                         `tailcut.run(…, policies=…)`), which no file and no option can give"
                .into()),
        }
    }
}

impl<T> Default for Config<T> {
    fn default() -> Config<T> {
        Config { name: String::new(), door: None }
    }
}

impl<T> Clone for Config<T> {
    fn clone(&self) -> Config<T> {
        Config { name: self.name.clone(), door: self.door.clone() }
    }
}

impl<T> std::fmt::Debug for Config<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Config").field("name", &self.name).finish_non_exhaustive()
    }
}

impl<T> PartialEq for Config<T> {
    fn eq(&self, other: &Config<T>) -> bool {
        let same = match (&self.door, &other.door) {
            (Some(a), Some(b)) => a.is(b),
            (None, None) => true,
            _ => false,
        };
        same && self.name == other.name
    }
}

/// The function of one drive. A snapshot cannot contain it.
pub struct Policy<T>(Door<T>);

impl<T> Policy<T> {
    /// The function.
    #[inline]
    pub fn asked(&self) -> &T {
        self.0.behind()
    }
}

impl<T> Clone for Policy<T> {
    fn clone(&self) -> Policy<T> {
        Policy(self.0.clone())
    }
}

impl<T> std::fmt::Debug for Policy<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a function of the program")
    }
}

/// The error of a snapshot.
const NOT_SAVED: &str = "a drive with a policy of the program around it (`external`) cannot be saved";

impl<T> Serialize for Policy<T> {
    fn serialize<S: Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
        Err(serde::ser::Error::custom(NOT_SAVED))
    }
}

impl<'de, T> Deserialize<'de> for Policy<T> {
    fn deserialize<D: Deserializer<'de>>(_: D) -> Result<Policy<T>, D::Error> {
        Err(serde::de::Error::custom(NOT_SAVED))
    }
}
