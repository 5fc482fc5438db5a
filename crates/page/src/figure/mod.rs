//! Single figures at the width of a paper's column, as SVG or PDF.

mod blame;
mod canvas;
mod ccdf;
mod choice;
mod heat;
mod pdf;

pub use choice::{Choice, Figure};
pub use pdf::pdf;
