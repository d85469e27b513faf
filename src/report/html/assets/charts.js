// The charts. Each takes its figure's plot, the figure and the choice {workload, level, round, zoom}.

const PANEL_GAP = 24;
const armName = (arm) => DATA.arms[arm];
const inRound = (choice) => (run) => choice.round === 0 || run.r === choice.round;
const runsAt = (choice) =>
  DATA.runs.filter((run) => run.w === choice.workload && run.c === choice.level).filter(inRound(choice));
const ofLevel = (list, choice) => list.filter((one) => one.w === choice.workload && one.c === choice.level);
const indices = (list) => [...new Set(list.map((one) => one.a))].sort((a, b) => a - b);

function nothing(plot, figure, text) {
  plot.append(html("p", {}, text));
  counted(figure, 0, 0, 0);
}
function titled(text, arm) {
  const title = html("h3", { title: text });
  if (arm !== undefined) title.append(key(arm));
  title.append(html("bdi", {}, text));
  return title;
}
function key(arm) {
  const mark = html("i", { class: "key" });
  mark.style.background = colour(arm);
  return mark;
}
// Panels side by side as far as there is room; gives each one's host and width.
function panels(plot, count, smallest, className) {
  const room = plot.getBoundingClientRect().width || 900;
  const columns = Math.max(1, Math.min(count, Math.floor((room + PANEL_GAP) / (smallest + PANEL_GAP))));
  const width = Math.floor((room - PANEL_GAP * (columns - 1)) / columns);
  const grid = html("div", { class: className || "panels" });
  grid.style.gridTemplateColumns = `repeat(${columns}, minmax(0, 1fr))`;
  plot.append(grid);
  return { width, add: () => { const host = html("div", { class: "panel" }); grid.append(host); return host; } };
}
const maxOf = (list, start) => list.reduce((most, value) => (value > most ? value : most), start);
const clientAxis = (levels) => ({
  min: levels[0] / (levels.length > 1 ? 1.12 : 2), max: levels[levels.length - 1] * (levels.length > 1 ? 1.12 : 2),
  log: true, ticks: levels, text: String, label: "clients",
});

function drawClients(plot, figure, choice) {
  const means = DATA.means.filter((mean) => mean.w === choice.workload);
  if (means.length === 0) return nothing(plot, figure, "No runs.");
  const levels = DATA.levels[choice.workload];
  const width = panels(plot, 1, 300).width;
  const top = niceTop(maxOf(means.flatMap((mean) => [mean.y, ...(mean.ci || []), ...mean.all]), 0), 5);
  const chart = frame(plot, {
    width, height: Math.min(420, Math.max(260, width * 0.42)), unit: "tps", x: clientAxis(levels), y: { min: 0, max: top },
    label: "Throughput in transactions per second by number of clients, one line for each arm. Arrow keys read the points.",
  });
  const arms = indices(means);
  const lines = [];
  let points = 0;
  arms.forEach((arm, position) => {
    const own = means.filter((mean) => mean.a === arm);
    const shift = (position - (arms.length - 1) / 2) * Math.min(7, 60 / arms.length);
    const x = (mean) => chart.X(mean.c) + shift;
    chart.plot.append(svg("path", {
      class: "line", d: path(own.map((mean) => [mean, mean.y]), x, chart.Y), stroke: colour(arm), "stroke-dasharray": dash(arm),
    }));
    for (const mean of own) {
      const at = x(mean);
      if (mean.n > 1) for (const y of mean.all) {
        chart.plot.append(svg("circle", { cx: at, cy: chart.Y(y), r: 1.8, fill: colour(arm), opacity: 0.45 }));
      }
      if (mean.ci) {
        const [low, high] = mean.ci.map((y) => chart.Y(Math.max(0, y)));
        chart.plot.append(svg("path", { class: "line", stroke: colour(arm), d: `M${at - 4} ${low}h8M${at} ${low}V${high}M${at - 4} ${high}h8` }));
      }
      chart.plot.append(marker(arm, at, chart.Y(mean.y), 4));
      points += 1;
    }
    lines.push(own.map((mean) => ({
      x: x(mean), y: chart.Y(mean.y),
      text: () => `${armName(arm)}\n${plural(mean.c, "client")}, ${plural(mean.n, "round")}\n${exact(mean.y)} tps` +
        (mean.ci ? `\n95 %: ${exact(mean.ci[0])} to ${exact(mean.ci[1])}` : ""),
    })));
  });
  interactive(chart, lines);
  counted(figure, 1, arms.length, points);
}

