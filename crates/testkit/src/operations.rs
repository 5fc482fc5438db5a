//! Flash operations assembled from the steps an observer saw, and their waveform.

use std::fmt::Write;
use tailcut_core::address::BusyUnit;
use tailcut_core::device::{Step, StepEvent};
use tailcut_units::Occupant;

/// An interval in nanoseconds, its end excluded.
pub type Stretch = (u64, u64);

/// One flash operation from its grant to its end.
#[derive(Clone, Debug)]
pub struct Operation {
    /// The occupant at the beginning; a copyback ends as a program.
    pub occupant: Occupant,
    /// Busy unit.
    pub unit: BusyUnit,
    /// Channel.
    pub channel: u32,
    /// Page in the block at the beginning.
    pub page: u32,
    /// Time at which the operation was granted its busy unit.
    pub granted: u64,
    /// Command cycles and data in; a second interval for a copyback.
    pub inward: Vec<Stretch>,
    /// Time in the array; each suspension starts a new interval.
    pub array: Vec<Stretch>,
    /// Data out: once for each sense of which the unit was kept for the next.
    pub outward: Vec<Stretch>,
    /// End of the time for which the unit was kept after the last transfer, to sense ahead.
    pub ahead: Option<u64>,
    /// Intervals in which the array winds down for a suspension.
    pub suspending: Vec<Stretch>,
    /// Times at which a suspension freed the unit for others.
    pub suspended: Vec<u64>,
    /// Intervals of being resumed, up to an interruption.
    pub resuming: Vec<Stretch>,
    /// Intervals in which the operation held its unit.
    pub stays: Vec<Stretch>,
}

impl Operation {
    /// Time at which the operation finally released its unit.
    pub fn released(&self) -> u64 {
        match self.outward.last() {
            Some(&(_, end)) => self.ahead.unwrap_or(end),
            None => self.array.last().expect("an operation reaches the array").1,
        }
    }

    /// Time at which the operation first used the channel.
    pub fn on_channel(&self) -> u64 {
        self.inward[0].0
    }
}

/// Assemble the operations of a sequence of steps, in order of their grants. An operation that
/// is still under way has the steps so far and an open end.
pub fn operations(steps: &[StepEvent]) -> Vec<Operation> {
    let mut all: Vec<Operation> = Vec::new();
    let mut current = std::collections::BTreeMap::new();
    // By program in a cache register: its data in.
    let mut cached = std::collections::BTreeMap::<u32, Vec<Stretch>>::new();
    for e in steps {
        let (at, until) = (e.at.0, e.until.0);
        match e.step {
            Step::Cached => {
                cached.insert(e.op, Vec::new());
                continue;
            }
            Step::Returned if cached.remove(&e.op).is_some() => continue,
            Step::ChannelIn if cached.contains_key(&e.op) => {
                cached.entry(e.op).or_default().push((at, until));
                continue;
            }
            _ => {}
        }
        if e.step == Step::Granted {
            current.insert(e.op, (all.len(), Step::Granted));
            all.push(Operation {
                occupant: e.occupant,
                unit: e.unit,
                channel: e.channel,
                page: e.page,
                granted: at,
                inward: cached.remove(&e.op).unwrap_or_default(),
                array: Vec::new(),
                outward: Vec::new(),
                ahead: None,
                suspending: Vec::new(),
                suspended: Vec::new(),
                resuming: Vec::new(),
                stays: vec![(at, u64::MAX)],
            });
            continue;
        }
        if e.step == Step::Joined {
            continue;
        }
        let (index, last) = current.get_mut(&e.op).expect("an operation is granted first");
        let op = &mut all[*index];
        match e.step {
            Step::Granted | Step::Cached => unreachable!("handled above"),
            Step::Stopping => cut(&mut op.array, until),
            Step::Suspending | Step::Suspended if *last == Step::Array => cut(&mut op.array, at),
            Step::Suspending | Step::Suspended if *last == Step::Resuming => cut(&mut op.resuming, at),
            Step::ChannelIn | Step::Array | Step::Resuming if *last == Step::Suspended => {
                op.stays.push((at, u64::MAX));
            }
            _ => {}
        }
        match e.step {
            Step::Granted | Step::Cached | Step::Joined | Step::Stopping | Step::Decode => {}
            Step::Returned => op.stays.clear(),
            Step::ChannelIn => op.inward.push((at, until)),
            Step::Array => op.array.push((at, until)),
            Step::ChannelOut => {
                op.outward.push((at, until));
                op.ahead = None;
            }
            Step::Ahead => op.ahead = Some(until),
            Step::Suspending => op.suspending.push((at, until)),
            Step::Resuming => op.resuming.push((at, until)),
            Step::Suspended => {
                op.suspended.push(at);
                op.stays.last_mut().expect("granted or resumed before").1 = at;
            }
        }
        *last = e.step;
    }
    // An operation that gave its unit back before it began has a later grant as another entry,
    // or never began.
    all.retain(|op| !op.stays.is_empty());
    for op in &mut all {
        if op.stays.last().is_some_and(|s| s.1 == u64::MAX) && !op.array.is_empty() {
            let end = op.released();
            op.stays.last_mut().expect("granted").1 = end;
        }
    }
    all
}

