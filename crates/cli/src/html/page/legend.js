// The legend of the colors, and of the rings around nodes that were folded in. Pressing a class shows it alone, pressing "folded in" shows
// only such nodes of it, and what is shown can be selected.

const colorBy = (mode) => {
  state.mode = mode;
  state.classes = mode.classes();
  filter();
  legend();
  showSelection();
  redrawAll();
};

// Shows the nodes of the pressed classes (of all, if none is pressed), and of those only the ones that were folded in if that is pressed.
const filter = () => {
  const active = state.classes.filter((c) => c.active);
  let nodes = active.length ? active.flatMap((c) => c.nodes) : null;
  if (state.onlyFoldedIn) nodes = (nodes || drawnNodes).filter((node) => foldedIn.has(node));
  state.only = nodes && new Set(nodes);
};
const filterAgain = () => { filter(); offerFilter(); redrawAll(); };

const ramp = () => {
  const bar = make("div");
  bar.style.background = `linear-gradient(to right, ${state.classes.map(classColor).join(", ")})`;
  const ends = make("p", {}, ...state.classes.range.map((share) => make("span", { text: percent(share) })));
  return make("div", { class: "ramp" }, bar, ends);
};

const classButton = (c) => {
  const press = () => {
    c.active = !c.active;
    made.setAttribute("aria-pressed", String(c.active));
    filterAgain();
  };
  const made = button("", press, { "aria-pressed": String(Boolean(c.active)) });
  made.append(swatch(c.index, c.palette), make("span", { text: c.name }), make("span", { text: number(c.nodes.length) }));
  return made;
};

const ringSwatch = () => {
  const svg = draw("svg", { viewBox: "0 0 10 10", "aria-hidden": "true" }), drawn = draw("circle", { cx: 5, cy: 5, r: 3.8 });
  Object.assign(drawn.style, { fill: "none", stroke: "currentColor", strokeWidth: "1.6" });
  svg.append(drawn);
  return svg;
};

// The rings: how many nodes have one, these alone, and whether they are drawn.
const marks = () => {
  if (!foldedIn.size) return [];
  const there = drawnNodes.filter((node) => foldedIn.has(node)).length;
  const alone = button("", () => {
    state.onlyFoldedIn = !state.onlyFoldedIn;
    alone.setAttribute("aria-pressed", String(state.onlyFoldedIn));
    filterAgain();
  }, { "aria-pressed": String(state.onlyFoldedIn), class: "folded-in" });
  alone.append(ringSwatch(), make("span", { text: "folded in" }), make("span", { text: number(there) }));
  const rings = make("input", { type: "checkbox", id: "rings", on: { change: () => { state.rings = rings.checked; redrawAll(); } } });
  rings.checked = state.rings;
  return [make("div", { class: "classes marks" }, alone, make("label", { class: "check" }, rings, " Rings on the map"))];
};

// With a filter: take its nodes, or remove it.
const offerFilter = () => {
  at("legend").querySelector(".take")?.remove();
  if (!state.only) return;
  const all = () => { for (const c of state.classes) c.active = false; state.onlyFoldedIn = false; filter(); legend(); redrawAll(); };
  at("legend").append(make("div", { class: "take tools" }, button(`Select these ${number(state.only.size)}`, () => select(state.only)), button("Show all", all)));
};

const legend = () => {
  const box = at("legend"), { mode } = state;
  const colors = () => state.classes.range ? ramp() : make("div", { class: "classes" }, ...state.classes.map(classButton));
  const content = [...(mode.name === "none" ? [] : [colors()]), ...marks()];
  box.hidden = !content.length;
  box.replaceChildren(...content, ...(mode.about ? mode.about() : []));
  offerFilter();
};