function drawForest(plot, figure, choice) {
  const workload = DATA.workloads[choice.workload];
  const rows = [];
  for (const one of DATA.forest.filter((comparison) => comparison.workload === workload)) {
    const arm = DATA.arms.indexOf(one.arm);
    rows.push({ ...one, index: arm, all: true, name: `${one.arm} / ${one.baseline}` });
    for (const level of one.levels) rows.push({ ...level, index: arm, all: false, name: plural(level.clients, "client") });
  }
  if (rows.length === 0) return nothing(plot, figure, "No comparison of this workload.");
  const width = panels(plot, 1, 300).width;
  const margin = maxOf(DATA.forest.map((one) => one.margin), 0);
  const ends = rows.flatMap((row) => [row.ratio, row.ci_low, row.ci_high]).filter((end) => end > 0);
  const far = Math.max(maxOf(ends.map((end) => Math.abs(Math.log(end))), 0), Math.log(1 + margin) * 1.4) * 1.08;
  const reach = Math.exp(far);
  const interval = (row) => (row.ci_low > 0 && row.ci_high > 0 ? `${percent(row.ci_low)} to ${percent(row.ci_high)}` : "no interval");
  const figures = rows.map((row) => `${percent(row.ratio)}  (${interval(row)})`);
  const rowHeight = 22, left = Math.min(260, width * 0.36);
  // Bold figures take this much a character at most.
  const numbers = width > 620 ? 7.4 * maxOf(figures.map((text) => text.length), 0) : 0;
  const step = niceStep(100 * (reach - 1 / reach), Math.max(2, Math.floor((width - left - numbers) / 70)));
  const ticks = [];
  for (let i = Math.ceil(100 * (1 / reach - 1) / step); i * step <= 100 * (reach - 1); i += 1) ticks.push(1 + (i * step) / 100);
  const chart = frame(plot, {
    width, height: rows.length * rowHeight + 46, left, right: numbers + 12,
    x: { min: 1 / reach, max: reach, log: true, ticks, text: percent, label: `${DATA.metric} against the baseline` },
    y: { min: rows.length, max: 0, ticks: [] },
    label: `Ratio of ${DATA.metric} to the baseline with confidence intervals, by arm and level. Arrow keys read the rows.`,
  });
  chart.plot.append(svg("rect", {
    class: "band", x: chart.X(1 / (1 + margin)), width: chart.X(1 + margin) - chart.X(1 / (1 + margin)),
    y: chart.box.top, height: chart.box.bottom - chart.box.top,
  }), svg("line", { class: "one", x1: chart.X(1), x2: chart.X(1), y1: chart.box.top, y2: chart.box.bottom }));
  const points = rows.map((row, position) => {
    const y = chart.box.top + (position + 0.5) * rowHeight, at = chart.X(row.ratio);
    const text = row.all ? row.name : "   " + row.name;
    chart.root.append(svg("text", { class: row.all ? "name" : "", x: row.all ? 2 : 16, y: y + 4, "font-weight": row.all ? 600 : 400 },
      svg("title", {}, row.name), fitted(text.trim(), left - (row.all ? 8 : 22))));
    const hasEnds = row.ci_low > 0 && row.ci_high > 0;
    const [low, high] = hasEnds ? [chart.X(row.ci_low), chart.X(row.ci_high)] : [at, at];
    if (row.all) {
      chart.plot.append(svg("path", { fill: colour(row.index), d: `M${low} ${y}L${at} ${y - 7}L${high} ${y}L${at} ${y + 7}z` }));
      if (!hasEnds) chart.plot.append(marker(row.index, at, y, 4));
    } else {
      chart.plot.append(svg("path", { class: "line", stroke: colour(row.index), d: `M${low} ${y}H${high}` }), marker(row.index, at, y, 3.5));
    }
    if (numbers) {
      chart.root.append(svg("text", { x: width - numbers, y: y + 4, "font-weight": row.all ? 600 : 400 }, figures[position]));
    }
    return {
      x: at, y,
      text: () => `${row.name}${row.all ? ", all levels" : ""}\nratio ${row.ratio.toFixed(4)} (${percent(row.ratio)})\n95 %: ${interval(row)}` +
        (row.verdict ? `\n${row.verdict}` : ""),
    };
  });
  interactive(chart, points.map((point) => [point]));
  counted(figure, 1, rows.filter((row) => row.all).length, rows.length);
}

