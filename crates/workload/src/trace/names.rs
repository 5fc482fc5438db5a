//! Numbers names by first appearance, in bounded memory.

use super::error::Reason;
use super::fields::bad_value;
use std::collections::HashMap;

/// The most bytes of all names together.
const BYTES_MAX: usize = 4 << 20;

/// Numbers names from 0 in order of first appearance.
pub(crate) struct Names {
    field: &'static str,
    allowed: &'static str,
    names_max: u32,
    numbers: HashMap<Box<[u8]>, u32>,
    bytes: usize,
    last: (Box<[u8]>, u32),
}

impl Names {
    /// At most `names_max` names are numbered; `allowed` states this limit in the error.
    pub fn new(field: &'static str, names_max: u32, allowed: &'static str) -> Names {
        Names {
            field,
            allowed,
            names_max,
            numbers: HashMap::new(),
            bytes: 0,
            last: (Box::from([]), u32::MAX),
        }
    }

    /// Return the number of `name`.
    #[inline]
    pub fn number(&mut self, name: &[u8]) -> Result<u32, Box<Reason>> {
        if *self.last.0 == *name && self.last.1 != u32::MAX {
            return Ok(self.last.1);
        }
        self.look_up(name)
    }

    fn look_up(&mut self, name: &[u8]) -> Result<u32, Box<Reason>> {
        let number = match self.numbers.get(name) {
            Some(&n) => n,
            None => {
                let next = self.numbers.len() as u32;
                self.bytes += name.len();
                if next >= self.names_max || self.bytes > BYTES_MAX {
                    return Err(bad_value(self.field, name, self.allowed));
                }
                self.numbers.insert(name.into(), next);
                next
            }
        };
        self.last = (name.into(), number);
        Ok(number)
    }
}
