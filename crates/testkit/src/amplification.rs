//! Write amplification under uniform random writes, in the mean-field limit.
//!
//! A drive of `blocks` collectable blocks of `b` units holds `valid` valid units in them.
//! Every host write makes one of these stale, each with the same chance, so a block with
//! `i` valid units falls to `i − 1` at the rate `i / valid` a host write. Blocks enter
//! full and leave as victims at the rate λ = 1 / (b − v) a host write, where v is the mean
//! number of valid units of a victim; the write amplification is b λ = b / (b − v).
//! Van Houdt (SIGMETRICS'13), Desnoyers (SYSTOR'12).

/// The collectable blocks of a drive and their valid units.
#[derive(Clone, Copy, Debug)]
pub struct Spare {
    /// Units in a block.
    pub b: u32,
    /// Collectable (closed) blocks.
    pub blocks: f64,
    /// Valid units in them.
    pub valid: f64,
}

impl Spare {
    /// Greedy: the victim is a block at the lowest level that has blocks.
    ///
    /// In equilibrium the flow through every level above the lowest is λ, so `λ valid / i`
    /// blocks are at level i. Victims come from two neighbouring levels j and j + 1: all blocks
    /// that reach j, and a flow s directly from j + 1. Victims must balance the host writes,
    /// λ (b − j) − s = 1, and every block must be at some level:
    /// `blocks / valid = λ Σ 1/i (i = j + 2 ..= b) + (λ − s) / (j + 1)`.
    pub fn greedy(&self) -> f64 {
        let target = self.blocks / self.valid;
        // The number of blocks falls as v grows: find v by bisection.
        let blocks = |v: f64| {
            let lambda = 1.0 / (f64::from(self.b) - v);
            let j = v.floor();
            let s = lambda * (f64::from(self.b) - j) - 1.0;
            let above: f64 = (j as u32 + 2..=self.b).map(|i| 1.0 / f64::from(i)).sum();
            lambda * above + (lambda - s) / (j + 1.0)
        };
        let (mut low, mut high) = (0.0, f64::from(self.b) - 1e-9);
        for _ in 0..200 {
            let middle = (low + high) / 2.0;
            if blocks(middle) > target {
                low = middle;
            } else {
                high = middle;
            }
        }
        f64::from(self.b) / (f64::from(self.b) - low)
    }

    /// FIFO: a block becomes the victim after all other blocks, that is after `blocks (b − v)`
    /// host writes. Each of these writes leaves a given unit valid with the probability
    /// 1 − 1/valid. With x = v / b and the load ρ = valid / (blocks b): x = exp(−(1 − x) / ρ).
    pub fn fifo(&self) -> f64 {
        let load = self.valid / (self.blocks * f64::from(self.b));
        let mut x = 0.0;
        for _ in 0..100_000 {
            x = f64::exp(-(1.0 - x) / load);
        }
        1.0 / (1.0 - x)
    }

    /// FIFO, with writes that hit each valid unit with its share of all writes. A copy of a unit with the share p
    /// stays where it is for T host writes, the time of a turn, or until the unit is written: for
    /// (1 − exp(−p T)) / p writes on average. So the drive programs W = Σ p / (1 − exp(−p T)) units a host
    /// write, and W T = `blocks` b units in a turn.
    pub fn fifo_by_shares(&self, shares: &[f64]) -> f64 {
        let programs = |turn: f64| shares.iter().map(|p| p / -f64::exp_m1(-p * turn)).sum::<f64>();
        let (mut low, mut high) = (1.0, 1e3 * self.blocks * f64::from(self.b));
        for _ in 0..100 {
            let middle = f64::sqrt(low * high);
            if programs(middle) * middle < self.blocks * f64::from(self.b) {
                low = middle;
            } else {
                high = middle;
            }
        }
        programs(low)
    }

    /// d-choices: the victim is the best of `d` draws with replacement from `slots` blocks. A
    /// draw of a full or not collectable block is a miss; if all draws miss, the best of all
    /// blocks is taken. The balance of the levels is integrated in time until it is in
    /// equilibrium.
    pub fn d_choices(&self, d: u32, slots: f64) -> f64 {
        let b = self.b as usize;
        let mean = self.valid / self.blocks;
        let mut n = vec![0.0; b + 2];
        n[mean as usize] = self.blocks * (1.0 - mean.fract());
        n[mean as usize + 1] = self.blocks * mean.fract();
        // Small compared to the time constant of the fastest level, and to the blocks at any
        // level.
        let step = 0.02 * self.valid / f64::from(self.b);
        // Every unit is overwritten sixty times on average, so the initial state has no effect
        // any more.
        let steps = 60 * b * 50;
        let mut v = 0.0;
        for _ in 0..steps {
            let victims = victims(&n, b, d, slots);
            v = victims.iter().enumerate().map(|(i, f)| i as f64 * f).sum();
            let lambda = 1.0 / (f64::from(self.b) - v);
            for i in 0..=b {
                let enter = if i == b { lambda } else { 0.0 };
                let fall = ((i + 1) as f64 * n[i + 1] - i as f64 * n[i]) / self.valid;
                n[i] += step * (enter - lambda * victims[i] + fall);
            }
        }
        f64::from(self.b) / (f64::from(self.b) - v)
    }
}

/// The distribution of the number of valid units of a victim.
fn victims(n: &[f64], b: usize, d: u32, slots: f64) -> Vec<f64> {
    let mut f = vec![0.0; b + 1];
    let mut above = 1.0f64;
    let mut standing = 0.0;
    let mut best = None;
    for i in 0..b {
        standing += n[i].max(0.0);
        let next = f64::max(1.0 - standing / slots, 0.0);
        f[i] = above.powi(d as i32) - next.powi(d as i32);
        above = next;
        // The best of all blocks is at the lowest level up to which there is one whole block.
        if best.is_none() && standing >= 1.0 {
            best = Some(i);
        }
    }
    f[best.unwrap_or(b)] += above.powi(d as i32);
    f
}
