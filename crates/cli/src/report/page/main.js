// Fills in the page.

document.title = `${packed.title} – manyview report`;
at("title").textContent = packed.title;
const hidden = count - places.drawn.length;
at("lede").textContent = [
  `${plural(packed.sample ? packed.sample.of : count, "node")}, ${plural(viewNames.length, "view")}, embedded in ${plural(packed.dim, "dimension")}.`,
  `Method: ${run.method}${stageCount ? `, ${plural(stageCount, "stage")}` : ""}; run time: ${seconds(run.seconds.total)}.`,
].join(" ");
const drawn = packed.sample ? `The map shows ${number(count)} of ${plural(packed.sample.of, "node")}, drawn at random; their nearest nodes are searched among all nodes. Clusters and scores are those of the drawn nodes. ` : "";
at("map-caption").textContent = `${drawn}Each point is a node; nearby points have similar vectors (t-SNE of the embedding). Distances between distant groups are not meaningful.${
  hidden ? ` ${plural(hidden, "node")} with a zero vector ${hidden === 1 ? "is" : "are"} not drawn.` : ""}`;
canvas.setAttribute("aria-label", `Map of ${plural(places.drawn.length, "node")}`);
at("residual").dataset.about = "Share of each view that is not explained after each stage";
at("entries").dataset.about = "Entries of each view's residual before each stage";
at("stages-text").textContent = "Consensus stages find structure that the views have in common, unique stages structure of single views. Each stage factorizes the residual of the previous stages." + (joint.length ? ` "${joint[0].name}" is the union of all views: its proximity counts paths that change views, and its columns are pairs that only such paths bring together.` : "");
at("views-text").textContent = overlapText();
at("stages").hidden = !stageCount;
const memory = run.peak_memory_bytes ? `, ${short(run.peak_memory_bytes)}B of memory` : "";
at("footer").textContent = `manyview ${run.version}; ${plural(run.threads, "thread")}; ${stageCount ? `proximity ${seconds(run.seconds.proximity)}, stages` : run.method} ${seconds(run.seconds.factorize)}, total ${seconds(run.seconds.total)}${memory}. This page loads nothing from the network.`;

// Redraws everything that depends on the theme.
const recolor = () => {
  drawCharts();
  weightTable();
  viewTable();
  overlapTable();
  legend(modes[chosen.value]);
  showNode(state.picked);
  at("theme").textContent = theme() === "dark" ? "Light" : "Dark";
  at("theme").setAttribute("aria-label", `Switch to ${theme() === "dark" ? "light" : "dark"} mode`);
  redraw();
};
at("theme").addEventListener("click", () => {
  document.documentElement.dataset.theme = theme() === "dark" ? "light" : "dark";
  recolor();
});
darkSystem.addEventListener("change", recolor);

scoreTables();
settings();
resize();
colorBy(modes[0]);
recolor();
render();

// For tests: the position of a node on the screen.
window.manyview = {
  place: (node) => { const box = canvas.getBoundingClientRect(); return [box.left + screenX(node), box.top + screenY(node)]; },
  picked: () => state.picked,
};
document.documentElement.dataset.ready = "yes";
