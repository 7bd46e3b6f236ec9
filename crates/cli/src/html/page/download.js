// Figures as files: SVG as drawn, PNG at twice its size, and values as CSV.

const save = (name, type, content) => {
  const url = URL.createObjectURL(new Blob([content], { type }));
  make("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
};

const fileName = (name, ending) => `${name.replace(/[^\p{L}\p{N}.+-]+/gu, "-").replace(/^-+|-+$/g, "").slice(0, 80) || "figure"}.${ending}`;

// Fields with a comma, a quote or a line break are quoted, as in RFC 4180.
const csv = (rows) => rows.map((row) => row.map((field) => {
  const text = field === null || field === undefined ? "" : String(field);
  return /[",\r\n]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text;
}).join(",")).join("\r\n") + "\r\n";

// A drawing of the page with its computed colors, on paper, with its title: it depends on no style sheet.
const standalone = (svg, title) => {
  const copy = svg.cloneNode(true);
  const [, , wide, high] = svg.getAttribute("viewBox").split(" ").map(Number);
  const from = [svg, ...svg.querySelectorAll("*")], to = [copy, ...copy.querySelectorAll("*")];
  from.forEach((element, index) => {
    const style = getComputedStyle(element);
    for (const name of ["fill", "stroke", "stroke-width", "stroke-dasharray", "stroke-linecap", "stroke-linejoin", "opacity", "font-family", "font-size", "font-weight", "font-style", "text-anchor"]) {
      to[index].setAttribute(name, style.getPropertyValue(name));
    }
    to[index].removeAttribute("class");
  });
  const outer = draw("svg", { xmlns: "http://www.w3.org/2000/svg", viewBox: `0 0 ${wide} ${high + 26}`, width: wide, height: high + 26 });
  const head = draw("text", { x: 4, y: 17, fill: paint("--ink"), "font-family": "Arial, sans-serif", "font-size": 13, "font-weight": 600 }, title);
  copy.setAttribute("y", 26);
  copy.setAttribute("width", wide);
  copy.setAttribute("height", high);
  outer.append(draw("rect", { width: "100%", height: "100%", fill: paint("--paper") }), head, copy);
  return new XMLSerializer().serializeToString(outer);
};

const asPng = (svg) => new Promise((done, failed) => {
  const image = new Image();
  image.onload = () => {
    const canvas = make("canvas", { width: 2 * image.width, height: 2 * image.height });
    canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
    canvas.toBlob((blob) => blob ? done(blob) : failed(new Error("the picture is too large for this browser")), "image/png");
  };
  image.onerror = () => failed(new Error("this browser cannot draw the figure"));
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`;
});

// Buttons that save a figure. `svg` and `rows` are called when they are pressed.
const downloads = (name, { svg, rows }) => {
  const box = make("span", { class: "tools" });
  const add = (kind, press) => box.append(button(kind, press, { "aria-label": `Download ${name} as ${kind}` }));
  if (svg) {
    add("PNG", async () => save(fileName(name, "png"), "image/png", await asPng(svg())));
    add("SVG", () => save(fileName(name, "svg"), "image/svg+xml", svg()));
  }
  add("CSV", () => save(fileName(name, "csv"), "text/csv", csv(rows())));
  return box;
};

for (const figure of document.querySelectorAll("figure.chart")) {
  const { name, values } = figure.dataset;
  figure.querySelector("figcaption").append(downloads(name, { svg: () => standalone(figure.querySelector("svg"), name), rows: () => JSON.parse(values) }));
}
