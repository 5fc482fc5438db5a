//! Tests that a timeline reads back as written and that an incomplete one is refused.

use tailcut_report::timeline::{Event, Note, Timeline, TraceWriter, TrackId};
use tailcut_units::SimTime;

type Writer = TraceWriter<Vec<u8>>;
type Fill = fn(&mut Writer, TrackId, TrackId);

fn event(track: TrackId, at: u64, name: &str) -> Event<'_> {
    Event { track, at: SimTime(at), name, notes: &[], starts: &[], ends: &[] }
}

/// A drive with one die and one channel, with the events that `fill` adds.
fn written(fill: impl FnOnce(&mut Writer, TrackId, TrackId)) -> Vec<u8> {
    let mut writer = TraceWriter::new(Vec::new());
    let drive = writer.track("drive", None);
    let channel = writer.track("channel 0", Some(drive));
    let die = writer.track("die 0", Some(drive));
    fill(&mut writer, die, channel);
    writer.finish().unwrap()
}

#[test]
fn what_is_written_comes_back() {
    let bytes = written(|w, die, channel| {
        let notes = [Note::Number("request", 7), Note::Text("for", "user_read"), Note::Number("page", 0)];
        w.begin(&Event { notes: &notes, starts: &[u64::MAX], ..event(die, 0, "erase") });
        w.begin(&event(die, 0, "suspending"));
        w.end(die, SimTime(100));
        w.end(die, SimTime(100));
        // Tracks may be written one after another.
        w.begin(&Event { ends: &[u64::MAX, 2], notes: &notes[..1], ..event(die, 100, "read") });
        w.end(die, SimTime(u64::MAX));
        w.instant(&Event { starts: &[2], ..event(channel, 50, "erase") });
        assert_eq!(w.slices(), 3);
    });
    let t = Timeline::read(&bytes).unwrap();
    let names: Vec<_> = t.tracks.iter().map(|t| (t.name.as_str(), t.parent.as_deref())).collect();
    assert_eq!(names, [("drive", None), ("channel 0", Some("drive")), ("die 0", Some("drive"))]);
    let slices: Vec<_> =
        t.slices("die 0").map(|s| (s.name.as_str(), s.begin, s.end, s.depth, s.notes.len())).collect();
    let expected = [("erase", 0, 100, 0, 3), ("suspending", 0, 100, 1, 0), ("read", 100, u64::MAX, 0, 1)];
    assert_eq!(slices, expected);
    let said: Vec<_> = t.tracks[2].slices[0].notes.iter().map(|(n, v)| (n.as_str(), v.as_str())).collect();
    assert_eq!(said, [("request", "7"), ("for", "user_read"), ("page", "0")]);
    assert!(t.tracks[1].slices[0].instant && t.slices("channel 0").count() == 0);
    let mut arrows: Vec<_> =
        t.arrows.iter().map(|&a| t.ends(a).map(|s| (s.name.as_str(), s.begin))).collect();
    arrows.sort_unstable();
    assert_eq!(arrows, [[("erase", 0), ("read", 100)], [("erase", 50), ("read", 100)]]);
}

#[test]
fn what_is_not_whole_is_refused() {
    let cases: [(Fill, &str); 7] = [
        (|w, die, _| w.begin(&event(die, 5, "read")), "`read` of `die 0` never ends"),
        (|w, die, _| w.end(die, SimTime(5)), "nothing to end at 5 ns"),
        (
            |w, die, _| {
                w.begin(&event(die, 5, "read"));
                w.end(die, SimTime(4));
            },
            "goes back from 5 ns to 4 ns",
        ),
        (|w, die, _| w.instant(&Event { starts: &[3], ..event(die, 1, "a") }), "arrow 3 starts and never"),
        (|w, die, _| w.instant(&Event { ends: &[3], ..event(die, 1, "a") }), "arrow 3 ends and never"),
        (
            |w, die, _| w.instant(&Event { ends: &[3, 3], ..event(die, 1, "a") }),
            "arrow 3 starts or ends twice",
        ),
        (
            |w, die, channel| {
                w.instant(&Event { starts: &[3], ..event(die, 9, "a") });
                w.instant(&Event { ends: &[3], ..event(channel, 8, "a") });
            },
            "arrow 3 runs back",
        ),
    ];
    for (fill, needle) in cases {
        let error = Timeline::read(&written(fill)).unwrap_err().to_string();
        assert!(error.contains(needle), "{needle}: {error}");
    }
    let bytes = written(|w, die, _| w.instant(&event(die, 1, "a")));
    assert!(Timeline::read(&bytes[..bytes.len() - 1]).is_err());
    assert!(Timeline::read(b"PAR1, not a trace").is_err());
}

#[test]
fn a_full_disk_is_told_at_the_end() {
    struct Full(usize);
    impl std::io::Write for Full {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0 = self.0.checked_sub(bytes.len()).ok_or(std::io::ErrorKind::StorageFull)?;
            Ok(bytes.len())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let mut writer = TraceWriter::new(Full(100));
    let track = writer.track("die 0", None);
    for at in 0..100 {
        writer.instant(&event(track, at, "read"));
    }
    assert_eq!(writer.finish().err().unwrap().kind(), std::io::ErrorKind::StorageFull);
}
