// The modes of coloring. A mode groups the nodes into classes; a class has a name, a color and nodes.

const drawnNodes = Array.from({ length: count }, (_, node) => node);

const classesBy = (classOf, names, palette) => {
  const members = names.map(() => []);
  const rest = [];
  for (const node of drawnNodes) {
    const found = classOf(node);
    (found === undefined || found < 0 ? rest : members[found]).push(node);
  }
  const order = [...names.keys()];
  // If there are not enough colors, the largest classes get them.
  if (names.length > COLORS[palette]) order.sort((a, b) => members[b].length - members[a].length);
  const classes = order.map((name, index) => ({ name: names[name], index, palette, nodes: members[name] })).filter((c) => c.nodes.length);
  if (rest.length) classes.push({ name: "none", index: GRAY, palette, nodes: rest });
  return classes;
};

const modes = packed.labels.map((set) => ({ name: set.title, classes: () => classesBy((node) => set.of[node][0], set.names, "l") }));
const classColor = (c) => c.ramp === undefined ? color(c.index, c.palette) : rampColor(c.ramp);
const classShape = (c) => c.ramp === undefined ? shape(c.index, c.palette) : "circle";

// What all maps show: the colors, which nodes are shown or selected, and which one is picked.
const state = { mode: null, classes: [], only: null, selected: new Set(), hovered: -1, picked: -1, lasso: false, onlyFoldedIn: false, rings: foldedIn.size > 0 };
// What a page adds: nodes that a node is drawn connected with, and what its panel says besides names and labels.
const page = { linkedTo: () => [], aboutNode: () => [], hint: "Select a point, or search for a node, to see it in all maps." };
const isShown = (node) => !state.only || state.only.has(node);
const isStrong = (node) => isShown(node) && (!state.selected.size || state.selected.has(node));
