//! Does the timeline show all events of the observer: complete, in order, nested, with both ends of every arrow, and
//! cut correctly at the edges of its window?

mod common;

use common::{experiment, job};
use std::sync::{Arc, Mutex};
use tailcut_config::resolve;
use tailcut_core::address::BusyUnit;
use tailcut_core::device::{Change, ErasePart, Observer, OpKind, QueueEvent, QueueStep, RequestEvent};
use tailcut_core::device::{RequestStep, Step, StepEvent};
use tailcut_core::drive::Drive;
use tailcut_core::figures::Dimensions;
use tailcut_report::timeline::{Event, Note, Slice, Timeline, TraceWriter, TrackId};
use tailcut_sim::host::Host;
use tailcut_sim::measure::SinkError;
use tailcut_sim::timeline::{Covered, Mark, Of as About, Recorder, Track, Tracks, Window};
use tailcut_sim::{SchemeSpec, Sink};
use tailcut_stats::{Interval, Sample};
use tailcut_units::{Occupant, SimTime, Span};

/// The bytes of a timeline, once it has ended.
type Bytes = Arc<Mutex<Vec<u8>>>;

/// Tracks called `unit 0`, …, `channel 0`, ….
struct Written {
    writer: Option<TraceWriter<Vec<u8>>>,
    drive: TrackId,
    units: Vec<TrackId>,
    /// Called `unit 0, plane 0`, ….
    planes: Vec<TrackId>,
    channels: Vec<TrackId>,
    bytes: Bytes,
}

impl Written {
    fn new(units: u32, channels: u32, bytes: &Bytes) -> Written {
        let mut writer = TraceWriter::new(Vec::new());
        let mut tracks = |name: &str, count: u32| {
            (0..count).map(|i| writer.track(&format!("{name} {i}"), None)).collect::<Vec<_>>()
        };
        let (units, channels, drive) =
            (tracks("unit", units), tracks("channel", channels), tracks("drive", 1)[0]);
        Written { writer: Some(writer), drive, units, planes: Vec::new(), channels, bytes: bytes.clone() }
    }

    /// With tracks for the planes of unit 0.
    fn by_plane(mut self, planes: u32) -> Written {
        let writer = self.writer.as_mut().unwrap();
        self.planes = (0..planes).map(|i| writer.track(&format!("unit 0, plane {i}"), None)).collect();
        self
    }

    fn id(&self, track: Track) -> TrackId {
        match track {
            Track::Drive => self.drive,
            Track::Unit(unit) => self.units[unit.index()],
            Track::Plane(_, plane) => self.planes[plane as usize],
            Track::Channel(channel) => self.channels[channel as usize],
        }
    }

    fn put(&mut self, instant: bool, track: Track, at: SimTime, mark: &Mark<'_>) {
        let track = self.id(track);
        let op = match mark.of {
            Some(About::Step(e)) => Some(e.op),
            Some(About::Failed(e)) => Some(e.op),
            Some(About::Drive(_)) | None => None,
        };
        let notes: Vec<Note<'_>> = op.map(|op| Note::Number("op", op.into())).into_iter().collect();
        let (name, starts, ends) = (mark.name, mark.starts, mark.ends);
        let event = Event { track, at, name, notes: &notes, starts, ends };
        let writer = self.writer.as_mut().unwrap();
        if instant { writer.instant(&event) } else { writer.begin(&event) }
    }
}

impl Tracks for Written {
    fn begin(&mut self, track: Track, at: SimTime, mark: &Mark<'_>) {
        self.put(false, track, at, mark);
    }
    fn end(&mut self, track: Track, at: SimTime) {
        let track = self.id(track);
        self.writer.as_mut().unwrap().end(track, at);
    }
    fn instant(&mut self, track: Track, at: SimTime, mark: &Mark<'_>) {
        self.put(true, track, at, mark);
    }
    fn finish(&mut self) -> Result<(), SinkError> {
        *self.bytes.lock().unwrap() = self.writer.take().unwrap().finish()?;
        Ok(())
    }
}

