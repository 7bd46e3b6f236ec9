// Names on a map: each class is named where it is densest. Names that would cover another are left out, small classes first.

// The densest place of a class: the cell of a coarse grid with most nodes around it, and the mean of the nodes there.
const densest = (nodes, places) => {
  const SIDE = 24, cells = new Map();
  const cell = (v) => Math.min(SIDE - 1, Math.floor((v + 1) / 2 * SIDE));
  const key = (node, right = 0, up = 0) => (cell(places.y[node]) + up) * 64 + cell(places.x[node]) + right;
  const there = nodes.filter((node) => !Number.isNaN(places.x[node]));
  if (!there.length) return null;
  for (const node of there) {
    for (let up = -1; up <= 1; up++) for (let right = -1; right <= 1; right++) cells.set(key(node, right, up), (cells.get(key(node, right, up)) || 0) + 1);
  }
  let best = 0, most = 0;
  for (const node of there) if (cells.get(key(node)) > most) { most = cells.get(key(node)); best = key(node); }
  const close = there.filter((node) => Math.abs(key(node) % 64 - best % 64) <= 1 && Math.abs(Math.floor(key(node) / 64) - Math.floor(best / 64)) <= 1);
  const mean = (values) => close.reduce((sum, node) => sum + values[node], 0) / close.length;
  return { x: mean(places.x), y: mean(places.y) };
};

const MOST_NAMES = 40;
const NAME_FONT = `600 15px ${getComputedStyle(document.documentElement).getPropertyValue("--sans")}`;

// The names that fit on a map, with their places in pixels. `to` converts a place of the map.
const namesOn = (map, to, measure) => {
  if (!at("names").checked || state.classes.range || state.classes.length < 2) return [];
  const some = state.classes.some((c) => c.active);
  const wanted = state.classes.filter((c) => c.index !== GRAY && !c.hideName && (!some || c.active));
  wanted.sort((a, b) => b.nodes.length - a.nodes.length);
  const placed = [];
  for (const c of wanted.slice(0, MOST_NAMES)) {
    if (!map.densest.has(c)) map.densest.set(c, densest(c.nodes, map.places));
    const place = map.densest.get(c);
    if (!place) continue;
    const text = c.name.length > 28 ? `${c.name.slice(0, 27)}…` : c.name;
    const [x, y] = to(place), wide = measure(text) + 8;
    const box = { left: x - wide / 2, right: x + wide / 2, top: y - 11, bottom: y + 11, x, y, text };
    if (!placed.some((other) => other.left < box.right && box.left < other.right && other.top < box.bottom && box.top < other.bottom)) placed.push(box);
  }
  return placed;
};
