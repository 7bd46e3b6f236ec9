// A map: points on one canvas; what follows the pointer (rings, lines, the lasso, the tip) on a second one above it, so that
// hovering does not draw all points again. All maps of a page share `state`.

const maps = [];

const makeMap = ({ title, places: packedPlaces }, index) => {
  const places = unpackPlaces(packedPlaces);
  const canvas = make("canvas", { id: `canvas-${index}`, "aria-hidden": "true" });
  const top = make("canvas", {
    id: `top-${index}`, class: "top-layer", tabindex: "0", role: "application", "aria-describedby": "keys",
    "aria-label": `Map of ${plural(places.drawn.length, "node")}${title ? `: ${title}` : ""}`,
  });
  const tip = make("div", { id: `tip-${index}`, class: "tip", hidden: "" });
  const box = make("div", { class: "map" }, canvas, top, tip);
  const map = { title, places, canvas, top, tip, box, index, densest: new WeakMap(), scale: 1, x: 0, y: 0, width: 0, height: 0, loop: [] };
  map.context = canvas.getContext("2d");
  map.over = top.getContext("2d");
  map.grid = gridOver(places);
  maps.push(map);
  return map;
};

// A grid over the map, so that finding the node under the pointer does not check all nodes.
const gridOver = (places) => {
  const side = Math.max(1, Math.ceil(Math.sqrt(places.drawn.length / 4)));
  const cells = new Map();
  const cell = (v) => Math.min(side - 1, Math.max(0, Math.floor((v + 1) / 2 * side)));
  for (const node of places.drawn) {
    const key = cell(places.y[node]) * side + cell(places.x[node]);
    if (!cells.has(key)) cells.set(key, []);
    cells.get(key).push(node);
  }
  return { side, cells, cell };
};

const isOn = (map, node) => node >= 0 && !Number.isNaN(map.places.x[node]);
const screenX = (map, node) => map.x + map.scale * map.places.x[node];
const screenY = (map, node) => map.y - map.scale * map.places.y[node];
const baseScale = (map) => 0.47 * Math.min(map.width, map.height);
const closeness = (map) => map.scale / baseScale(map);
const radius = (map) => {
  const base = count > 30000 ? 1.3 : count > 8000 ? 1.8 : count > 1500 ? 2.6 : count > 200 ? 3.6 : 5;
  const room = Math.min(1, Math.max(0.7, Math.min(map.width, map.height) / 560));
  return base * room * Math.min(3, Math.max(0.8, Math.sqrt(closeness(map))));
};

// The node nearest to a point of the canvas, within some pixels.
const nodeAt = (map, px, py, within) => {
  const { grid } = map;
  const x = (px - map.x) / map.scale, y = (map.y - py) / map.scale, reach = within / map.scale;
  let best = -1, least = within * within;
  for (let line = grid.cell(y - reach); line <= grid.cell(y + reach); line++) {
    for (let col = grid.cell(x - reach); col <= grid.cell(x + reach); col++) {
      for (const node of grid.cells.get(line * grid.side + col) || []) {
        if (!isShown(node)) continue;
        const dx = screenX(map, node) - px, dy = screenY(map, node) - py, distance = dx * dx + dy * dy;
        if (distance < least) { least = distance; best = node; }
      }
    }
  }
  return best;
};

const outlines = {
  circle: (context, x, y, r) => { context.moveTo(x + r, y); context.arc(x, y, r, 0, 2 * Math.PI); },
  square: (context, x, y, r) => context.rect(x - 0.9 * r, y - 0.9 * r, 1.8 * r, 1.8 * r),
  triangle: (context, x, y, r) => { context.moveTo(x, y - 1.2 * r); context.lineTo(x + 1.1 * r, y + 0.8 * r); context.lineTo(x - 1.1 * r, y + 0.8 * r); context.closePath(); },
};

// How opaque points are that are not shown or not selected.
const FAINT = 0.18;

