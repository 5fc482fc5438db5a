//! The state of parity.

use super::failure::Failure;
use super::rebuild::Rebuild;
use super::wear::Programs;
use crate::containers::slab::Slab;
use crate::device::host::commands::Ring;
use crate::device::limits::Limits;
use crate::device::shape::Shape;
use crate::device::write::stripe::StripeState;
use crate::ftl::stripe_places::StripePlaces;
use serde::{Deserialize, Serialize};

/// Stripes, reconstructions and the plane that failed.
#[derive(Serialize, Deserialize)]
pub(in crate::device) struct Parity {
    /// Stripes that are dirty or being flushed.
    pub stripes: StripeState,
    /// The places of stripes that have moved.
    pub places: StripePlaces,
    /// Rows programmed by lane.
    pub programs: Programs,
    /// Reconstructions under way.
    pub rebuilds: Slab<Rebuild>,
    /// Reconstructions being computed, with the times at which they are done.
    pub rebuilt: Ring,
    /// The plane that failed.
    pub failure: Failure,
}

impl Parity {
    pub fn new(shape: &Shape, limits: &Limits, levels_wear: bool) -> Parity {
        let lanes = shape.layout.lanes;
        let stripes = shape.stripes.as_ref();
        Parity {
            stripes: StripeState::new(stripes, shape.buffer_slots, lanes),
            places: match stripes {
                Some(stripes) if levels_wear => StripePlaces::new(stripes, shape.most_stripes.clone()),
                _ => StripePlaces::fixed(),
            },
            programs: Programs::new(stripes, lanes),
            rebuilds: Slab::new(limits.rebuilds as usize, Rebuild::blank()),
            rebuilt: Ring::with_capacity(limits.rebuilds as usize),
            failure: Failure::NONE,
        }
    }
}
