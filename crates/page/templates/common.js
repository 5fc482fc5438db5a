"use strict";
// What all pages share: colours, units, the layout of a figure, and when figures are drawn again.
const common = (() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const $ = (id) => document.getElementById(id);

  // Colours that people with any common colour blindness can tell apart, on light and on dark paper.
  // Lines also differ by their dashes, and bars by their patterns.
  const palettes = {
    light: {
      series: ["#0072b2", "#d55e00", "#00805d", "#aa3377", "#9a7000", "#3a9bdc", "#606060", "#8b4513"],
      page: "#ffffff", text: "#1f2328", line: "#d1d9e0",
    },
    dark: {
      series: ["#58a6ff", "#ff9e4a", "#3fc98f", "#e07bc0", "#e6c229", "#9ad8ff", "#b0b0b0", "#d2a679"],
      page: "#0d1117", text: "#e6edf3", line: "#3d444d",
    },
  };
  const dashes = ["solid", "dash", "dot", "dashdot", "longdash", "longdashdot"];
  const patterns = ["", "/", ".", "\\", "x", "-", "+", "|"];
  const systemDark = matchMedia("(prefers-color-scheme: dark)");
  let printing = matchMedia("print").matches;
  const theme = () => {
    const chosen = document.documentElement.dataset.theme;
    const dark = chosen === "dark" || (chosen === "auto" && systemDark.matches);
    return dark && !printing ? palettes.dark : palettes.light;
  };
  const colour = (i) => theme().series[i % 8];
  const isLight = () => theme() === palettes.light;
  const faint = (hex) => hex + "38";

  // The chart library reads tags in its texts: names from users must not have any.
  const plain = (text) => text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");
  const short = (text, most) => plain(text.length > most ? text.slice(0, most - 1) + "…" : text);

  const time = (ns) => {
    const units = [["s", 1e9], ["ms", 1e6], ["µs", 1e3], ["ns", 1]];
    const [unit, scale] = units.find(([, scale]) => ns >= 0.9995 * scale) ?? units[3];
    return `${Number((ns / scale).toPrecision(3))} ${unit}`;
  };
  // Ticks between two latencies that are close together, at multiples of 1, 2 or 5.
  const near = (low, high) => {
    const wide = Math.max(high - low, low / 20);
    const unit = 10 ** Math.floor(Math.log10(wide / 3));
    const step = unit * ([1, 2, 5].find((n) => wide <= 5 * n * unit) ?? 10);
    const first = Math.floor(low / step) - 1;
    return Array.from({ length: Math.ceil(high / step) + 2 - first }, (_, i) => (first + i) * step).filter((ns) => ns > 0);
  };
  // Ticks between two latencies: at powers of ten, and where these are few at 2 and 5 times them, or at every whole one.
  const decades = (low, high) => {
    const span = Math.log10(high / low);
    if (span < 0.3) {
      const ticks = near(low, high);
      return { tickvals: ticks, ticktext: ticks.map(time) };
    }
    const steps = span > 2.5 ? [1] : span > 0.7 ? [1, 2, 5] : [1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 7, 8, 9];
    const ticks = [];
    for (let e = Math.floor(Math.log10(low)); e <= Math.ceil(Math.log10(high)); e++) {
      ticks.push(...steps.map((step) => step * 10 ** e));
    }
    return { tickvals: ticks, ticktext: ticks.map(time) };
  };

  const layout = (more) => {
    const { page, text, line } = theme();
    const axis = { gridcolor: line, linecolor: line, zerolinecolor: line, automargin: true };
    const out = {
      paper_bgcolor: page, plot_bgcolor: page,
      font: { color: text, family: "system-ui, sans-serif", size: 13 },
      margin: { l: 60, r: 16, t: 44, b: 50 },
      hoverlabel: { namelength: -1 },
      ...more,
    };
    for (const key of Object.keys(out)) {
      if (/^[xy]axis\d*$/.test(key)) out[key] = { ...axis, ...out[key] };
    }
    return out;
  };
  // A legend below a figure of this height without it, and room for so many rows as the names take.
  const legendBelow = (width, height, axis, names) => {
    const wide = 55 + 7 * Math.max(...names.map((name) => name.length), 1);
    const rows = Math.ceil(names.length / Math.max(1, Math.floor((width - 80) / wide)));
    return {
      width, height: height + axis + 20 * rows,
      margin: { l: 60, r: 16, t: 44, b: axis + 20 * rows },
      legend: {
        orientation: "h", yref: "container", y: 0, yanchor: "bottom", traceorder: "normal", font: { size: 12 },
        entrywidth: wide - 45, entrywidthmode: "pixels",
      },
    };
  };
  const title = (text) => ({ text, x: 0, xref: "paper", xanchor: "left", font: { size: 15 } });

  // Width of the text on A4 and Letter, px.
  const PAPER = 690;

  // A figure that draws itself again when colours or choices change.
  const figures = [];
  const figure = (parent, id, label, make) => {
    const div = document.createElement("div");
    div.id = id;
    div.setAttribute("role", "img");
    parent.append(div);
    const draw = () => {
      // Paper is narrower than most windows.
      const { traces, layout, describe } = make(printing ? PAPER : Math.max(div.clientWidth, 280));
      div.setAttribute("aria-label", describe ?? label);
      div.style.height = `${layout.height}px`;
      const config = { displaylogo: false, modeBarButtonsToRemove: ["select2d", "lasso2d"] };
      return Plotly.react(div, traces, layout, config).then(() => {
        div.dataset.rendered = String(traces.length);
      });
    };
    figures.push({ div, draw });
    return draw;
  };

  const redraw = (only) => Promise.all(figures.filter(({ div }) => !only || only.test(div.id)).map(({ draw }) => draw()));

  // Draw all figures, and draw them again when colours, the width or the paper change. `before` runs first each time.
  const start = (before) => {
    const all = () => {
      before();
      return redraw();
    };
    $("theme").value = document.documentElement.dataset.theme;
    $("theme").addEventListener("change", (event) => {
      document.documentElement.dataset.theme = event.target.value;
      all();
    });
    systemDark.addEventListener("change", all);
    let soon;
    addEventListener("resize", () => {
      clearTimeout(soon);
      if (!printing) soon = setTimeout(() => redraw(), 150);
    });
    const paper = (begins) => {
      printing = begins;
      all();
    };
    addEventListener("beforeprint", () => paper(true));
    addEventListener("afterprint", () => paper(false));
    all().then(() => { document.documentElement.dataset.drawn = String(figures.length); });
  };

  return {
    data, $, theme, isLight, isPrinting: () => printing, colour, faint, dashes, patterns, plain, short, time, decades,
    layout, legendBelow, title, figure, redraw, start,
  };
})();
