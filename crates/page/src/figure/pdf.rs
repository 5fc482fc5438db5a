//! Figures as PDF.

use crate::error::PageError;

/// Convert a figure.
///
/// # Errors
/// There is no font on this machine, or the program was built without this part.
#[cfg(feature = "pdf")]
pub fn pdf(svg: &str) -> Result<Vec<u8>, PageError> {
    use crate::output::MARK;
    use std::sync::Arc;
    use svg2pdf::usvg::{self, fontdb};

    let mut fonts = fontdb::Database::new();
    fonts.load_system_fonts();
    // The name of the family is often not that of a font which is there.
    let wanted = ["Helvetica", "Arial", "Liberation Sans", "DejaVu Sans", "Noto Sans"];
    let known =
        |name: &&str| fonts.faces().any(|face| face.families.iter().any(|(family, _)| family == name));
    let family = wanted.iter().find(|name| known(name)).map(|name| name.to_string());
    let first = || fonts.faces().find_map(|face| face.families.first().map(|(family, _)| family.clone()));
    let Some(family) = family.or_else(first) else {
        let text = "there is no font on this machine, which a PDF needs: name a file that ends in .svg";
        return Err(PageError::Draw(text.to_string()));
    };
    fonts.set_sans_serif_family(family);
    let options = usvg::Options { fontdb: Arc::new(fonts), ..usvg::Options::default() };
    let failed = |e: &dyn std::fmt::Display| PageError::Draw(e.to_string());
    let tree = usvg::Tree::from_str(svg, &options).map_err(|e| failed(&e))?;
    // A unit of the SVG is 1/96 inch, as in CSS.
    let page = svg2pdf::PageOptions { dpi: 96.0 };
    let mut bytes =
        svg2pdf::to_pdf(&tree, svg2pdf::ConversionOptions::default(), page).map_err(|e| failed(&e))?;
    // A comment at the end, by which the file is recognised.
    bytes.extend(format!("\n% {MARK}\n").as_bytes());
    Ok(bytes)
}

/// Convert a figure: not in this build.
///
/// # Errors
/// Always.
#[cfg(not(feature = "pdf"))]
pub fn pdf(_: &str) -> Result<Vec<u8>, PageError> {
    let text = "this is the quick build of `make demo`, which writes no PDF; `make build` builds one that does, and a name \
                that ends in .svg works here too";
    Err(PageError::Nothing(text.to_string()))
}