/// End the last interval at `at`, and remove it if it is then empty.
fn cut(slices: &mut Vec<Stretch>, at: u64) {
    if let Some(last) = slices.last_mut() {
        last.1 = at;
        if last.0 >= at {
            slices.pop();
        }
    }
}

/// The waveform of operations between `from` and `to`: one row for each channel and each busy
/// unit (called `unit`: "die", or "plane" where planes work independently), `column`
/// nanoseconds a column. Below it is a table of the exact times, counted from `from`.
///
/// Operations are lettered in order of their grants. In a channel's row a letter is a command
/// or a transfer. In a unit's row a capital is time in the array, a small letter is time on the
/// channel, and `.` means that the operation holds the unit while it waits for the channel.
/// Within a column the channel has precedence over the array, so that short commands are
/// visible. `/` is an operation that winds down for a suspension and `\` is an operation being
/// resumed. While an operation is suspended, the row shows the operations of others.
pub fn waveform(
    ops: &[Operation],
    (unit, units): (&str, u32),
    channels: u32,
    (from, to): Stretch,
    column: u64,
) -> String {
    let width = (to - from).div_ceil(column) as usize;
    let mut rows = vec![vec![b' '; width]; (channels + units) as usize];
    let mut paint = |row: u32, (start, end): Stretch, mark: u8| {
        for at in rows[row as usize].iter_mut().enumerate().filter_map(|(i, cell)| {
            let left = from + i as u64 * column;
            (start < left + column && end > left).then_some(cell)
        }) {
            *at = mark;
        }
    };
    let letter = |i: usize| b'a' + (i % 26) as u8;
    // Later passes overwrite earlier ones, so the most important marks come last.
    for op in ops {
        for &stay in &op.stays {
            paint(channels + op.unit.0, stay, b'.');
        }
    }
    for (i, op) in ops.iter().enumerate() {
        for &stretch in &op.array {
            paint(channels + op.unit.0, stretch, letter(i).to_ascii_uppercase());
        }
    }
    for op in ops {
        for (stretches, mark) in [(&op.suspending, b'/'), (&op.resuming, b'\\')] {
            for &stretch in stretches {
                paint(channels + op.unit.0, stretch, mark);
            }
        }
    }
    for (i, op) in ops.iter().enumerate() {
        for &stretch in op.inward.iter().chain(&op.outward) {
            paint(op.channel, stretch, letter(i));
            paint(channels + op.unit.0, stretch, letter(i));
        }
    }
    let mut text = String::new();
    writeln!(text, "one column = {column} ns").unwrap();
    for (i, row) in rows.iter().enumerate() {
        let (name, n) = if i < channels as usize { ("channel", i) } else { (unit, i - channels as usize) };
        let row = String::from_utf8(row.clone()).expect("ASCII");
        writeln!(text, "{name:>8} {n} |{row}|").unwrap();
    }
    writeln!(
        text,
        "\n  operation     {unit:>5} page   granted  {:<21} {:<21} out",
        "command, data in", "array"
    )
    .unwrap();
    let span = |&(a, b): &Stretch| format!("{}-{}", a - from, b - from);
    for (i, op) in ops.iter().enumerate() {
        let rounds = op.inward.len().max(op.array.len());
        // A single transfer is in the last row.
        let before = if op.outward.len() > 1 { 0 } else { rounds.saturating_sub(1) };
        for r in 0..rounds {
            let cell = |list: &[Stretch]| list.get(r).map(span).unwrap_or_default();
            let out = r.checked_sub(before).map(|r| op.outward.get(r).map(span).unwrap_or_default());
            let out = out.unwrap_or_default();
            let head = if r == 0 {
                let name = op.occupant.name();
                let mark = letter(i) as char;
                format!("{mark} {name:<13} {:>4} {:>4} {:>9}", op.unit, op.page, op.granted - from)
            } else {
                " ".repeat(35)
            };
            let line = format!("{head}  {:<21} {:<21} {out}", cell(&op.inward), cell(&op.array));
            writeln!(text, "{}", line.trim_end()).unwrap();
        }
    }
    for (i, op) in ops.iter().enumerate().filter(|(_, op)| !op.suspended.is_empty()) {
        let list = |stretches: &[Stretch]| stretches.iter().map(span).collect::<Vec<_>>().join(", ");
        let free: Vec<String> = op.suspended.iter().map(|at| (at - from).to_string()).collect();
        let costs = [("suspending", list(&op.suspending)), ("resuming", list(&op.resuming))];
        let costs: String =
            costs.iter().filter(|(_, l)| !l.is_empty()).map(|(name, l)| format!("; {name} {l}")).collect();
        writeln!(text, "  {} suspended at {}{costs}", letter(i) as char, free.join(", ")).unwrap();
    }
    text
}
