// Line charts over the stages, one line per view, and one for the union of the views if it took part.

const stageCount = run.stages.reduce((most, record) => Math.max(most, record.stage), 0);
const kindOf = (stage) => (run.stages.find((record) => record.stage === stage) || {}).kind;
const viewNames = run.network.views.map((view) => view.name);
const joint = run.network.joint ? [run.network.joint] : [];
const lineNames = [...viewNames, ...joint.map((view) => view.name)];

// The values of one field of the records, per view: [[stage, number], ...].
const series = (field, first) => lineNames.map((name) => {
  const values = first ? [first] : [];
  for (const record of run.stages) if (record[field].has(name)) values.push([record.stage, record[field].get(name)]);
  return values;
});

const lineChart = (box, lines, { scale, ticks, label, from }) => {
  const wide = Math.max(300, Math.min(620, box.clientWidth || 520)), high = 250;
  const longest = lineNames.reduce((most, name) => Math.max(most, name.length), 0);
  const margin = { left: 54, right: Math.min(130, 14 + 7 * Math.min(longest, 16)), top: 10, bottom: 38 };
  const x = (stage) => margin.left + (stage - from) / Math.max(1, stageCount - from) * (wide - margin.left - margin.right);
  const y = (value) => high - margin.bottom - scale(value) * (high - margin.top - margin.bottom);
  const svg = draw("svg", { viewBox: `0 0 ${wide} ${high}`, width: "100%", role: "img", "aria-label": box.dataset.about });
  const firstUnique = Array.from({ length: stageCount }, (_, i) => i + 1).find((stage) => kindOf(stage) === "unique");
  const bandEnd = firstUnique ? (x(firstUnique) + x(firstUnique - 1)) / 2 : wide - margin.right;
  if (kindOf(1) === "consensus") {
    svg.append(draw("rect", { class: "band", x: margin.left, y: margin.top, width: Math.max(0, bandEnd - margin.left), height: high - margin.top - margin.bottom }));
  }
  ticks.forEach((tick, index) => {
    svg.append(draw("line", { class: index ? "grid" : "axis", x1: margin.left, x2: wide - margin.right, y1: y(tick), y2: y(tick) }));
    svg.append(draw("text", { x: margin.left - 8, y: y(tick) + 4, "text-anchor": "end" }, label(tick)));
  });
  const every = Math.ceil((stageCount - from + 1) / 12);
  for (let stage = from; stage <= stageCount; stage += every) {
    svg.append(draw("text", { x: x(stage), y: high - margin.bottom + 17, "text-anchor": "middle" }, stage || "start"));
  }
  svg.append(draw("text", { x: margin.left, y: high - 4 }, kindOf(1) === "consensus" ? "stage (shaded: consensus)" : "stage"));
  const ends = [];
  lines.forEach((values, index) => {
    if (!values.length) return;
    const path = values.map(([stage, value], i) => `${i ? "L" : "M"}${x(stage).toFixed(1)} ${y(value).toFixed(1)}`).join("");
    const stroke = color(index);
    svg.append(draw("path", { d: path, fill: "none", stroke, "stroke-width": 2, "stroke-linejoin": "round" }));
    for (const [stage, value] of values) {
      const dot = draw("circle", { cx: x(stage), cy: y(value), r: 3, fill: stroke });
      dot.append(draw("title", {}, `${lineNames[index]}, ${stage ? `stage ${stage}` : "start"}: ${label(value)}`));
      svg.append(dot);
    }
    const [stage, value] = values[values.length - 1];
    ends.push({ name: lineNames[index], stroke, x: x(stage), y: y(value), place: y(value) });
  });
  // Names at the ends of the lines, moved apart where lines end close together.
  ends.sort((a, b) => a.place - b.place);
  for (let i = 1; i < ends.length; i++) ends[i].place = Math.max(ends[i].place, ends[i - 1].place + 14);
  const over = ends.length ? ends[ends.length - 1].place - (high - margin.bottom + 4) : 0;
  for (let i = ends.length - 1, limit = Infinity; over > 0 && i >= 0; i--) {
    ends[i].place = Math.min(ends[i].place, i === ends.length - 1 ? ends[i].place - over : limit - 14);
    limit = ends[i].place;
  }
  for (const end of ends) {
    const name = end.name.length > 16 ? `${end.name.slice(0, 15)}…` : end.name;
    const text = draw("text", { x: wide - margin.right + 10, y: end.place + 4 }, name);
    text.style.fill = end.stroke;
    svg.append(text);
  }
  box.replaceChildren(svg);
};

const drawCharts = () => {
  if (!stageCount) return;
  const residual = series("residual", [0, 1]);
  // Shares decrease by a factor from stage to stage; a logarithmic scale shows the late stages too.
  const least = Math.min(0.3, ...residual.flat().map((point) => point[1]).filter((share) => share > 0));
  const ticks = [1, 0.3, 0.1, 0.03, 0.01, 0.003, 0.001, 0.0003, 0.0001];
  const bottom = ticks.find((tick) => tick <= least) || 0.0001;
  lineChart(at("residual"), residual, {
    scale: (share) => 1 - Math.log(Math.max(share, bottom)) / Math.log(bottom),
    ticks: ticks.filter((tick) => tick >= bottom).reverse(),
    label: (share) => `${+(100 * share).toPrecision(2)}%`,
    from: 0,
  });
  const entries = series("entries");
  const most = Math.max(1, ...entries.flat().map((point) => point[1]));
  const step = [1, 2, 2.5, 5, 10].map((digit) => digit * 10 ** Math.floor(Math.log10(most / 2))).find((size) => most / size <= 5);
  lineChart(at("entries"), entries, {
    scale: (value) => value / most,
    ticks: Array.from({ length: Math.floor(most / step) + 1 }, (_, index) => index * step),
    label: (value) => short(Math.round(value)),
    from: 1,
  });
};
