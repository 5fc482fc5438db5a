//! Flash operations put together from the steps an observer saw, and their waveform.

use std::fmt::Write;
use tailcut_core::device::{Step, StepEvent};
use tailcut_units::Occupant;

/// A stretch of time in nanoseconds, its end not included.
pub type Stretch = (u64, u64);

/// One flash operation from its grant to its end.
#[derive(Clone, Debug)]
pub struct Operation {
    /// On whose behalf it began (a copyback ends as a program).
    pub occupant: Occupant,
    /// Busy unit.
    pub unit: u32,
    /// Channel.
    pub channel: u32,
    /// Page in the block at the beginning.
    pub page: u32,
    /// When it got its unit.
    pub granted: u64,
    /// Command cycles and data in; a second one for a copyback.
    pub inward: Vec<Stretch>,
    /// Time in the array, in as many slices as it was suspended and one more.
    pub array: Vec<Stretch>,
    /// Data out.
    pub outward: Option<Stretch>,
    /// Winding down to be suspended.
    pub suspending: Vec<Stretch>,
    /// When the unit was free for others.
    pub suspended: Vec<u64>,
    /// Being resumed, as far as it came.
    pub resuming: Vec<Stretch>,
    /// When it held its unit.
    pub stays: Vec<Stretch>,
}

impl Operation {
    /// When its unit was free again.
    pub fn released(&self) -> u64 {
        match self.outward {
            Some((_, end)) => end,
            None => self.array.last().expect("an operation reaches the array").1,
        }
    }

    /// When it first got the channel.
    pub fn on_channel(&self) -> u64 {
        self.inward[0].0
    }
}

/// The operations behind a sequence of steps, in order of their grants. One that is
/// still under way has what it did so far, and an open end.
pub fn operations(steps: &[StepEvent]) -> Vec<Operation> {
    let mut all: Vec<Operation> = Vec::new();
    let mut current = std::collections::BTreeMap::new();
    for e in steps {
        let (at, until) = (e.at.0, e.until.0);
        if e.step == Step::Granted {
            current.insert(e.op, (all.len(), Step::Granted));
            all.push(Operation {
                occupant: e.occupant,
                unit: e.unit,
                channel: e.channel,
                page: e.page,
                granted: at,
                inward: Vec::new(),
                array: Vec::new(),
                outward: None,
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
            Step::Granted => unreachable!("handled above"),
            Step::Stopping => cut(&mut op.array, until),
            Step::Suspending | Step::Suspended if *last == Step::Array => cut(&mut op.array, at),
            Step::Suspending | Step::Suspended if *last == Step::Resuming => cut(&mut op.resuming, at),
            Step::ChannelIn | Step::Array | Step::Resuming if *last == Step::Suspended => {
                op.stays.push((at, u64::MAX));
            }
            _ => {}
        }
        match e.step {
            Step::Granted | Step::Joined | Step::Stopping => {}
            Step::Returned => op.stays.clear(),
            Step::ChannelIn => op.inward.push((at, until)),
            Step::Array => op.array.push((at, until)),
            Step::ChannelOut => op.outward = Some((at, until)),
            Step::Suspending => op.suspending.push((at, until)),
            Step::Resuming => op.resuming.push((at, until)),
            Step::Suspended => {
                op.suspended.push(at);
                op.stays.last_mut().expect("granted or resumed before").1 = at;
            }
        }
        *last = e.step;
    }
    // What gave its die back before it began was granted again, or never began.
    all.retain(|op| !op.stays.is_empty());
    for op in &mut all {
        if op.stays.last().is_some_and(|s| s.1 == u64::MAX) && !op.array.is_empty() {
            let end = op.released();
            op.stays.last_mut().expect("granted").1 = end;
        }
    }
    all
}

/// The last slice ends at `at` instead; one that would be empty never was.
fn cut(slices: &mut Vec<Stretch>, at: u64) {
    if let Some(last) = slices.last_mut() {
        last.1 = at;
        if last.0 >= at {
            slices.pop();
        }
    }
}

/// The waveform of operations between `from` and `to`: one row a channel and a busy unit
/// (called `unit`: "die", or "plane" where planes work alone),
/// `column` nanoseconds a column, and a table of the exact times below, counted from `from`.
///
/// Operations are lettered in order of their grants. On a channel's row a letter is a
/// command or a transfer. On a unit's row a capital is time in the array, a small letter
/// time on the channel, and `.` the unit held while its operation waits for the channel.
/// Within a column the channel shows before the array, so that short commands are seen.
/// `/` is an operation winding down to be suspended, `\` one being resumed; while it is
/// suspended the row is that of others.
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
    // Three passes, the most telling mark last.
    for op in ops {
        for &stay in &op.stays {
            paint(channels + op.unit, stay, b'.');
        }
    }
    for (i, op) in ops.iter().enumerate() {
        for &stretch in &op.array {
            paint(channels + op.unit, stretch, letter(i).to_ascii_uppercase());
        }
    }
    for op in ops {
        for (stretches, mark) in [(&op.suspending, b'/'), (&op.resuming, b'\\')] {
            for &stretch in stretches {
                paint(channels + op.unit, stretch, mark);
            }
        }
    }
    for (i, op) in ops.iter().enumerate() {
        for &stretch in op.inward.iter().chain(&op.outward) {
            paint(op.channel, stretch, letter(i));
            paint(channels + op.unit, stretch, letter(i));
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
        for r in 0..rounds {
            let cell = |list: &[Stretch]| list.get(r).map(span).unwrap_or_default();
            let out = if r + 1 == rounds {
                op.outward.as_ref().map(span).unwrap_or_default()
            } else {
                String::new()
            };
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
