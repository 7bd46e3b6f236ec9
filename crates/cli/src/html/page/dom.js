// Helpers. Text from the data is inserted by textContent only, so markup in a name is shown as text.

const at = (id) => document.getElementById(id);

const make = (tag, options = {}, ...children) => {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(options)) {
    if (name === "text") element.textContent = value;
    else if (name === "class") element.className = value;
    else if (name === "on") for (const [event, f] of Object.entries(value)) element.addEventListener(event, f);
    else element.setAttribute(name, value);
  }
  element.append(...children);
  return element;
};

const draw = (tag, attributes = {}, text) => {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  if (text !== undefined) element.textContent = text;
  return element;
};

const button = (text, click, options = {}) => make("button", { type: "button", text, on: { click }, ...options });

const number = (x) => x.toLocaleString("en-US");
const percent = (x, digits = 0) => `${(100 * x).toFixed(digits)}%`;
const short = (x) => x >= 1e6 ? `${+(x / 1e6).toPrecision(3)} M` : x >= 1e3 ? `${+(x / 1e3).toPrecision(3)} k` : `${x}`;
const plural = (x, word) => `${number(x)} ${word}${x === 1 ? "" : "s"}`;
const seconds = (s) => s < 10 ? `${s.toFixed(2)} s` : s < 100 ? `${s.toFixed(1)} s` : `${Math.floor(s / 60)}:${String(Math.round(s % 60)).padStart(2, "0")} min`;
