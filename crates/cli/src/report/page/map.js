// The map: points on a canvas, with moving, zooming, hovering and selecting.

const canvas = at("canvas"), context = canvas.getContext("2d"), tip = at("tip");
const view = { scale: 1, x: 0, y: 0, width: 0, height: 0 };
const state = { classes: [], only: null, hovered: -1, picked: -1 };

const screenX = (node) => view.x + view.scale * places.x[node];
const screenY = (node) => view.y - view.scale * places.y[node];
const baseScale = () => 0.47 * Math.min(view.width, view.height);
const closeness = () => view.scale / baseScale();
const radius = () => {
  const base = count > 30000 ? 1.3 : count > 8000 ? 1.8 : count > 1500 ? 2.6 : count > 200 ? 3.6 : 5;
  const room = Math.min(1, Math.max(0.7, Math.min(view.width, view.height) / 560));
  return base * room * Math.min(3, Math.max(0.8, Math.sqrt(closeness())));
};

// A grid over the map, so that finding the node under the pointer does not check all nodes.
const grid = (() => {
  const side = Math.max(1, Math.ceil(Math.sqrt(places.drawn.length / 4)));
  const cells = new Map();
  const cell = (v) => Math.min(side - 1, Math.max(0, Math.floor((v + 1) / 2 * side)));
  for (const node of places.drawn) {
    const key = cell(places.y[node]) * side + cell(places.x[node]);
    if (!cells.has(key)) cells.set(key, []);
    cells.get(key).push(node);
  }
  return { side, cells, cell };
})();

// The node nearest to a point of the canvas, within some pixels.
const nodeAt = (px, py, within) => {
  const x = (px - view.x) / view.scale, y = (view.y - py) / view.scale, reach = within / view.scale;
  let best = -1, least = within * within;
  for (let row = grid.cell(y - reach); row <= grid.cell(y + reach); row++) {
    for (let col = grid.cell(x - reach); col <= grid.cell(x + reach); col++) {
      for (const node of grid.cells.get(row * grid.side + col) || []) {
        if (state.only && !state.only.has(node)) continue;
        const dx = screenX(node) - px, dy = screenY(node) - py, distance = dx * dx + dy * dy;
        if (distance < least) { least = distance; best = node; }
      }
    }
  }
  return best;
};

const outline = {
  circle: (x, y, r) => { context.moveTo(x + r, y); context.arc(x, y, r, 0, 2 * Math.PI); },
  square: (x, y, r) => context.rect(x - 0.9 * r, y - 0.9 * r, 1.8 * r, 1.8 * r),
  triangle: (x, y, r) => { context.moveTo(x, y - 1.2 * r); context.lineTo(x + 1.1 * r, y + 0.8 * r); context.lineTo(x - 1.1 * r, y + 0.8 * r); context.closePath(); },
};

const drawClass = (c, alpha, r) => {
  const add = r < 1.6 ? outline.square : outline[c.ramp === undefined ? shape(c.index) : "circle"];
  context.globalAlpha = alpha;
  context.fillStyle = classColor(c);
  context.beginPath();
  for (const node of c.nodes) {
    const x = screenX(node), y = screenY(node);
    if (x > -r && y > -r && x < view.width + r && y < view.height + r) add(x, y, r);
  }
  context.fill();
};

const ring = (node, r, color) => {
  context.globalAlpha = 1;
  context.beginPath();
  context.arc(screenX(node), screenY(node), r, 0, 2 * Math.PI);
  context.lineWidth = 2;
  context.strokeStyle = color;
  context.stroke();
};

let waiting = false;
const redraw = () => {
  if (waiting) return;
  waiting = true;
  requestAnimationFrame(() => { waiting = false; render(); });
};

const render = () => {
  const ratio = devicePixelRatio || 1, r = radius();
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, view.width, view.height);
  const active = state.classes.filter((c) => c.active);
  for (const c of state.classes) if (active.length && !c.active) drawClass(c, 0.1, r);
  for (const c of active.length ? active : state.classes) drawClass(c, count > 8000 ? 0.75 : 0.85, r);
  const ink = paint("--ink");
  if (state.picked >= 0 && !Number.isNaN(places.x[state.picked])) {
    context.globalAlpha = 0.55;
    context.strokeStyle = ink;
    context.lineWidth = 1;
    context.beginPath();
    for (const other of neighborsOf(state.picked)) {
      if (Number.isNaN(places.x[other.node])) continue;
      context.moveTo(screenX(state.picked), screenY(state.picked));
      context.lineTo(screenX(other.node), screenY(other.node));
    }
    context.stroke();
    for (const other of neighborsOf(state.picked)) if (!Number.isNaN(places.x[other.node])) ring(other.node, r + 1.5, paint("--soft"));
    ring(state.picked, r + 4, ink);
  }
  if (state.hovered >= 0 && state.hovered !== state.picked) ring(state.hovered, r + 2.5, ink);
};