/// The timeline of these steps, on one unit and one channel.
fn timeline(steps: &[StepEvent], from: u64, to: u64) -> (Timeline, Covered) {
    let bytes = Bytes::default();
    let tracks = Written::new(1, 1, &bytes);
    let mut recorder = Recorder::new(1, (SimTime(from), SimTime(to)), tracks);
    for step in steps {
        recorder.step(step);
    }
    let covered = recorder.finish().unwrap();
    let timeline = Timeline::read(&bytes.lock().unwrap());
    (timeline.unwrap_or_else(|e| panic!("{from}..{to}: {e}")), covered)
}

/// Steps of one operation on unit 0.
#[derive(Clone, Copy)]
struct Of(u32, OpKind, Occupant);

impl Of {
    fn step(self, step: Step, at: u64, until: u64) -> StepEvent {
        let Of(op, kind, occupant) = self;
        StepEvent {
            op,
            kind,
            occupant,
            request: u64::MAX,
            by: u32::MAX,
            unit: BusyUnit(0),
            channel: 0,
            planes: 1,
            page: 3,
            step,
            at: SimTime(at),
            until: SimTime(until),
        }
    }

    fn stop(self, step: Step, at: u64, until: u64, by: u32) -> StepEvent {
        StepEvent { by, ..self.step(step, at, until) }
    }

    /// A read that waits `wait` ns for the channel after sensing.
    fn read(op: u32, at: u64, wait: u64) -> [StepEvent; 4] {
        let of = Of(op, OpKind::Read, Occupant::UserRead);
        [
            of.step(Step::Granted, at, at),
            of.step(Step::ChannelIn, at, at + 5),
            of.step(Step::Array, at + 5, at + 45),
            of.step(Step::ChannelOut, at + 45 + wait, at + 65 + wait),
        ]
    }
}

const ERASE: Of = Of(1, OpKind::Erase, Occupant::Erase);

/// An erase that is stopped for read 7, whose resumption is cancelled for read 8, and
/// that ends; then a read with the index of the erase.
fn stopped_twice() -> Vec<StepEvent> {
    let mut steps = vec![
        ERASE.step(Step::Granted, 0, 0),
        ERASE.step(Step::ChannelIn, 10, 20),
        ERASE.step(Step::Array, 20, 1020),
        ERASE.stop(Step::Stopping, 300, 360, 7),
        ERASE.step(Step::Suspending, 360, 400),
        ERASE.step(Step::Suspended, 400, 400),
    ];
    steps.extend(Of::read(7, 400, 15));
    steps.push(ERASE.step(Step::Resuming, 480, 530));
    steps.push(ERASE.stop(Step::Suspended, 500, 500, 8));
    steps.extend(Of::read(8, 500, 0));
    steps.push(ERASE.step(Step::Resuming, 565, 615));
    steps.push(ERASE.step(Step::Array, 615, 1315));
    steps.extend(Of::read(1, 1400, 0));
    steps
}

/// The slices of a track as lines: depth, name, begin, end.
fn lines(timeline: &Timeline, track: &str) -> Vec<String> {
    let line = |s: &Slice| format!("{}{} {}-{}", "  ".repeat(s.depth), s.name, s.begin, s.end);
    timeline.slices(track).map(line).collect()
}

fn arrows(timeline: &Timeline) -> Vec<String> {
    let name = |s: &Slice| format!("{} {}", s.name, s.begin);
    let mut arrows: Vec<_> =
        timeline.arrows.iter().map(|&a| timeline.ends(a).map(name).join(" > ")).collect();
    arrows.sort();
    arrows
}

