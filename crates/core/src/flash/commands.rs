//! What stood in the way of the operations of each host command.

use serde::{Deserialize, Serialize};

/// What the operations of one host command have met.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Met {
    /// A collection stood in the way of one of them: on its die or channel, or by closing its die.
    pub collection: bool,
    /// One of them queued at a die behind an operation in whose way a collection had stood.
    pub queued_behind: bool,
}

/// Host commands by the number that their operations carry.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Commands {
    met: Vec<Met>,
    /// Tracked commands that have met a collection.
    blocked: u32,
}

impl Commands {
    pub fn new(most: u32) -> Commands {
        Commands { met: vec![Met::default(); most as usize], blocked: 0 }
    }

    /// A collection stood in the way of a command.
    #[inline]
    pub fn meets_collection(&mut self, tag: u32) {
        let met = &mut self.met[tag as usize].collection;
        self.blocked += u32::from(!*met);
        *met = true;
    }

    /// For the audit: the commands that have met a collection are counted.
    pub fn audit(&self) -> Result<(), String> {
        let blocked = self.met.iter().filter(|met| met.collection).count();
        law!(
            self.blocked as usize == blocked,
            "{} commands have met a collection of {blocked}",
            self.blocked
        );
        Ok(())
    }

    /// A command queued behind one in whose way a collection had stood.
    #[inline]
    pub fn queues_behind(&mut self, tag: u32) {
        self.met[tag as usize].queued_behind = true;
    }
}

impl<O> super::Flash<O> {
    /// What the operations have met that carried this number since the last call with it
    /// ([`super::FlashCommand::tag`]). The number is free for another host command.
    #[inline]
    pub fn track(&mut self, tag: u32) -> Met {
        let commands = &mut self.state.commands;
        let met = std::mem::take(&mut commands.met[tag as usize]);
        commands.blocked -= u32::from(met.collection);
        met
    }

    /// What the operations have met so far that carry this number.
    #[inline]
    pub fn met(&self, tag: u32) -> Met {
        self.state.commands.met[tag as usize]
    }

    /// Host commands under way in whose way a collection has stood.
    pub fn commands_blocked(&self) -> u32 {
        self.state.commands.blocked
    }
}
