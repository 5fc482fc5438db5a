//! The built-in experiments, and the lookup of experiments by name.

use crate::error::ReproduceError;
use crate::file::Experiment;
use crate::{each, sweep, valid};
use serde::Deserialize;
use std::path::Path;
use toml::de::DeTable;

macro_rules! experiments {
    ($($id:literal),+ $(,)?) => {
        &[$(($id, include_str!(concat!("../../../experiments/", $id, ".toml")))),+]
    };
}

/// Every built-in experiment by its id, in the order of execution.
pub const EXPERIMENTS: &[(&str, &str)] = experiments!(
    "atc19/table2",
    "atc19/artifact",
    "atc19/fig3",
    "atc19/fig4",
    "atc19/table3",
    "atc19/fig5",
    "atc19/fig6",
    "atc19/fig7",
    "atc19/table4",
    "jsa14/load",
    "fast17/authors",
    "fast17/fig5",
    "fast17/fig6",
    "fast17/table2",
    "fast17/fig7",
    "fast17/fig9",
    "fast17/fig10",
    "fast17/fig11",
    "asplos24/erase-time",
    "asplos24/lifetime",
    "asplos24/authors",
    "asplos24/tail",
    "asplos24/in-a-million",
    "asplos24/sensitivity",
    "asplos24/dpes",
    "asplos21/retry",
    "hpca24/timeline",
    "hpca24/onset",
    "hpca24/predictor",
    "hpca24/bandwidth",
    "hpca24/channel",
    "hpca24/tail",
    "hpca24/ultra-large",
    "tos22/table1",
    "tos22/pblk",
    "tos22/fig1",
    "tos22/fig4",
    "tos22/fig5",
    "tos22/fig6",
    "tos22/fig7",
    "tos22/fig8",
    "tos22/maxima",
    "tos22/requests",
    "tos22/raid6",
    "tos22/rocksdb",
    "tos22/mongodb",
    "datasheets/client-tlc-gen3",
    "datasheets/dc-qlc-gen4",
    "datasheets/dc-tlc-gen4",
    "datasheets/dc-tlc-gen5",
    "composed/erases",
    "composed/together",
    "composed/suspension",
    "composed/limits",
    "composed/death",
    "composed/pblk",
    "composed/five-ways",
);

/// The papers in the ids of the built-in experiments, and what they are about.
pub const PAPERS: &[(&str, &str)] = &[
    ("atc19", "Kim et al., USENIX ATC 2019, suspension of erases"),
    ("jsa14", "Wu and He, FAST 2012 and JSA 2014, suspension of programs and erases"),
    ("fast17", "Yan et al., USENIX FAST 2017, ttFlash"),
    ("asplos24", "Cho et al., ASPLOS 2024, AERO"),
    ("asplos21", "Park et al., ASPLOS 2021, read retries"),
    ("hpca24", "Chun et al., HPCA 2024, RiF"),
    ("tos22", "Litz et al., ACM TOS 2022, RAIL"),
    ("datasheets", "drives by their data sheets"),
    ("composed", "schemes of several papers"),
];

/// The message of the reader of files in words that are not those of a programming language.
fn plain(message: &str) -> String {
    let whole = ["u8", "u16", "u32", "u64", "usize", "i64"]
        .map(|name| (format!("expected {name}"), "expected a whole number"));
    let real = [("expected f64".to_string(), "expected a number")];
    whole
        .iter()
        .chain(&real)
        .fold(message.to_string(), |text, (name, words)| text.replace(name.as_str(), words))
}

/// Reads the text of an experiment file; messages call it `name`.
///
/// # Errors
/// What is wrong with the text, with line and key.
pub fn parse(name: &str, text: &str) -> Result<Experiment, ReproduceError> {
    let fail = |message: String| ReproduceError::File { file: name.to_string(), message };
    let unreadable = |mut e: toml::de::Error| {
        e.set_input(Some(text));
        fail(plain(e.to_string().trim_end()))
    };
    let mut tables = DeTable::parse(text).map_err(unreadable)?;
    each::expand(tables.get_mut()).map_err(|wrong| {
        let line = 1 + text[..wrong.at.start].matches('\n').count();
        fail(format!("line {line}: {}", wrong.message))
    })?;
    let mut experiment = Experiment::deserialize(toml::Deserializer::from(tables)).map_err(unreadable)?;
    for run in experiment.run.iter_mut().filter(|r| r.schemes.is_empty() && r.variant.is_empty()) {
        run.variant.clone_from(&experiment.variant);
    }
    sweep::expand(&mut experiment).map_err(fail)?;
    valid::check(&experiment).map_err(fail)?;
    Ok(experiment)
}

/// All built-in experiments.
///
/// # Errors
/// As [`parse`]; a test checks that there are none.
pub fn all() -> Result<Vec<Experiment>, ReproduceError> {
    EXPERIMENTS.iter().map(|(id, text)| parse(&format!("experiments/{id}.toml"), text)).collect()
}

/// The experiments for a word: an id, a paper, or a file ending in `.toml`.
///
/// # Errors
/// An unknown id, with the nearest known one; a file that is not a valid experiment.
pub fn find(word: &str) -> Result<Vec<Experiment>, ReproduceError> {
    if word.ends_with(".toml") {
        let read = |source| ReproduceError::Read { path: word.to_string(), source };
        let text = std::fs::read_to_string(Path::new(word)).map_err(read)?;
        return Ok(vec![parse(word, &text)?]);
    }
    let paper = format!("{}/", word.trim_end_matches('/'));
    let found: Vec<Experiment> =
        all()?.into_iter().filter(|e| e.id == word || e.id.starts_with(&paper)).collect();
    if found.is_empty() { Err(unknown(word)) } else { Ok(found) }
}

fn unknown(word: &str) -> ReproduceError {
    let mut known: Vec<String> = Vec::new();
    for (id, _) in EXPERIMENTS {
        let paper = id.split('/').next().unwrap_or(id).to_string();
        if !known.contains(&paper) {
            known.push(paper);
        }
        known.push(id.to_string());
    }
    let near = |k: &&String| strsim::damerau_levenshtein(word, k);
    let nearest = known.iter().min_by_key(near).filter(|k| word.len() <= 64 && near(k) <= 2.max(k.len() / 3));
    ReproduceError::Unknown { id: word.to_string(), nearest: nearest.cloned(), known }
}
