// Unpacks the nodes, labels and maps of the page. Numbers are packed as base64, since those of 50,000 nodes would be long and
// slow to parse as text.

const packed = JSON.parse(at("data").textContent);

const bytes = (text) => {
  const raw = atob(text);
  const out = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; i++) out[i] = raw.charCodeAt(i);
  return out;
};
const words = (text) => { const b = bytes(text); return new Uint16Array(b.buffer, 0, b.length / 2); };
const longs = (text) => { const b = bytes(text); return new Uint32Array(b.buffer, 0, b.length / 4); };

const ids = packed.nodes;
// Of a large result, the first `count` nodes are a sample, and the others are there as their neighbors.
const count = packed.sample ? packed.sample.drawn : ids.length;

// Nodes whose vectors were computed from a kept model, after the fit.
const foldedIn = new Set(packed.folded_in ? packed.folded_in.nodes : []);

// Coordinates in [-1, 1], y upward; nodes with a zero vector have none, and neither have those that were not drawn.
const unpackPlaces = (text) => {
  const raw = words(text);
  const x = new Float32Array(ids.length).fill(NaN), y = new Float32Array(ids.length).fill(NaN), drawn = [];
  for (let i = 0; i < count; i++) {
    if (raw[2 * i] === 65535) continue;
    x[i] = raw[2 * i] / 32767 - 1;
    y[i] = raw[2 * i + 1] / 32767 - 1;
    drawn.push(i);
  }
  return { x, y, drawn };
};

// The labels of a node as text, of all label sets; empty if it has none.
const labelText = (node) => packed.labels.map((set) => {
  const names = set.of[node].map((label) => set.names[label]);
  return names.length ? `${set.title}${names.length > 1 && set.title === "label" ? "s" : ""} ${names.join(", ")}` : "";
}).filter(Boolean).join("; ");
