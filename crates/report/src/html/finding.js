// The page of one finding.

function findingPage(finding, previous, next) {
  const evidence = finding.evidence;
  const kind = DATA.kinds[finding.kind];
  return [
    el("nav", { class: "steps", "aria-label": "Findings" },
      el("a", { href: "#" }, "All findings"),
      previous && el("a", { href: `#f/${previous.id}`, rel: "prev", "aria-keyshortcuts": "k" }, "Previous"),
      next && el("a", { href: `#f/${next.id}`, rel: "next", "aria-keyshortcuts": "j" }, "Next")),
    el("h2", { tabindex: "-1" }, badge(finding.verdict), " ", finding.name,
      finding.place && el("span", { class: "place" }, finding.place)),
    el("p", { class: "headline" }, finding.headline),
    finding.rank && el("p", { class: "rank" }, el("span", { class: `badge ${finding.level}` }, finding.level), " ", rankReasons(finding)),
    // What to do comes first; why follows.
    finding.suggestions.map((suggestion) => el("p", { class: "suggestion" }, el("strong", {}, "Suggestion "), suggestion)),
    (evidence.interleavings || []).map((order) => [diagram(order), stepTable(order.steps, order.torn), sources(order.steps.flatMap((step) => [step.within, step.place].filter(Boolean).map((place) => [`(${step.n})`, place])))]),
    (evidence.reductions || []).map(reduction),
    (evidence.views || []).map(viewConflict),
    (evidence.method_views || []).map(methodViews),
    (evidence.typings || []).map(typing),
    (evidence.races || []).map(race),
    facts(finding),
    el("details", { class: "help" }, el("summary", {}, `What is this? ${kind.title}`),
      kind.help.split("\n").map((line) => el("p", {}, line.replaceAll("*", "")))),
  ];
}

function badge(verdict) {
  return el("span", { class: `badge ${verdict}` }, verdict);
}

function facts(finding) {
  const evidence = finding.evidence;
  const rows = [];
  const order = (evidence.interleavings || []).find((it) => it.torn);
  if (order) {
    const within = (evidence.enclosing || []).map(regionName);
    rows.push(["Blamed", `${finding.name}: the order leaves it at (${order.torn[0]}) and comes back at (${order.torn[1]}), so no schedule that runs it without interruption has these conflicts in this order.`
      + (within.length ? ` It is torn within ${within.join(", ")}.` : "")]);
  } else if (finding.group.length) {
    rows.push(["Blamed", `nobody alone: ${[finding.name, ...finding.group].join(", ")} together.`]);
  }
  for (const [analysis, says] of finding.says) rows.push([analysis, says]);
  if (finding.frequency) rows.push(["Seen", finding.frequency]);
  if (finding.affected.length) rows.push(["Affected", `${plural(finding.affected.length, "other region")}: ${finding.affected.join(", ")}`]);
  for (const note of evidence.notes || []) rows.push(["Note", note]);
  rows.push(["Fingerprint", el("a", { href: `#f/${finding.id}`, title: "The address of this page" }, finding.id)]);
  return [el("h3", {}, "What is said of it"),
    el("dl", { class: "facts" }, rows.map(([name, text]) => [
      el("dt", {}, name), el("dd", {}, text)]))];
}

// The reasons of a rank; its level is beside them.
function rankReasons(finding) {
  return finding.rank.startsWith(finding.level) ? finding.rank.slice(finding.level.length).replace(/^[:,]\s*/, "") : finding.rank;
}

function stepTable(steps, torn) {
  return el("div", { class: "scroll" }, el("table", {},
    el("caption", {}, "Steps, in the order of the run"),
    el("thead", {}, el("tr", {}, ["", "Thread", "Step", "Place", "Locks held"].map((head) => el("th", { scope: "col" }, head)))),
    el("tbody", {}, steps.map((step) => el("tr", { class: (torn || []).includes(step.n) ? "torn" : undefined },
      el("th", { scope: "row" }, `(${step.n})`),
      el("td", {}, step.thread),
      el("td", {}, `${step.op} ${short(step.target)}`),
      el("td", {}, stack(step)),
      el("td", {}, (step.locks || []).map(short).join(", ") || "–"))))));
}

function stack(step) {
  const frames = step.stack || [];
  if (frames.length === 0) return stepPlace(step) || "–";
  return el("details", {}, el("summary", {}, stepPlace(step) || "call stack"),
    el("ol", { class: "stack" }, frames.map((frame) =>
      el("li", {}, [frame.class, frame.method].filter(Boolean).join("."), " ", placeText(frame)))));
}