const drawClass = (map, c, strong, r) => {
  const { context } = map;
  const add = r < 1.6 ? outlines.square : outlines[classShape(c)];
  context.globalAlpha = strong ? (count > 8000 ? 0.75 : 0.85) : FAINT;
  context.fillStyle = classColor(c);
  context.beginPath();
  for (const node of c.nodes) {
    if (isStrong(node) !== strong) continue;
    const x = screenX(map, node), y = screenY(map, node);
    if (x > -r && y > -r && x < map.width + r && y < map.height + r) add(context, x, y, r);
  }
  context.fill();
};

// Nodes that were folded in have a ring in the color of the text, so that no color tells them apart from others.
const RING = 1.4;
const ringRadius = (r) => r + 2;
const ringed = (map) => state.rings ? [...foldedIn].filter((node) => isOn(map, node)) : [];
const drawRings = (map, r) => {
  const { context } = map, reach = ringRadius(r);
  for (const strong of [false, true]) {
    context.globalAlpha = strong ? 1 : FAINT;
    context.lineWidth = RING;
    context.strokeStyle = paint("--ink");
    context.beginPath();
    for (const node of ringed(map)) {
      const x = screenX(map, node), y = screenY(map, node);
      if (isStrong(node) === strong && x > -reach && y > -reach && x < map.width + reach && y < map.height + reach) outlines.circle(context, x, y, reach);
    }
    context.stroke();
  }
};

const clear = (map, context) => {
  const ratio = devicePixelRatio || 1;
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, map.width, map.height);
};

const render = (map) => {
  const { context } = map, r = radius(map);
  clear(map, context);
  if (state.only || state.selected.size) for (const c of state.classes) drawClass(map, c, false, r);
  for (const c of state.classes) drawClass(map, c, true, r);
  drawRings(map, r);
  context.globalAlpha = 1;
  context.font = NAME_FONT;
  context.textAlign = "center";
  context.textBaseline = "middle";
  context.lineJoin = "round";
  context.lineWidth = 4;
  context.strokeStyle = paint("--panel");
  context.fillStyle = paint("--ink");
  const to = (place) => [map.x + map.scale * place.x, map.y - map.scale * place.y];
  map.named = namesOn(map, to, (text) => context.measureText(text).width);
  for (const { text, x, y } of map.named) { context.strokeText(text, x, y); context.fillText(text, x, y); }
};

const ring = (map, node, r, paintOf) => {
  const { over } = map;
  over.globalAlpha = 1;
  over.beginPath();
  over.arc(screenX(map, node), screenY(map, node), r, 0, 2 * Math.PI);
  over.lineWidth = 2;
  over.strokeStyle = paintOf;
  over.stroke();
};

const renderOver = (map) => {
  const { over } = map, r = radius(map), ink = paint("--ink");
  clear(map, over);
  if (isOn(map, state.picked)) {
    const others = page.linkedTo(state.picked).filter((other) => isOn(map, other.node));
    over.globalAlpha = 0.55;
    over.strokeStyle = ink;
    over.lineWidth = 1;
    over.beginPath();
    for (const { node } of others) {
      over.moveTo(screenX(map, state.picked), screenY(map, state.picked));
      over.lineTo(screenX(map, node), screenY(map, node));
    }
    over.stroke();
    for (const { node } of others) ring(map, node, r + 1.5, paint("--soft"));
    ring(map, state.picked, r + 4, ink);
  }
  if (isOn(map, state.hovered) && state.hovered !== state.picked) ring(map, state.hovered, r + 2.5, ink);
  if (map.loop.length > 1) {
    over.globalAlpha = 1;
    over.strokeStyle = paint("--accent");
    over.fillStyle = `rgba(${paint("--heat")}, .12)`;
    over.lineWidth = 1.5;
    over.beginPath();
    for (const [x, y] of map.loop) over.lineTo(x, y);
    over.closePath();
    over.fill();
    over.stroke();
  }
};

