// The page's check of itself, for its tests: opened with #selfcheck it uses its own charts as a
// person would, and leaves what it found in data-check of <html>.

function selfCheck() {
  const charts = {};
  for (const figure of document.querySelectorAll("figure[data-chart]")) {
    const { chart, panels: count, series, points } = figure.dataset;
    charts[chart] = {
      panels: Number(count), series: Number(series), points: Number(points),
      svgs: figure.querySelectorAll("svg").length,
      broken: [...figure.querySelectorAll("svg *")].filter((node) =>
        [...node.attributes].some((attribute) => /NaN|Infinity|undefined/.test(attribute.value))).length,
    };
  }
  const hover = [];
  const throughput = figureOf("throughput");
  const target = throughput && throughput.querySelector("svg");
  if (target) {
    target.focus();
    for (const key of ["Home", "ArrowRight", "ArrowRight", "End"]) {
      target.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
      hover.push({ key, text: TIP.textContent });
    }
    // The pointer goes where the cross is: it must find the same point.
    const dot = target.querySelector("circle[visibility=visible]");
    const rect = target.getBoundingClientRect(), factor = rect.width / target.viewBox.baseVal.width;
    const at = { clientX: rect.left + dot.getAttribute("cx") * factor, clientY: rect.top + dot.getAttribute("cy") * factor };
    hideTip();
    target.dispatchEvent(new PointerEvent("pointermove", { ...at, bubbles: true }));
    hover.push({ key: "pointer", text: TIP.hidden ? "" : TIP.textContent });
    target.dispatchEvent(new PointerEvent("pointerleave"));
  }
  const zoom = [];
  const seen = () => figureOf("throughput").querySelector("svg path.line")?.getAttribute("d").length || 0;
  if (target) {
    zoom.push(choice.zoom);
    for (const label of ["Zoom in", "Later", "Whole window"]) {
      throughput.querySelector(`[aria-label="${label}"]`).click();
      zoom.push(choice.zoom);
    }
    zoom.push(seen() > 0);
  }
  const themes = [];
  for (let i = 0; i < 3; i += 1) {
    field("theme").click();
    themes.push([field("theme").textContent, getComputedStyle(document.body).backgroundColor]);
  }
  const late = [...document.querySelectorAll("details.late")].map((details) => {
    fill(details);
    const rows = details.querySelectorAll("tbody tr").length;
    details.querySelector(".scroll").remove();
    return rows;
  });
  const page = document.documentElement;
  const found = {
    overlaps: overlaps(),
    title: document.title, charts, hover, zoom, themes, late, choice: { workload: choice.workload, level: choice.level },
    errors: ERRORS, draw_ms: Number(page.dataset.drawMs),
    resources: performance.getEntriesByType("resource").map((entry) => entry.name),
    scroll_width: page.scrollWidth, client_width: page.clientWidth,
    unlabelled: document.querySelectorAll("svg:not([aria-label]), figure:not(:has(figcaption))").length,
  };
  page.dataset.check = JSON.stringify(found);
  if (parent !== window) parent.postMessage(found, "*");
}
// Titles, buttons and charts that lie over each other.
function overlaps() {
  const found = [];
  for (const figure of document.querySelectorAll("figure")) {
    const shown = [...figure.querySelectorAll("h2, h3, button, svg, figcaption p, summary")].map((node) => [node, node.getBoundingClientRect()]);
    shown.forEach(([one, a], i) => shown.slice(i + 1).forEach(([two, b]) => {
      const width = Math.min(a.right, b.right) - Math.max(a.left, b.left), height = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
      if (width > 1 && height > 1) found.push(`${one.tagName} ${one.textContent.slice(0, 40)} / ${two.tagName} ${two.textContent.slice(0, 40)}`);
    }));
  }
  return found;
}
if (location.hash === "#selfcheck") selfCheck();
