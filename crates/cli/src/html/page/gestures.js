// Pointers and keys on a map. One pointer drags or draws a lasso, two pinch; a pointer that hardly moved picks a node.

const inside = (map, event) => { const box = map.top.getBoundingClientRect(); return [event.clientX - box.left, event.clientY - box.top]; };

// Whether a point is within a loop: whether a line from it crosses the loop an odd number of times.
const isWithin = (loop, x, y) => {
  let within = false;
  for (let i = 0, j = loop.length - 1; i < loop.length; j = i++) {
    const [ax, ay] = loop[i], [bx, by] = loop[j];
    if ((ay > y) !== (by > y) && x < (bx - ax) * (y - ay) / (by - ay) + ax) within = !within;
  }
  return within;
};

// Selects the shown nodes within the loop.
const closeLoop = (map, add) => {
  const { loop } = map;
  map.loop = [];
  if (loop.length > 2) {
    const found = map.places.drawn.filter((node) => isShown(node) && isWithin(loop, screenX(map, node), screenY(map, node)));
    select(add ? [...state.selected, ...found] : found);
  }
  redrawOver(map);
};

const listen = (map) => {
  const { top } = map, pointers = new Map();
  let traveled = 0, draws = false;
  top.addEventListener("pointerdown", (event) => {
    top.setPointerCapture(event.pointerId);
    pointers.set(event.pointerId, inside(map, event));
    if (pointers.size > 1) { draws = false; map.loop = []; return; }
    traveled = 0;
    draws = state.lasso || event.shiftKey;
    if (draws) map.loop = [inside(map, event)];
  });
  top.addEventListener("pointermove", (event) => {
    const [x, y] = inside(map, event), before = pointers.get(event.pointerId);
    if (!before) { if (event.pointerType === "mouse") hover(nodeAt(map, x, y, 12), map, x, y); return; }
    const others = [...pointers].filter(([id]) => id !== event.pointerId);
    if (others.length === 0) {
      traveled += Math.abs(x - before[0]) + Math.abs(y - before[1]);
      if (draws) { map.loop.push([x, y]); redrawOver(map); }
      else if (traveled > 4) { top.classList.add("drags"); move(map, x - before[0], y - before[1]); }
    } else {
      const [ox, oy] = others[0][1];
      const apart = Math.hypot(x - ox, y - oy), apartBefore = Math.hypot(before[0] - ox, before[1] - oy);
      traveled += 10;
      move(map, (x - before[0]) / 2, (y - before[1]) / 2);
      if (apartBefore > 0) zoom(map, apart / apartBefore, (x + ox) / 2, (y + oy) / 2);
    }
    pointers.set(event.pointerId, [x, y]);
  });
  const end = (event, picks) => {
    const [x, y] = inside(map, event);
    if (pointers.size === 1 && draws && traveled > 4) closeLoop(map, event.shiftKey && state.lasso);
    else if (pointers.size === 1 && traveled <= 4 && picks) {
      const node = nodeAt(map, x, y, event.pointerType === "mouse" ? 12 : 24);
      if (node >= 0) pick(node);
    }
    pointers.delete(event.pointerId);
    if (!pointers.size) { draws = false; map.loop = []; }
    top.classList.remove("drags");
  };
  top.addEventListener("pointerup", (event) => end(event, true));
  top.addEventListener("pointercancel", (event) => end(event, false));
  top.addEventListener("pointerleave", () => hover(-1));
  top.addEventListener("wheel", (event) => {
    event.preventDefault();
    zoom(map, Math.exp(-event.deltaY * (event.deltaMode ? 0.05 : 0.0016)), ...inside(map, event));
  }, { passive: false });
  top.addEventListener("keydown", (event) => {
    const actions = {
      ArrowLeft: () => move(map, 60, 0), ArrowRight: () => move(map, -60, 0), ArrowUp: () => move(map, 0, 60), ArrowDown: () => move(map, 0, -60),
      "+": () => zoom(map, 1.35), "=": () => zoom(map, 1.35), "-": () => zoom(map, 1 / 1.35), 0: () => showAll(map),
      Enter: () => { const node = nodeAt(map, map.width / 2, map.height / 2, Infinity); if (node >= 0) pick(node); },
      Escape: () => { select([]); pick(-1); },
    };
    if (!actions[event.key] || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    actions[event.key]();
  });
  new ResizeObserver(() => resize(map)).observe(map.box);
};

const icon = (path) => { const svg = draw("svg", { viewBox: "0 0 20 20", "aria-hidden": "true" }); svg.append(draw("path", { d: path })); return svg; };
const LASSO = "M10 3c-4 0-7 2-7 5s3 5 7 5 7-2 7-5-3-5-7-5M6 12c-2 1-2 3 0 3s2 2 1 3";
const WHOLE = "M3 7V3h4M13 3h4v4M17 13v4h-4M7 17H3v-4";

const setLasso = (on) => {
  state.lasso = on;
  for (const map of maps) {
    map.top.classList.toggle("lasso", on);
    map.lassoButton.setAttribute("aria-pressed", String(on));
  }
};

// The buttons on a map.
const tools = (map) => {
  const tool = (label, content, click) => {
    const made = button("", click, { "aria-label": label, title: label });
    made.append(content);
    return made;
  };
  map.lassoButton = tool("Select with a lasso", icon(LASSO), () => setLasso(!state.lasso));
  map.lassoButton.setAttribute("aria-pressed", "false");
  map.box.append(make("div", { class: "zoom" }, map.lassoButton,
    tool("Zoom in", "+", () => zoom(map, 1.5)), tool("Zoom out", "\u2212", () => zoom(map, 1 / 1.5)), tool("Show all", icon(WHOLE), () => showAll(map))));
};
