// The page: what is chosen, when charts are drawn, zoom, theme, tables that are made when opened.

const FIGURES = {
  clients: drawClients, forest: drawForest, throughput: drawThroughput, latency: drawLatency,
  percentiles: drawPercentiles, steadiness: drawSteadiness, server: drawServer, costs: drawCosts,
};
const OVER_TIME = ["throughput", "latency", "server"];
const figureOf = (name) => document.querySelector(`figure[data-chart="${name}"]`);
const field = (id) => document.getElementById(id);

const choice = { workload: 0, level: 0, round: 0, zoom: null, setZoom };

function draw(names) {
  for (const name of names) {
    const figure = figureOf(name);
    if (!figure) continue;
    const plot = figure.querySelector(".plot");
    // Keeps the page from jumping while the chart is away.
    plot.style.minHeight = plot.offsetHeight + "px";
    const hadFocus = plot.contains(document.activeElement);
    const position = [...plot.querySelectorAll("svg")].indexOf(document.activeElement);
    plot.replaceChildren();
    FIGURES[name](plot, figure, choice);
    if (OVER_TIME.includes(name) && plot.querySelector("svg")) plot.prepend(zoomButtons());
    plot.style.minHeight = "";
    if (hadFocus && position >= 0) plot.querySelectorAll("svg")[position]?.focus();
  }
  hideTip();
}
function drawAll() {
  draw(Object.keys(FIGURES));
  for (const details of document.querySelectorAll("details.late[open]")) fill(details);
}

function setZoom(range) {
  const whole = timeAxis(runsAt(choice), { ...choice, zoom: null }).whole;
  choice.zoom = range && [Math.max(0, range[0]), Math.min(whole[1], range[1])];
  if (choice.zoom && choice.zoom[1] - choice.zoom[0] >= whole[1] * 0.999) choice.zoom = null;
  draw(OVER_TIME);
}
// Zooms by a factor around the middle, or moves by a part of what is seen.
function zoomBy(factor, move) {
  const whole = timeAxis(runsAt(choice), { ...choice, zoom: null }).whole;
  const [from, to] = choice.zoom || whole;
  const half = Math.max(0.5, ((to - from) / 2) * factor);
  let middle = (from + to) / 2 + (to - from) * move;
  middle = Math.max(half, Math.min(whole[1] - half, middle));
  setZoom(half * 2 >= whole[1] ? null : [middle - half, middle + half]);
}
const ZOOMS = [["◀", "Earlier", 1, -0.5], ["▶", "Later", 1, 0.5], ["+", "Zoom in", 0.5, 0], ["−", "Zoom out", 2, 0], ["Reset", "Whole window", Infinity, 0]];
function zoomButtons() {
  const bar = html("div", { class: "zoom", role: "group", "aria-label": "Zoom of the charts over time" });
  for (const [text, label, factor, move] of ZOOMS) {
    const button = html("button", { type: "button", title: label, "aria-label": label }, text);
    button.addEventListener("click", () => {
      const at = [...bar.children].indexOf(button), name = bar.closest("figure").dataset.chart;
      if (factor === Infinity) setZoom(null); else zoomBy(factor, move);
      figureOf(name).querySelector(".zoom").children[at].focus();
    });
    bar.append(button);
  }
  return bar;
}
document.addEventListener("keydown", (event) => {
  if (!OVER_TIME.includes(event.target.closest?.("figure")?.dataset.chart) || event.target.tagName !== "svg") return;
  if (event.key === "+" || event.key === "=") zoomBy(0.5, 0);
  else if (event.key === "-") zoomBy(2, 0);
  else if (event.key === "0") setZoom(null);
});

