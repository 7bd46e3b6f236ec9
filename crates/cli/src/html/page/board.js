// Puts the maps of a page together, if it has any, with their legend, search, selection and the node that is picked.

const showNode = (node) => {
  const box = at("node");
  box.classList.toggle("shown", node >= 0);
  if (node < 0) {
    box.replaceChildren(make("p", { class: "hint", text: page.hint }));
    return;
  }
  const parts = [make("h3", { text: ids[node] }), button("\u00d7", () => pick(-1), { class: "shut", "aria-label": "Close" })];
  const label = labelText(node);
  if (label) parts.push(make("p", { text: label }));
  box.replaceChildren(...parts, ...page.aboutNode(node));
  box.parentElement.scrollTop = 0;
  box.scrollTop = 0;
};

// On a phone, the panel of a node covers the lower end of the window: the node must not be under it.
const keepVisible = (node) => {
  const panel = at("node"), map = maps.find((one) => isOn(one, node));
  if (!map || getComputedStyle(panel).position !== "fixed") return;
  const y = map.top.getBoundingClientRect().top + screenY(map, node);
  const [least, most] = [60, panel.getBoundingClientRect().top - 40];
  if (y < least || y > most) scrollBy({ top: y - (least + most) / 2, behavior: "instant" });
};

const pick = (node) => {
  state.picked = node;
  hover(-1);
  showNode(node);
  if (node >= 0) {
    for (const map of maps) reveal(map, node);
    keepVisible(node);
  }
  maps.forEach(redrawOver);
};

// Picks a node that is not under the pointer: it is brought to the middle.
const find = (node) => {
  for (const map of maps) center(map, node);
  pick(node);
};

const mapFigure = (packedMap, index) => {
  const map = makeMap(packedMap, index), several = packed.maps.length > 1;
  const buttons = mapDownloads(map);
  const figure = make("figure", { class: `map-figure${several ? "" : " alone"}` });
  if (several) {
    const larger = button("Larger", () => {
      const large = figure.classList.toggle("large");
      larger.textContent = large ? "Smaller" : "Larger";
      larger.setAttribute("aria-pressed", String(large));
    }, { "aria-pressed": "false", "aria-label": `Larger map of ${map.title}` });
    buttons.prepend(larger);
  }
  figure.append(make("figcaption", {}, make("span", { text: map.title || "" }), buttons), map.box);
  tools(map);
  listen(map);
  return figure;
};

const startMaps = () => {
  if (modes.every((mode) => mode.name !== "none")) modes.push({ name: "none", classes: () => [{ name: "nodes", index: 0, palette: "l", nodes: drawnNodes }] });
  at("maps").append(...packed.maps.map(mapFigure));
  const chosen = at("color");
  chosen.append(...modes.map((mode, index) => make("option", { value: index, text: mode.name })));
  chosen.addEventListener("change", () => colorBy(modes[chosen.value]));
  at("names").addEventListener("change", redrawAll);
  field.addEventListener("input", offer);
  field.addEventListener("keydown", searchKeys);
  field.addEventListener("blur", shut);
  for (const map of maps) resize(map);
  colorBy(modes[0]);
  recolored.push(() => { legend(); showNode(state.picked); redrawAll(); });
};

if (packed.maps.length) startMaps();
recolor();

// For tests: the position of a node on the screen, and what is picked and selected.
window.manyview = {
  place: (node, map = 0) => { const box = maps[map].top.getBoundingClientRect(); return [box.left + screenX(maps[map], node), box.top + screenY(maps[map], node)]; },
  picked: () => state.picked,
  selected: () => [...state.selected],
  named: (map = 0) => maps[map].named.map((name) => name.text),
};
document.documentElement.dataset.ready = "yes";
