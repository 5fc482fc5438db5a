"use strict";
(() => {
  const {
    data, $, theme, isLight, isPrinting, colour, faint, dashes, patterns, plain, short, time, decades, layout, legendBelow,
    title, figure, redraw, start,
  } = common;
  const titles = { read: "Reads", write: "Writes", trim: "Trims", flush: "Flushes" };

  const level = (above) => (above === 0 ? "all" : `p${above}`);

  const shown = new Set(data.schemes.map((_, i) => i));

  const ccdf = (kind) => (width) => {
    const traces = [];
    let [low, high, least] = [Infinity, 0, 1];
    data.schemes.forEach((scheme, i) => {
      const of = scheme.of[kind];
      if (!of || of.ns.length === 0) return;
      low = Math.min(low, of.ns[0]);
      high = Math.max(high, of.ns.at(-1));
      least = Math.min(least, of.share.at(-1));
      const group = { legendgroup: `s${i}`, visible: shown.has(i) ? true : "legendonly" };
      if (of.bands.length > 1) {
        const bands = of.bands;
        traces.push({
          ...group, type: "scatter", mode: "lines", fill: "toself", hoverinfo: "skip", showlegend: false,
          visible: shown.has(i), line: { width: 0 }, fillcolor: faint(colour(i)), name: short(scheme.name, 40),
          x: [...bands.map((b) => b[1]), ...bands.map((b) => b[2]).reverse()],
          y: [...bands.map((b) => b[0]), ...bands.map((b) => b[0]).reverse()],
        });
      }
      traces.push({
        ...group, type: "scatter", mode: "lines", name: short(scheme.name, 40),
        line: { color: colour(i), dash: dashes[i % dashes.length], width: 2, shape: "vh" },
        x: of.ns, y: of.share,
        text: of.ns.map((ns, k) => {
          const percent = 100 * (1 - of.share[k]);
          return `p${Number(percent.toPrecision(7))}: ${time(ns)}`;
        }),
        hovertemplate: "%{text}<br>%{y:.3g} of the requests took at least so long<extra>%{fullData.name}</extra>",
      });
    });
    return {
      traces,
      layout: layout({
        ...legendBelow(width, 380, 75, traces.filter((t) => t.showlegend !== false).map((t) => t.name)),
        title: title(titles[kind]), hovermode: "closest",
        xaxis: { type: "log", title: { text: "latency" }, ...decades(low, high) },
        yaxis: {
          type: "log", title: { text: "share of the requests" }, dtick: 1, exponentformat: "power",
          range: [Math.log10(least) - 0.15, 0.1],
        },
      }),
    };
  };

  // The causes that are worth a colour, the most important first, and the number of the others.
  const MOST = 11;
  const causesOf = (kind) => {
    const weight = new Map();
    for (const scheme of data.schemes) {
      for (const bar of scheme.of[kind]?.blame ?? []) {
        for (const [cause, ns] of bar.causes) {
          weight.set(cause, (weight.get(cause) ?? 0) + ns / Math.max(bar.mean, 1e-9));
        }
      }
    }
    const sorted = [...weight].sort((a, b) => b[1] - a[1]).map(([cause]) => cause);
    const most = sorted.length > MOST + 1 ? MOST : sorted.length;
    return { causes: sorted.slice(0, most), others: sorted.slice(most) };
  };

  const blame = (kind) => (width) => {
    const { causes, others } = causesOf(kind);
    const shares = $("blame-as").value === "share";
    const bars = [];
    const levels = new Set();
    data.schemes.forEach((s) => (s.of[kind]?.blame ?? []).forEach((b) => levels.add(b.above)));
    for (const above of [...levels].sort((a, b) => a - b)) {
      data.schemes.forEach((scheme, i) => {
        const bar = scheme.of[kind]?.blame.find((b) => b.above === above);
        if (bar && shown.has(i)) bars.push({ scheme: scheme.name, i, ...bar, of: new Map(bar.causes) });
      });
    }
    const one = data.schemes.length === 1;
    const x = one
      ? bars.map((bar) => level(bar.above))
      : [bars.map((bar) => level(bar.above)), bars.map((bar) => short(bar.scheme, 16))];
    const trace = (name, i, value, hover) => {
      const ns = bars.map(value);
      const y = bars.map((bar, k) => (shares ? (bar.mean > 0 ? (100 * ns[k]) / bar.mean : 0) : ns[k] / 1e3));
      return {
        type: "bar", name, x, y,
        marker: {
          color: colour(i), line: { color: theme().page, width: 0.5 },
          // On paper a pattern takes a hundred times the space of its bar; the bars are in the order of the legend.
          pattern: { shape: isPrinting() ? "" : patterns[Math.floor(i / 8) * 2 + (i % 2)], fillmode: "overlay", solidity: 0.22, size: 8, fgcolor: theme().page },
        },
        text: bars.map((bar, k) => {
          const share = bar.mean > 0 ? ((100 * ns[k]) / bar.mean).toFixed(1) : 0;
          return `${plain(bar.scheme)}, ${level(bar.above)}: ${time(ns[k])} of ${time(bar.mean)} (${share} %)`;
        }),
        textposition: "none", hovertemplate: `%{text}<extra>${hover}</extra>`,
      };
    };
    const traces = causes.map((cause, i) => trace(plain(cause), i, (bar) => bar.of.get(cause) ?? 0, plain(cause)));
    if (others.length > 0) {
      const sum = (bar) => others.reduce((sum, cause) => sum + (bar.of.get(cause) ?? 0), 0);
      traces.push(trace(`${others.length} smaller`, causes.length, sum, others.map(plain).join("<br>")));
    }
    // The mean latencies, where there is room for them.
    if (width > 52 * bars.length) traces.push({
      type: "scatter", mode: "text", x, y: bars.map((bar) => (shares ? 100 : bar.mean / 1e3)),
      text: bars.map((bar) => time(bar.mean)), textposition: "top center", textfont: { size: 11 },
      cliponaxis: false, hoverinfo: "skip", showlegend: false,
    });
    return {
      traces,
      layout: layout({
        ...legendBelow(width, 370, width > 52 * bars.length ? 95 : 170, traces.filter((t) => t.showlegend !== false).map((t) => t.name)),
        barmode: "stack", bargap: 0.15, title: title(titles[kind]), hovermode: "closest",
        xaxis: { title: { text: "requests at and beyond" } },
        yaxis: shares
          ? { title: { text: "share of the latency, %" }, range: [0, 108], dtick: 20 }
          : { title: { text: "mean time, µs" }, rangemode: "tozero" },
      }),
    };
  };

  const heat = (width) => {
    const scheme = data.schemes[Number($("time-scheme").value)];
    const kind = $("time-kind").value;
    const t = scheme.time;
    const of = t.of[kind] ?? { p50: [], p99: [], p999: [], max: [], bounds: [], counts: [] };
    const end = t.at.length > 0 ? t.at.at(-1) + t.length.at(-1) : 1;
    const [unit, scale] = end >= 2e9 ? ["s", 1e9] : end >= 2e6 ? ["ms", 1e6] : ["µs", 1e3];
    const at = t.at.map((ns) => ns / scale);
    const middle = t.at.map((ns, k) => (ns + t.length[k] / 2) / scale);
    const edges = [...at, end / scale];
    const traces = [];
    let [low, high] = [Infinity, 1];
    of.p50.forEach((ns, k) => {
      if (of.max[k] > 0) [low, high] = [Math.min(low, Math.max(ns, 1)), Math.max(high, of.max[k])];
    });
    if (of.bounds.length > 1) {
      const rows = of.bounds.length - 1;
      const z = Array.from({ length: rows }, () => new Array(at.length).fill(null));
      const counts = z.map((row) => row.slice());
      of.counts.forEach(([from, ...cells], k) => cells.forEach((count, c) => {
        if (count > 0) [z[from + c][k], counts[from + c][k]] = [Math.log10(count), count];
      }));
      const bounds = of.bounds.map((ns) => Math.max(ns, 0.8));
      [low, high] = [bounds[0], bounds.at(-1)];
      const most = Math.ceil(Math.max(1, ...z.flat().filter((v) => v !== null)));
      const powers = Array.from({ length: most + 1 }, (_, e) => e);
      traces.push({
        type: "heatmap", name: "requests", x: edges, y: bounds, z, zmin: 0, zmax: most,
        colorscale: "Cividis", reversescale: isLight(), hoverongaps: false,
        text: counts.map((row, r) => row.map((n) => n === null ? ""
          : `${n} requests<br>${time(of.bounds[r])} to ${time(of.bounds[r + 1])}`)),
        hovertemplate: `%{text}<br>at %{x:.4g} ${unit}<extra></extra>`,
        colorbar: {
          title: { text: "requests", side: "right" }, tickvals: powers, ticktext: powers.map((e) => (10 ** e).toLocaleString("en")),
          len: 0.47, y: 1, yanchor: "top", thickness: 12,
        },
      });
    }
    const line = (name, list, i, more) => traces.push({
      type: "scatter", mode: "lines", name, x: middle, y: list.map((ns) => (ns > 0 ? ns : null)),
      line: { color: colour(i), dash: dashes[i % dashes.length], width: 1.5 }, text: list.map(time),
      hovertemplate: `${name} %{text}<extra></extra>`, ...more,
    });
    const only = of.bounds.length <= 1;
    line("p50", of.p50, 0, { visible: only ? true : "legendonly" });
    line("p99", of.p99, 1, { visible: only ? true : "legendonly" });
    line("p99.9", of.p999, 3, {});
    line("max", of.max, 6, { visible: only ? true : "legendonly" });

    const below = (axis, name, list, i, more) => traces.push({
      x: middle, y: list, yaxis: axis, name, type: "scatter", mode: "lines", showlegend: false,
      line: { color: colour(i), width: 1.5, dash: dashes[i % 2] }, hovertemplate: `${name} %{y:.4g}<extra></extra>`, ...more,
    });
    const percent = (list) => list.map((share) => (share === null ? null : 100 * share));
    below("y2", "collections ended", t.collections, 0, { type: "bar", marker: { color: colour(0) }, line: undefined, mode: undefined });
    below("y3", "free blocks", t.free, 2, { line: { color: colour(2), width: 1.5, shape: "hv" } });
    below("y4", "buffer in use, %", percent(t.buffer), 3, {});
    below("y5", "dies in use, %", percent(t.dies), 0, { showlegend: true, legendgroup: "use" });
    below("y5", "channels in use, %", percent(t.channels), 1, { showlegend: true, legendgroup: "use" });
    const row = (text, from, to, more) => ({
      title: { text, font: { size: 11 } }, domain: [from, to], nticks: 4, rangemode: "tozero", zeroline: false, ...more,
    });
    return {
      traces,
      describe: `Latency over time of ${titles[kind] ?? kind} of ${scheme.name}`,
      layout: layout({
        ...legendBelow(width, 800, 55, traces.filter((t) => t.showlegend !== false && t.type === "scatter").map((t) => t.name)),
        title: title(`${short(scheme.name, 50)}, ${(titles[kind] ?? kind).toLowerCase()}`), hovermode: "closest",
        bargap: 0,
        xaxis: { title: { text: `time of the run, ${unit}` }, anchor: "y5", range: [0, end / scale], showspikes: true, spikemode: "across", spikethickness: 1 },
        yaxis: {
          type: "log", title: { text: "latency" }, domain: [0.54, 1], ...decades(low, high),
          range: [Math.log10(low) - 0.02, Math.log10(high) + 0.05],
        },
        yaxis2: row("collections<br>ended", 0.41, 0.51),
        yaxis3: row("free<br>blocks", 0.28, 0.38, { rangemode: "normal" }),
        yaxis4: row("buffer in<br>use, %", 0.15, 0.25),
        yaxis5: row("in use, %", 0, 0.12, { range: [0, 100] }),
      }),
    };
  };

  for (const kind of data.kinds) {
    figure($("ccdf"), `ccdf-${kind}`, `Distribution of the latencies of ${titles[kind]}`, ccdf(kind));
    if (data.schemes.some((scheme) => (scheme.of[kind]?.blame.length ?? 0) > 0)) {
      figure($("blame"), `blame-${kind}`, `Causes of the latencies of ${titles[kind]}`, blame(kind));
    }
    $("time-kind").append(new Option(titles[kind], kind));
  }
  data.schemes.forEach((scheme, i) => $("time-scheme").append(new Option(scheme.name, String(i))));
  if (data.schemes.some((scheme) => scheme.time.at.length > 0) && data.kinds.length > 0) {
    figure($("heat"), "heat-time", "Latency over time", heat);
  }

  // One box for each scheme: with the keyboard a legend cannot be reached.
  if (data.schemes.length > 1) {
    $("schemes").hidden = false;
    data.schemes.forEach((scheme, i) => {
      const label = document.createElement("label");
      const box = document.createElement("input");
      const swatch = document.createElement("span");
      box.type = "checkbox";
      box.checked = true;
      box.addEventListener("change", () => {
        box.checked ? shown.add(i) : shown.delete(i);
        redraw(/^(ccdf|blame)-/);
      });
      swatch.className = "swatch";
      swatch.dataset.scheme = String(i);
      label.append(box, swatch, scheme.name);
      $("schemes").append(label);
    });
  }
  const swatches = () => document.querySelectorAll(".swatch").forEach((swatch) => {
    const i = Number(swatch.dataset.scheme);
    swatch.style.borderTopColor = colour(i);
    swatch.style.borderTopStyle = ["solid", "dashed", "dotted", "dashed", "dashed", "dashed"][i % 6];
  });

  $("blame-as").addEventListener("change", () => redraw(/^blame-/));
  $("time-scheme").addEventListener("change", () => redraw(/^heat-/));
  $("time-kind").addEventListener("change", () => redraw(/^heat-/));
  start(swatches);
})();