const EVENT_COLOURS = {
  checkpoint: "var(--arm6)", autovacuum: "var(--arm5)", log_switch: "var(--arm4)",
  error: "var(--arm1)", restart: "var(--arm1)", reconnect: "var(--arm3)", dip: "var(--arm1)",
};
const eventColour = (kind) => EVENT_COLOURS[kind] || "var(--quiet)";
// Events and dips of a run that overlap with a stretch, in words.
function happenings(run, from, to) {
  const over = (start, end) => start <= to && end >= from;
  const words = run.ev.filter((event) => over(event[0], event[1] === null ? run.d : event[1])).map((event) => event[2] + event[3]);
  for (const [start, length, depth] of run.dips) {
    if (start < to && start + length > from) words.push(`dip, ${depth} % below the median`);
  }
  for (const [start, length] of run.outages) if (over(start, start + length)) words.push("outage");
  return words;
}

// A strip under the chart: a row for each round with its dips (above) and events (below).
function strip(chart, runs, X, top, rowHeight) {
  runs.forEach((run, row) => {
    const y = top + row * rowHeight;
    const bar = (start, end, fill, offset, height, opacity) => {
      const from = Math.max(chart.box.left, X(start)), to = Math.min(chart.box.right, X(end));
      if (to < chart.box.left || from > chart.box.right) return;
      chart.root.append(svg("rect", { x: from, width: Math.max(2, to - from), y: y + offset, height, fill, opacity }));
    };
    for (const [start, length] of run.dips) bar(start, start + length, eventColour("dip"), 0, rowHeight / 2 - 0.5, 0.6);
    for (const [start, length] of run.outages) bar(start, start + length, eventColour("error"), 0, rowHeight - 1, 0.9);
    for (const [start, end, kind] of run.ev) bar(start, end === null ? run.d : end, eventColour(kind), rowHeight / 2, rowHeight / 2 - 1, 0.9);
  });
}
function stripLegend(plot, runs) {
  const kinds = [...new Set(runs.flatMap((run) => run.ev.map((event) => event[2])))].sort();
  if (runs.some((run) => run.dips.length > 0)) kinds.unshift("dip");
  if (kinds.length === 0) return;
  const legend = html("p", { class: "legend small" });
  for (const kind of kinds) {
    const mark = html("i", { class: "key" });
    mark.style.background = eventColour(kind);
    if (kind === "dip") mark.style.opacity = 0.6;
    legend.append(html("span", {}, mark, kind === "dip" ? "dip" : kind.replace("_", " ")));
  }
  plot.append(legend);
}

function timeAxis(runs, choice) {
  const whole = [0, maxOf(runs.map((run) => run.d), 1)];
  const [min, max] = choice.zoom || whole;
  return { whole, axis: { min, max, label: "seconds after the start of the window" } };
}
const zoomTo = (chart, axis, choice) => (from, to) => {
  const at = (x) => axis.min + ((x - chart.box.left) / (chart.box.right - chart.box.left)) * (axis.max - axis.min);
  choice.setZoom(from === null ? null : [Math.max(0, at(from)), at(to)]);
};

