// Colors in light and dark mode, from the style sheet. Labels and views have palettes that share no color. From the eleventh
// label (the ninth view) on the shape changes, and after three shapes everything is gray.

const COLORS = { l: 10, v: 8 };
const SHAPES = ["circle", "square", "triangle"];
const GRAY = -1;

const darkSystem = matchMedia("(prefers-color-scheme: dark)");
const theme = () => document.documentElement.dataset.theme || (darkSystem.matches ? "dark" : "light");
let paints = new Map();
const paint = (name) => {
  if (!paints.has(name)) paints.set(name, getComputedStyle(document.documentElement).getPropertyValue(name).trim());
  return paints.get(name);
};

const isGray = (index, palette) => index === GRAY || index >= SHAPES.length * COLORS[palette];
const color = (index, palette) => isGray(index, palette) ? paint("--other") : paint(`--${palette}${index % COLORS[palette]}`);
const shape = (index, palette) => isGray(index, palette) ? "circle" : SHAPES[Math.floor(index / COLORS[palette])];

// From a faint to the full color, in steps.
const STEPS = 12;
const rampColor = (step) => {
  const [low, high] = theme() === "dark" ? [[66, 72, 80], [132, 196, 255]] : [[206, 212, 218], [20, 74, 134]];
  const share = step / (STEPS - 1);
  return `rgb(${low.map((c, i) => Math.round(c + share * (high[i] - c))).join(", ")})`;
};
const heat = (share) => `rgba(${paint("--heat")}, ${(0.05 + 0.3 * share).toFixed(3)})`;

const swatch = (index, palette) => {
  const svg = draw("svg", { viewBox: "0 0 10 10", "aria-hidden": "true" });
  const fill = color(index, palette);
  const shapes = {
    circle: () => draw("circle", { cx: 5, cy: 5, r: 4, fill }),
    square: () => draw("rect", { x: 1.4, y: 1.4, width: 7.2, height: 7.2, fill }),
    triangle: () => draw("path", { d: "M5 .6 9.6 9H.4z", fill }),
  };
  const drawn = shapes[shape(index, palette)]();
  // A presentation attribute loses against the style sheet of the charts.
  drawn.style.fill = fill;
  svg.append(drawn);
  return svg;
};

// What is to be drawn again when the mode changes.
const recolored = [];
const recolor = () => {
  paints = new Map();
  at("theme").textContent = theme() === "dark" ? "Light" : "Dark";
  at("theme").setAttribute("aria-label", `Switch to ${theme() === "dark" ? "light" : "dark"} mode`);
  for (const again of recolored) again();
};
at("theme").addEventListener("click", () => {
  document.documentElement.dataset.theme = theme() === "dark" ? "light" : "dark";
  recolor();
});
darkSystem.addEventListener("change", recolor);