#[test]
fn a_suspended_erase_is_several_slices_with_arrows() {
    let (t, covered) = timeline(&stopped_twice(), 0, 10_000);
    let unit = [
        "erase 0-400",
        "  holds the die 0-10",
        "  command 10-20",
        "  erase 20-300",
        "  stopping 300-360",
        "  suspending 360-400",
        "user_read 400-480",
        "  command 400-405",
        "  sense 405-445",
        "  holds the die 445-460",
        "  data out 460-480",
        "erase (resumed) 480-500",
        "  resuming 480-500",
        "user_read 500-565",
        "  command 500-505",
        "  sense 505-545",
        "  data out 545-565",
        "erase (resumed) 565-1315",
        "  resuming 565-615",
        "  erase 615-1315",
        "user_read 1400-1465",
        "  command 1400-1405",
        "  sense 1405-1445",
        "  data out 1445-1465",
    ];
    assert_eq!(lines(&t, "unit 0"), unit);
    let channel = [
        "erase: command 10-20",
        "user_read: command 400-405",
        "user_read: data out 460-480",
        "user_read: command 500-505",
        "user_read: data out 545-565",
        "user_read: command 1400-1405",
        "user_read: data out 1445-1465",
    ];
    assert_eq!(lines(&t, "channel 0"), channel);
    let expected = [
        "erase 20 > user_read 400",
        "resuming 480 > resuming 565",
        "resuming 480 > user_read 500",
        "suspending 360 > resuming 480",
    ];
    assert_eq!(arrows(&t), expected);
    let slices = (unit.len() + channel.len()) as u64;
    assert_eq!(covered, Covered { from: SimTime(0), to: SimTime(1465), whole: false, slices });
}

#[test]
fn the_window_cuts_and_changes_nothing_else() {
    let steps = stopped_twice();
    let (all, _) = timeline(&steps, 0, 10_000);
    let mut edges: Vec<u64> = steps
        .iter()
        .flat_map(|e| [e.at.0, e.until.0])
        .flat_map(|t| [t.saturating_sub(1), t, t + 1])
        .collect();
    edges.sort_unstable();
    edges.dedup();
    for (i, &from) in edges.iter().enumerate() {
        for &to in &edges[i + 1..] {
            let (part, covered) = timeline(&steps, from, to);
            for track in ["unit 0", "channel 0"] {
                let inside = all.slices(track).map(|s| (&s.name, s.begin.max(from), s.end.min(to), s.depth));
                let inside: Vec<_> = inside.filter(|s| s.1 < s.2).collect();
                let found = part.slices(track).map(|s| (&s.name, s.begin, s.end, s.depth));
                // A slice cut to no length may stay if an arrow needs it.
                let found: Vec<_> = found.filter(|s| s.1 < s.2).collect();
                assert_eq!(found, inside, "{track} {from}..{to}");
            }
            assert_eq!((covered.from.0, covered.whole), (from, to <= 1445), "{from}..{to}");
            // Every operation interrupted or suspended in the window has its arrows.
            let stops = steps.iter().filter(|e| (from..to).contains(&e.at.0));
            let due: usize =
                stops.map(|e| usize::from(e.by != u32::MAX) + usize::from(e.step == Step::Suspended)).sum();
            assert_eq!(part.arrows.len(), due, "{from}..{to}");
        }
    }
}

#[test]
fn what_is_left_open_at_the_end_says_so() {
    let (t, covered) = timeline(&stopped_twice(), 0, 390);
    let points = |t: &Timeline| -> Vec<_> {
        let points = t.tracks.iter().flat_map(|t| &t.slices).filter(|s| s.instant);
        points.map(|s| format!("{} {}", s.name, s.begin)).collect()
    };
    assert_eq!(points(&t), ["still waits for the die 390"]);
    assert!(covered.whole && covered.to == SimTime(390));
    let (t, _) = timeline(&stopped_twice(), 0, 470);
    assert_eq!(points(&t), ["still suspended 470"]);
    assert_eq!(lines(&t, "unit 0").last().unwrap(), "  data out 460-470");
    // A read that has sensed holds its die beyond the end of the window.
    let (t, _) = timeline(&stopped_twice(), 0, 455);
    assert_eq!(lines(&t, "unit 0").last().unwrap(), "  holds the die 445-455");
    // A window after the end of the run, or before the first step, is empty.
    for (from, to) in [(5_000, 6_000), (1466, 1467)] {
        let (t, covered) = timeline(&stopped_twice(), from, to);
        assert!(t.tracks.iter().all(|t| t.slices.is_empty()) && covered.slices == 0);
        assert_eq!((covered.to, covered.whole), (SimTime(from), false));
    }
}

