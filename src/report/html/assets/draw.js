"use strict";
// Drawing: numbers as text, scales, axes, and what pointer and keyboard do in a chart.
// Names from the data only ever become text nodes.

const ERRORS = [];
addEventListener("error", (event) => ERRORS.push(String(event.message)));
addEventListener("securitypolicyviolation", (event) => ERRORS.push("blocked: " + event.blockedURI));

const DATA = JSON.parse(document.getElementById("data").textContent);
const TIP = document.getElementById("tip");
const COLOURS = 8;
const DASHES = ["", "6 3", "2 2", "8 3 2 3"];

function make(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value !== null && value !== undefined) node.setAttribute(name, value);
  }
  for (const child of children) node.append(child);
  return node;
}
const svg = (name, attributes, ...children) =>
  make(document.createElementNS("http://www.w3.org/2000/svg", name), attributes, children);
const html = (name, attributes, ...children) => make(document.createElement(name), attributes, children);

const colour = (arm) => `var(--arm${arm % COLOURS})`;
const dash = (arm) => DASHES[Math.floor(arm / COLOURS) % DASHES.length];

// 12345.6 as "12,346", 0.0123 as "0.0123": for axes and short labels.
function short(value) {
  const size = Math.abs(value);
  if (size >= 1000) return Math.round(value).toLocaleString("en-US");
  if (size >= 100 || value === 0) return String(Math.round(value * 10) / 10);
  return String(Number(value.toPrecision(3)));
}
// As exact as the files: for what a pointer shows.
const exact = (value) => (value === null || value === undefined ? "–" : String(value));
const percent = (ratio) => {
  const change = 100 * (ratio - 1);
  const sign = change < -0.05 ? "−" : change < 0.05 ? "±" : "+";
  return sign + Math.abs(change).toFixed(1) + " %";
};

const plural = (count, noun) => `${count} ${noun}${count === 1 ? "" : "s"}`;

function niceStep(range, count) {
  const rough = range / Math.max(1, count);
  const power = Math.pow(10, Math.floor(Math.log10(rough)));
  const factor = [1, 2, 2.5, 5, 10].find((f) => f * power >= rough * 0.999);
  return factor * power;
}
function linearTicks(min, max, count) {
  if (!(max > min)) return [min];
  const step = niceStep(max - min, count);
  const ticks = [];
  for (let i = Math.ceil(min / step - 1e-9); i * step <= max + step * 1e-9; i += 1) {
    ticks.push(Number((i * step).toPrecision(12)));
  }
  return ticks;
}
function logTicks(min, max) {
  const decades = Math.log10(max / min);
  const factors = decades > 4 ? [1] : decades > 1.5 ? [1, 3] : [1, 2, 5];
  const ticks = [];
  for (let power = Math.floor(Math.log10(min)); power <= Math.ceil(Math.log10(max)); power += 1) {
    for (const factor of factors) {
      const tick = Number((factor * Math.pow(10, power)).toPrecision(6));
      if (tick >= min * 0.999 && tick <= max * 1.001) ticks.push(tick);
    }
  }
  return ticks;
}
// The upper end of an axis from zero.
function niceTop(max, count) {
  if (!(max > 0)) return 1;
  const step = niceStep(max, count);
  return Math.ceil(max / step - 1e-9) * step;
}

function scale(axis, from, to) {
  const of = axis.log ? Math.log : (value) => value;
  const low = of(axis.min), high = of(axis.max);
  const span = high - low || 1;
  return (value) => from + ((of(value) - low) / span) * (to - from);
}

// Text cut to a width in pixels; the whole is in its title.
function fitted(text, pixels) {
  const most = Math.max(3, Math.floor(pixels / 6.6));
  const letters = Array.from(text);
  return letters.length > most ? letters.slice(0, most - 1).join("") + "…" : text;
}

