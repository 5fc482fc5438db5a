//! Adds faults (`--fault`) to the list of the layers below.

use crate::tree::{Data, Origin, Source, Tree};
use tailcut_core::nand::faults::config::FaultConfig;

/// The key of the list.
const KEY: &str = "fault";

/// Append `faults` to the list `fault` of a drive.
pub(crate) fn add(drive: &mut Tree, faults: &[FaultConfig]) {
    let Data::Table(top) = &mut drive.data else { return };
    if faults.is_empty() {
        return;
    }
    let named: Vec<String> = faults.iter().map(|fault| format!("--fault {fault}")).collect();
    let own = |name: &str| Origin::of(&Source::bare(name));
    let items = faults.iter().zip(&named).map(|(fault, name)| Tree::of_value(value_of(fault), &own(name)));
    match top.get_mut(KEY) {
        Some(Tree { data: Data::List(list), origin }) => {
            // The list is of both; the items keep their own origins.
            let name = format!("{}, {}", origin.source.name, named.join(", "));
            let citation = origin.citation.take();
            *origin = own(&name);
            origin.citation = citation;
            list.extend(items);
        }
        // A value that is no list is refused when it is read.
        Some(_) => {}
        None => {
            let list = Tree { data: Data::List(items.collect()), origin: own(&named.join(", ")) };
            top.insert(KEY.to_string(), list);
        }
    }
}

fn value_of(fault: &FaultConfig) -> toml::Value {
    match toml::Value::try_from(fault) {
        Ok(value) => value,
        // The struct holds texts, integers and a truth value, which TOML can express.
        Err(e) => unreachable!("a fault is always TOML: {e}"),
    }
}
