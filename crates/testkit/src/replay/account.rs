//! Nanoseconds by cause.

use tailcut_units::{Cause, Ledger};

/// What a time was spent on.
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

    /// What a cause was charged.
    pub fn get(&self, cause: Cause) -> u64 {
        self.0[usize::from(cause.0)]
    }

    /// Add another account.
    pub fn merge(&mut self, other: &Account) {
        for (mine, more) in self.0.iter_mut().zip(other.0) {
            *mine += more;
        }
    }

    /// All of it.
    pub fn sum(&self) -> u64 {
        self.0.iter().sum()
    }

    /// Charge a time `part`, split as `from` is split over the causes that `of` names. Shares
    /// are rounded down; the last cause takes the rest. Where `from` has none, `part` is the
    /// flush ahead's own work.
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

    /// Charge a wait `part` for a free block, out of one of `whole`: to what the die that was
    /// to free it did (`die`), and the rest to free space.
    pub fn stall(&mut self, die: &Account, part: u64, whole: u64) {
        let busy = fraction(die.sum().min(whole), part, whole);
        if busy > 0 {
            self.share(die, busy, Cause::is_die_wait);
        }
        self.add(Cause::FREE_SPACE, part - busy);
    }

    /// Equal to what the drive says, cause by cause; or where not.
    pub fn check(&self, ledger: &Ledger) -> Result<(), String> {
        let differ = |c: &Cause| self.get(*c) != ledger.get(*c);
        let wrong: Vec<String> = Cause::all()
            .filter(differ)
            .map(|c| format!("{} is {} and not {} ns", c.name(), ledger.get(c), self.get(c)))
            .collect();
        if wrong.is_empty() { Ok(()) } else { Err(wrong.join(", ")) }
    }
}

/// `ns · part / whole`, rounded down; 0 of nothing.
pub fn fraction(ns: u64, part: u64, whole: u64) -> u64 {
    (u128::from(ns) * u128::from(part)).checked_div(u128::from(whole)).unwrap_or(0) as u64
}
