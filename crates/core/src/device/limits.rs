//! Upper bounds of the sizes of pools and lists. They are sized once and never grow.

use super::parity::rewrite::MOST_REWRITTEN;
use super::parity::stripes::StripeState;
use super::parity::wear::MOVES;
use super::shape::Shape;
use crate::ftl::stripes::Stripes;

/// Bounds that follow from the configuration.
pub(super) struct Limits {
    /// Reconstructions under way.
    pub rebuilds: u32,
    /// Units of collections that are being mended.
    pub mends: u32,
    /// Moves of one collection, in write units.
    pub moves: u32,
    /// Slots beside the write buffer, for units that move.
    pub aside: u32,
    /// Write units under way.
    pub write_units: u32,
    /// Lists of dirty slots in the buffer: one for each pool of lanes, or for each stripe.
    pub lists: u32,
    /// Programs that wait for the last loops of their extents' erases.
    pub held_programs: u32,
    /// Flash operations.
    pub ops: u32,
}

impl Limits {
    pub fn new(shape: &Shape) -> Limits {
        let fixed = &shape.fixed;
        let most_parts = shape.most_parts() * shape.host.queue_depth;
        let slots = shape.buffer_slots;
        let lanes = shape.layout.lanes;
        let stripes = shape.stripes.as_ref();
        let width = stripes.map_or(0, |s| s.width);
        let jobs = StripeState::most_jobs(stripes, slots, lanes);
        // A request may rebuild one unit of each stripe at its look-up, and one for each part
        // later.
        let mends_reads = fixed.may_fail && stripes.is_some();
        let rebuilds = if fixed.rebuilds_reads || mends_reads { 2 * most_parts } else { 0 };
        // A collection has at most as many reads under way as moves, and each read may fail on all of its units.
        let mends = if mends_reads { lanes * shape.gc_in_flight * shape.copy_units } else { 0 };
        let upr = shape.layout.units_per_row;
        let moves = shape.gc_in_flight * (shape.copy_units.div_ceil(upr) + 1) + 2;
        // A write unit holds at least one slot, or a row of a collection's units.
        let aside = aside(stripes, fixed.moves_stripes);
        let write_units = slots + aside + jobs + lanes * moves;
        let programs = shape.layout.write_planes / shape.gc_program_planes;
        // A reconstruction reads the other units of its stripe. A rebuilt part is not read itself.
        let extra = jobs * width + if rebuilds > 0 { most_parts * width } else { 0 };
        let held_programs = if fixed.defers_last_loop { write_units + lanes * shape.gc_in_flight } else { 0 };
        // Rows of an extent that is neither open nor closed are all held.
        let opened = if fixed.defers_last_loop {
            2 * lanes + held_programs / (shape.layout.rows_per_extent / shape.layout.parts).max(1)
        } else {
            0
        };
        let ops = most_parts
            + slots
            + aside
            + write_units
            + lanes * (moves * programs + shape.layout.luns * shape.erases_per_die())
            + extra
            + mends * width
            + opened.min(shape.layout.extents()) * shape.layout.luns * shape.erases_per_die()
            + lanes;
        let lists = match stripes {
            Some(_) => StripeState::most_entries(stripes, slots, lanes),
            None => lanes / shape.pool_lanes,
        };
        Limits { rebuilds, mends, moves, aside, write_units, lists, held_programs, ops }
    }
}

/// Number of slots beside the buffer, for units of stripes that move (`levels`) and of stripes that are rewritten.
fn aside(stripes: Option<&Stripes>, levels: bool) -> u32 {
    let moves = |s: &Stripes| if levels { MOVES * (s.width - 1) } else { 0 };
    stripes.map_or(0, |s| moves(s).max(MOST_REWRITTEN))
}