#[test]
fn a_read_that_is_reconstructed_instead_leaves_no_arrow_to_its_successor() {
    let bytes = Bytes::default();
    let mut recorder = Recorder::new(1, (SimTime(0), SimTime(10_000)), Written::new(1, 1, &bytes));
    // Read 7 stops the erase, then leaves the queue for a reconstruction.
    let stopped = [
        ERASE.step(Step::Granted, 0, 0),
        ERASE.step(Step::Array, 20, 1020),
        ERASE.stop(Step::Stopping, 300, 360, 7),
    ];
    stopped.iter().for_each(|step| recorder.step(step));
    let step = RequestStep::Rebuilds { rebuild: 0, instead: 7, members: 2, bytes: 512 };
    recorder.request(&RequestEvent { request: 3, at: SimTime(310), step });
    // Another read has the number of the first one.
    let others = [ERASE.step(Step::Suspending, 360, 400), ERASE.step(Step::Suspended, 400, 400)];
    others.iter().chain(&Of::read(7, 400, 0)).for_each(|step| recorder.step(step));
    recorder.finish().unwrap();
    let timeline = Timeline::read(&bytes.lock().unwrap()).unwrap();
    let expected = ["erase 20 > was reconstructed instead 1020", "suspending 360 > still suspended 1020"];
    assert_eq!(arrows(&timeline), expected);
}

#[test]
fn reads_that_run_side_by_side_are_on_tracks_of_their_planes() {
    let bytes = Bytes::default();
    let written = Written::new(1, 1, &bytes).by_plane(2);
    let mut recorder = Recorder::new(1, (SimTime(0), SimTime(10_000)), written).reading_by_plane(2);
    // The second begins while the first is sensed; a program follows both.
    let mut steps: Vec<StepEvent> = Of::read(1, 0, 0).into();
    steps.extend(Of::read(2, 5, 15).map(|step| StepEvent { planes: 0b10, ..step }));
    let program = Of(3, OpKind::Program, Occupant::UserProgram);
    steps.extend([
        program.step(Step::Granted, 100, 100),
        program.step(Step::ChannelIn, 100, 120),
        program.step(Step::Array, 120, 300),
    ]);
    steps.sort_by_key(|step| step.at);
    steps.iter().for_each(|step| recorder.step(step));
    recorder.finish().unwrap();
    let t = Timeline::read(&bytes.lock().unwrap()).unwrap();
    assert_eq!(
        lines(&t, "unit 0, plane 0"),
        ["user_read 0-65", "  command 0-5", "  sense 5-45", "  data out 45-65"]
    );
    assert_eq!(
        lines(&t, "unit 0, plane 1"),
        ["user_read 5-85", "  command 5-10", "  sense 10-50", "  holds the die 50-65", "  data out 65-85"]
    );
    assert_eq!(
        lines(&t, "unit 0"),
        ["user_program 100-300", "  command, data in 100-120", "  program 120-300"]
    );
}

#[test]
fn a_cached_program_holds_its_die_behind_the_other() {
    let of = |op, steps: [(Step, u64, u64); 3]| {
        let op = Of(op, OpKind::Program, Occupant::UserProgram);
        steps.map(|(step, at, until)| op.step(step, at, until))
    };
    let mut steps = of(1, [(Step::Granted, 0, 0), (Step::ChannelIn, 0, 20), (Step::Array, 20, 60)]).to_vec();
    steps.extend(of(2, [(Step::Cached, 20, 20), (Step::ChannelIn, 50, 70), (Step::Granted, 60, 60)]));
    steps.push(Of(2, OpKind::Program, Occupant::UserProgram).step(Step::Array, 70, 110));
    let unit = lines(&timeline(&steps, 0, 1_000).0, "unit 0");
    assert_eq!(unit[3..], ["user_program 60-110", "  command, data in 60-70", "  program 70-110"]);
}

