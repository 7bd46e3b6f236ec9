// The legend of the colors. Pressing a class shows it alone, and what is shown can be selected.

const colorBy = (mode) => {
  state.mode = mode;
  state.classes = mode.classes();
  state.only = null;
  legend();
  showSelection();
  redrawAll();
};

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
    const active = state.classes.filter((other) => other.active);
    state.only = active.length ? new Set(active.flatMap((other) => other.nodes)) : null;
    offerFilter();
    redrawAll();
  };
  const made = button("", press, { "aria-pressed": String(Boolean(c.active)) });
  made.append(swatch(c.index, c.palette), make("span", { text: c.name }), make("span", { text: number(c.nodes.length) }));
  return made;
};

// With a filter: take its nodes, or remove it.
const offerFilter = () => {
  at("legend").querySelector(".take")?.remove();
  if (!state.only) return;
  const all = () => { for (const c of state.classes) c.active = false; state.only = null; legend(); redrawAll(); };
  at("legend").append(make("div", { class: "take tools" }, button(`Select these ${number(state.only.size)}`, () => select(state.only)), button("Show all", all)));
};

const legend = () => {
  const box = at("legend"), { mode } = state;
  box.hidden = mode.name === "none";
  if (box.hidden) { box.replaceChildren(); return; }
  const content = state.classes.range ? ramp() : make("div", { class: "classes" }, ...state.classes.map(classButton));
  box.replaceChildren(content, ...(mode.about ? mode.about() : []));
  offerFilter();
};
