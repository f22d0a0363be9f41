// The overview: the ladder, what changed since a baseline, the chart of packages, filters, the list, statistics.

const filters = { text: "", level: "", verdict: "", kind: "", analysis: "", package: "" };
// Rows are made in portions as they come into sight, so that ten thousand findings cost no more than a few.
const PORTION = 150;
let shown = DATA.findings;
let made = 0;
let listElement;
let moreElement;
let countElement;

function overview() {
  const observed = DATA.findings.filter((finding) => isSeen(finding)).length;
  return [
    el("h2", {}, "Overview"),
    ladder(observed, DATA.findings.length - observed, DATA.proved.length, DATA.unproved.length),
    trend(),
    packages(),
    el("h2", {}, "Findings"),
    controls(),
    list(),
    DATA.suppressed.length > 0 && section("Suppressed", DATA.suppressed.map((it) => `${it.name} ${it.place || ""}${it.reason ? ` – ${it.reason}` : ""}`)),
    DATA.unproved.length > 0 && section("Not proved", DATA.unproved.map((it) => `${it.name} ${it.place || ""}`)),
    DATA.proved.length > 0 && section("Proved atomic", DATA.proved.map((it) => `${it.name} ${it.place || ""}`)),
    Object.keys(DATA.stats).length > 0 && el("details", { class: "stats" }, el("summary", {}, "Run statistics"), stats(DATA.stats)),
  ];
}

// A run that was steered observes too, and can be repeated.
function isSeen(finding) {
  return finding.verdict === "observed" || finding.verdict === "reproduced";
}

function ladder(observed, suspected, proved, unproved) {
  const most = Math.max(observed, suspected, proved, unproved, 1);
  const rung = (name, n, meaning, verdict) => el("li", { class: `rung ${name}` },
    verdict
      ? el("button", { type: "button", class: "name", title: `Show only ${name} ones`, on: { click: () => choose("verdict", filters.verdict === verdict ? "" : verdict) } }, name)
      : el("span", { class: "name" }, name),
    el("span", { class: "bar", "aria-hidden": "true" }, el("span", { style: `width:${(100 * n) / most}%` })),
    el("span", { class: "n" }, n.toLocaleString("en")),
    el("span", { class: "meaning" }, meaning));
  return el("ul", { class: "ladder", "aria-label": "Counts by verdict" },
    rung("observed", observed, "seen torn in a run", "observed"),
    rung("suspected", suspected, "can be torn, as an analysis holds", "suspected"),
    unproved > 0 && rung("unproved", unproved, "neither shown atomic nor suspected"),
    rung("proved", proved, "shown atomic by types"));
}

function packageKey(finding) {
  return finding.package === null ? "?" : `=${finding.package}`;
}

function controls() {
  const options = (values, names) => values.map((value, i) => el("option", { value }, names ? names[i] : value));
  const select = (key, label, values, names) => el("label", {}, label,
    el("select", { name: key, on: { change: (event) => choose(key, event.target.value) } },
      el("option", { value: "" }, "all"), options(values, names)));
  const sorted = (values) => [...new Set(values)].sort();
  const kinds = sorted(DATA.findings.map((finding) => finding.kind));
  const keys = sorted(DATA.findings.map(packageKey));
  countElement = el("p", { class: "count", role: "status" });
  return el("form", { class: "filters", role: "search", on: { submit: (event) => event.preventDefault() } },
    el("label", { class: "search" }, "Search",
      el("input", { type: "search", name: "text", placeholder: "method, class, field, thread …  ( / )", autocomplete: "off", on: { input: (event) => choose("text", event.target.value) } })),
    DATA.findings.some((finding) => finding.level) && select("level", "Rank", ["high", "medium", "low"]),
    select("verdict", "Verdict", sorted(DATA.findings.map((finding) => finding.verdict))),
    select("kind", "Kind", kinds, kinds.map((kind) => DATA.kinds[kind].title)),
    select("analysis", "Analysis", sorted(DATA.findings.flatMap((finding) => finding.analyses))),
    keys.length > 1 && select("package", "Package", keys, keys.map(packageName)),
    countElement);
}

