//! The state of parity.

use super::mend::Mend;
use super::rebuild::Rebuild;
use super::rewrite::Rewriting;
use crate::containers::slab::Slab;
use crate::device::drive::TIMER_REBUILT;
use crate::device::limits::Limits;
use crate::device::parity::stripes::StripeState;
use crate::device::shape::Shape;
use crate::front::Ring;
use crate::ftl::readers::Readers;
use crate::ftl::stripe_places::StripePlaces;
use serde::{Deserialize, Serialize};

/// Stripes, reconstructions, and lost units that are rewritten.
#[derive(Serialize, Deserialize)]
pub(in crate::device) struct Parity {
    /// Stripes that are dirty or being flushed.
    pub stripes: StripeState,
    /// The places of stripes that have moved.
    pub places: StripePlaces,
    /// Reconstructions under way.
    pub rebuilds: Slab<Rebuild>,
    /// If reads can fail: by reconstruction, the extent of the unit that it computes.
    pub targets: Readers,
    /// Units that collections could not read and that are being computed.
    pub mends: Slab<Mend>,
    /// Reconstructions being computed, with the times at which they end.
    pub rebuilt: Ring,
    /// Lost units that are rewritten.
    pub rewriting: Rewriting,
}

impl Parity {
    pub fn new(shape: &Shape, limits: &Limits) -> Parity {
        let lanes = shape.layout.lanes;
        let stripes = shape.stripes.as_ref();
        Parity {
            stripes: StripeState::new(stripes, shape.buffer_slots, lanes),
            places: match stripes {
                Some(stripes) if shape.fixed.moves_stripes => {
                    StripePlaces::new(stripes, shape.most_stripes.clone())
                }
                _ => StripePlaces::fixed(),
            },
            rebuilds: Slab::new(limits.rebuilds as usize, Rebuild::blank()),
            targets: Readers::new(limits.rebuilds),
            mends: Slab::new(limits.mends as usize, Mend::blank()),
            rebuilt: Ring::new(limits.rebuilds, TIMER_REBUILT),
            rewriting: Rewriting::default(),
        }
    }
}
