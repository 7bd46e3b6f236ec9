// The views: what explains each, what its columns are worth, and how far views agree.

const viewNames = run.network.views.map((view) => view.name);
const joint = run.network.joint ? [run.network.joint] : [];
const lineNames = [...viewNames, ...joint.map((view) => view.name)];

// Which share of a view its own columns explain, which consensus columns, and which is left. A stage explains the difference
// between what was left before it and after it.
const explained = (name) => {
  const found = { own: 0, consensus: 0, rest: 1, known: false };
  for (const record of run.stages) {
    const left = record.residual.get(name);
    if (left === undefined) continue;
    found[record.kind === "consensus" ? "consensus" : "own"] += found.rest - left;
    Object.assign(found, { rest: left, known: true });
  }
  return found;
};

const scoreOf = (name) => packed.worth?.rows.find((one) => one.source === name);
const whole = (share) => percent(Math.max(0, share));

const splitCell = ({ own, consensus }) => {
  const bar = make("div", { class: "split", "aria-hidden": "true" });
  for (const [kind, share] of [["own", own], ["shared", consensus]]) {
    const piece = make("i", { class: kind });
    piece.style.width = percent(Math.max(0, share), 2);
    bar.append(piece);
  }
  return make("td", { class: "drawn" }, bar);
};

const columnsOf = (name) => {
  const source = sources.indexOf(name);
  return packed.parts.reduce((sum, part) => sum + (part.source === source ? part.columns : 0), 0);
};

const worthTable = () => {
  if (!run.stages.length || !width) return;
  const scored = Boolean(packed.worth);
  const scores = (name) => scored ? [scoreOf(name)?.alone ?? "–", scoreOf(name)?.without ?? "–"] : [];
  const rows = lineNames.map((name) => {
    const share = explained(name);
    const known = share.known ? [whole(share.own), whole(share.consensus), whole(share.rest)] : ["–", "–", "–"];
    return [name, splitCell(share), ...known, number(columnsOf(name)), ...scores(name)];
  });
  rows.push(["consensus", make("td", { class: "drawn" }), "", "", "", number(columnsOf("consensus")), ...scores("consensus")]);
  const head = ["view", make("td", { class: "drawn" }), make("th", { scope: "col", class: "own-key", text: "its own columns explain" }), make("th", { scope: "col", class: "shared-key", text: "consensus explains" }),
    make("th", { scope: "col", class: "rest-key", text: "not explained" }), "columns", ...(scored ? ["F1 of these alone", "F1 without them"] : [])];
  at("worth").replaceChildren(table("What explains each view, and what its columns are worth", head, rows));
  const first = run.stages[0].kind === "consensus" ? "the consensus stages" : "the unique stages";
  const text = [`A stage explains part of what the stages before it left, so those that come first, here ${first}, explain more.`, "A view has columns of its own from the unique stages. Many of them mean that the view differs from the others, not that it is better."];
  if (scored) {
    text.push(`F1: micro-F1 of a classifier that sees only the columns of this row, or all others (all columns: ${packed.worth.all}); ${packed.worth.note}.`,
      "Nothing is fitted again: what a view has in common with others is in the consensus columns, so a view that is fitted alone can score higher than its columns here. The command manyview views --alone fits each view alone, and all views without it.");
  } else {
    text.push("With labels, the report also scores the columns of each view, alone and left out.");
  }
  at("worth-text").textContent = text.join(" ");
  at("worth-text").hidden = false;
};

// The same beside the legend, in short.
const worthLegend = () => {
  const scored = Boolean(packed.worth), mean = (score) => score ? score.split(" ")[0] : "–";
  const rows = lineNames.map((name) => {
    const share = explained(name);
    return row("td", [name, share.known ? whole(share.consensus) : "–", ...(scored ? [mean(scoreOf(name)?.alone), mean(scoreOf(name)?.without)] : [])]);
  });
  const head = row("th", ["view", "consensus explains", ...(scored ? ["F1 alone", "F1 without"] : [])]);
  return make("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "What the views are worth" }, make("table", {}, make("thead", {}, head), make("tbody", {}, ...rows)));
};

const viewTable = () => {
  const all = [...run.network.views, ...joint];
  const sampled = all.find((view) => view.sampled)?.sampled;
  const rows = all.map((view) => [
    view.name, number(view.edges), number(view.isolated), view.entries ? number(view.entries) : "–",
    ...(sampled ? [view.sampled.relative_error == null ? "–" : percent(view.sampled.relative_error, 0), percent(view.sampled.seen_once, 0)] : []),
  ]);
  const head = ["view", "edges", "isolated nodes", "proximity entries", ...(sampled ? ["error of proximity", "pairs seen once"] : [])];
  const title = sampled ? `Views; proximity is sampled by ${number(sampled.walks)} walks from each node` : "Views";
  at("view-table").replaceChildren(table(title, head, rows));
};

const agreement = (share) => percent(share, share > 0 && share < 0.095 ? 1 : 0);

const overlapTable = () => {
  const pairs = run.network.overlap;
  if (!pairs.length) { at("overlap").replaceChildren(); return; }
  const share = (a, b) => pairs.find((pair) => (pair.a === a && pair.b === b) || (pair.a === b && pair.b === a))?.share;
  const rows = viewNames.map((a) => [a, ...viewNames.map((b) => {
    const value = a === b ? undefined : share(a, b);
    return value === undefined ? make("td", { class: "heat muted", text: "" }) : heatCell(value, agreement(value));
  })]);
  const head = ["", ...viewNames.map((name) => make("th", { class: "heat", scope: "col", text: name }))];
  at("overlap").replaceChildren(table("Share of nodes on which two views agree", head, rows, { class: "heatmap" }));
};

const overlapText = () => {
  const sorted = [...run.network.overlap].sort((a, b) => b.share - a.share);
  const say = (pair) => `${pair.a} and ${pair.b} agree on ${agreement(pair.share)} of the nodes`;
  if (!sorted.length) return "";
  const extremes = sorted.length === 1 ? `${say(sorted[0])}.` : `Highest overlap: ${say(sorted[0])}. Lowest: ${say(sorted[sorted.length - 1])}.`;
  return `${extremes} Two views agree on a node if more than half of its neighbors in either view are neighbors in both.`;
};
