//! The parts between the host and a translation layer: commands under way, the controller, the host link, and the
//! queues to and from them.
//!
//! All are FIFO servers without preemption. A server takes the time at which work is ready, and returns when it begins
//! or ends, so that none of them has an event of its own. Nothing here depends on the kind of a command.

mod command;
mod ring;
mod server;

pub use command::{Arrived, Completion, Submission, SubmitError};
pub use ring::Ring;
pub use server::{LinkWay, Server};
