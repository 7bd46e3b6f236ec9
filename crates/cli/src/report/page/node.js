// The node that is picked: the shares of its vector, its nearest nodes, and the views and stages that make them similar.

const partName = (part) => {
  const { stage, source } = packed.parts[part];
  return `stage ${stage} ${sources[source]}`;
};

const topParts = (pair) => {
  const named = [];
  for (let k = 0; k < near.top; k++) {
    const part = near.parts[pair * near.top + k], share = near.partShares[pair * near.top + k] / 255;
    if (part !== noPart && share >= 0.005) named.push(`${partName(part)} ${percent(share)}`);
  }
  return named.join(", ");
};

// A stacked bar with one piece per source, in the order of the sources.
const piecesBar = (array, offset) => {
  const bar = make("div", { class: "bar" });
  const said = [];
  for (let s = 0; s < width; s++) {
    const share = array[offset + s] / 255;
    if (share === 0) continue;
    const piece = make("i");
    piece.style.width = percent(share, 2);
    piece.style.background = sourceColor(s);
    bar.append(piece);
    said.push(`${sources[s]} ${percent(share)}`);
  }
  bar.title = said.join(", ");
  return bar;
};

const sourceBars = (node) => {
  const order = [...sources.keys()].sort((a, b) => shares[node * width + b] - shares[node * width + a]);
  const bars = make("div", { class: "bars" });
  for (const s of order) {
    const share = shares[node * width + s] / 255;
    const piece = make("i");
    piece.style.width = percent(share, 2);
    piece.style.background = sourceColor(s);
    bars.append(make("span", { text: sources[s], title: sources[s] }), make("div", { class: "bar" }, piece), make("span", { class: "number", text: percent(share) }));
  }
  return bars;
};

const neighborLine = ({ node, similarity, pair }) => {
  const head = make("div", { class: "line" }, make("span", { text: ids[node] }), make("span", { text: similarity.toFixed(3) }));
  const line = button("", () => find(node));
  line.append(head);
  const label = labelText(node);
  if (label) line.append(make("small", { text: label }));
  if (width) line.append(piecesBar(near.shares, pair * width), make("small", { text: topParts(pair) }));
  return make("li", {}, line);
};

page.hint = "Select a point, or search for a node, to see which views its vector comes from and its nearest nodes.";
page.aboutNode = (node) => {
  const parts = [], others = neighborsOf(node);
  const vector = () => width ? [make("h4", { text: "Share of consensus and of each view in the vector" }), sourceBars(node)] : [];
  if (packed.clusters && packed.clusters[node] >= 0) parts.push(make("p", { text: `cluster ${packed.clusters[node] + 1}` }));
  if (foldedIn.has(node)) parts.push(make("p", { text: "folded in: its vector follows from the kept model and its edges, and was not fitted" }));
  if (node >= count) {
    parts.push(...vector(), make("p", { text: "This node was not drawn for the map. It is listed as a neighbor of nodes that were." }));
  } else if (Number.isNaN(maps[0].places.x[node])) {
    parts.push(make("p", { text: "The vector of this node is zero, so it is not on the map and has no nearest nodes." }));
  } else {
    parts.push(...vector(), make("h4", { text: others.length ? "Nearest nodes (cosine), and the shares in the similarity" : "No similar nodes" }));
    parts.push(make("ul", { class: "near" }, ...others.map(neighborLine)));
  }
  return parts;
};
