//! The page of `tailcut report` in headless Chromium. Skips where there is none.
//!
//! Screenshots are not compared: they depend on the fonts and the version of the browser. What is checked is what the
//! browser has made of the page: figures, colours, widths, and messages.
#![cfg(unix)]

mod common;

use common::chromium::{browser, open};
use common::tailcut;

/// Runs in the page when its figures are drawn: what the browser has made of it goes into attributes of the root.
const PROBE: &str = r##"<script>
(async () => {
  const root = document.documentElement;
  const pause = (ms) => new Promise((done) => setTimeout(done, ms));
  while (!root.dataset.drawn) await pause(20);
  root.dataset.overflow = String(root.scrollWidth - root.clientWidth);
  const paths = (id) => document.querySelectorAll(`#${id} .scatterlayer .trace`).length;
  root.dataset.before = String(paths("ccdf-read"));
  const box = document.querySelector("#schemes input");
  box.focus();
  root.dataset.focused = String(document.activeElement === box);
  box.click();
  await pause(300);
  root.dataset.after = String(paths("ccdf-read"));
  const choice = document.getElementById("time-scheme");
  choice.value = "1";
  choice.dispatchEvent(new Event("change"));
  await pause(300);
  root.dataset.chosen = document.getElementById("heat-time").getAttribute("aria-label");
  root.dataset.unnamed = String([...document.querySelectorAll("input, select")].filter((e) => e.labels.length === 0).length);
  root.dataset.probed = "yes";
})();
</script></body>"##;

#[test]
fn the_browser_draws_every_figure() {
    let Some(browser) = browser() else { return };
    let dir = tempfile::tempdir().unwrap();
    let page = dir.path().join("page.html");
    let url = format!("file://{}", page.display());
    let job = "randrw,bs=4k,rwmixread=70,iodepth=8,size=70%,number_ios=30000,fsync=50";
    let run = ["run", "tiny", "--scheme", "baseline,rps", "--workload", job, "--precondition", "steady"];
    tailcut(&[&run[..], &["--report", page.to_str().unwrap()]].concat()).ok();
    let text = std::fs::read_to_string(&page).unwrap().replacen("</body>", PROBE, 1);
    for (theme, paper, size) in
        [("light", "rgb(255, 255, 255)", "1280,900"), ("dark", "rgb(13, 17, 23)", "500,900")]
    {
        let chosen = format!("data-theme=\"{theme}\"");
        std::fs::write(&page, text.replacen("data-theme=\"auto\"", &chosen, 1)).unwrap();
        let window = format!("--window-size={size}");
        let (dom, said) = open(&browser, dir.path(), &[&window, "--dump-dom"], &url);
        assert!(!said.contains("CONSOLE"), "{said}");
        let head = &dom[..dom.find("<head>").expect("a page")];
        for attribute in [
            "data-probed=\"yes\"",
            // Three kinds of requests have a distribution and causes each, and one figure is over time.
            "data-drawn=\"7\"",
            "data-focused=\"true\"",
            "data-overflow=\"0\"",
            "data-unnamed=\"0\"",
            // Each scheme is a curve with a band; those of the first are gone after a click on its box.
            "data-before=\"4\"",
            "data-after=\"2\"",
            "data-chosen=\"Latency over time of Reads of rps\"",
        ] {
            assert!(head.contains(attribute), "{theme}: no {attribute} in {head}");
        }
        for id in
            ["ccdf-read", "ccdf-write", "ccdf-flush", "blame-read", "blame-write", "blame-flush", "heat-time"]
        {
            let (_, figure) = dom.split_once(&format!("id=\"{id}\"")).unwrap_or_else(|| panic!("no {id}"));
            let tag = &figure[..figure.find('>').unwrap()];
            assert!(tag.contains("data-rendered=") && !tag.contains("data-rendered=\"0\""), "{id}: {tag}");
            let drawing = &figure[..4_000.min(figure.len())];
            assert!(
                drawing.contains(&format!("background: {paper}")),
                "{theme}: {id} has other colours: {drawing}"
            );
        }
        assert!(dom.contains("class=\"hm\"") || dom.contains("<image"), "a heat map");
    }
    let pdf = dir.path().join("page.pdf");
    let print = format!("--print-to-pdf={}", pdf.display());
    let (_, said) = open(&browser, dir.path(), &[&print, "--no-pdf-header-footer"], &url);
    let bytes = std::fs::read(&pdf).unwrap_or_else(|e| panic!("{e}: {said}"));
    assert!(bytes.starts_with(b"%PDF-") && bytes.len() > 20_000, "{} bytes", bytes.len());
    assert!(!said.contains("CONSOLE"), "{said}");
}
