// Puts the page together.

document.title = `${packed.title} – manyview report`;
at("title").textContent = packed.title;
const hidden = count - places.drawn.length;
at("lede").textContent = [
  `${plural(count, "node")}, linked in ${viewNames.length === 1 ? "one way" : `${viewNames.length} ways`}, as vectors of ${plural(packed.dim, "column")}.`,
  `Made by ${run.method}${stageCount ? ` in ${plural(stageCount, "stage")}` : ""}, ${seconds(run.seconds.total)}.`,
].join(" ");
at("map-caption").textContent = `Every point is a node, and near points have similar vectors (t-SNE of the embedding); the distance between far groups means little.${
  hidden ? ` ${plural(hidden, "node")} with a zero vector ${hidden === 1 ? "is" : "are"} not drawn.` : ""}`;
canvas.setAttribute("aria-label", `Map of ${plural(places.drawn.length, "node")}`);
at("residual").dataset.about = "Share of each view that is left after each stage";
at("entries").dataset.about = "Entries of each view's residual before each stage";
at("stages-text").textContent = "Consensus stages look for what the views have in common, unique stages for what each says alone; every stage works on what those before it left over.";
at("views-text").textContent = overlapText();
at("stages").hidden = !stageCount;
const memory = run.peak_memory_bytes ? `, ${short(run.peak_memory_bytes)}B of memory` : "";
at("footer").textContent = `manyview ${run.version}; ${plural(run.threads, "thread")}; ${stageCount ? `proximity ${seconds(run.seconds.proximity)}, stages` : run.method} ${seconds(run.seconds.factorize)}, all ${seconds(run.seconds.total)}${memory}. This page asks for nothing from outside.`;

// Everything with a color of the theme in it.
const recolor = () => {
  drawCharts();
  weightTable();
  viewTable();
  overlapTable();
  legend(modes[chosen.value]);
  showNode(state.picked);
  at("theme").textContent = theme() === "dark" ? "Light" : "Dark";
  at("theme").setAttribute("aria-label", `Change to ${theme() === "dark" ? "light" : "dark"} colors`);
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

// For scripts: where a node is on the screen.
window.manyview = {
  place: (node) => { const box = canvas.getBoundingClientRect(); return [box.left + screenX(node), box.top + screenY(node)]; },
  picked: () => state.picked,
};
document.documentElement.dataset.ready = "yes";
