//! Effects and faults of the medium in memory, without a drive around it.

use super::*;

const UNIT: u32 = 64;

/// Four extents of two rows of four units.
const SIZE: Size = Size {
    extents: 4,
    units_per_extent: 8,
    units_per_row: 4,
    units_per_lane: 16,
    unit_bytes: UNIT,
    slots: 5,
    requests: 2,
    transfer: 4 * UNIT as u64,
};

fn medium() -> InMemory {
    let mut m = InMemory::new();
    m.attach(&SIZE);
    m.set_accumulators(3);
    m
}

fn bytes(value: u8) -> Vec<u8> {
    (0..UNIT as u8).map(|i| i.wrapping_mul(value) ^ value).collect()
}

/// A slot with a whole unit.
fn hold(m: &mut InMemory, slot: u32, lpn: Lpn, value: u8) {
    m.begin_write(0, UNIT, &bytes(value));
    m.hold(slot, lpn, Below::Flash);
    m.write_slot(slot, 0..UNIT, 0, 0);
}

/// A stripe of three members at 0, 8 and 16, its parity at 24.
fn stripe(m: &mut InMemory) {
    m.xor_clear(0);
    for (slot, lpn) in [(0, Lpn(11)), (1, Lpn(12)), (2, Lpn(77))] {
        hold(m, slot, lpn, lpn.0 as u8);
        m.xor_slot(0, slot);
        m.program_slot(Ppa(slot * 8), slot, lpn, UnitKind::Wear);
    }
    m.program_xor(0, Ppa(24), Oob::parity(Lpn(5), 0b111));
}

fn read_whole(m: &mut InMemory, lpn: Lpn, ppa: Ppa) {
    m.begin_read(1, UNIT);
    m.read_flash(1, 0, 0..UNIT, ppa, lpn);
}

#[test]
fn parity_is_the_exclusive_or_of_its_members() {
    let mut m = medium();
    stripe(&mut m);
    let parity = m.unit(Ppa(24)).unwrap();
    assert_eq!((parity.oob.kind, parity.oob.lpn, parity.oob.members), (UnitKind::Parity, Lpn(5), 0b111));
    assert_eq!(parity.oob.lpns, 11 ^ 12 ^ 77);
    assert!(parity.is_sound() && parity.oob.sequence > m.unit(Ppa(16)).unwrap().oob.sequence);
    let sum: Vec<u8> = (0..UNIT as usize).map(|i| bytes(11)[i] ^ bytes(12)[i] ^ bytes(77)[i]).collect();
    assert_eq!(parity.to_vec(UNIT), sum);
    // Over the whole stripe nothing is left; padding adds nothing.
    m.program_pad(Ppa(1));
    m.xor_clear(1);
    for ppa in [0, 1, 8, 16, 24].map(Ppa) {
        m.xor_flash(1, ppa);
    }
    assert_eq!(m.accumulator(1), (&[0; UNIT as usize][..], 0));
    assert!(m.faults().is_empty(), "{:?}", m.faults());
}

#[test]
fn a_member_is_rebuilt_for_a_read() {
    let mut m = medium();
    stripe(&mut m);
    for (ppa, lpn) in [(Ppa(0), Lpn(11)), (Ppa(8), Lpn(12)), (Ppa(16), Lpn(77))] {
        m.xor_clear(2);
        for other in [0, 8, 16, 24].map(Ppa).into_iter().filter(|&p| p != ppa) {
            m.xor_flash(2, other);
        }
        read_whole(&mut m, lpn, ppa);
        m.deliver_xor(2, 1, 0..UNIT, ppa);
        assert_eq!(m.read_data(1), bytes(lpn.0 as u8));
    }
    // In two parts, and over bytes that a slot already gave.
    hold(&mut m, 3, Lpn(77), 1);
    m.hold(4, Lpn(77), Below::Flash);
    m.begin_write(0, 10, &[9; 10]);
    m.write_slot(4, 20..30, 0, 0);
    m.begin_read(1, UNIT - 5);
    m.read_slot(1, 0, 5..UNIT, 4, Ppa(16));
    m.deliver_xor(2, 1, 0..25, Ppa(16));
    m.deliver_xor(2, 1, 25..40, Ppa(16));
    m.sense(1, Ppa(16)..Ppa(20));
    let mut should = bytes(77);
    should[20..30].fill(9);
    assert_eq!(m.read_data(1), &should[5..]);
    assert!(m.faults().is_empty(), "{:?}", m.faults());
}