function drawThroughput(plot, figure, choice) {
  const runs = runsAt(choice).filter((run) => run.t.length > 0);
  if (runs.length === 0) return nothing(plot, figure, "Intervals: not recorded.");
  const arms = indices(runs);
  const top = niceTop(maxOf(runs.flatMap((run) => run.y), 0), 4);
  const { axis } = timeAxis(runs, choice);
  const grid = panels(plot, arms.length, 480);
  let points = 0;
  for (const arm of arms) {
    const own = runs.filter((run) => run.a === arm);
    const host = grid.add();
    // The mean of the rounds is that of the chart by clients.
    const all = ofLevel(DATA.means, choice).find((one) => one.a === arm);
    const [mean, rounds] = choice.round === 0 ? [all.y, all.n] : [own[0].tps, 1];
    host.append(titled(`${armName(arm)}: ${short(mean)} tps, ${plural(rounds, "round")}`, arm));
    const rowHeight = own.length > 4 ? 7 : 10, height = 250 + own.length * rowHeight;
    const chart = frame(host, {
      width: grid.width, height, bottom: 44 + own.length * rowHeight, unit: "tps", x: axis, y: { min: 0, max: top },
      label: `Throughput over time of ${armName(arm)}, ${plural(own.length, "round")}. Left and right arrow keys read the intervals, up and down the rounds; plus, minus and 0 zoom.`,
    });
    if (own.length === 1) for (const [start, length] of own[0].dips) {
      chart.plot.append(svg("rect", { class: "dip", x: chart.X(start), width: Math.max(1, chart.X(start + length) - chart.X(start)), y: chart.box.top, height: chart.box.bottom - chart.box.top }));
    }
    const lines = own.map((run) => {
      const middle = (i) => run.t[i] + run.l[i] / 2;
      chart.plot.append(svg("path", {
        class: own.length > 1 ? "line thin" : "line", stroke: colour(arm),
        d: path(run.y.map((y, i) => [middle(i), y]), chart.X, chart.Y),
      }));
      points += run.y.length;
      return run.y.map((y, i) => ({
        x: chart.X(middle(i)), y: chart.Y(y), inside: middle(i) >= axis.min && middle(i) <= axis.max,
        text: () => [
          `${armName(arm)}, round ${run.r}`, `${run.t[i].toFixed(1)} s: ${exact(y)} tps`,
          `p50 ${exact(run.p50[i])}, p99 ${exact(run.p99[i])}, max ${exact(run.max[i])} ms`,
          ...happenings(run, run.t[i], run.t[i] + run.l[i]),
        ].join("\n"),
      })).filter((point) => point.inside);
    });
    chart.plot.append(svg("line", { class: "cross", x1: chart.box.left, x2: chart.box.right, y1: chart.Y(mean), y2: chart.Y(mean) }));
    strip(chart, own, chart.X, chart.box.bottom + 24, rowHeight);
    interactive(chart, lines, zoomTo(chart, axis, choice));
  }
  stripLegend(plot, runs);
  const thinned = runs.some((run) => run.n > run.t.length);
  if (thinned) plot.append(html("p", { class: "small" }, "Thinned: of each stretch the intervals with the lowest and the highest throughput and the longest latency are drawn; all are in intervals.csv."));
  counted(figure, arms.length, runs.length, points);
}

const LATENCIES = [["max", "1 3", 1.2], ["p99", "5 3", 1.5], ["p50", "", 2]];
const MOST_BINS = 240;

