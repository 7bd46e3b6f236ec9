// Tables: those that the page builds, and a download for each.

const row = (tag, cells) => make("tr", {}, ...cells.map((cell, index) => {
  if (cell instanceof Node) return cell;
  if (index === 0 && tag === "th" && cell === "") return make("td");
  return index === 0 && tag === "td" ? make("th", { scope: "row", text: cell }) : make(tag, { text: cell, ...(tag === "th" ? { scope: "col" } : {}) });
}));

const heatCell = (share, text) => {
  const cell = make("td", { class: "heat", text });
  cell.style.background = heat(Math.min(1, share));
  return cell;
};

// The rows of a table as text, without cells that only draw what others say.
const tableRows = (table) => [...table.rows].map((line) => [...line.cells].filter((cell) => !cell.classList.contains("drawn"))
  .flatMap((cell) => [cell.textContent.trim(), ...Array(cell.colSpan - 1).fill("")]));
const tableTools = (name, table) => downloads(name, { rows: () => tableRows(table) });

// A table with its title, in a box that scrolls where it is too wide.
const table = (title, head, rows, options = {}) => {
  const built = make("table", { "data-name": title, ...options }, make("thead", {}, row("th", head)), make("tbody", {}, ...rows.map((cells) => row("td", cells))));
  const heading = make("h3", { text: title }, tableTools(title, built));
  return make("div", {}, heading, make("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": title }, built));
};

// Tables that came with the page have their download below them.
for (const built of document.querySelectorAll("table[data-name]")) {
  built.parentElement.after(make("p", { class: "below-table" }, tableTools(built.dataset.name, built)));
}