function list() {
  listElement = el("ol", { class: "list", id: "list", on: { keydown: moveInList } });
  moreElement = el("button", { type: "button", class: "more", hidden: true, on: { click: () => makeRows(made + PORTION) } });
  new IntersectionObserver((entries) => {
    if (entries.some((entry) => entry.isIntersecting)) makeRows(made + PORTION);
  }, { rootMargin: "600px" }).observe(moreElement);
  return [listElement, moreElement];
}

function row(finding, index) {
  return el("li", { "aria-setsize": shown.length, "aria-posinset": index + 1 },
    el("a", { href: `#f/${finding.id}` },
      badge(finding.verdict), el("strong", {}, finding.name),
      el("span", { class: "place" }, finding.level && el("span", { class: `badge ${finding.level}` }, finding.level), " ", finding.place),
      el("span", { class: "by" }, finding.analyses.join(", ")),
      el("span", { class: "headline" }, finding.headline)));
}

// Makes rows up to a number of them.
function makeRows(until) {
  const next = shown.slice(made, until);
  listElement.append(...next.map((finding, i) => row(finding, made + i)));
  made += next.length;
  moreElement.hidden = made === shown.length;
  moreElement.textContent = `Show more (${(shown.length - made).toLocaleString("en")} left)`;
}

// The row of a finding that the filters let through.
function rowOf(finding) {
  const index = shown.indexOf(finding);
  if (index >= made) makeRows(index + PORTION);
  return index < 0 ? null : listElement.children[index];
}

function haystack(finding) {
  if (!finding.haystack) {
    finding.haystack = [finding.name, finding.package, finding.place, finding.headline, finding.kind, finding.id, ...finding.analyses].join(" ").toLowerCase();
  }
  return finding.haystack;
}

function matches(finding, words) {
  return (!filters.level || finding.level === filters.level)
    && (!filters.verdict || finding.verdict === filters.verdict)
    && (!filters.kind || finding.kind === filters.kind)
    && (!filters.analysis || finding.analyses.includes(filters.analysis))
    && (!filters.package || packageKey(finding) === filters.package)
    && words.every((word) => haystack(finding).includes(word));
}

function choose(key, value) {
  filters[key] = value;
  const input = document.querySelector(`.filters [name=${key}]`);
  if (input && input.value !== value) input.value = value;
  filter();
}

function filter() {
  const words = filters.text.toLowerCase().split(/\s+/).filter(Boolean);
  shown = DATA.findings.filter((finding) => matches(finding, words));
  listElement.replaceChildren();
  made = 0;
  makeRows(PORTION);
  const all = DATA.findings.length;
  countElement.textContent = all === 0 ? "Nothing was found."
    : shown.length === all ? plural(all, "finding")
      : `${shown.length.toLocaleString("en")} of ${plural(all, "finding")}`;
}

function moveInList(event) {
  const step = { ArrowDown: 1, j: 1, ArrowUp: -1, k: -1 }[event.key];
  if (!step) return;
  const at = [...listElement.children].indexOf(event.target.closest("li")) + step;
  if (at < 0 || at >= shown.length) return;
  event.preventDefault();
  rowOf(shown[at]).firstChild.focus();
}

function section(title, lines) {
  return el("details", {}, el("summary", {}, `${title} (${lines.length.toLocaleString("en")})`),
    el("ul", {}, lines.map((line) => el("li", {}, line))));
}

function stats(value) {
  if (value === null || typeof value !== "object") return typeof value === "number" ? value.toLocaleString("en") : String(value);
  if (Array.isArray(value)) return value.map((item) => (item !== null && typeof item === "object" ? JSON.stringify(item) : String(item))).join(", ");
  return el("dl", {}, Object.entries(value).map(([name, item]) => [el("dt", {}, name.replaceAll("_", " ")), el("dd", {}, stats(item))]));
}