// Tables of what is chosen, made when they are opened.
function fill(details) {
  const name = details.closest("figure").dataset.chart;
  const table = html("table", {});
  const row = (tag, cells) => html("tr", {}, ...cells.map((cell, i) => html(i === 0 ? "th" : tag, i > 0 && tag === "td" ? { class: "n" } : {}, String(cell ?? "–"))));
  const head = name === "steadiness"
    ? ["arm", "seconds", "lowest tps", "5 %", "first quartile", "median", "third quartile", "95 %", "highest"]
    : ["arm", "round", "start s", "length s", "tps", "p50 ms", "p99 ms", "max ms", "happened"];
  const body = html("tbody", {});
  if (name === "steadiness") {
    for (const box of ofLevel(DATA.boxes, choice)) body.append(row("td", [armName(box.a), box.n, ...box.q]));
  } else {
    for (const run of runsAt(choice)) run.t.forEach((start, i) => body.append(row("td", [
      armName(run.a), run.r, start, run.l[i], run.y[i], run.p50[i], run.p99[i], run.max[i], happenings(run, start, start + run.l[i]).join(", "),
    ])));
  }
  table.append(html("caption", {}, `${DATA.workloads[choice.workload]}, ${plural(choice.level, "client")}`), html("thead", {}, row("th", head)), body);
  details.querySelector(".scroll")?.remove();
  details.append(html("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Table" }, table));
}
for (const details of document.querySelectorAll("details.late")) {
  details.addEventListener("toggle", () => { if (details.open) fill(details); });
}

// Only the levels that the workload has can be chosen; the one with the most throughput is first.
function offerLevels() {
  const levels = DATA.levels[choice.workload] || [];
  const wanted = Number(field("level").value);
  field("level").replaceChildren(...levels.map((level) => html("option", {}, String(level))));
  if (choice.level !== 0 && levels.includes(wanted)) choice.level = wanted;
  else {
    const means = DATA.means.filter((mean) => mean.w === choice.workload);
    choice.level = means.reduce((best, mean) => (mean.y > best.y ? mean : best), { y: -1, c: levels[0] }).c;
  }
  field("level").value = String(choice.level);
}
field("choose").addEventListener("change", () => {
  const before = choice.workload;
  choice.workload = Number(field("workload").value);
  choice.level = Number(field("level").value);
  choice.round = Number(field("round").value);
  if (choice.workload !== before) offerLevels();
  choice.zoom = null;
  drawAll();
});
field("choose").addEventListener("submit", (event) => event.preventDefault());

const THEMES = ["system", "light", "dark"];
function setTheme(theme) {
  if (theme === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
  field("theme").textContent = "Theme: " + theme;
  // A page from a disk may be refused its storage.
  try { localStorage.setItem("dbload-theme", theme); } catch { /* then it is not remembered */ }
}
field("theme").addEventListener("click", () => {
  const now = document.documentElement.dataset.theme || "system";
  setTheme(THEMES[(THEMES.indexOf(now) + 1) % THEMES.length]);
});

// On paper everything is open but the lists of runs, at the width of paper; afterwards as it was.
const PAPER_WIDTH = 720;
let before = [];
addEventListener("beforeprint", () => {
  before = [...document.querySelectorAll("details:not(.late):not(.runs):not([open])")];
  for (const details of before) details.open = true;
  document.body.style.width = PAPER_WIDTH + "px";
  drawAll();
  document.body.style.width = "";
});
addEventListener("afterprint", () => {
  for (const details of before) details.open = false;
  drawAll();
});

field("copy").addEventListener("click", async () => {
  try {
    await navigator.clipboard.writeText(field("command").textContent);
    field("copy").textContent = "Copied";
  } catch {
    getSelection().selectAllChildren(field("command"));
    field("copy").textContent = "Selected";
  }
});

function start() {
  let theme = null;
  try { theme = localStorage.getItem("dbload-theme"); } catch { /* as above */ }
  setTheme(THEMES.includes(theme) ? theme : "system");
  for (const mark of document.querySelectorAll(".key[data-arm]")) mark.style.background = colour(Number(mark.dataset.arm));
  DATA.arms.forEach((name, arm) => field("legend").append(html("span", { title: name }, key(arm), html("bdi", {}, name))));
  choice.workload = 0;
  if (DATA.runs.length > 0) offerLevels();
  const began = performance.now();
  drawAll();
  document.documentElement.dataset.drawMs = Math.round(performance.now() - began);
  let width = document.documentElement.clientWidth;
  addEventListener("resize", () => {
    if (document.documentElement.clientWidth === width) return;
    width = document.documentElement.clientWidth;
    drawAll();
  });
}
start();
