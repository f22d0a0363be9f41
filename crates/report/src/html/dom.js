// Small means to make elements; every text goes in as a text node.

const DATA = JSON.parse(document.getElementById("data").textContent);
const SVG = "http://www.w3.org/2000/svg";

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name === "on") {
      for (const [event, handler] of Object.entries(value)) node.addEventListener(event, handler);
    } else {
      node.setAttribute(name, value === true ? "" : value);
    }
  }
  for (const child of children.flat(Infinity)) {
    if (child === undefined || child === null || child === false) continue;
    node.append(child);
  }
  return node;
}

function el(name, attributes, ...children) {
  return fill(document.createElement(name), attributes, children);
}

function svg(name, attributes, ...children) {
  return fill(document.createElementNS(SVG, name), attributes, children);
}

function plural(n, what) {
  return `${n.toLocaleString("en")} ${what}${n === 1 ? "" : "s"}`;
}

// Locations without the package of their object's class.
function short(target) {
  const at = target.indexOf("@");
  if (at < 0 || /\s/.test(target.slice(0, at))) return target;
  return target.slice(target.lastIndexOf(".", at) + 1);
}

function placeText(place) {
  if (!place || !place.file) return "";
  return place.line ? `${place.file}:${place.line}` : place.file;
}

// Where a step is, and before it where the torn region calls what it lies in.
function stepPlace(step) {
  return [step.within, step.place].map(placeText).filter(Boolean).join(" → ");
}

function sourceOf(place) {
  if (!place || !place.file) return undefined;
  const name = place.class || "";
  const dot = name.lastIndexOf(".");
  return DATA.sources[`${dot < 0 ? "" : name.slice(0, dot)}/${place.file}`];
}