const zoom = (factor, px = view.width / 2, py = view.height / 2) => {
  const scale = Math.min(baseScale() * 400, Math.max(baseScale() * 0.5, view.scale * factor));
  view.x = px + (view.x - px) * scale / view.scale;
  view.y = py + (view.y - py) * scale / view.scale;
  view.scale = scale;
  hover(-1);
  redraw();
};
const move = (dx, dy) => { view.x += dx; view.y += dy; hover(-1); redraw(); };
const showAll = () => { Object.assign(view, { scale: baseScale(), x: view.width / 2, y: view.height / 2 }); redraw(); };

// Moves the map just far enough to make a node visible.
const reveal = (node) => {
  if (Number.isNaN(places.x[node])) return;
  const missing = (place, room) => Math.max(0, 12 - place) - Math.max(0, place - (room - 12));
  const [dx, dy] = [missing(screenX(node), view.width), missing(screenY(node), view.height)];
  // Not at the edge, where half of its neighbors would be hidden.
  if (dx || dy) move(dx + 80 * Math.sign(dx), dy + 80 * Math.sign(dy));
};

const resize = () => {
  const box = at("map").getBoundingClientRect(), ratio = devicePixelRatio || 1;
  const [width, height] = [box.width - 2, box.height - 2];
  if (width <= 0 || (width === view.width && height === view.height)) return;
  const [dx, dy] = [(width - view.width) / 2, (height - view.height) / 2], first = view.width === 0;
  Object.assign(view, { width, height });
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  if (first) showAll();
  else move(dx, dy);
};

const hover = (node, px, py) => {
  if (node !== state.hovered) redraw();
  state.hovered = node;
  tip.hidden = node < 0;
  canvas.classList.toggle("over", node >= 0);
  if (node < 0) return;
  tip.replaceChildren(make("span", { text: ids[node] }));
  const also = labelText(node);
  if (also) tip.append(make("small", { text: also }));
  const left = px + 14 + tip.offsetWidth > view.width ? px - 14 - tip.offsetWidth : px + 14;
  tip.style.left = `${Math.max(4, left)}px`;
  tip.style.top = `${Math.max(4, Math.min(py + 14, view.height - tip.offsetHeight - 4))}px`;
};

// One pointer drags, two pinch; a pointer that hardly moved selects.
const pointers = new Map();
let traveled = 0;
const inside = (event) => { const box = canvas.getBoundingClientRect(); return [event.clientX - box.left, event.clientY - box.top]; };

canvas.addEventListener("pointerdown", (event) => {
  canvas.setPointerCapture(event.pointerId);
  pointers.set(event.pointerId, inside(event));
  if (pointers.size === 1) traveled = 0;
});
canvas.addEventListener("pointermove", (event) => {
  const [x, y] = inside(event), before = pointers.get(event.pointerId);
  if (!before) { if (event.pointerType === "mouse") hover(nodeAt(x, y, 12), x, y); return; }
  const others = [...pointers].filter(([id]) => id !== event.pointerId);
  if (others.length === 0) {
    traveled += Math.abs(x - before[0]) + Math.abs(y - before[1]);
    if (traveled > 4) { canvas.classList.add("drags"); move(x - before[0], y - before[1]); }
  } else {
    const [ox, oy] = others[0][1];
    const apart = Math.hypot(x - ox, y - oy), apartBefore = Math.hypot(before[0] - ox, before[1] - oy);
    traveled += 10;
    move((x - before[0]) / 2, (y - before[1]) / 2);
    if (apartBefore > 0) zoom(apart / apartBefore, (x + ox) / 2, (y + oy) / 2);
  }
  pointers.set(event.pointerId, [x, y]);
});
canvas.addEventListener("pointerup", (event) => {
  const [x, y] = inside(event);
  if (pointers.size === 1 && traveled <= 4) {
    const node = nodeAt(x, y, event.pointerType === "mouse" ? 12 : 24);
    if (node >= 0) pick(node);
  }
  pointers.delete(event.pointerId);
  canvas.classList.remove("drags");
});
canvas.addEventListener("pointercancel", (event) => pointers.delete(event.pointerId));
canvas.addEventListener("pointerleave", () => hover(-1));
canvas.addEventListener("wheel", (event) => {
  event.preventDefault();
  zoom(Math.exp(-event.deltaY * (event.deltaMode ? 0.05 : 0.0016)), ...inside(event));
}, { passive: false });
canvas.addEventListener("keydown", (event) => {
  const actions = {
    ArrowLeft: () => move(60, 0), ArrowRight: () => move(-60, 0), ArrowUp: () => move(0, 60), ArrowDown: () => move(0, -60),
    "+": () => zoom(1.35), "=": () => zoom(1.35), "-": () => zoom(1 / 1.35), 0: showAll,
    Enter: () => { const node = nodeAt(view.width / 2, view.height / 2, Infinity); if (node >= 0) pick(node); },
  };
  if (!actions[event.key] || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  actions[event.key]();
});
at("closer").addEventListener("click", () => zoom(1.5));
at("farther").addEventListener("click", () => zoom(1 / 1.5));
at("whole").addEventListener("click", showAll);
new ResizeObserver(resize).observe(at("map"));
