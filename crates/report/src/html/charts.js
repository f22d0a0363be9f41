// Findings by package and rank, and what changed since a baseline: bars whose parts choose filters.

const LEVELS = ["high", "medium", "low"];
// Packages that are drawn at once; the rest is behind a click.
const DRAWN = 12;

// What nobody judged is neither hidden nor pushed.
function levelOf(finding) {
  return finding.level || "medium";
}

function packages() {
  const counts = new Map();
  for (const finding of DATA.findings) {
    const key = packageKey(finding);
    const count = counts.get(key) || { key, high: 0, medium: 0, low: 0, all: 0 };
    count[levelOf(finding)]++;
    count.all++;
    counts.set(key, count);
  }
  const sorted = [...counts.values()].sort((a, b) => b.high - a.high || b.medium - a.medium || b.low - a.low);
  if (sorted.length === 0) return null;
  const most = Math.max(...sorted.map((count) => count.all));
  const table = (entries) => el("table", { class: "packages" },
    el("thead", { class: "unseen" }, el("tr", {}, ["Package", "Findings by rank"].map((head) => el("th", { scope: "col" }, head)))),
    el("tbody", {}, entries.map((count) => packageRow(count, most))));
  return [el("h3", {}, "By package and rank"), table(sorted.slice(0, DRAWN)),
    sorted.length > DRAWN && el("details", {}, el("summary", {}, `${sorted.length - DRAWN} more packages`), table(sorted.slice(DRAWN)))];
}

function packageName(key) {
  return key === "?" ? "(traces)" : key.slice(1) || "(default)";
}

function packageRow(count, most) {
  const name = packageName(count.key);
  const pick = (level) => () => { choose("level", level); choose("package", count.key); };
  return el("tr", {},
    el("th", { scope: "row" }, el("button", { type: "button", title: name, on: { click: pick("") } }, name)),
    el("td", {}, el("div", { class: "stack-bar" }, LEVELS.filter((level) => count[level] > 0).map((level) => {
      const words = `${count[level].toLocaleString("en")} ${level}`;
      return el("button", {
        type: "button", class: `part ${level}`, title: `${words} in ${name}`, "aria-label": `${words} in ${name}`,
        style: `flex-grow:${count[level]}`, on: { click: pick(level) },
      }, count[level].toLocaleString("en"));
    }), el("span", { class: "rest", style: `flex-grow:${most - count.all}` }))));
}

// Beside a baseline: what was there, what is new, what is gone.
function trend() {
  const change = DATA.trend;
  if (!change) return null;
  const all = (counts) => LEVELS.reduce((sum, level) => sum + counts[level], 0);
  const most = Math.max(...["before", "now"].flatMap((when) => LEVELS.map((level) => change[when][level])), 1);
  const bar = (counts, level) => el("span", { class: `trend-bar ${level}`, "aria-hidden": "true" },
    el("span", { style: `width:${(100 * counts[level]) / most}%` }));
  const cell = (counts, level) => el("td", {}, counts[level].toLocaleString("en"));
  return [el("h3", {}, "Since the baseline"),
    el("p", {}, `${plural(all(change.before), "finding")} before, ${all(change.now).toLocaleString("en")} now: `
      + `${all(change.new).toLocaleString("en")} new, ${all(change.gone).toLocaleString("en")} gone`
      + (change.stronger ? `, ${change.stronger.toLocaleString("en")} with a stronger verdict` : "")
      + ". What is new or stronger is listed below."),
    el("div", { class: "scroll" }, el("table", { class: "trend" },
      el("thead", {}, el("tr", {}, ["Rank", "Before", "Now", "New", "Gone", ""].map((head) => el("th", { scope: "col" }, head)))),
      el("tbody", {}, LEVELS.map((level) => el("tr", {},
        el("th", { scope: "row" }, level),
        ["before", "now", "new", "gone"].map((when) => cell(change[when], level)),
        el("td", { class: "bars" }, bar(change.before, level), bar(change.now, level)))))))];
}
