// Tables: weights per stage, views, overlap, scores, settings.

const row = (tag, cells) => make("tr", {}, ...cells.map((cell, index) => {
  if (cell instanceof Node) return cell;
  return index === 0 && tag === "td" ? make("th", { scope: "row", text: cell }) : make(tag, { text: cell, ...(tag === "th" ? { scope: "col" } : {}) });
}));
const table = (caption, head, rows, options = {}) => make("table", options, make("caption", { text: caption }), make("thead", {}, row("th", head)), make("tbody", {}, ...rows.map((cells) => row("td", cells))));

const heatCell = (share, text) => {
  const cell = make("td", { class: "heat", text });
  cell.style.background = heat(Math.min(1, share));
  if (share > 0.62 && theme() === "light") cell.style.color = "#fff";
  return cell;
};

const weightTable = () => {
  const rows = [];
  const heaviest = Math.max(...run.stages.filter((record) => record.kind === "consensus").flatMap((record) => [...record.weights.values()]));
  for (let stage = 1; stage <= stageCount; stage++) {
    const records = run.stages.filter((record) => record.stage === stage);
    if (!records.length) continue;
    const cells = lineNames.map((name) => {
      const record = records.find((one) => one.weights.has(name));
      if (!record) return make("td", { class: "muted", text: "–" });
      if (record.kind === "consensus") return heatCell(0.55 * record.weights.get(name) / heaviest, record.weights.get(name).toFixed(3));
      return make("td", { class: "heat muted", text: record.columns[1] - record.columns[0] });
    });
    const iterations = records.map((record) => record.iterations);
    const [least, most] = [Math.min(...iterations), Math.max(...iterations)];
    const open = records.some((record) => !record.converged) ? "+" : "";
    rows.push([`${stage} ${records[0].kind === "joint" ? "unique" : records[0].kind}`, ...cells, least === most ? `${most}${open}` : `${least}–${most}${open}`]);
  }
  const head = ["stage", ...lineNames.map((name) => make("th", { class: "heat", scope: "col", text: name })), "iterations"];
  at("weights").replaceChildren(table("View weights (consensus stages) and number of columns (unique stages)", head, rows, { class: "heatmap" }));
};

const viewTable = () => {
  const left = (name) => [...run.stages].reverse().find((record) => record.residual.has(name))?.residual.get(name);
  const all = [...run.network.views, ...joint];
  const sampled = all.find((view) => view.sampled)?.sampled;
  const rows = all.map((view) => [
    view.name, number(view.edges), number(view.isolated), view.entries ? number(view.entries) : "–", left(view.name) === undefined ? "–" : percent(left(view.name), 1),
    ...(sampled ? [view.sampled.relative_error == null ? "–" : percent(view.sampled.relative_error, 0), percent(view.sampled.seen_once, 0)] : []),
  ]);
  const head = ["view", "edges", "isolated nodes", "proximity entries", "not explained", ...(sampled ? ["error of proximity", "pairs seen once"] : [])];
  const title = sampled ? `Views; proximity is sampled by ${number(sampled.walks)} walks from each node` : "Views";
  at("view-table").replaceChildren(table(title, head, rows));
};

const overlapTable = () => {
  const pairs = run.network.overlap;
  if (!pairs.length) { at("overlap").replaceChildren(); return; }
  const share = (a, b) => pairs.find((pair) => (pair.a === a && pair.b === b) || (pair.a === b && pair.b === a))?.share;
  const rows = viewNames.map((a) => [a, ...viewNames.map((b) => {
    const value = a === b ? undefined : share(a, b);
    return value === undefined ? make("td", { class: "heat muted", text: "" }) : heatCell(value, percent(value, value > 0 && value < 0.095 ? 1 : 0));
  })]);
  const head = ["", ...viewNames.map((name) => make("th", { class: "heat", scope: "col", text: name }))];
  at("overlap").replaceChildren(table("Share of nodes on which two views agree", head, rows, { class: "heatmap" }));
};

const overlapText = () => {
  const sorted = [...run.network.overlap].sort((a, b) => b.share - a.share);
  const say = (pair) => `${pair.a} and ${pair.b} agree on ${percent(pair.share, pair.share > 0 && pair.share < 0.095 ? 1 : 0)} of the nodes`;
  if (!sorted.length) return "";
  const extremes = sorted.length === 1 ? `${say(sorted[0])}.` : `Highest overlap: ${say(sorted[0])}. Lowest: ${say(sorted[sorted.length - 1])}.`;
  return `${extremes} Two views agree on a node if more than half of its neighbors in either view are neighbors in both.`;
};

const scoreTables = () => {
  if (!packed.scores) return;
  at("scores").hidden = false;
  at("score-tables").replaceChildren(...packed.scores.tables.map((scores) => {
    const box = make("div", { class: "scroll" }, table(scores.title, scores.columns, scores.rows));
    if (scores.note) box.append(make("p", { class: "caption", text: scores.note }));
    return box;
  }));
};

const settings = () => {
  const chosen = run.chosen_plan ? [make("p", { text: `Stages chosen by the data: ${run.chosen_plan}.` })] : [];
  at("warnings").replaceChildren(...chosen, ...run.warnings.map((warning) => make("p", { class: "warning", text: warning })));
  at("command").textContent = run.command;
  at("config").replaceChildren(...run.config.map(([name, value]) => make("div", {}, make("dt", { text: name }), make("dd", { text: value.replace(/,(?=\S)/g, ", ") }))));
};