// Lowest, median and highest of the rounds in each stretch of time.
function bins(runs, name, axis) {
  const shortest = runs.reduce((least, run) => Math.min(least, run.d / Math.max(1, run.t.length)), Infinity);
  const length = Math.max(shortest, (axis.max - axis.min) / MOST_BINS);
  const found = new Map();
  for (const run of runs) run.t.forEach((start, i) => {
    const value = run[name][i], middle = start + run.l[i] / 2;
    if (value === null || middle < axis.min || middle > axis.max) return;
    const bin = Math.floor(middle / length);
    if (!found.has(bin)) found.set(bin, []);
    found.get(bin).push(value);
  });
  const sorted = [...found.entries()].sort((a, b) => a[0] - b[0]);
  return sorted.map(([bin, values]) => {
    values.sort((a, b) => a - b);
    const half = values.length >> 1;
    const median = values.length % 2 ? values[half] : (values[half - 1] + values[half]) / 2;
    return { x: (bin + 0.5) * length, from: bin * length, low: values[0], median: Number(median.toPrecision(6)), high: values[values.length - 1] };
  });
}

// An axis of latencies over all arms, a little wider than the values.
function latencyAxis(values) {
  const positive = values.filter((value) => value > 0);
  const low = positive.reduce((least, value) => Math.min(least, value), Infinity);
  const high = maxOf(positive, 0);
  return positive.length ? { min: low / 1.2, max: high * 1.2, log: true } : { min: 0.1, max: 10, log: true };
}

function drawLatency(plot, figure, choice) {
  const runs = runsAt(choice).filter((run) => run.t.length > 0);
  if (runs.length === 0) return nothing(plot, figure, "Intervals: not recorded.");
  const arms = indices(runs);
  const { axis } = timeAxis(runs, choice);
  const y = latencyAxis(runs.flatMap((run) => [...run.p50, ...run.p99, ...run.max]));
  const grid = panels(plot, arms.length, 480);
  let series = 0, points = 0;
  for (const arm of arms) {
    const own = runs.filter((run) => run.a === arm);
    const host = grid.add();
    host.append(titled(armName(arm), arm));
    const chart = frame(host, {
      width: grid.width, height: 290, unit: "ms", x: axis, y,
      label: `Latency over time of ${armName(arm)}: p50, p99 and maximum. Left and right arrow keys read the intervals, up and down the figures.`,
    });
    let lastLabel = -Infinity;
    const lines = LATENCIES.map(([name, dashes, thickness]) => {
      const line = bins(own, name, axis);
      if (line.length === 0) return [];
      const edge = [...line.map((bin) => [bin.x, bin.high]), ...line.slice().reverse().map((bin) => [bin.x, bin.low])];
      chart.plot.append(
        svg("path", { d: path(edge, chart.X, chart.Y) + "z", fill: colour(arm), opacity: 0.16 }),
        svg("path", { class: "line", d: path(line.map((bin) => [bin.x, bin.median]), chart.X, chart.Y), stroke: colour(arm), "stroke-dasharray": dashes, "stroke-width": thickness }),
      );
      const last = line[line.length - 1];
      // From the greatest figure down: a label that would hide the one above goes below it.
      lastLabel = Math.max(chart.Y(last.median) - 5, lastLabel + 12);
      chart.root.append(svg("text", { class: "name", x: chart.box.right - 2, y: lastLabel, "text-anchor": "end" }, name));
      series += 1;
      points += line.length;
      return line.map((bin) => ({
        x: chart.X(bin.x), y: chart.Y(bin.median),
        text: () => `${armName(arm)}\n${bin.from.toFixed(1)} s: ${name} ${exact(bin.median)} ms` +
          (own.length > 1 ? `\nrounds: ${exact(bin.low)} to ${exact(bin.high)} ms` : ""),
      }));
    });
    interactive(chart, lines, zoomTo(chart, axis, choice));
  }
  counted(figure, arms.length, series, points);
}