#[test]
fn a_stop_told_on_the_channel_begins_behind_it() {
    let program = Of(2, OpKind::Program, Occupant::UserProgram);
    let mut steps = vec![
        program.step(Step::Granted, 0, 0),
        program.step(Step::ChannelIn, 0, 100),
        program.step(Step::Array, 100, 600),
        // Read 3 arrives during the transfer of the data in, and stops the first phase.
        program.stop(Step::Stopping, 50, 150, 3),
        program.step(Step::Suspended, 150, 150),
    ];
    steps.extend(Of::read(3, 150, 0));
    // The data are transferred again; there is no other cost.
    steps.push(program.step(Step::Resuming, 215, 215));
    steps.push(program.step(Step::ChannelIn, 230, 330));
    steps.push(program.step(Step::Array, 330, 780));
    // Suspending and resuming take no time: each is reported by one step.
    steps.push(program.stop(Step::Suspended, 400, 400, 4));
    steps.extend(Of::read(4, 400, 0));
    steps.push(program.step(Step::Array, 465, 845));
    let (t, _) = timeline(&steps, 0, 1000);
    let expected = [
        "user_program 0-150",
        "  command, data in 0-100",
        "  stopping 100-150",
        "user_read 150-215",
        "  command 150-155",
        "  sense 155-195",
        "  data out 195-215",
        "user_program (resumed) 215-400",
        "  resuming 215-215",
        "  holds the die 215-230",
        "  command, data in 230-330",
        "  program 330-400",
        "user_read 400-465",
        "  command 400-405",
        "  sense 405-445",
        "  data out 445-465",
        "user_program (resumed) 465-845",
        "  resuming 465-465",
        "  program 465-845",
    ];
    assert_eq!(lines(&t, "unit 0"), expected);
    let expected = [
        "command, data in 0 > user_read 150",
        "program 330 > resuming 465",
        "program 330 > user_read 400",
        "stopping 100 > resuming 215",
    ];
    assert_eq!(arrows(&t), expected);
}

#[test]
fn failures_are_marked_on_the_track_of_the_drive() {
    let bytes = Bytes::default();
    let mut recorder = Recorder::new(1, (SimTime(0), SimTime(2_000)), Written::new(1, 1, &bytes));
    let fails = |Of(op, kind, occupant): Of, at: u64| QueueEvent {
        op,
        kind,
        occupant,
        request: u64::MAX,
        rebuild: u32::MAX,
        write_unit: u32::MAX,
        unit: BusyUnit(0),
        extent: 0,
        channel: 0,
        planes: 1,
        part: ErasePart::Whole,
        codewords: 1,
        bytes: 0,
        step: QueueStep::Fails,
        at: SimTime(at),
    };
    for step in [(Step::Granted, 0, 0), (Step::ChannelIn, 10, 20), (Step::Array, 20, 1_020)] {
        recorder.step(&ERASE.step(step.0, step.1, step.2));
    }
    recorder.queued(&fails(ERASE, 1_020));
    // The read is decoded when its die has another operation.
    Of::read(7, 1_100, 0).iter().chain(&Of::read(8, 1_165, 0)).for_each(|step| recorder.step(step));
    recorder.queued(&fails(Of(7, OpKind::Read, Occupant::UserRead), 1_240));
    recorder.changes(SimTime(1_300), Change::PlanesDie { first: 2, count: 2 });
    recorder.changes(SimTime(1_301), Change::ReadOnly);
    recorder.changes(SimTime(1_302), Change::Limits { users: 64, collection: 448, free: 9 });
    recorder.changes(SimTime(1_303), Change::HotShare { hot: 96, cold: 32 });
    recorder.changes(SimTime(2_000), Change::ReadOnly);
    let covered = recorder.finish().unwrap();
    let t = Timeline::read(&bytes.lock().unwrap()).unwrap();
    assert_eq!(covered.to, SimTime(1_303));
    assert!(
        lines(&t, "unit 0").contains(&"  erase (failed) 20-1020".to_string()),
        "{:?}",
        lines(&t, "unit 0")
    );
    let drive = t.tracks.iter().find(|t| t.name == "drive 0").expect("it has a track");
    assert!(drive.slices.iter().all(|s| s.instant));
    let points: Vec<String> = drive.slices.iter().map(|s| format!("{} {}", s.name, s.begin)).collect();
    let expected = [
        "erase (failed) 1020",
        "user_read (failed) 1240",
        "planes die 1300",
        "becomes read-only 1301",
        "limits change 1302",
        "hot share changes 1303",
    ];
    assert_eq!(points, expected);
}

