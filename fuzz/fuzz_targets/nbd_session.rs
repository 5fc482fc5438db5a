#![no_main]
//! What a client of NBD sends, from the greeting on.

use tailcut_live::nbd::{Errno, Export, RequestKind, Session};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let mut session = Session::new(Export {
        name: "drive".into(),
        description: "fuzz".into(),
        bytes: 1 << 20,
        preferred: 4096,
        longest: 32 << 20,
    });
    for part in bytes.chunks(61) {
        session.receive(part);
        loop {
            match session.next_request() {
                Err(_) => return,
                Ok(None) => break,
                Ok(Some(request)) => {
                    assert!(request.offset + u64::from(request.length) <= 1 << 20);
                    match request.kind {
                        RequestKind::Read => session.answer_read(&request, &vec![0; request.length as usize]),
                        RequestKind::Trim => session.fail(&request, Errno::Io),
                        _ => session.answer(&request),
                    }
                }
            }
        }
        let unsent = session.unsent().len();
        session.sent(unsent);
    }
});
