// A map as a file: as it is on the screen, with its legend; and all its nodes as a table.

const pathOf = (map, c, strong, r) => {
  const points = [];
  for (const node of c.nodes) {
    if (isStrong(node) !== strong || !isOn(map, node)) continue;
    const x = screenX(map, node), y = screenY(map, node);
    if (x < -r || y < -r || x > map.width + r || y > map.height + r) continue;
    const [a, b] = [x.toFixed(1), y.toFixed(1)];
    if (classShape(c) === "triangle") points.push(`M${a} ${(y - 1.2 * r).toFixed(1)}l${(1.1 * r).toFixed(1)} ${(2 * r).toFixed(1)}h${(-2.2 * r).toFixed(1)}z`);
    else points.push(`M${a} ${b}h0`);
  }
  return points.join("");
};

// A point is a line of length zero: its cap is a circle or a square.
const pointsPath = (map, c, strong, r) => {
  const fill = classColor(c), opacity = strong ? 0.85 : FAINT, d = pathOf(map, c, strong, r);
  if (classShape(c) === "triangle") return draw("path", { d, fill, opacity });
  const cap = classShape(c) === "square" ? "butt" : "round";
  // A line of length zero has no butt cap, so squares are short lines.
  const path = cap === "butt" ? d.replace(/M([-\d.]+) ([-\d.]+)h0/g, (_, x, y) => `M${(x - 0.9 * r).toFixed(1)} ${y}h${(1.8 * r).toFixed(1)}`) : d;
  return draw("path", { d: path, fill: "none", stroke: fill, "stroke-width": (2 * r).toFixed(2), "stroke-linecap": cap, opacity });
};

const ringsPath = (map, r) => {
  const group = draw("g", { fill: "none", stroke: paint("--ink"), "stroke-width": RING, class: "rings" });
  for (const node of ringed(map)) group.append(draw("circle", { cx: screenX(map, node).toFixed(1), cy: screenY(map, node).toFixed(1), r: ringRadius(r).toFixed(1), opacity: isStrong(node) ? 1 : FAINT }));
  return group;
};

const mapSvg = (map) => {
  const r = radius(map), { width, height } = map;
  const text = (x, y, content, options = {}) => draw("text", { x, y, fill: paint("--ink"), "font-family": "Arial, sans-serif", "font-size": 12, ...options }, content);
  const named = state.mode.name === "none" || state.classes.range ? [] : state.classes.filter((c) => c.name);
  const keys = [...named.slice(0, 60), ...(ringed(map).length ? [null] : [])];
  const across = Math.max(1, Math.floor(width / 150)), lines = Math.ceil(keys.length / across);
  const whole = height + 30 + 18 * lines + 8;
  const svg = draw("svg", { xmlns: "http://www.w3.org/2000/svg", viewBox: `0 0 ${width} ${whole}`, width, height: whole });
  svg.append(draw("rect", { width, height: whole, fill: paint("--panel") }), text(8, 19, [document.title, map.title].filter(Boolean).join(": "), { "font-weight": 600, "font-size": 13 }));
  const area = draw("svg", { y: 30, width, height, viewBox: `0 0 ${width} ${height}` });
  for (const strong of [false, true]) for (const c of state.classes) area.append(pointsPath(map, c, strong, r));
  area.append(ringsPath(map, r));
  for (const { text: name, x, y } of map.named || []) {
    area.append(text(x, y + 5, name, { "text-anchor": "middle", "font-weight": 600, "font-size": 15, stroke: paint("--panel"), "stroke-width": 4, "stroke-linejoin": "round", "paint-order": "stroke" }));
  }
  svg.append(area);
  keys.forEach((c, index) => {
    const [x, y] = [12 + (index % across) * width / across, height + 46 + 18 * Math.floor(index / across)];
    if (!c) {
      svg.append(draw("circle", { cx: x, cy: y - 4.5, r: 4, fill: "none", stroke: paint("--ink"), "stroke-width": RING }), text(x + 10, y, "folded in"));
      return;
    }
    svg.append(draw("rect", { x: x - 4, y: y - 9, width: 9, height: 9, rx: 2, fill: classColor(c) }), text(x + 10, y, c.name.length > 20 ? `${c.name.slice(0, 19)}…` : c.name));
  });
  return new XMLSerializer().serializeToString(svg);
};

// What a file says of nodes; pages add columns of theirs.
const nodeColumns = packed.labels.map((set) => [set.title, (node) => set.of[node].map((label) => set.names[label]).join(";")]);
const nodeRows = (nodes, more = []) => {
  const columns = [["node", (node) => ids[node]], ...nodeColumns, ...more];
  return [columns.map(([name]) => name), ...nodes.map((node) => columns.map(([, value]) => value(node)))];
};
if (foldedIn.size) nodeColumns.push(["folded in", (node) => foldedIn.has(node) ? "yes" : ""]);
const placeColumns = (map) => ["x", "y"].map((axis) => [axis, (node) => map.places[axis][node].toFixed(4)]);
const mapDownloads = (map) => downloads(map.title ? `map of ${map.title}` : "map", { svg: () => mapSvg(map), rows: () => nodeRows(map.places.drawn, placeColumns(map)) });
