// The legend of the colors; pressing an entry highlights its class.

const colorBy = (mode) => {
  state.classes = mode.classes();
  state.only = null;
  legend(mode);
  redraw();
};

const legend = (mode) => {
  const box = at("legend");
  if (mode.name === "none") { box.replaceChildren(); box.hidden = true; return; }
  box.hidden = false;
  if (state.classes.range) {
    const colors = state.classes.map(classColor);
    const bar = make("div");
    bar.style.background = `linear-gradient(to right, ${colors.join(", ")})`;
    const ends = make("p", {}, ...state.classes.range.map((share) => make("span", { text: percent(share) })));
    box.replaceChildren(make("div", { class: "ramp" }, bar, ends, make("p", {}, make("span", { text: "share of the vector in consensus columns" }))));
    return;
  }
  box.replaceChildren(...state.classes.map((c) => {
    const press = () => {
      c.active = !c.active;
      button.setAttribute("aria-pressed", String(c.active));
      const active = state.classes.filter((other) => other.active);
      state.only = active.length ? new Set(active.flatMap((other) => other.nodes)) : null;
      redraw();
    };
    const button = make("button", { type: "button", "aria-pressed": String(Boolean(c.active)), on: { click: press } },
      swatch(c.index), make("span", { text: c.name }), make("span", { text: number(c.nodes.length) }));
    return button;
  }));
};

const chosen = at("color");
chosen.append(...modes.map((mode, index) => make("option", { value: index, text: mode.name })));
chosen.addEventListener("change", () => colorBy(modes[chosen.value]));
