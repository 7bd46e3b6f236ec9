// The modes of coloring. A mode groups the drawn nodes into classes; a class has a name, a color and nodes.

const classesBy = (classOf, names) => {
  const members = names.map(() => []);
  const rest = [];
  for (const node of places.drawn) {
    const found = classOf(node);
    (found === undefined || found < 0 ? rest : members[found]).push(node);
  }
  const order = [...names.keys()];
  // If there are not enough colors, the largest classes get them.
  if (names.length > 10) order.sort((a, b) => members[b].length - members[a].length);
  const classes = order.map((name, index) => ({ name: names[name], index, nodes: members[name] })).filter((c) => c.nodes.length);
  if (rest.length) classes.push({ name: "none", index: GRAY, nodes: rest });
  return classes;
};

const modes = [];
if (packed.labels) {
  modes.push({ name: "label", classes: () => classesBy((node) => packed.labels.of[node][0], packed.labels.names) });
}
if (packed.clusters) {
  const names = Array.from({ length: 1 + packed.clusters.reduce((a, b) => Math.max(a, b), 0) }, (_, c) => `cluster ${c + 1}`);
  modes.push({ name: "cluster", classes: () => classesBy((node) => packed.clusters[node], names) });
}
if (width > 1) {
  modes.push({ name: "view with the largest share", classes: () => classesBy((node) => strongest(node) - 1, sources.slice(1)) });
  const consensus = () => {
    const steps = Array.from({ length: STEPS }, () => []);
    let low = 255, high = 0;
    for (const node of places.drawn) {
      const share = shares[node * width];
      low = Math.min(low, share);
      high = Math.max(high, share);
    }
    for (const node of places.drawn) {
      const share = high > low ? (shares[node * width] - low) / (high - low) : 0;
      steps[Math.min(STEPS - 1, Math.floor(share * STEPS))].push(node);
    }
    const classes = steps.map((nodes, step) => ({ name: "", ramp: step, nodes }));
    return Object.assign(classes, { range: [low / 255, high / 255] });
  };
  modes.push({ name: "consensus share", classes: consensus });
}
modes.push({ name: "none", classes: () => [{ name: "nodes", index: 0, nodes: places.drawn }] });
const classColor = (c) => c.ramp === undefined ? color(c.index) : rampColor(c.ramp);
