// Colors in light and dark mode. Ten colors that people with a color-vision deficiency can distinguish; from the
// eleventh class on the shape changes, and from the thirty-first on everything is gray.

const PALETTE = {
  light: ["#3f7fc4", "#e8960c", "#b8321a", "#23876a", "#8a3fb0", "#a06a58", "#5bb8d0", "#a89a4e", "#d4679f", "#5a6270"],
  dark: ["#6aa9ec", "#f5b240", "#f2705a", "#4fc09c", "#bd86e2", "#cb9a88", "#8fdcee", "#d3c67c", "#f094c2", "#a3abb9"],
};
const SHAPES = ["circle", "square", "triangle"];
const GRAY = -1;

const darkSystem = matchMedia("(prefers-color-scheme: dark)");
const theme = () => document.documentElement.dataset.theme || (darkSystem.matches ? "dark" : "light");
const paint = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

const color = (index) => index === GRAY || index >= 30 ? paint("--other") : PALETTE[theme()][index % 10];
const shape = (index) => index === GRAY || index >= 30 ? "circle" : SHAPES[Math.floor(index / 10)];
// Consensus is not a view: it has a text color.
const sourceColor = (source) => source === 0 ? paint("--soft") : color(source - 1);

// From a faint to the full color, in steps.
const STEPS = 12;
const rampColor = (step) => {
  const [low, high] = theme() === "dark" ? [[52, 58, 66], [132, 196, 255]] : [[222, 226, 228], [20, 74, 134]];
  const share = step / (STEPS - 1);
  return `rgb(${low.map((c, i) => Math.round(c + share * (high[i] - c))).join(", ")})`;
};
const heat = (share) => `rgba(${paint("--heat")}, ${(0.06 + 0.74 * share).toFixed(3)})`;

const swatch = (index) => {
  const svg = draw("svg", { viewBox: "0 0 10 10", "aria-hidden": "true" });
  const fill = color(index);
  const shapes = {
    circle: () => draw("circle", { cx: 5, cy: 5, r: 4, fill }),
    square: () => draw("rect", { x: 1.4, y: 1.4, width: 7.2, height: 7.2, fill }),
    triangle: () => draw("path", { d: "M5 .6 9.6 9H.4z", fill }),
  };
  svg.append(shapes[shape(index)]());
  return svg;
};
