(() => {
  const { data, $, theme, colour, dashes, plain, short, time, decades, layout, legendBelow, title, figure, redraw, start } = common;
  const { axes, figures, points } = data;

  const bytes = (n) => {
    const [unit, scale] = [["TiB", 2 ** 40], ["GiB", 2 ** 30], ["MiB", 2 ** 20], ["KiB", 1024], ["B", 1]].find(([, s]) => n >= s) ?? ["B", 1];
    return `${Number((n / scale).toPrecision(3))} ${unit}`;
  };
  const shows = { time, bytes, "": (x) => String(Number(x.toPrecision(4))) };
  const show = (of, x) => (x === null ? "none" : shows[of.unit](x));
  const settings = (point) => axes.map((axis, i) => `${plain(axis.key)} = ${short(axis.values[point.at[i]], 60)}`).join("<br>");

  // An axis of a figure: times on a logarithmic scale, others as they are.
  const scale = (of, values) => {
    const known = values.filter((x) => x !== null);
    const [low, high] = [Math.min(...known), Math.max(...known)];
    const text = { title: { text: plain(of.title) } };
    if (of.unit !== "time" || !(low > 0)) return { ...text, tickformat: of.unit === "" ? "~s" : undefined, rangemode: "tozero" };
    const room = Math.max(0.05, 0.06 * Math.log10(high / low));
    return { ...text, type: "log", ...decades(low, high), range: [Math.log10(low) - room, Math.log10(high) + room] };
  };

  const options = (id, list, chosen) => {
    list.forEach(([text, value]) => $(id).append(new Option(text, value)));
    $(id).value = String(chosen);
  };
  const indexed = (list, name) => list.map((of, i) => [name(of), String(i)]);
  const best = (...names) => {
    const found = names.map((name) => figures.findIndex((f) => f.name === name)).find((i) => i >= 0);
    return found ?? 0;
  };

  // The axis with most values along the curve, the next one by lines.
  const order = axes.map((_, i) => i).sort((a, b) =>
    (axes[b].values.length > 1) - (axes[a].values.length > 1) ||
    (axes[b].numbers !== null) - (axes[a].numbers !== null) || axes[b].values.length - axes[a].values.length);
  options("curve-of", indexed(figures, (f) => f.title), best("read_p99.9_ns", "write_p99.9_ns"));
  options("curve-over", indexed(axes, (a) => a.key), order[0] ?? 0);
  options("curve-by", [...indexed(axes, (a) => a.key), ["nothing", "none"]], order[1] ?? "none");
  options("front-x", indexed(figures, (f) => f.title), best("read_p99.9_ns", "write_p99.9_ns"));
  options("front-y", indexed(figures, (f) => f.title), best("waf", "host_capacity_bytes", "read_iops"));
  options("front-by", [...indexed(axes, (a) => a.key), ["nothing", "none"]], order.find((i) => axes[i].numbers === null && axes[i].values.length > 1) ?? order[0] ?? "none");

  // The other axes: one value each, or all.
  const fixed = new Map();
  const others = () => axes.map((_, i) => i).filter((i) => String(i) !== $("curve-over").value && String(i) !== $("curve-by").value);
  const choices = () => {
    $("curve-at").replaceChildren();
    for (const i of others()) {
      if (axes[i].values.length < 2) continue;
      const label = document.createElement("label");
      const select = document.createElement("select");
      select.id = `curve-at-${i}`;
      axes[i].values.forEach((value, k) => select.append(new Option(value, String(k))));
      select.append(new Option("all", "all"));
      select.value = fixed.get(i) ?? "0";
      select.addEventListener("change", () => {
        fixed.set(i, select.value);
        redraw(/^curve$/);
      });
      label.append(`${axes[i].key} `, select);
      $("curve-at").append(label);
    }
  };

  const curve = (width) => {
    const [f, over] = [Number($("curve-of").value), Number($("curve-over").value)];
    const by = $("curve-by").value === "none" ? null : Number($("curve-by").value);
    const axis = axes[over];
    const wanted = points.filter((point) => others().every((i) =>
      axes[i].values.length < 2 || (fixed.get(i) ?? "0") === "all" || point.at[i] === Number(fixed.get(i) ?? "0")));
    const lines = new Map();
    for (const point of wanted) {
      const all = others().filter((i) => fixed.get(i) === "all");
      const key = [...(by === null ? [] : [by]), ...all].map((i) => axes[i].values[point.at[i]]).join(", ");
      lines.set(key, [...(lines.get(key) ?? []), point]);
    }
    const x = (point) => (axis?.numbers ? axis.numbers[point.at[over]] : plain(axis?.values[point.at[over]] ?? ""));
    const traces = [...lines].map(([key, of], i) => {
      const sorted = of.filter((p) => p.of[f] !== null).sort((a, b) => a.at[over] - b.at[over]);
      const ends = (k) => sorted.map((p) => (p.interval[f] ? Math.abs(p.interval[f][k] - p.of[f]) : 0));
      return {
        type: "scatter", mode: "lines+markers", name: short(key || figures[f].title, 40),
        x: sorted.map(x), y: sorted.map((p) => p.of[f]),
        line: { color: colour(i), dash: dashes[i % dashes.length], width: 2 },
        marker: { color: sorted.map((p) => (p.keeps_up ? colour(i) : theme().page)), line: { color: colour(i), width: 2 }, size: 8 },
        error_y: sorted.some((p) => p.interval[f])
          ? { type: "data", symmetric: false, array: ends(1), arrayminus: ends(0), thickness: 1, width: 3 } : undefined,
        text: sorted.map((p) => `point ${p.number}: ${show(figures[f], p.of[f])}${p.keeps_up ? "" : ", does not keep up"}<br>${settings(p)}`),
        hovertemplate: "%{text}<extra></extra>",
      };
    });
    const values = traces.flatMap((trace) => trace.y);
    const ticks = axis?.numbers && axis.values.length <= 12
      ? { tickvals: axis.numbers, ticktext: axis.values.map((value) => short(value, 14)) } : {};
    return {
      traces,
      describe: `${figures[f]?.title} over ${axis?.key}`,
      layout: layout({
        ...legendBelow(width, 400, 75, traces.map((t) => t.name)),
        title: title(figures[f] ? plain(figures[f].title) : "no figures"), hovermode: "closest", showlegend: traces.length > 1,
        xaxis: { title: { text: plain(axis?.key ?? "") }, type: axis?.numbers ? "linear" : "category", ...ticks },
        yaxis: values.length > 0 ? scale(figures[f], values) : {},
      }),
    };
  };

  const frontOf = (of, x, y) => {
    const sign = (f) => (figures[f].better === "high" ? -1 : 1);
    const [sx, sy] = [sign(x), sign(y)];
    const sorted = [...of].sort((a, b) => sx * (a.of[x] - b.of[x]) || sy * (a.of[y] - b.of[y]));
    let least = Infinity;
    return sorted.filter((point) => {
      const is = sy * point.of[y] < least;
      least = Math.min(least, sy * point.of[y]);
      return is;
    });
  };

  const front = (width) => {
    const [x, y] = [Number($("front-x").value), Number($("front-y").value)];
    const by = $("front-by").value === "none" ? null : Number($("front-by").value);
    const of = points.filter((p) => p.of[x] !== null && p.of[y] !== null);
    const groups = new Map();
    of.forEach((p) => {
      const key = by === null ? "points" : axes[by].values[p.at[by]];
      groups.set(key, [...(groups.get(key) ?? []), p]);
    });
    const symbols = ["circle", "square", "diamond", "cross", "x", "triangle-up", "triangle-down", "star"];
    const traces = [...groups].map(([key, group], i) => ({
      type: "scatter", mode: "markers", name: short(key, 40), x: group.map((p) => p.of[x]), y: group.map((p) => p.of[y]),
      marker: {
        symbol: symbols[i % 8], size: 9, line: { color: colour(i), width: 1.5 },
        color: group.map((p) => (p.keeps_up ? colour(i) : theme().page)),
      },
      text: group.map((p) => `point ${p.number}: ${show(figures[x], p.of[x])}, ${show(figures[y], p.of[y])}<br>${settings(p)}`),
      hovertemplate: "%{text}<extra></extra>",
    }));
    // A drive that does not keep up is no choice.
    const line = figures.length > 0 ? frontOf(of.filter((p) => p.keeps_up), x, y) : [];
    traces.push({
      type: "scatter", mode: "lines", name: "front", x: line.map((p) => p.of[x]), y: line.map((p) => p.of[y]),
      line: { color: theme().text, width: 1, dash: "dot" }, hoverinfo: "skip",
    });
    $("front-list").textContent = line.length > 0 ? `On the front: points ${line.map((p) => p.number).join(", ")}.` : "";
    return {
      traces,
      describe: `${figures[y]?.title} against ${figures[x]?.title}`,
      layout: layout({
        ...legendBelow(width, 400, 75, traces.map((t) => t.name)),
        title: title(figures[x] ? `${plain(figures[y].title)} against ${plain(figures[x].title)}` : "no figures"), hovermode: "closest",
        xaxis: of.length > 0 ? scale(figures[x], of.map((p) => p.of[x])) : {},
        yaxis: of.length > 0 ? scale(figures[y], of.map((p) => p.of[y])) : {},
      }),
    };
  };

  choices();
  figure($("curves"), "curve", "Response curves", curve);
  figure($("front"), "front-points", "Pareto front", front);
  for (const id of ["curve-of", "curve-over", "curve-by"]) {
    $(id).addEventListener("change", () => {
      choices();
      redraw(/^curve$/);
    });
  }
  for (const id of ["front-x", "front-y", "front-by"]) $(id).addEventListener("change", () => redraw(/^front-/));
  start(() => {});
})();
