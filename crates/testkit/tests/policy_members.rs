//! Tests that every member of every policy family is described alike, and is written to a configuration and
//! read back.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::fmt::Debug;
use tailcut_core::policy::FAMILIES;
use tailcut_core::policy::background::BackgroundConfig;
use tailcut_core::policy::buffer::BufferConfig;
use tailcut_core::policy::erase_scheme::EraseSchemeConfig;
use tailcut_core::policy::flush::FlushConfig;
use tailcut_core::policy::gc_schedule::GcScheduleConfig;
use tailcut_core::policy::gc_scope::GcScopeConfig;
use tailcut_core::policy::gc_victim::GcVictimConfig;
use tailcut_core::policy::placement::PlacementConfig;
use tailcut_core::policy::read_path::ReadPathConfig;
use tailcut_core::policy::read_retry::ReadRetryConfig;
use tailcut_core::policy::redundancy::RedundancyConfig;
use tailcut_core::policy::schedule::ScheduleConfig;
use tailcut_core::policy::suspend_erase::SuspendEraseConfig;
use tailcut_core::policy::suspend_program::SuspendProgramConfig;
use tailcut_core::policy::wear::WearConfig;
use tailcut_core::policy::write_gate::WriteGateConfig;
use tailcut_testkit::swarm;

#[test]
fn every_member_is_described_under_the_same_headings() {
    let headings: [&[&str]; 5] = [
        &["**What it does.**"],
        &["**Why it helps the tail.**", "**Why it matters for the tail.**"],
        &["**Parameters and source.**"],
        &["**Left out.**"],
        &["**Checked by**"],
    ];
    for family in FAMILIES {
        for member in family.members {
            let manual = member.manual();
            let name = format!("{}.{}", family.name, member.name);
            let title = manual.lines().next().unwrap_or_default();
            assert!(title.ends_with('.'), "{name}: the first line must be a sentence");
            let mut from = 0;
            for heading in headings {
                let at = heading.iter().find_map(|h| manual[from..].find(h));
                let at = at.unwrap_or_else(|| panic!("{name}: {heading:?} is missing, or out of order"));
                from += at;
            }
        }
    }
}

#[derive(Serialize, Deserialize, PartialEq, Debug)]
struct Holder<C> {
    value: C,
}

/// Test that a member given as a bare name equals the table that it is serialised to.
fn round_trips<C: Serialize + DeserializeOwned + PartialEq + Debug>(family: &str, members: &[&str]) {
    for name in members {
        let bare: Holder<C> =
            toml::from_str(&format!("value = \"{name}\"")).unwrap_or_else(|e| panic!("{family}.{name}: {e}"));
        let text = toml::to_string(&bare).unwrap_or_else(|e| panic!("{family}.{name}: {e}"));
        let again: Holder<C> =
            toml::from_str(&text).unwrap_or_else(|e| panic!("{family}.{name}: {e}\n{text}"));
        assert_eq!(bare, again, "{text}");
        let table: Holder<C> = toml::from_str(&format!("value = {{ {name} = {{}} }}"))
            .unwrap_or_else(|e| panic!("{family}.{name}, as an empty table: {e}"));
        assert_eq!(bare, table, "{family}.{name}: an empty table means the defaults");
        let wrong = format!("value = {{ {name} = {{ no_such_key = 1 }} }}");
        assert!(toml::from_str::<Holder<C>>(&wrong).is_err(), "{family}.{name} takes any key");
    }
    let wrong = toml::from_str::<Holder<C>>("value = \"no-such-member\"").expect_err("no such member");
    for name in members {
        assert!(wrong.to_string().contains(name), "{family}: the error does not offer {name}: {wrong}");
    }
}

#[test]
fn every_member_is_written_and_read_back() {
    round_trips::<ScheduleConfig>("schedule", ScheduleConfig::MEMBERS);
    round_trips::<SuspendEraseConfig>("suspend_erase", SuspendEraseConfig::MEMBERS);
    round_trips::<EraseSchemeConfig>("erase_scheme", EraseSchemeConfig::MEMBERS);
    round_trips::<SuspendProgramConfig>("suspend_program", SuspendProgramConfig::MEMBERS);
    round_trips::<ReadRetryConfig>("read_retry", ReadRetryConfig::MEMBERS);
    round_trips::<BufferConfig>("buffer", BufferConfig::MEMBERS);
    round_trips::<FlushConfig>("flush", FlushConfig::MEMBERS);
    round_trips::<PlacementConfig>("placement", PlacementConfig::MEMBERS);
    round_trips::<RedundancyConfig>("redundancy", RedundancyConfig::MEMBERS);
    round_trips::<ReadPathConfig>("read_path", ReadPathConfig::MEMBERS);
    round_trips::<GcVictimConfig>("gc_victim", GcVictimConfig::MEMBERS);
    round_trips::<GcScheduleConfig>("gc_schedule", GcScheduleConfig::MEMBERS);
    round_trips::<GcScopeConfig>("gc_scope", GcScopeConfig::MEMBERS);
    round_trips::<BackgroundConfig>("background", BackgroundConfig::MEMBERS);
    round_trips::<WearConfig>("wear", WearConfig::MEMBERS);
    round_trips::<WriteGateConfig>("write_gate", WriteGateConfig::MEMBERS);
    let listed: usize = FAMILIES.iter().map(|f| f.members.len()).sum();
    let tried = ScheduleConfig::MEMBERS.len()
        + SuspendEraseConfig::MEMBERS.len()
        + EraseSchemeConfig::MEMBERS.len()
        + SuspendProgramConfig::MEMBERS.len()
        + ReadRetryConfig::MEMBERS.len()
        + BufferConfig::MEMBERS.len()
        + FlushConfig::MEMBERS.len()
        + PlacementConfig::MEMBERS.len()
        + RedundancyConfig::MEMBERS.len()
        + ReadPathConfig::MEMBERS.len()
        + GcVictimConfig::MEMBERS.len()
        + GcScheduleConfig::MEMBERS.len()
        + GcScopeConfig::MEMBERS.len()
        + BackgroundConfig::MEMBERS.len()
        + WearConfig::MEMBERS.len()
        + WriteGateConfig::MEMBERS.len();
    assert_eq!(listed, tried, "a family is not tested here");
}

#[test]
fn whole_drives_are_written_and_read_back() {
    for seed in 0..100 {
        let config = swarm::draw(seed).config;
        let text = toml::to_string(&config).unwrap_or_else(|e| panic!("seed {seed}: {e}"));
        let again = toml::from_str(&text).unwrap_or_else(|e| panic!("seed {seed}: {e}\n{text}"));
        assert_eq!(config, again, "seed {seed}: {text}");
    }
}