/// Stores all steps and passes them on.
struct Tee(Vec<StepEvent>, Recorder<Written>);

impl Observer for Tee {
    fn step(&mut self, event: &StepEvent) {
        self.0.step(event);
        self.1.step(event);
    }
}

const JOB: &str = "randrw,bs=4k,rwmixread=70,iodepth=16,number_ios=4000";

const SCHEMES: [&str; 7] = ["baseline", "rps+i-es", "rps+d-es", "rps+ideal-es", "ips", "ipc", "wse"];

#[test]
fn a_real_drive_is_told_of_step_by_step() {
    let none: [&str; 0] = [];
    let mut suspensions = 0;
    for (scheme, data) in SCHEMES.into_iter().flat_map(|s| [(s, "shadow"), (s, "controller")]) {
        let set = format!("suspend.program.data={data}");
        let config = resolve("tiny", &[scheme], &none, &[&set]).unwrap().config;
        let mut device = Drive::new(&config, 1, ()).unwrap();
        device.fill(device.host_bytes());
        let Dimensions { units, channels, .. } = device.dimensions();
        let bytes = Bytes::default();
        let recorder =
            Recorder::new(units, (SimTime(0), SimTime::NEVER), Written::new(units, channels, &bytes));
        let workload = job(JOB).open(device.host_bytes(), device.host_bytes(), 1).unwrap();
        let mut device = device.observed_by(Tee(Vec::new(), recorder));
        let mut host = Host::new(workload).unwrap();
        assert!(host.run(&mut device, SimTime::NEVER, &mut |_, _| {}).unwrap());
        let Tee(steps, recorder) = device.into_observer();
        recorder.finish().unwrap();
        let t = Timeline::read(&bytes.lock().unwrap()).unwrap_or_else(|e| panic!("{scheme}, {data}: {e}"));

        // A channel has the transfers reported, and never two at the same time.
        for channel in 0..channels {
            let mut told: Vec<_> = steps
                .iter()
                .filter(|e| e.channel == channel && matches!(e.step, Step::ChannelIn | Step::ChannelOut))
                .map(|e| (e.at.0, e.until.0))
                .collect();
            told.sort_unstable();
            let name = format!("channel {channel}");
            let shown: Vec<_> = t.slices(&name).map(|s| (s.begin, s.end)).collect();
            assert_eq!(shown, told, "{scheme}");
            assert!(shown.windows(2).all(|w| w[0].1 <= w[1].0), "{scheme}: transfers overlap");
        }
        // Every grant gives a slice, and every suspension one more, except operations
        // still suspended at the end.
        let count = |step| steps.iter().filter(|e| e.step == step).count();
        let all: Vec<&Slice> = t.tracks.iter().flat_map(|t| &t.slices).collect();
        let left = all.iter().filter(|s| s.instant && s.name == "still suspended").count();
        let unit_tracks = t.tracks.iter().filter(|t| t.name.starts_with("unit"));
        let whole = unit_tracks.flat_map(|t| &t.slices).filter(|s| s.depth == 0 && !s.instant).count();
        // An operation that gave its die back at the time of the grant gives no slice
        // either.
        let granted = |i: usize| steps[..i].iter().rfind(|e| e.op == steps[i].op && e.step == Step::Granted);
        let at_once = |i: usize| granted(i).is_some_and(|g| g.at == steps[i].at);
        let returned = (0..steps.len()).filter(|&i| steps[i].step == Step::Returned);
        let unseen = left + returned.filter(|&i| at_once(i)).count();
        assert_eq!(whole, count(Step::Granted) + count(Step::Suspended) - unseen, "{scheme}, {data}");
        // Every interruption has its arrow, which ends where the interrupting operation
        // is granted.
        let stops: Vec<_> = steps.iter().enumerate().filter(|(_, e)| e.by != u32::MAX).collect();
        assert_eq!(t.arrows.len(), stops.len() + count(Step::Suspended), "{scheme}, {data}");
        for (i, stop) in stops {
            let granted = steps[i..].iter().find(|e| e.op == stop.by && e.step == Step::Granted);
            let Some(granted) = granted else { continue };
            let op = ("op".to_string(), stop.by.to_string());
            let met = t.arrows.iter().any(|&a| {
                let [from, to] = t.ends(a);
                from.begin <= stop.at.0.max(from.end) && to.begin == granted.at.0 && to.notes.contains(&op)
            });
            assert!(met, "{scheme}, {data}: {stop:?} has no arrow");
        }
        suspensions += count(Step::Suspended);
    }
    assert!(suspensions > 2_000, "{suspensions}");
}

