// Search by node id: first the ids that start with the text, then those that contain it; and all of them as a selection.

const field = at("find"), matches = at("matches");
const lower = ids.map((id) => id.toLowerCase());
const MOST = 12;
let offered = [], marked = -1;

const search = (text) => {
  const wanted = text.trim().toLowerCase(), begin = [], contain = [];
  if (!wanted) return [];
  for (let node = 0; node < ids.length; node++) {
    const place = lower[node].indexOf(wanted);
    if (place === 0) (lower[node] === wanted ? begin.unshift(node) : begin.push(node));
    else if (place > 0) contain.push(node);
  }
  return [...begin, ...contain];
};

const shut = () => { matches.hidden = true; field.setAttribute("aria-expanded", "false"); field.removeAttribute("aria-activedescendant"); marked = -1; };

const mark = (index) => {
  marked = index;
  [...matches.children].forEach((item, place) => item.setAttribute("aria-selected", String(place === index)));
  const item = matches.children[index];
  if (item) { field.setAttribute("aria-activedescendant", item.id); item.scrollIntoView({ block: "nearest" }); }
};

const choose = ({ node, all }) => {
  shut();
  if (all) { select(all); return; }
  field.value = ids[node];
  find(node);
};

const offer = () => {
  const found = search(field.value), drawn = found.filter((node) => node < count);
  if (!field.value.trim()) return shut();
  offered = found.slice(0, MOST).map((node) => ({ node, text: ids[node] }));
  if (drawn.length > 1) offered.push({ all: drawn, text: `Select all ${number(drawn.length)} that match` });
  const items = offered.map((one, index) => make("li", {
    role: "option", id: `match-${index}`, "aria-selected": "false", text: one.text, ...(one.all ? { class: "all" } : {}),
    on: { mousedown: (event) => { event.preventDefault(); choose(one); } },
  }));
  matches.replaceChildren(...(items.length ? items : [make("li", { class: "none", role: "option", "aria-disabled": "true", "aria-selected": "false", text: "no matching node" })]));
  matches.hidden = false;
  field.setAttribute("aria-expanded", "true");
  marked = -1;
  if (items.length) mark(0);
};

const searchKeys = (event) => {
  if (event.key === "ArrowDown" && offered.length) mark((marked + 1) % offered.length);
  else if (event.key === "ArrowUp" && offered.length) mark((marked + offered.length - 1) % offered.length);
  else if (event.key === "Enter" && !matches.hidden && offered[marked] !== undefined) choose(offered[marked]);
  else if (event.key === "Escape") shut();
  else return;
  event.preventDefault();
};
