//! Host writes on their way to flash: the buffer, write units, stripes, and writes that wait for
//! room.

mod audit;
pub(super) mod hold;
pub(super) mod path;
pub(super) mod programs;
pub(super) mod queues;
mod ready_dies;
pub(super) mod room;
pub(super) mod state;
pub(super) mod stripe;
pub(super) mod stripe_commit;
pub(super) mod write_unit;