function drawPercentiles(plot, figure, choice) {
  const runs = runsAt(choice).filter((run) => run.q.length > 1);
  if (runs.length === 0) return nothing(plot, figure, "Histograms: not recorded.");
  const curves = runs.map((run) => {
    const curve = run.q.map((ms, i) => [1 / (1 - DATA.grid[i]), ms]);
    if (run.qmax !== null && run.k > curve[curve.length - 1][0]) curve.push([run.k, run.qmax]);
    return curve;
  });
  const width = panels(plot, 1, 300).width;
  const far = maxOf(curves.map((curve) => curve[curve.length - 1][0]), 10);
  const ticks = [1, 2, 10, 100, 1e3, 1e4, 1e5, 1e6, 1e7].filter((tick) => tick <= far * 1.01);
  const chart = frame(plot, {
    width, height: Math.min(420, Math.max(260, width * 0.42)), unit: "ms",
    x: { min: 1, max: far, log: true, ticks, text: (tick) => (tick === 1 ? "min" : `${Number((100 - 100 / tick).toFixed(6))} %`), label: "percentile" },
    y: latencyAxis(curves.flatMap((curve) => curve.map((point) => point[1]))),
    label: "Latency in milliseconds by percentile, a line for each round, coloured by arm. Left and right arrow keys read the percentiles, up and down the rounds.",
  });
  let points = 0;
  const lines = runs.map((run, r) => {
    chart.plot.append(svg("path", { class: runs.length > indices(runs).length ? "line thin" : "line", d: path(curves[r], chart.X, chart.Y), stroke: colour(run.a), "stroke-dasharray": dash(run.a) }));
    points += curves[r].length;
    return curves[r].map(([x, ms], i) => ({
      x: chart.X(x), y: chart.Y(ms),
      text: () => `${armName(run.a)}, round ${run.r}\n${i < run.q.length ? Number((100 - 100 / x).toFixed(4)) + " %" : "max"}: ${exact(ms)} ms`,
    }));
  });
  interactive(chart, lines);
  counted(figure, 1, runs.length, points);
}

function drawSteadiness(plot, figure, choice) {
  const boxes = ofLevel(DATA.boxes, choice);
  const isRecorded = runsAt(choice).some((run) => run.t.length > 0);
  if (boxes.length === 0) return nothing(plot, figure, isRecorded ? "No whole interval." : "Intervals: not recorded.");
  const width = panels(plot, 1, 300).width;
  const narrow = width < 560, rowHeight = narrow ? 56 : 40, left = narrow ? 12 : Math.min(260, width * 0.3);
  const chart = frame(plot, {
    width, height: boxes.length * rowHeight + 46, left, right: 20,
    x: { min: 0, max: niceTop(maxOf(boxes.map((box) => box.q[6]), 0), 5), label: "tps of single seconds" },
    y: { min: 1, max: 0, ticks: [] },
    label: "Distribution of the throughput of single seconds, a box for each arm. Arrow keys read the boxes.",
  });
  const points = boxes.map((box, row) => {
    const y = chart.box.top + row * rowHeight + (narrow ? 36 : rowHeight / 2);
    const [min, p5, q1, median, q3, p95, max] = box.q.map(chart.X);
    const name = armName(box.a);
    chart.root.append(svg("text", { class: "name", x: narrow ? left : 2, y: narrow ? y - 18 : y + 4 }, svg("title", {}, name), fitted(name, narrow ? width - 40 : left - 10)));
    chart.plot.append(
      svg("path", { class: "line", stroke: colour(box.a), d: `M${p5} ${y}H${q1}M${q3} ${y}H${p95}M${p5} ${y - 5}v10M${p95} ${y - 5}v10` }),
      svg("rect", { x: q1, width: Math.max(1, q3 - q1), y: y - 10, height: 20, fill: colour(box.a), opacity: 0.35, stroke: colour(box.a) }),
      svg("path", { class: "one", d: `M${median} ${y - 10}v20`, "stroke-width": 2 }),
      svg("circle", { cx: min, cy: y, r: 2.5, fill: colour(box.a) }), svg("circle", { cx: max, cy: y, r: 2.5, fill: colour(box.a) }),
    );
    return {
      x: median, y,
      text: () => `${name}\n${plural(box.n, "second")} of ${plural(box.rounds, "round")}\nmedian ${exact(box.q[3])} tps\n` +
        `quartiles ${exact(box.q[2])}, ${exact(box.q[4])}\n5 % and 95 %: ${exact(box.q[1])}, ${exact(box.q[5])}\nlowest ${exact(box.q[0])}, highest ${exact(box.q[6])}`,
    };
  });
  interactive(chart, points.map((point) => [point]));
  counted(figure, 1, boxes.length, boxes.length);
}