// The lines of some marked places, a file at a time.
function sources(marked) {
  const files = new Map();
  for (const [mark, place] of marked) {
    const source = sourceOf(place);
    if (!source || !place.line || !source.lines[place.line]) continue;
    if (!files.has(source)) files.set(source, new Map());
    const lines = files.get(source);
    for (let n = place.line - 3; n <= place.line + 3; n++) {
      if (source.lines[n] !== undefined && !lines.has(n)) lines.set(n, new Set());
    }
    lines.get(place.line).add(mark);
  }
  return [...files].map(([source, lines]) => {
    const numbers = [...lines.keys()].sort((a, b) => a - b);
    return el("figure", { class: "source" },
      el("figcaption", {}, source.path),
      el("div", { class: "scroll" }, el("table", { role: "presentation" }, el("tbody", {}, numbers.map((n, i) => [
        i > 0 && numbers[i - 1] + 1 !== n && el("tr", { class: "gap" }, el("td", { colspan: 3 }, "⋮")),
        el("tr", { class: lines.get(n).size ? "marked" : undefined },
          el("td", { class: "mark" }, [...lines.get(n)].join("")),
          el("td", { class: "line" }, String(n)),
          el("td", {}, el("code", {}, source.lines[n])))])))));
  });
}

function reduction(it) {
  const steps = [it.entry, it.commit, it.violation].map((step, i) => ({ ...step, n: i + 1 }));
  return [el("h3", {}, "Steps that do not reduce to one"),
    el("p", {}, `${it.why.charAt(0).toUpperCase()}${it.why.slice(1)}.`.split(" ").map(short).join(" ")),
    stepTable(steps, [2, 3]), sources(steps.map((step) => [`(${step.n})`, step.place]))];
}

function parts(title, rows, marked) {
  return [el("h3", {}, title),
    el("ol", { class: "parts" }, rows.map((row) => el("li", {}, row))),
    sources(marked)];
}

function viewConflict(it) {
  const views = [it.maximal, ...it.diverging];
  return parts("Fields used as one and apart",
    views.map((view, i) => `Thread ${view.thread}: ${view.fields.map(short).join(", ")} ${i ? "apart" : "together"} under ${short(view.lock)} ${view.places.map(placeText).join(", ")}`),
    views.flatMap((view, i) => view.places.map((place) => [`(${i + 1})`, place])));
}

function methodViews(it) {
  const own = it.sections || [];
  const row = (view, who) => `${who}${view.accesses.join(", ")} ${view.lock ? `under ${short(view.lock)}` : "without a lock"}${view.places.length ? ` at ${view.places.map(placeText).join(", ")}` : ""}, in thread ${view.thread}`;
  // What only reads disturbs nobody.
  const writing = it.interfering.filter((view) => view.accesses.some((entry) => entry.endsWith(": write")));
  const others = writing.length ? writing : it.interfering;
  const rows = [
    ...(own.length ? own.map((view) => row(view, "This method: ")) : [`This method: ${it.view.join(", ")}, in thread ${it.thread}`]),
    ...others.map((view) => row(view, `In between, ${regionName(view.method)}: `)),
  ];
  const before = Math.max(own.length, 1);
  return parts("One critical section after the other, and what can come between", rows,
    [...own.map((view, i) => [view, i + 1]), ...others.map((view, i) => [view, i + 1 + before])]
      .flatMap(([view, number]) => view.places.map((place) => [`(${number})`, place])));
}

function typing(it) {
  const rows = it.parts.map((part) => `${part.what} is ${part.atomicity} ${placeText(part.place)}`);
  if (it.released) rows.push(`Given up between them: ${it.released.what} ${placeText(it.released.place)}`);
  for (const lost of it.guards_lost || []) {
    rows.push(`${lost.field}${lost.candidate ? ` would be guarded by ${lost.candidate}` : " has no guard"}: ${lost.why} ${placeText(lost.place)}`);
  }
  return parts(`Parts that do not compose (the type is ${it.atomicity})`, rows,
    [...it.parts, it.released].filter(Boolean).map((part, i) => [`(${i + 1})`, part.place]));
}

function race(it) {
  return [el("h3", {}, `Accesses of ${short(it.variable)}`),
    stepTable(it.accesses), sources(it.accesses.map((step) => [`(${step.n})`, step.place]))];
}
