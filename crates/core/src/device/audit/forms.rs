//! The serialised forms that the audit reads private fields from.

use crate::containers::NONE;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

#[derive(Deserialize)]
pub struct LinkForm {
    pub _previous: u32,
    pub next: u32,
}

#[derive(Deserialize)]
pub struct ListForm {
    pub head: u32,
    pub tail: u32,
    pub len: u32,
}

#[derive(Deserialize)]
pub struct FrontierForm {
    pub extent: u32,
    pub next_row: u32,
}

#[derive(Deserialize)]
pub struct LaneForm {
    pub free: ListForm,
    pub frontiers: [FrontierForm; 2],
}

#[derive(Deserialize)]
pub struct ExtentsForm {
    pub valid: Vec<u32>,
    pub closed: Vec<u64>,
    pub pending_rows: Vec<u32>,
    pub readers: Vec<u32>,
    pub links: Vec<LinkForm>,
    pub lanes: Vec<LaneForm>,
    pub serial: u64,
    pub erases: u64,
}

#[derive(Deserialize)]
pub struct SlotForm {
    pub lpn: u32,
    pub former: u32,
    pub mask: u64,
    pub list: u32,
    pub in_flight: bool,
    pub waiter: u32,
    pub epoch: u32,
    pub moving: bool,
}

#[derive(Deserialize)]
pub struct BufferForm {
    pub slots: Vec<SlotForm>,
    pub by_age: Vec<LinkForm>,
    pub by_lane: Vec<LinkForm>,
    pub age: ListForm,
    pub lanes: Vec<ListForm>,
    pub spare: Vec<u32>,
    pub _granule: u64,
    pub full: u64,
    pub epochs: VecDeque<u32>,
    pub oldest_epoch: u32,
    pub aside: u32,
    pub moving: u32,
}

#[derive(Deserialize, PartialEq, Debug)]
pub enum StageForm {
    Idle,
    Copying,
    Draining,
    Erasing,
}

#[derive(Deserialize)]
pub struct CollectionForm {
    pub stage: StageForm,
    pub victim: u32,
    pub cursor: u32,
    pub reads: u32,
    pub programs: u32,
    pub erases: u32,
    pub staged: Vec<(u32, u32)>,
    pub _due: bool,
    pub _begun: u64,
    pub _wins: u32,
    pub _ends: u64,
    pub waiting: bool,
    pub holding: bool,
    pub barring: bool,
}

#[derive(Deserialize)]
pub struct HostForm {
    pub _submitted: u64,
    pub _controller_free: u64,
    pub _down_free: u64,
    pub _up_free: u64,
    pub _down_ns: u64,
    pub _up_ns: u64,
    pub read_ready: Vec<(u64, u32)>,
    pub write_ready: Vec<(u64, u32)>,
    pub read_done: Vec<(u64, u32)>,
    pub write_done: Vec<(u64, u32)>,
    pub room: Vec<u32>,
    pub flushes: Vec<u32>,
    pub _full_until: u64,
    pub _blocked_until: u64,
}

#[derive(Deserialize)]
pub struct StalledForm {
    pub lists: Vec<ListForm>,
    pub links: Vec<LinkForm>,
    pub groups: u32,
}

/// A part's fields, from its serialised form.
pub fn form<T: Serialize, F: DeserializeOwned>(part: &T, name: &str) -> Result<F, String> {
    let bytes = postcard::to_stdvec(part).map_err(|e| format!("{name} cannot be serialised: {e}"))?;
    match postcard::take_from_bytes(&bytes) {
        Ok((form, [])) => Ok(form),
        _ => Err(format!("the audit's form of {name} is not that of {name} any more")),
    }
}

/// The elements of a list, whose length and tail must agree.
pub fn walk(list: &ListForm, links: &[LinkForm], name: &str) -> Result<Vec<u32>, String> {
    let mut out = Vec::new();
    let mut at = list.head;
    while at != NONE {
        law!(out.len() < links.len(), "{name} is a ring");
        out.push(at);
        at = links[at as usize].next;
    }
    law!(out.len() as u32 == list.len, "{name} has {} elements and says {}", out.len(), list.len);
    law!(out.last().copied().unwrap_or(NONE) == list.tail, "{name} ends elsewhere than its tail");
    Ok(out)
}