// An svg with axes. `x` and `y`: {min, max, log, ticks, text, label}; `unit` is that of y.
function frame(host, { width, height, x, y, left, bottom = 34, unit, top = unit ? 24 : 8, right = 12, label }) {
  const yTicks = y.ticks || (y.log ? logTicks(y.min, y.max) : linearTicks(y.min, y.max, 5));
  const yText = y.text || short;
  const gutter = left || Math.max(...yTicks.map((tick) => yText(tick).length), 2) * 7.2 + 12;
  const X = scale(x, gutter, width - right);
  const Y = scale(y, height - bottom, top);
  const root = svg("svg", {
    viewBox: `0 0 ${width} ${height}`, width, height, role: "img", tabindex: 0, "aria-label": label,
  });
  for (const tick of yTicks) {
    root.append(
      svg("line", { class: "grid", x1: gutter, x2: width - right, y1: Y(tick), y2: Y(tick) }),
      svg("text", { x: gutter - 6, y: Y(tick) + 4, "text-anchor": "end" }, yText(tick)),
    );
  }
  if (unit) root.append(svg("text", { x: 2, y: 12 }, unit));
  const xText = x.text || short;
  let last = -Infinity;
  for (const tick of x.ticks || linearTicks(x.min, x.max, Math.max(2, Math.floor(width / 90)))) {
    const at = X(tick), text = xText(tick), half = text.length * 3.6;
    root.append(svg("line", { class: "grid", x1: at, x2: at, y1: top, y2: height - bottom }));
    if (at - half < last + 6) continue;
    last = at + half;
    const anchor = at + half > width ? "end" : "middle";
    root.append(svg("text", { x: Math.min(at, width - 2), y: height - bottom + 16, "text-anchor": anchor }, text));
  }
  root.append(svg("line", { class: "axis", x1: gutter, x2: width - right, y1: height - bottom, y2: height - bottom }));
  if (x.label) {
    root.append(svg("text", { x: (gutter + width - right) / 2, y: height - 3, "text-anchor": "middle" }, x.label));
  }
  host.append(root);
  const box = { left: gutter, right: width - right, top, bottom: height - bottom };
  const clip = "clip" + (frame.count = (frame.count || 0) + 1);
  root.append(svg("clipPath", { id: clip }, svg("rect", {
    x: box.left, y: box.top - 2, width: Math.max(0, box.right - box.left), height: box.bottom - box.top + 4,
  })));
  const plot = svg("g", { "clip-path": `url(#${clip})` });
  root.append(plot);
  return { root, plot, X, Y, box, width, height };
}

// A line with gaps where a value is missing. A value between two gaps is a dash of six pixels.
function path(points, X, Y) {
  const isGap = (point) => !point || point[1] === null || point[1] === undefined || Number.isNaN(point[1]);
  let text = "", pen = "M";
  points.forEach((point, index) => {
    if (isGap(point)) { pen = "M"; return; }
    const x = X(point[0]), y = Y(point[1]).toFixed(1);
    const isAlone = pen === "M" && isGap(points[index + 1]);
    text += isAlone ? `M${(x - 3).toFixed(1)} ${y}h6` : `${pen}${x.toFixed(1)} ${y}`;
    pen = "L";
  });
  return text;
}

// A shape for each arm, so that colour is not the only difference.
function marker(arm, x, y, size) {
  const r = size;
  const shapes = [
    `M${x - r} ${y}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0`,
    `M${x - r} ${y - r}h${2 * r}v${2 * r}h${-2 * r}z`,
    `M${x} ${y - 1.3 * r}l${1.2 * r} ${2.1 * r}h${-2.4 * r}z`,
    `M${x} ${y - 1.4 * r}l${1.4 * r} ${1.4 * r}l${-1.4 * r} ${1.4 * r}l${-1.4 * r} ${-1.4 * r}z`,
    `M${x} ${y + 1.3 * r}l${1.2 * r} ${-2.1 * r}h${-2.4 * r}z`,
  ];
  return svg("path", { d: shapes[arm % shapes.length], fill: colour(arm) });
}

function showTip(text, clientX, clientY) {
  TIP.textContent = text;
  TIP.hidden = false;
  const { width, height } = TIP.getBoundingClientRect();
  const room = document.documentElement.clientWidth;
  const x = clientX + 14 + width > room ? clientX - 14 - width : clientX + 14;
  const y = clientY + 14 + height > innerHeight ? clientY - 14 - height : clientY + 14;
  TIP.style.left = Math.max(4, Math.min(x, room - width - 4)) + "px";
  TIP.style.top = Math.max(4, y) + "px";
}
function hideTip() { TIP.hidden = true; }

