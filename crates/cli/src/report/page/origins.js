// Where vectors and similarities come from: the shares of consensus and of each view.

const NONE = 0xffffffff;
const run = packed.run;
// Numbers by view, as maps: an object has inherited keys such as __proto__, which may be the name of a view.
for (const record of run.stages) {
  for (const field of ["weights", "residual", "entries"]) record[field] = new Map(Object.entries(record[field]));
}
const sources = packed.sources; // "consensus" first, then the views, and their union if it took part
const width = sources.length;
const shares = bytes(packed.shares); // per node and source; 255 is 100%
const near = {
  count: packed.neighbors.count,
  ids: longs(packed.neighbors.ids),
  similarity: words(packed.neighbors.similarity),
  shares: bytes(packed.neighbors.shares),
  top: packed.neighbors.top,
  parts: (packed.parts.length < 255 ? bytes : words)(packed.neighbors.parts),
  partShares: bytes(packed.neighbors.part_shares),
};
const noPart = packed.parts.length < 255 ? 255 : 65535;

// Consensus is not a view: it has a text color.
const sourceColor = (source) => source === 0 ? paint("--soft") : color(source - 1, "v");

// The view whose own columns have the largest share of a node's vector, as an index into sources; 0 if no view has a share.
const mostSpecific = (node) => {
  let best = 0, most = 0;
  for (let s = 1; s < width; s++) {
    const share = shares[node * width + s];
    if (share > most) { most = share; best = s; }
  }
  return best;
};

const neighborsOf = (node) => {
  const found = [];
  if (node >= count) return found;
  for (let k = 0; k < near.count; k++) {
    const pair = node * near.count + k;
    if (near.ids[pair] === NONE) break;
    found.push({ node: near.ids[pair], similarity: near.similarity[pair] / 65535, pair });
  }
  return found;
};

const consensusClasses = () => {
  const steps = Array.from({ length: STEPS }, () => []);
  let low = 255, high = 0;
  for (const node of drawnNodes) {
    low = Math.min(low, shares[node * width]);
    high = Math.max(high, shares[node * width]);
  }
  for (const node of drawnNodes) {
    const share = high > low ? (shares[node * width] - low) / (high - low) : 0;
    steps[Math.min(STEPS - 1, Math.floor(share * STEPS))].push(node);
  }
  return Object.assign(steps.map((nodes, step) => ({ name: "", ramp: step, nodes })), { range: [low / 255, high / 255] });
};

if (packed.clusters) {
  const names = Array.from({ length: 1 + packed.clusters.reduce((a, b) => Math.max(a, b), 0) }, (_, c) => `cluster ${c + 1}`);
  modes.push({ name: "cluster", classes: () => classesBy((node) => packed.clusters[node], names, "l") });
  nodeColumns.push(["cluster", (node) => packed.clusters[node] < 0 ? "" : packed.clusters[node] + 1]);
}
if (width > 1) {
  const note = (text) => make("p", { text });
  modes.push({
    name: "most view-specific", classes: () => classesBy((node) => mostSpecific(node) - 1, sources.slice(1), "v"),
    about: () => [note("The view whose own columns have the largest share of the vector. That is what no other view has, and not a measure of quality:"), worthLegend()],
  });
  modes.push({ name: "consensus share", classes: consensusClasses, about: () => [note("Share of the vector in consensus columns.")] });
  for (const [s, source] of sources.entries()) nodeColumns.push([`share of ${source}`, (node) => (shares[node * width + s] / 255).toFixed(3)]);
}

page.linkedTo = neighborsOf;
