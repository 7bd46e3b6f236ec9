// The selected nodes: as a list, to copy or to download.

const MOST_LISTED = 500;

const select = (nodes) => {
  state.selected = new Set(nodes);
  showSelection();
  redrawAll();
};

// The classes of the selected nodes, the largest first: `3 (20), 5 (17)`.
const classesOfSelection = () => {
  if (state.classes.range) return "";
  const found = state.classes.map((c) => [c.name, c.nodes.reduce((sum, node) => sum + state.selected.has(node), 0)]).filter(([, size]) => size);
  found.sort((a, b) => b[1] - a[1]);
  const shown = found.slice(0, 6).map(([name, size]) => `${name} (${number(size)})`).join(", ");
  return `${state.mode.name}: ${shown}${found.length > 6 ? ` and ${found.length - 6} more` : ""}`;
};

const copySelection = async (event) => {
  const text = [...state.selected].map((node) => ids[node]).join("\n");
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    // A page opened as a file may have no clipboard; the text is copied from a field then.
    const field = make("textarea", { "aria-label": "Selected nodes" });
    field.value = text;
    at("selection").append(field);
    field.select();
    const done = document.execCommand("copy");
    if (done) field.remove();
    else { event.target.textContent = "Copy the text below"; return; }
  }
  event.target.textContent = "Copied";
};

const showSelection = () => {
  const box = at("selection"), nodes = [...state.selected];
  box.hidden = !nodes.length;
  if (!nodes.length) { box.replaceChildren(); return; }
  const buttons = make("span", { class: "tools" }, button("Copy ids", copySelection),
    button("CSV", () => save(fileName(`${document.title} selection`, "csv"), "text/csv", csv(nodeRows(nodes))), { "aria-label": "Download the selection as CSV" }),
    button("Clear", () => select([])));
  const items = nodes.slice(0, MOST_LISTED).map((node) => {
    const line = button("", () => find(node));
    line.append(make("span", { text: ids[node] }), make("small", { text: labelText(node) }));
    return make("li", {}, line);
  });
  const more = nodes.length > MOST_LISTED ? [make("p", { text: `The list shows the first ${MOST_LISTED}; copy and CSV have all.` })] : [];
  box.replaceChildren(make("h3", { text: `${plural(nodes.length, "node")} selected` }), make("p", { text: classesOfSelection() }), buttons,
    make("ul", { "aria-label": "Selected nodes" }, ...items), ...more);
};
