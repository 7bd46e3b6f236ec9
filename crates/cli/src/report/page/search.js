// Search by node id: first the ids that start with the text, then those that contain it.

const find = at("find"), matches = at("matches");
const lower = ids.map((id) => id.toLowerCase());
const MOST = 12;
let offered = [], marked = -1;

const search = (text) => {
  const wanted = text.trim().toLowerCase(), begin = [], contain = [];
  if (!wanted) return [];
  for (let node = 0; node < ids.length && begin.length < MOST; node++) {
    const place = lower[node].indexOf(wanted);
    if (place === 0) (lower[node] === wanted ? begin.unshift(node) : begin.push(node));
    else if (place > 0 && contain.length < MOST) contain.push(node);
  }
  return [...begin, ...contain].slice(0, MOST);
};

const close = () => { matches.hidden = true; find.setAttribute("aria-expanded", "false"); find.removeAttribute("aria-activedescendant"); marked = -1; };

const mark = (index) => {
  marked = index;
  [...matches.children].forEach((item, place) => item.setAttribute("aria-selected", String(place === index)));
  const item = matches.children[index];
  if (item) { find.setAttribute("aria-activedescendant", item.id); item.scrollIntoView({ block: "nearest" }); }
};

const choose = (node) => { find.value = ids[node]; close(); pick(node); };

find.addEventListener("input", () => {
  offered = search(find.value);
  if (!find.value.trim()) return close();
  const items = offered.map((node, index) => make("li", {
    role: "option", id: `match-${index}`, "aria-selected": "false", text: ids[node],
    on: { mousedown: (event) => { event.preventDefault(); choose(node); } },
  }));
  matches.replaceChildren(...(items.length ? items : [make("li", { class: "none", text: "no matching node" })]));
  matches.hidden = false;
  find.setAttribute("aria-expanded", "true");
  marked = -1;
  if (items.length) mark(0);
});
find.addEventListener("keydown", (event) => {
  if (event.key === "ArrowDown" && offered.length) mark((marked + 1) % offered.length);
  else if (event.key === "ArrowUp" && offered.length) mark((marked + offered.length - 1) % offered.length);
  else if (event.key === "Enter" && offered[marked] !== undefined) choose(offered[marked]);
  else if (event.key === "Escape") close();
  else return;
  event.preventDefault();
});
find.addEventListener("blur", close);