#[test]
fn a_read_that_goes_on_elsewhere_gets_what_a_slot_has() {
    let mut m = medium();
    stripe(&mut m);
    m.hold(3, Lpn(12), Below::Flash);
    m.begin_write(0, 10, &[9; 10]);
    m.write_slot(3, 20..30, 0, 0);
    read_whole(&mut m, Lpn(12), Ppa(2));
    m.redirect_to_slot(1, Ppa(2), 3);
    m.redirect(1, Ppa(2), Ppa(8));
    m.sense(1, Ppa(8)..Ppa(12));
    let mut should = bytes(12);
    should[20..30].fill(9);
    assert_eq!(m.read_data(1), should);
    assert!(m.faults().is_empty(), "{:?}", m.faults());
}

/// A second parity has factors. With it and the first, two members are rebuilt from the third: bytes and LPNs.
#[test]
fn two_members_are_rebuilt_from_two_parities() {
    use gf256::{div, mul, power};
    let mut m = medium();
    stripe(&mut m);
    m.xor_clear(1);
    (0..3).for_each(|k| m.xor_slot_times(1, k, power(k)));
    m.program_xor(1, Ppa(25), Oob::parity(Lpn(6), 0b111));
    let q = m.unit(Ppa(25)).unwrap();
    let sum = |[a, b, c]: [u8; 3]| a ^ mul(2, b) ^ mul(4, c);
    assert_eq!(q.to_vec(UNIT)[9], sum([11, 12, 77].map(|value| bytes(value)[9])));
    assert_eq!(q.oob.lpns, sum([11, 12, 77]).into());
    let members = [0, 8, 16].map(Ppa);
    let shares: Vec<(Ppa, u8)> = members.into_iter().zip([1, 2, 4]).collect();
    assert!(m.cancels(&[&shares[..], &[(Ppa(25), 1)]].concat()));
    assert!(!m.cancels(&[&shares[..], &[(Ppa(24), 1)]].concat()));
    for (target, other) in [(0u32, 1u32), (1, 0), (1, 2), (2, 0)] {
        let third = 3 - target - other;
        let over = power(target) ^ power(other);
        let factors = [(24, power(other)), (25, 1), (third * 8, power(third) ^ power(other))];
        m.xor_clear(2);
        for (ppa, factor) in factors {
            m.xor_flash_times(2, Ppa(ppa), div(factor, over));
        }
        let lpn = m.unit(members[target as usize]).unwrap().oob.lpn;
        read_whole(&mut m, lpn, members[target as usize]);
        m.deliver_xor(2, 1, 0..UNIT, members[target as usize]);
        assert_eq!(m.read_data(1), bytes(lpn.0 as u8));
    }
    assert!(m.faults().is_empty(), "{:?}", m.faults());
}

#[test]
fn a_wrong_rebuilding_is_noticed() {
    let mut m = medium();
    stripe(&mut m);
    m.xor_clear(0);
    m.xor_flash(0, Ppa(8));
    m.xor_flash(0, Ppa(24));
    read_whole(&mut m, Lpn(11), Ppa(0));
    m.deliver_xor(0, 1, 0..UNIT, Ppa(0));
    assert!(m.faults()[0].contains("is rebuilt as"), "{:?}", m.faults());
}

#[test]
fn a_moved_unit_keeps_its_number() {
    let mut m = medium();
    stripe(&mut m);
    for (ppa, lpn) in [(Ppa(0), Lpn(11)), (Ppa(8), Lpn(12))] {
        m.stage(ppa, lpn);
        m.program_staged(ppa + 4, ppa, lpn, UnitKind::Gc);
        let (old, new) = (m.unit(ppa).unwrap().oob, m.unit(ppa + 4).unwrap().oob);
        assert_eq!(Oob { kind: UnitKind::Gc, ..old }, new);
    }
    assert!(m.faults().is_empty());
}

