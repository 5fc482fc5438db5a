//! Tracks which host commands have been delayed by collections.

use serde::{Deserialize, Serialize};

/// The delays of the operations of one host command.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Met {
    /// A collection has delayed one of the operations: it held the die or channel, or closed the die.
    pub collection: bool,
    /// One of the operations was queued at a die behind an operation that a collection had delayed.
    pub queued_behind: bool,
}

/// Host commands, by the tag of their operations.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Commands {
    met: Vec<Met>,
    /// Number of tracked commands that a collection has delayed.
    blocked: u32,
}

impl Commands {
    pub fn new(most: u32) -> Commands {
        Commands { met: vec![Met::default(); most as usize], blocked: 0 }
    }

    /// Note that a collection has delayed a command.
    #[inline]
    pub fn meets_collection(&mut self, tag: u32) {
        let met = &mut self.met[tag as usize].collection;
        self.blocked += u32::from(!*met);
        *met = true;
    }

    /// Audit: check the number of commands that a collection has delayed.
    pub fn audit(&self) -> Result<(), String> {
        let blocked = self.met.iter().filter(|met| met.collection).count();
        law!(
            self.blocked as usize == blocked,
            "{} commands are counted as delayed by a collection, of {blocked}",
            self.blocked
        );
        Ok(())
    }

    /// Note that an operation of a command was queued behind one that a collection had delayed.
    #[inline]
    pub fn queues_behind(&mut self, tag: u32) {
        self.met[tag as usize].queued_behind = true;
    }
}

impl<O> super::Flash<O> {
    /// Return the delays of the operations with this tag ([`super::FlashCommand::tag`]) since the last call with it.
    /// The tag is then free for another host command.
    #[inline]
    pub fn track(&mut self, tag: u32) -> Met {
        let commands = &mut self.state.commands;
        let met = std::mem::take(&mut commands.met[tag as usize]);
        commands.blocked -= u32::from(met.collection);
        met
    }

    /// The delays of the operations with this tag so far.
    #[inline]
    pub fn met(&self, tag: u32) -> Met {
        self.state.commands.met[tag as usize]
    }

    /// Number of host commands under way that a collection has delayed.
    pub fn commands_blocked(&self) -> u32 {
        self.state.commands.blocked
    }
}
