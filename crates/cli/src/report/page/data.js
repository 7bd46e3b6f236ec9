// Unpacks the data of the page. Numbers are packed as base64, since 50,000 nodes with ten neighbors each would be long
// and slow to parse as text.

const packed = JSON.parse(document.getElementById("data").textContent);

const bytes = (text) => {
  const raw = atob(text);
  const out = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; i++) out[i] = raw.charCodeAt(i);
  return out;
};
const words = (text) => { const b = bytes(text); return new Uint16Array(b.buffer, 0, b.length / 2); };
const longs = (text) => { const b = bytes(text); return new Uint32Array(b.buffer, 0, b.length / 4); };

const NONE = 0xffffffff;
const ids = packed.nodes;
// Of a large result, the first `count` nodes are a sample, and the others are there as their neighbors.
const count = packed.sample ? packed.sample.drawn : ids.length;
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

// Coordinates in [-1, 1], y upward; nodes with a zero vector have none, and neither have those that were not drawn.
const places = (() => {
  const raw = words(packed.places);
  const x = new Float32Array(ids.length).fill(NaN), y = new Float32Array(ids.length).fill(NaN), drawn = [];
  for (let i = 0; i < count; i++) {
    if (raw[2 * i] === 65535) continue;
    x[i] = raw[2 * i] / 32767 - 1;
    y[i] = raw[2 * i + 1] / 32767 - 1;
    drawn.push(i);
  }
  return { x, y, drawn };
})();

// The view with the largest share of a node's vector, as an index into sources; 0 if no view has a share.
const strongest = (node) => {
  let best = 0, most = 0;
  for (let s = 1; s < width; s++) {
    const share = shares[node * width + s];
    if (share > most) { most = share; best = s; }
  }
  return best;
};

const labelsOf = (node) => packed.labels ? packed.labels.of[node].map((label) => packed.labels.names[label]) : [];
// The labels of a node as text; empty if it has none.
const labelText = (node) => {
  const labels = labelsOf(node);
  return labels.length ? `label${labels.length > 1 ? "s" : ""} ${labels.join(", ")}` : "";
};