// Pointer and keyboard over the points of a chart: `lines` is a list of lists of {x, y, text}, where
// x and y are pixels of the svg. `onRange(from, to)` takes a range in pixels that was dragged.
function interactive(chart, lines, onRange) {
  const { root, box, width } = chart;
  const used = lines.filter((line) => line.length > 0);
  const cross = svg("line", { class: "cross", y1: box.top, y2: box.bottom, visibility: "hidden" });
  const dot = svg("circle", { r: 4.5, fill: "none", class: "one", visibility: "hidden" });
  const range = svg("rect", { class: "select", y: box.top, height: box.bottom - box.top, visibility: "hidden" });
  root.append(range, cross, dot);
  let line = 0, index = -1, dragged = null;
  const ratio = () => root.getBoundingClientRect().width / width;
  const place = (event) => {
    const rect = root.getBoundingClientRect();
    return [(event.clientX - rect.left) / ratio(), (event.clientY - rect.top) / ratio()];
  };
  const show = (at) => {
    const rect = root.getBoundingClientRect();
    for (const [name, value] of [["x1", at.x], ["x2", at.x], ["visibility", "visible"]]) cross.setAttribute(name, value);
    for (const [name, value] of [["cx", at.x], ["cy", at.y], ["visibility", "visible"]]) dot.setAttribute(name, value);
    showTip(at.text(), rect.left + at.x * ratio(), rect.top + at.y * ratio());
  };
  const hide = () => {
    for (const mark of [cross, dot, range]) mark.setAttribute("visibility", "hidden");
    hideTip();
  };
  const nearest = (x, y) => {
    let best = Infinity;
    used.forEach((points, l) => points.forEach((point, i) => {
      const distance = Math.pow(point.x - x, 2) * 4 + Math.pow(point.y - y, 2);
      if (distance < best) [best, line, index] = [distance, l, i];
    }));
  };
  root.addEventListener("pointermove", (event) => {
    const [x, y] = place(event);
    if (dragged !== null) {
      const from = Math.max(box.left, Math.min(dragged, x)), to = Math.min(box.right, Math.max(dragged, x));
      range.setAttribute("x", from);
      range.setAttribute("width", Math.max(0, to - from));
      range.setAttribute("visibility", "visible");
    }
    if (used.length === 0) return;
    nearest(x, y);
    show(used[line][index]);
  });
  root.addEventListener("pointerleave", () => { dragged = null; hide(); });
  root.addEventListener("blur", hide);
  if (onRange) {
    root.addEventListener("pointerdown", (event) => {
      if (event.pointerType !== "touch" && event.button === 0) dragged = place(event)[0];
    });
    root.addEventListener("pointerup", (event) => {
      const from = dragged, to = place(event)[0];
      dragged = null;
      range.setAttribute("visibility", "hidden");
      if (from !== null && Math.abs(to - from) > 8) onRange(Math.min(from, to), Math.max(from, to));
    });
    root.addEventListener("dblclick", () => onRange(null));
  }
  root.addEventListener("keydown", (event) => {
    if (event.key === "Escape") { hide(); return; }
    if (used.length === 0) return;
    const steps = { ArrowLeft: -1, ArrowRight: 1, PageUp: -10, PageDown: 10 };
    if (event.key === "ArrowUp" || event.key === "ArrowDown") {
      line = (line + (event.key === "ArrowUp" ? used.length - 1 : 1)) % used.length;
    } else if (event.key in steps) index += steps[event.key];
    else if (event.key === "Home") index = 0;
    else if (event.key === "End") index = Infinity;
    else return;
    event.preventDefault();
    index = Math.max(0, Math.min(index, used[line].length - 1));
    show(used[line][index]);
  });
}

// What a figure drew, for the page's own check.
function counted(figure, panels, series, points) {
  Object.assign(figure.dataset, { panels, series, points });
}