/// A sink that takes only the timeline.
struct Looks(Bytes);

impl Sink for Looks {
    fn request(&mut self, _: &Sample) -> Result<(), SinkError> {
        Ok(())
    }
    fn interval(&mut self, _: &Interval) -> Result<(), SinkError> {
        Ok(())
    }
    fn tracks(&mut self, shape: &Dimensions) -> Result<Option<Box<dyn Tracks>>, SinkError> {
        Ok(Some(Box::new(Written::new(shape.units, shape.channels, &self.0))))
    }
    fn finish(self: Box<Self>) -> Result<(), SinkError> {
        Ok(())
    }
}

#[test]
fn looking_on_changes_nothing() {
    let none: [&str; 0] = [];
    let workload = job("randrw,bs=4k,iodepth=16,rate_iops=20000,ramp_time=20ms,runtime=100ms,time_based");
    let spec = |name: &str| {
        let config = resolve("tiny", &[name], &none, &none).unwrap().config;
        SchemeSpec { name: name.to_string(), config }
    };
    let mut experiment = experiment(&workload, SCHEMES.map(spec).into());
    let plan = experiment.plan().unwrap();
    let bytes: Vec<Bytes> = SCHEMES.iter().map(|_| Bytes::default()).collect();
    let mut run = |timeline| {
        experiment.timeline = timeline;
        let sinks = |scheme: usize, _: &[String]| -> Result<Option<Box<dyn Sink>>, SinkError> {
            Ok(Some(Box::new(Looks(bytes[scheme].clone()))))
        };
        let results = experiment.run(&plan, &(), &sinks).unwrap();
        results.into_iter().map(|mut r| r.remove(0).unwrap()).collect::<Vec<_>>()
    };
    let without = run(None);
    assert!(without.iter().all(|r| r.timeline.is_none()));
    let with = run(Some(Window { start: Span(30_000_000), length: Span(10_000_000) }));
    for (i, (with, without)) in with.iter().zip(&without).enumerate() {
        assert_eq!(with.outcome.digest, without.outcome.digest, "{}", SCHEMES[i]);
        // The window counts from the end of the ramp.
        let covered = with.timeline.expect("it was asked for");
        assert_eq!(
            (covered.from, covered.to, covered.whole),
            (SimTime(50_000_000), SimTime(60_000_000), true)
        );
        let t = Timeline::read(&bytes[i].lock().unwrap()).unwrap();
        let all: Vec<&Slice> = t.tracks.iter().flat_map(|t| &t.slices).collect();
        assert!(all.len() > 1_000 && all.iter().all(|s| s.begin >= 50_000_000 && s.end <= 60_000_000));
        assert_eq!(covered.slices as usize, all.iter().filter(|s| !s.instant).count());
    }
}