function drawCosts(plot, figure, choice) {
  const costs = DATA.costs
    .map((cost) => ({ ...cost, of: cost.of.filter((point) => point[1] === choice.workload) }))
    .filter((cost) => cost.of.some((point) => point[3] !== 0));
  if (costs.length === 0) return counted(figure, 0, 0, 0);
  const grid = panels(plot, costs.length, 270, "panels small");
  const levels = DATA.levels[choice.workload];
  let series = 0, points = 0;
  for (const cost of costs) {
    const host = grid.add();
    const title = cost.unit ? `${cost.name}, ${cost.unit}` : cost.name;
    host.append(titled(title));
    const chart = frame(host, {
      width: grid.width, height: 180, x: clientAxis(levels), y: { min: 0, max: niceTop(maxOf(cost.of.map((point) => point[3]), 0), 4) },
      label: `${title} per transaction by number of clients, a line for each arm. Arrow keys read the points.`,
    });
    const arms = [...new Set(cost.of.map((point) => point[0]))];
    interactive(chart, arms.map((arm) => {
      const own = cost.of.filter((point) => point[0] === arm);
      chart.plot.append(svg("path", { class: "line", d: path(own.map((point) => [point[2], point[3]]), chart.X, chart.Y), stroke: colour(arm), "stroke-dasharray": dash(arm) }));
      series += 1;
      points += own.length;
      return own.map(([, , clients, value]) => {
        chart.plot.append(marker(arm, chart.X(clients), chart.Y(value), 3));
        return { x: chart.X(clients), y: chart.Y(value), text: () => `${armName(arm)}, ${plural(clients, "client")}\n${exact(value)} ${cost.unit} per transaction` };
      });
    }));
  }
  counted(figure, costs.length, series, points);
}

function drawServer(plot, figure, choice) {
  const runs = runsAt(choice).filter((run) => run.st.length > 0);
  if (runs.length === 0) return counted(figure, 0, 0, 0);
  const { axis } = timeAxis(runs, choice);
  // Those that moved in these runs.
  const counters = DATA.server.map((titles, at) => [...titles, at]).filter(([, , at]) => runs.some((run) => run.s[at].some((rate) => rate > 0)));
  if (counters.length === 0) return nothing(plot, figure, "No counter moved.");
  const grid = panels(plot, counters.length, 360);
  let series = 0, points = 0;
  counters.forEach(([name, unit, at]) => {
    const host = grid.add();
    host.append(titled(`${name}, ${unit}`));
    const chart = frame(host, {
      width: grid.width, height: 200, x: axis, y: { min: 0, max: niceTop(maxOf(runs.flatMap((run) => run.s[at]), 0), 4) },
      label: `${name} over time, ${unit}, a line for each run, coloured by arm. Left and right arrow keys read the samples, up and down the runs.`,
    });
    const lines = runs.map((run) => {
      chart.plot.append(svg("path", {
        class: runs.length > indices(runs).length ? "line thin" : "line", stroke: colour(run.a), "stroke-dasharray": dash(run.a),
        d: path(run.s[at].map((value, i) => [run.st[i], value]), chart.X, chart.Y),
      }));
      series += 1;
      points += run.s[at].length;
      return run.s[at].map((value, i) => ({
        x: chart.X(run.st[i]), y: chart.Y(value || 0), inside: value !== null && run.st[i] >= axis.min && run.st[i] <= axis.max,
        text: () => `${armName(run.a)}, round ${run.r}\nuntil ${run.st[i].toFixed(1)} s: ${exact(value)} ${unit}`,
      })).filter((point) => point.inside);
    });
    interactive(chart, lines, zoomTo(chart, axis, choice));
  });
  counted(figure, counters.length, series, points);
}
