//! Nanoseconds by cause.

use tailcut_units::{Cause, Ledger, Occupant};

/// The time of a request or an operation by cause.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Account([u64; Cause::COUNT]);

impl Default for Account {
    fn default() -> Account {
        Account([0; Cause::COUNT])
    }
}

impl Account {
    /// Charge `ns` to a cause.
    pub fn add(&mut self, cause: Cause, ns: u64) {
        self.0[usize::from(cause.0)] += ns;
    }

    /// The nanoseconds charged to a cause.
    pub fn get(&self, cause: Cause) -> u64 {
        self.0[usize::from(cause.0)]
    }

    /// Add another account.
    pub fn merge(&mut self, other: &Account) {
        for (mine, more) in self.0.iter_mut().zip(other.0) {
            *mine += more;
        }
    }

    /// The account of an operation that has failed: its own work is that of a failed attempt.
    pub fn retried(&self) -> Account {
        let mut retried = self.clone();
        for cause in [Cause::COMMAND, Cause::TRANSFER, Cause::ARRAY, Cause::ECC_QUEUE, Cause::DECODE] {
            let ns = std::mem::take(&mut retried.0[usize::from(cause.0)]);
            let to = match cause {
                Cause::COMMAND | Cause::TRANSFER => Cause::RETRY_TRANSFER,
                Cause::ARRAY => Cause::RETRY_ARRAY,
                _ => Cause::RETRY_DECODE,
            };
            retried.add(to, ns);
        }
        retried
    }

    /// The part of the account that occupants of the die caused.
    pub fn by_occupants(&self) -> Account {
        let mut part = Account::default();
        for cause in Occupant::ALL.map(Cause::die_wait) {
            part.add(cause, self.get(cause));
        }
        part
    }

    /// The sum over all causes.
    pub fn sum(&self) -> u64 {
        self.0.iter().sum()
    }

    /// Charge `part` ns, split in the proportions of `from` over the causes for which `of`
    /// returns true. Shares are rounded down; the last cause takes the remainder. If `from` has
    /// none of these causes, `part` is charged to `BUFFER_FLUSH`, the work of the flush in
    /// front.
    pub fn share(&mut self, from: &Account, part: u64, of: impl Fn(Cause) -> bool) {
        let causes: Vec<Cause> = Cause::all().filter(|&c| of(c) && from.get(c) > 0).collect();
        let whole: u64 = causes.iter().map(|&c| from.get(c)).sum();
        let mut left = part;
        for &cause in &causes {
            let share = fraction(from.get(cause), part, whole);
            self.add(cause, share);
            left -= share;
        }
        self.add(causes.last().copied().unwrap_or(Cause::BUFFER_FLUSH), left);
    }

    /// Charge `part` ns of a wait of `whole` ns for a free block. The share in which the die
    /// that was to free the block was busy (`die`) is charged to that die's causes, and the
    /// rest to free space.
    pub fn stall(&mut self, die: &Account, part: u64, whole: u64) {
        let busy = fraction(die.sum().min(whole), part, whole);
        if busy > 0 {
            self.share(die, busy, Cause::is_die_wait);
        }
        self.add(Cause::FREE_SPACE, part - busy);
    }

    /// Compare with the drive's ledger cause by cause; the error lists the differences.
    pub fn check(&self, ledger: &Ledger) -> Result<(), String> {
        let differ = |c: &Cause| self.get(*c) != ledger.get(*c);
        let wrong: Vec<String> = Cause::all()
            .filter(differ)
            .map(|c| format!("{} is {} and not {} ns", c.name(), ledger.get(c), self.get(c)))
            .collect();
        if wrong.is_empty() { Ok(()) } else { Err(wrong.join(", ")) }
    }
}

/// `ns · part / whole`, rounded down; 0 if `whole` is 0.
pub fn fraction(ns: u64, part: u64, whole: u64) -> u64 {
    (u128::from(ns) * u128::from(part)).checked_div(u128::from(whole)).unwrap_or(0) as u64
}
