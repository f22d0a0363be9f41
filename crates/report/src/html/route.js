// Which page is shown follows from the address: `#f/FINGERPRINT` is a finding, everything else the overview.

const overviewElement = document.getElementById("overview");
const findingElement = document.getElementById("finding");
const title = document.title;
let scrolled = 0;
let opened = null;

function route() {
  const id = location.hash.startsWith("#f/") ? location.hash.slice(3) : null;
  const finding = id && DATA.findings.find((it) => it.id === id);
  if (finding) {
    if (!opened) scrolled = window.scrollY;
    opened = finding;
    const at = shown.indexOf(finding);
    findingElement.replaceChildren(...findingPage(finding, shown[at - 1], at < 0 ? undefined : shown[at + 1]).flat(Infinity).filter(Boolean));
    overviewElement.hidden = true;
    findingElement.hidden = false;
    document.title = `${finding.name} – Untorn`;
    window.scrollTo(0, 0);
    findingElement.querySelector("h2").focus({ preventScroll: true });
    return;
  }
  findingElement.hidden = true;
  findingElement.replaceChildren();
  overviewElement.hidden = false;
  document.title = title;
  if (opened) {
    const row = rowOf(opened);
    opened = null;
    window.scrollTo(0, scrolled);
    if (row) row.firstChild.focus({ preventScroll: true });
  }
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const typing = event.target.matches("input, select, textarea");
  if (event.key === "/" && !typing && !opened) {
    event.preventDefault();
    document.querySelector(".filters input").focus();
  } else if (event.key === "Escape" && opened) {
    location.hash = "";
  } else if (opened && !typing && (event.key === "j" || event.key === "k")) {
    const link = findingElement.querySelector(event.key === "j" ? "a[rel=next]" : "a[rel=prev]");
    if (link) link.click();
  } else if (event.key === "ArrowDown" && event.target.matches(".filters input")) {
    if (shown.length > 0) {
      event.preventDefault();
      rowOf(shown[0]).firstChild.focus();
    }
  }
});

overviewElement.replaceChildren(...overview().flat(Infinity).filter(Boolean));
filter();
window.addEventListener("hashchange", route);
route();
