// Fills in the report: views, stages, scores, settings.

const stageCount = run.stages.reduce((most, record) => Math.max(most, record.stage), 0);

const weightTable = () => {
  const rows = [];
  const heaviest = Math.max(...run.stages.filter((record) => record.kind === "consensus").flatMap((record) => [...record.weights.values()]));
  for (let stage = 1; stage <= stageCount; stage++) {
    const records = run.stages.filter((record) => record.stage === stage);
    if (!records.length) continue;
    const cells = lineNames.map((name) => {
      const record = records.find((one) => one.weights.has(name));
      if (!record) return make("td", { class: "muted", text: "–" });
      if (record.kind === "consensus") return heatCell(record.weights.get(name) / heaviest, record.weights.get(name).toFixed(3));
      return make("td", { class: "heat muted", text: record.columns[1] - record.columns[0] });
    });
    const iterations = records.map((record) => record.iterations);
    const [least, most] = [Math.min(...iterations), Math.max(...iterations)];
    const open = records.some((record) => !record.converged) ? "+" : "";
    rows.push([`${stage} ${records[0].kind === "joint" ? "unique" : records[0].kind}`, ...cells, least === most ? `${most}${open}` : `${least}–${most}${open}`]);
  }
  const head = ["stage", ...lineNames.map((name) => make("th", { class: "heat", scope: "col", text: name })), "iterations"];
  at("weights").replaceChildren(table("Number of columns (unique stages) and view weights (consensus stages)", head, rows, { class: "heatmap" }));
};

// What a weight is depends on how the consensus stages work.
const weightText = () => {
  const kinds = new Set(run.stages.filter((record) => record.kind === "consensus").map((record) => record.consensus));
  const said = [];
  if (kinds.has("pooled")) {
    said.push("A weight in a consensus stage is the view's part in what the stage takes from the sum of all views; the weights of a stage add up to 1. It is large where much of the view was left that the others have as well, and says nothing of how useful the view is.");
  }
  if (kinds.has("shared")) {
    const gamma = run.config.find(([name]) => name === "gamma")?.[1];
    said.push(`A weight in a shared consensus stage follows from how well the common columns fit the view (gamma ${gamma}): ${gamma > 1 ? "views that they fit well weigh more" : "views that they fit badly weigh more"}. The weights of a stage add up to 1, and say nothing of how useful a view is.`);
  }
  if (run.stages.some((record) => !record.converged)) said.push("A plus sign after the iterations means that they ended before the stage converged.");
  at("weights-text").textContent = said.join(" ");
};

const scoreTables = () => {
  if (!packed.scores) return;
  at("scores").hidden = false;
  at("score-tables").replaceChildren(...packed.scores.tables.map((scores) => {
    const box = table(scores.title, scores.columns, scores.rows);
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

const sayWhatIsShown = () => {
  const places = unpackPlaces(packed.maps[0].places), missing = count - places.drawn.length;
  const drawn = packed.sample ? `The map shows ${number(count)} of ${plural(packed.sample.of, "node")}, drawn at random; their nearest nodes are searched among all nodes. Clusters and scores are those of the drawn nodes. ` : "";
  at("map-caption").textContent = `${drawn}Each point is a node; nearby points have similar vectors (t-SNE of the embedding). Distances between distant groups are not meaningful.${
    packed.folded_in ? ` ${plural(packed.folded_in.of, "node")} ${packed.folded_in.of === 1 ? "was" : "were"} folded in and ${packed.folded_in.of === 1 ? "has" : "have"} a ring; the others were fitted.` : ""}${
    missing ? ` ${plural(missing, "node")} with a zero vector ${missing === 1 ? "is" : "are"} not drawn.` : ""}`;
  at("stages-text").textContent = "Unique stages find structure of single views, consensus stages structure that the views have in common. Each stage factorizes what the stages before it left." + (joint.length ? ` "${joint[0].name}" is the union of all views: its proximity counts paths that change views, and its columns are pairs that only such paths bring together.` : "");
  at("views-text").textContent = overlapText();
  const memory = run.peak_memory_bytes ? `, ${short(run.peak_memory_bytes)}B of memory` : "";
  const times = stageCount ? `proximity ${seconds(run.seconds.proximity)}, stages` : run.method;
  at("footer").prepend(`manyview ${run.version}; ${plural(run.threads, "thread")}; ${times} ${seconds(run.seconds.factorize)}, total ${seconds(run.seconds.total)}${memory}. `);
};

sayWhatIsShown();
scoreTables();
settings();
recolored.push(() => { weightTable(); worthTable(); viewTable(); overlapTable(); });
weightText();
