// A recorded order as a picture: a lane per thread, time running down, an arrow for each order between threads.

const LANE = 300;
const ROW = 58;
const TOP = 74;
const LEFT = 44;
const DOT = 13;

let diagrams = 0;

function diagram(order) {
  const id = `diagram-${++diagrams}`;
  const threads = [...new Set(order.steps.map((step) => step.thread))];
  const x = (thread) => LEFT + threads.indexOf(thread) * LANE;
  const rows = new Map(order.steps.map((step, row) => [step.n, row]));
  const y = (n) => TOP + rows.get(n) * ROW;
  const byNumber = new Map(order.steps.map((step) => [step.n, step]));
  const width = LEFT + threads.length * LANE;
  const height = TOP + order.steps.length * ROW;
  const torn = order.torn || [];
  const tip = el("div", { class: "tip", role: "status", hidden: true });

  const lanes = threads.map((thread) => [
    svg("line", { class: "lane", x1: x(thread), x2: x(thread), y1: TOP - 26, y2: height - 12 }),
    svg("text", { class: "thread", x: x(thread) - DOT, y: 22 }, clip(thread, 36)),
    svg("text", { class: "region", x: x(thread) - DOT, y: 41 }, clip(regionsOf(order, thread), 42)),
  ]);
  const spans = order.transactions.map((transaction, index) => {
    const own = order.steps.filter((step) => step.transaction === index);
    if (!transaction.region || own.length === 0) return null;
    const first = y(own[0].n) - 22;
    const last = y(own[own.length - 1].n) + 22;
    return svg("rect", {
      class: "span", x: x(own[0].thread) - 20, y: first, width: 40, height: last - first, rx: 20,
    });
  });
  const edges = order.edges.map((edge) => arrow(edge, byNumber, x, y, id));
  const steps = order.steps.map((step) => {
    const isTorn = torn.includes(step.n);
    const show = () => showTip(tip, step, x(step.thread), y(step.n), width);
    const hide = () => { tip.hidden = true; };
    return svg("g", {
      class: isTorn ? "step torn" : "step", tabindex: "0", role: "img",
      "aria-label": stepSentence(step, isTorn),
      on: { mouseenter: show, mouseleave: hide, focus: show, blur: hide },
    },
      svg("circle", { cx: x(step.thread), cy: y(step.n), r: DOT }),
      svg("text", { class: "number", x: x(step.thread), y: y(step.n) + 4.5 }, String(step.n)),
      svg("text", { class: "what", x: x(step.thread) + 28, y: y(step.n) - 1 }, clip(`${step.op} ${short(step.target)}`, 34)),
      svg("text", { class: "where", x: x(step.thread) + 28, y: y(step.n) + 16 }, clip(stepPlace(step), 38)),
    );
  });
  const picture = svg("svg", {
    viewBox: `0 0 ${width} ${height}`, width, height, role: "group",
    "aria-label": `The order of ${plural(order.steps.length, "step")} of ${plural(threads.length, "thread")} that ${order.analysis} saw`,
  },
    svg("defs", {}, ["data", "sync", "program"].map((kind) =>
      svg("marker", { id: `${id}-${kind}`, class: `head ${kind}`, viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 8, markerHeight: 8, orient: "auto" },
        svg("path", { d: "M0 0L8 4L0 8z" })))),
    spans, lanes, edges, steps);
  const hasSync = order.edges.some((edge) => edge.kind === "sync");
  const hasDoubt = order.edges.some((edge) => edge.approximate);
  return el("figure", { class: "diagram" },
    el("div", { class: "scroll" }, picture, tip),
    el("figcaption", {},
      el("span", { class: "key data" }, "conflict on data"),
      hasSync && el("span", { class: "key sync" }, "synchronization"),
      hasDoubt && el("span", { class: "key doubt" }, "approximate"),
      torn.length > 0 && el("span", { class: "key torn" }, `torn between (${torn[0]}) and (${torn[1]})`),
      ` as seen by ${order.analysis}`));
}

function arrow(edge, steps, x, y, id) {
  const from = steps.get(edge.from);
  const to = steps.get(edge.to);
  if (!from || !to) return null;
  const [x1, y1, x2, y2] = [x(from.thread), y(edge.from), x(to.thread), y(edge.to)];
  if (x1 === x2) {
    return svg("path", { class: "edge program", d: `M${x1} ${y1 + DOT}L${x2} ${y2 - DOT - 2}`, "marker-end": `url(#${id}-program)` });
  }
  // To the right, an arrow comes in from the side; to the left it comes from above, since the label is on that side.
  const right = x2 > x1;
  const [sx, sy] = [x1 + (right ? 1 : -1) * DOT * 0.6, y1 + DOT * 0.8];
  const [ex, ey] = right ? [x2 - DOT - 2, y2] : [x2 + DOT * 0.75, y2 - DOT * 0.8 - 2];
  const bend = right ? [sx, (sy + ey) / 2, ex - 60, ey] : [sx - 20, ey - 14, ex + 50, ey - 22];
  return svg("path", {
    class: `edge ${edge.kind}${edge.approximate ? " doubt" : ""}`,
    d: `M${sx} ${sy}C${bend.join(" ")} ${ex} ${ey}`,
    "marker-end": `url(#${id}-${edge.kind})`,
  }, svg("title", {}, `(${edge.from}) comes before (${edge.to}): ${edgeWhy(edge)}`));
}

function edgeWhy(edge) {
  const why = { program: "same thread", data: "same location, and one of them writes", sync: "synchronization" }[edge.kind];
  return edge.approximate ? `${why}, approximate` : why;
}

function regionsOf(order, thread) {
  const names = new Set();
  for (const step of order.steps) {
    const transaction = order.transactions[step.transaction];
    if (step.thread === thread && transaction && transaction.region) names.add(regionName(transaction.region));
  }
  return names.size ? `in ${[...names].join(", ")}` : "";
}

function regionName(region) {
  const simple = (region.class || "").split(".").pop();
  const name = [simple, region.method, region.field].filter(Boolean).join(".");
  return region.block ? `${name} block ${region.block}` : name;
}

function stepSentence(step, isTorn) {
  const place = stepPlace(step);
  const locks = (step.locks || []).map(short).join(", ");
  return `(${step.n}) thread ${step.thread}: ${step.op} ${short(step.target)}`
    + (place ? ` at ${place}` : "")
    + (locks ? `, holding ${locks}` : ", no lock recorded")
    + (isTorn ? "; here the region is torn" : "");
}

function showTip(tip, step, x, y, width) {
  const source = sourceOf(step.place);
  const line = source && step.place.line && source.lines[step.place.line];
  tip.replaceChildren(
    el("strong", {}, `(${step.n}) ${step.op} ${step.target}`),
    el("div", {}, `thread ${step.thread}${stepPlace(step) ? `, ${stepPlace(step)}` : ""}`),
    el("div", {}, (step.locks || []).length ? `holding ${step.locks.join(", ")}` : "no lock recorded"),
    line && el("code", {}, line.trim()));
  tip.hidden = false;
  tip.style.left = `${Math.max(0, Math.min(x + 18, width - 320))}px`;
  tip.style.top = `${y + 30}px`;
}

function clip(text, length) {
  return text.length > length ? `${text.slice(0, length - 1)}…` : text;
}
