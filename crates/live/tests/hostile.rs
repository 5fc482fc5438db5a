//! Does any input of a client make a session panic, grow without bound, or answer what was not asked?

use proptest::prelude::*;
use tailcut_live::nbd::{Errno, Export, RequestKind, Session};

fn session() -> Session {
    Session::new(Export {
        name: "drive".into(),
        description: "a test".into(),
        bytes: 1 << 20,
        preferred: 4096,
        longest: 32 << 20,
    })
}

/// Words of the protocol and any bytes between them.
fn input() -> impl Strategy<Value = Vec<u8>> {
    let word = |bytes: Vec<u8>| Just(bytes).boxed();
    let option = (0u32..14, prop::collection::vec(any::<u8>(), 0..40)).prop_map(|(number, data)| {
        let mut out = b"IHAVEOPT".to_vec();
        out.extend(number.to_be_bytes());
        out.extend((data.len() as u32).to_be_bytes());
        out.extend(data);
        out
    });
    let go = word([b"IHAVEOPT".to_vec(), vec![0, 0, 0, 7, 0, 0, 0, 6, 0, 0, 0, 0, 0, 0]].concat());
    let request = (0u16..9, any::<u16>(), any::<u64>(), 0u64..1 << 21, 0u32..70_000).prop_map(
        |(kind, flags, cookie, offset, length)| {
            let mut out = 0x2560_9513_u32.to_be_bytes().to_vec();
            out.extend((flags & 31).to_be_bytes());
            out.extend(kind.to_be_bytes());
            out.extend(cookie.to_be_bytes());
            out.extend(offset.to_be_bytes());
            out.extend(length.to_be_bytes());
            if kind == 1 {
                out.extend(vec![7; length as usize]);
            }
            out
        },
    );
    let part = prop_oneof![
        2 => word(vec![0, 0, 0, 3]),
        3 => option,
        3 => go,
        6 => request,
        1 => prop::collection::vec(any::<u8>(), 0..60),
    ];
    prop::collection::vec(part, 0..24).prop_map(|parts| parts.concat())
}

/// Inputs of a test; `TAILCUT_HOSTILE` gives another number.
fn cases() -> u32 {
    std::env::var("TAILCUT_HOSTILE").ok().and_then(|n| n.parse().ok()).unwrap_or(2_000)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), ..ProptestConfig::default() })]

    #[test]
    fn a_session_takes_any_input(bytes in input(), greets in prop::bool::weighted(0.9), cut in 1usize..5_000) {
        let mut s = session();
        let mut sent = s.unsent().len();
        s.sent(sent);
        let bytes = if greets { [vec![0, 0, 0, 3], bytes].concat() } else { bytes };
        let mut open = Vec::new();
        for part in bytes.chunks(cut) {
            s.receive(part);
            loop {
                match s.next_request() {
                    Err(_) => return Ok(()),
                    Ok(None) => break,
                    Ok(Some(request)) => {
                        let end = request.offset + u64::from(request.length);
                        prop_assert!(end <= 1 << 20, "{request:?}");
                        prop_assert_eq!(request.length == 0, request.kind == RequestKind::Flush);
                        if let RequestKind::Write(data) = &request.kind {
                            prop_assert_eq!(data.len(), request.length as usize);
                        }
                        open.push(request);
                    }
                }
            }
            if open.len() > 3 {
                for (i, request) in open.drain(..).enumerate() {
                    match (&request.kind, i % 3) {
                        (_, 2) => s.fail(&request, Errno::Io),
                        (RequestKind::Read, _) => s.answer_read(&request, &vec![1; request.length as usize]),
                        _ => s.answer(&request),
                    }
                }
            }
            // Nothing that the client sends makes more than a small answer without a request.
            prop_assert!(s.unsent().len() <= sent.max(1) + 80 * part.len() + 300_000);
            sent = s.unsent().len();
            s.sent(sent);
        }
        prop_assert!(s.has_open_requests() != open.is_empty());
    }
}