// Draws at the next frame, each map and layer once.
const waiting = { points: new Set(), over: new Set(), asked: false };
const frame = () => {
  waiting.asked = false;
  for (const map of waiting.points) render(map);
  for (const map of waiting.over) renderOver(map);
  waiting.points.clear();
  waiting.over.clear();
};
const ask = () => { if (!waiting.asked) { waiting.asked = true; requestAnimationFrame(frame); } };
const redrawOver = (map) => { waiting.over.add(map); ask(); };
const redraw = (map) => { waiting.points.add(map); redrawOver(map); };
const redrawAll = () => maps.forEach(redraw);

const zoom = (map, factor, px = map.width / 2, py = map.height / 2) => {
  const scale = Math.min(baseScale(map) * 400, Math.max(baseScale(map) * 0.5, map.scale * factor));
  map.x = px + (map.x - px) * scale / map.scale;
  map.y = py + (map.y - py) * scale / map.scale;
  map.scale = scale;
  hover(-1);
  redraw(map);
};
const move = (map, dx, dy) => { map.x += dx; map.y += dy; hover(-1); redraw(map); };
const showAll = (map) => { Object.assign(map, { scale: baseScale(map), x: map.width / 2, y: map.height / 2 }); redraw(map); };

// Moves a map just far enough to make a node visible.
const reveal = (map, node) => {
  if (!isOn(map, node)) return;
  const missing = (place, room) => Math.max(0, 12 - place) - Math.max(0, place - (room - 12));
  const [dx, dy] = [missing(screenX(map, node), map.width), missing(screenY(map, node), map.height)];
  // Not at the edge, where half of its neighbors would be hidden.
  if (dx || dy) move(map, dx + 80 * Math.sign(dx), dy + 80 * Math.sign(dy));
};

// Moves a map so that a node is in its middle, close enough to see what is around it.
const center = (map, node) => {
  if (!isOn(map, node)) return;
  if (closeness(map) < 2) map.scale = 2 * baseScale(map);
  move(map, map.width / 2 - screenX(map, node), map.height / 2 - screenY(map, node));
};

const resize = (map) => {
  const ratio = devicePixelRatio || 1, [width, height] = [map.box.clientWidth, map.box.clientHeight];
  if (width <= 0 || (width === map.width && height === map.height)) return;
  const first = map.width === 0, close = first ? 1 : closeness(map);
  const [left, up] = [(map.x - map.width / 2) / map.scale, (map.y - map.height / 2) / map.scale];
  Object.assign(map, { width, height });
  for (const canvas of [map.canvas, map.top]) {
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
  }
  // What was in the middle stays there, as close as before.
  map.scale = close * baseScale(map);
  Object.assign(map, first ? { x: width / 2, y: height / 2 } : { x: width / 2 + left * map.scale, y: height / 2 + up * map.scale });
  render(map);
  renderOver(map);
};

// Rings a node in all maps, and names it in the one under the pointer.
const hover = (node, map, px, py) => {
  if (node !== state.hovered) maps.forEach(redrawOver);
  state.hovered = node;
  for (const other of maps) {
    other.tip.hidden = node < 0 || other !== map;
    other.top.classList.toggle("over", node >= 0 && other === map);
  }
  if (node < 0 || !map) return;
  const { tip } = map;
  tip.replaceChildren(make("span", { text: ids[node] }));
  const also = labelText(node);
  if (also) tip.append(make("small", { text: also }));
  if (foldedIn.has(node)) tip.append(make("small", { text: "folded in" }));
  const left = px + 14 + tip.offsetWidth > map.width ? px - 14 - tip.offsetWidth : px + 14;
  tip.style.left = `${Math.max(4, left)}px`;
  tip.style.top = `${Math.max(4, Math.min(py + 14, map.height - tip.offsetHeight - 4))}px`;
};