#[test]
fn what_moves_through_a_slot_keeps_its_number() {
    let mut m = medium();
    stripe(&mut m);
    let old = m.unit(Ppa(8)).unwrap().oob;
    m.hold(3, Lpn(12), Below::Flash);
    m.want(3, Ppa(8));
    m.fill_slot(3, Ppa(8)..Ppa(12));
    // A write that arrives meanwhile is held in a newer slot over this one.
    m.begin_write(0, 10, &[9; 10]);
    m.hold(4, Lpn(12), Below::Slot { older: 3, old_ppa: Ppa(8) });
    m.write_slot(4, 0..10, 0, 0);
    m.program_slot(Ppa(1), 3, Lpn(12), UnitKind::Wear);
    m.program_slot(Ppa(2), 4, Lpn(12), UnitKind::Wear);
    let (moved, newer) = (m.unit(Ppa(1)).unwrap(), m.unit(Ppa(2)).unwrap());
    assert_eq!((Oob { kind: UnitKind::Wear, ..old }, bytes(12)), (moved.oob, moved.to_vec(UNIT)));
    assert!(newer.oob.kind == UnitKind::User && newer.oob.sequence > old.sequence);
    // A slot whose old copy is computed from its stripe.
    m.xor_clear(1);
    for ppa in [0, 16, 24].map(Ppa) {
        m.xor_flash(1, ppa);
    }
    m.hold(3, Lpn(12), Below::Flash);
    m.complete_xor(1, 3, Ppa(8));
    m.program_slot(Ppa(9), 3, Lpn(12), UnitKind::Wear);
    assert_eq!(m.unit(Ppa(9)).unwrap().oob, moved.oob);
    assert!(m.faults().is_empty(), "{:?}", m.faults());
}

#[test]
fn what_cannot_be_is_noticed() {
    type Act = fn(&mut InMemory);
    let acts: [(&str, Act); 8] = [
        ("is programmed with", |m| m.program_slot(Ppa(0), 1, Lpn(12), UnitKind::Wear)),
        ("is erased", |m| {
            read_whole(m, Lpn(11), Ppa(2));
            m.sense(1, Ppa(0)..Ppa(4));
        }),
        ("should be logical unit 13", |m| {
            read_whole(m, Lpn(13), Ppa(0));
            m.sense(1, Ppa(0)..Ppa(4));
        }),
        ("never sensed", |m| {
            m.stage(Ppa(0), Lpn(11));
            m.erase(0);
            m.program_staged(Ppa(30), Ppa(0), Lpn(11), UnitKind::Gc);
        }),
        ("whole: false", |m| {
            m.hold(4, Lpn(1), Below::Flash);
            m.program_slot(Ppa(1), 4, Lpn(1), UnitKind::Wear);
        }),
        ("ended without", |m| {
            read_whole(m, Lpn(11), Ppa(0));
            m.read_data(1);
        }),
        ("lies over one of 11", |m| m.hold(4, Lpn(1), Below::Slot { older: 0, old_ppa: Ppa::NONE })),
        ("the bytes of unit 0", |m| {
            m.damage(Ppa(0), 3);
            m.stage(Ppa(0), Lpn(11));
        }),
    ];
    for (says, act) in acts {
        let mut m = medium();
        stripe(&mut m);
        act(&mut m);
        assert!(m.faults().first().is_some_and(|f| f.contains(says)), "{says}: {:?}", m.faults());
    }
}

#[test]
fn a_slot_over_another_completes_both() {
    let mut m = medium();
    stripe(&mut m);
    for (slot, range) in [(3, 10..20), (4, 15..40)] {
        let below = if slot == 3 { Below::Flash } else { Below::Slot { older: 3, old_ppa: Ppa(8) } };
        m.begin_write(0, UNIT, &[slot as u8; UNIT as usize]);
        m.hold(slot, Lpn(12), below);
        m.write_slot(slot, range, 0, 0);
    }
    m.program_slot(Ppa(1), 3, Lpn(12), UnitKind::Wear);
    m.program_slot(Ppa(2), 4, Lpn(12), UnitKind::Wear);
    let mut should = bytes(12);
    should[10..20].fill(3);
    assert_eq!(m.unit(Ppa(1)).unwrap().to_vec(UNIT), should);
    should[15..40].fill(4);
    assert_eq!(m.unit(Ppa(2)).unwrap().to_vec(UNIT), should);
    assert!(m.faults().is_empty(), "{:?}", m.faults());
}

#[test]
fn what_is_on_flash_stays_when_a_drive_is_put_over_it_again() {
    let mut m = medium();
    stripe(&mut m);
    let mut again = Size { slots: 9, ..SIZE };
    m.attach(&again);
    assert_eq!(m.unit(Ppa(8)).unwrap().oob.lpn, Lpn(12));
    again.units_per_row = 2;
    m.attach(&again);
    assert!(m.unit(Ppa(8)).is_none(), "another drive");
}
