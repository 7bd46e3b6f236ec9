"""Tests of the report page in a browser."""
import csv
import gzip
import io
import json
import pathlib
import re
import subprocess
import tempfile
import time
import unittest
import xml.dom.minidom

import numpy as np
from sklearn.linear_model import LogisticRegression

from browser import CHROMIUM, Browser, axe
from test_files import BINARY, DIGITS, manyview

# Node ids are untrusted text.
EVIL = ["<script>window.harmed = 1</script>", "</script><script>window.harmed = 2</script>", "<img src=x onerror=window.harmed=3>",
        "<!--", "\u2028&amp;\"'", "{data}", "http://127.0.0.1:9/x"]

INK = """(() => {
  const canvas = document.getElementById("canvas-0"), copy = new OffscreenCanvas(canvas.width, canvas.height).getContext("2d");
  copy.drawImage(canvas, 0, 0);
  const data = copy.getImageData(0, 0, canvas.width, canvas.height).data;
  let drawn = 0;
  for (let i = 3; i < data.length; i += 4) drawn += data[i] > 0;
  return drawn;
})()"""

# The distance of two nodes on the screen.
APART = "(() => { const [a, b] = [window.manyview.place(0), window.manyview.place(900)]; return Math.hypot(a[0] - b[0], a[1] - b[1]); })()"

# Where the node nearest to the middle of the map is on the screen: fingers around it are still on the map.
MIDDLE = """(() => {
  const box = document.getElementById("canvas-0").getBoundingClientRect();
  const off = ([x, y]) => Math.hypot(x - box.x - box.width / 2, y - box.y - box.height / 2);
  const places = Array.from({length: 2000}, (_, node) => window.manyview.place(node));
  return places.reduce((nearest, place) => off(place) < off(nearest) ? place : nearest);
})()"""


@unittest.skipUnless(CHROMIUM, "Chromium is not installed")
class Report(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        manyview("embed", DIGITS, "-o", cls.folder / "digits", "--dim", 64, "--quiet")
        manyview("report", cls.folder / "digits", "--labels", DIGITS / "labels.tsv", "--quiet")
        cls.page = cls.folder / "digits/report.html"
        ids = (cls.folder / "digits/nodes.txt").read_text(encoding="utf-8").split("\n")[:-1]
        cls.row = {node: row for row, node in enumerate(ids)}

    def setUp(self):
        self.browser = Browser()
        self.addCleanup(self.browser.close)

    def text(self, identifier):
        return self.browser.run(f"document.getElementById({json.dumps(identifier)}).textContent")

    def settle(self):
        self.browser.run("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))")

    def find(self, name):
        self.browser.run("document.getElementById('find').focus(); document.getElementById('find').select()")
        self.browser.type(name)

    def offsets(self, node):
        """How far a node is from the left and the right side of the map, after checking that it is as far from top and bottom."""
        x, y = self.browser.run(f"window.manyview.place({node})")
        left, top, right, bottom = self.browser.run("(({left, top, right, bottom}) => [left, top, right, bottom])(document.getElementById('top-0').getBoundingClientRect())")
        self.assertAlmostEqual(y - top, bottom - y, delta=1)
        return x - left, right - x

    def color_by(self, name):
        self.browser.run(f"(() => {{ const s = document.getElementById('color'); s.value = [...s.options].find((o) => o.text === {json.dumps(name)}).value; "
                         "s.dispatchEvent(new Event('change')); })()")

    def saved(self, press, ending):
        """Presses a button and returns the bytes of the file that it saves."""
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            self.browser.saves_to(folder)
            self.browser.run(f"{press}.click()")
            end = time.monotonic() + 20
            while not (found := [path for path in folder.iterdir() if path.name.endswith(ending)]):
                self.assertLess(time.monotonic(), end, f"nothing was saved: {self.browser.problems}")
                time.sleep(0.05)
            time.sleep(0.1)
            return found[0].read_bytes()

    def quiet(self, page):
        """Asserts that there were no errors, and no requests except for the page itself."""
        self.assertEqual(self.browser.problems, [])
        outside = [url for url in self.browser.requests if url != page.resolve().as_uri() and not url.startswith("data:")]
        self.assertEqual(outside, [])

    def test_the_page_opens_and_draws_its_points(self):
        self.browser.open(self.page)
        self.settle()
        self.assertGreater(self.browser.run(INK), 5000)
        self.assertEqual(self.text("title"), "digits")
        self.assertIn("2,000 nodes, 6 views", self.text("lede"))
        self.assertEqual(self.browser.run("document.querySelectorAll('#legend button').length"), 10)
        for chart in ("residual", "entries"):
            self.assertEqual(self.browser.run(f"document.querySelectorAll('#{chart} path.curve').length"), 7)
        self.assertEqual(self.browser.run("document.querySelectorAll('#overlap tbody td').length"), 36)
        self.assertEqual(self.browser.run("document.querySelectorAll('#weights tbody tr').length"), 5)
        self.assertIn("karhunen and pixel agree on 26% of the nodes", self.text("views-text"))
        self.assertIn("balanced", self.text("config"))
        named = "[...document.querySelectorAll('section')].every((s) => document.getElementById(s.getAttribute('aria-labelledby')))"
        self.assertTrue(self.browser.run(named), "each section is labelled by its heading")
        self.quiet(self.page)

    def test_pointing_names_a_node_and_clicking_explains_it(self):
        self.browser.open(self.page)
        x, y = self.browser.run("window.manyview.place(5)")
        self.browser.mouse("mouseMoved", x, y)
        self.browser.until("!document.getElementById('tip-0').hidden")
        hovered = self.browser.run("document.querySelector('#tip-0 span').textContent")
        self.assertIn(hovered, self.row)
        self.browser.click(x, y)
        self.browser.until("window.manyview.picked() >= 0")
        picked = self.browser.run("window.manyview.picked()")
        self.assertEqual(picked, self.row[hovered])
        self.assertEqual(self.browser.run("document.querySelectorAll('.bars .bar').length"), 8)
        near = self.browser.run("[...document.querySelectorAll('.near .line')].map((e) => [...e.children].map((c) => c.textContent))")
        z = np.load(self.folder / "digits/embedding.npy").astype(float)
        unit = z / np.linalg.norm(z, axis=1, keepdims=True)
        cosine = unit @ unit[picked]
        cosine[picked] = -1
        self.assertEqual(len(near), 10)
        for (name, similarity), expected in zip(near, -np.sort(-cosine)[:10]):
            self.assertAlmostEqual(cosine[self.row[name]], expected, places=5)
            self.assertAlmostEqual(float(similarity), expected, places=3)
        self.assertRegex(self.browser.run("document.querySelector('.near small:last-child').textContent"), r"^stage \d \w+ \d+%")
        self.browser.run("document.querySelector('.near button').click()")
        self.assertEqual(self.browser.run("document.querySelector('#node h3').textContent"), near[0][0])
        self.quiet(self.page)

    def test_a_node_is_found_by_its_name_with_the_keyboard(self):
        self.browser.open(self.page)
        self.find("123")
        self.browser.until("!document.getElementById('matches').hidden")
        self.assertEqual(self.browser.run("document.querySelector('#matches li').textContent"), "123")
        self.browser.press("ArrowDown")
        second = self.browser.run("document.querySelector('#matches li[aria-selected=true]').textContent")
        self.browser.press("Enter")
        self.assertEqual(self.browser.run("document.querySelector('#node h3').textContent"), second)
        self.assertEqual(self.browser.run("window.manyview.picked()"), self.row[second])
        self.assertAlmostEqual(*self.offsets(self.row[second]), delta=1, msg="a node that is found is in the middle of the map")
        self.find("no such")
        self.assertEqual(self.text("matches"), "no matching node")
        self.quiet(self.page)

    def test_two_fingers_zoom_and_one_drags_and_picks(self):
        self.browser.size(400, 800, phone=True)
        self.browser.open(self.page)
        before, (x, y) = self.browser.run(APART), self.browser.run(MIDDLE)
        self.browser.touch("touchStart", (x, y))
        self.browser.touch("touchEnd")
        self.browser.until("window.manyview.picked() >= 0")
        # The panel of the node may have scrolled the page.
        x, y = self.browser.run("window.manyview.place(window.manyview.picked())")
        self.browser.touch("touchStart", (x - 40, y), (x + 40, y))
        self.browser.touch("touchMove", (x - 40, y), (x + 60, y))
        self.browser.touch("touchMove", (x - 60, y), (x + 60, y))
        self.browser.until(f"Math.abs({APART} / {before} - 1.5) < 0.01")
        self.browser.touch("touchEnd")
        picked, place = self.browser.run("window.manyview.picked()"), self.browser.run("window.manyview.place(0)")
        self.browser.touch("touchStart", (x, y))
        self.browser.touch("touchMove", (x + 25, y + 10))
        self.browser.touch("touchEnd")
        self.browser.until(f"Math.abs(window.manyview.place(0)[0] - {place[0]} - 25) < 1")
        self.assertEqual(self.browser.run("window.manyview.picked()"), picked)
        self.quiet(self.page)

    def test_the_map_moves_and_zooms_with_keys_and_wheel(self):
        self.browser.open(self.page)
        before, place = self.browser.run(APART), self.browser.run("window.manyview.place(0)")
        self.browser.run("document.getElementById('top-0').focus()")
        self.browser.press("ArrowLeft")
        self.assertAlmostEqual(self.browser.run("window.manyview.place(0)[0]"), place[0] + 60, places=2)
        self.browser.press("+")
        closer = self.browser.run(APART)
        self.assertAlmostEqual(closer / before, 1.35, places=3)
        self.browser.mouse("mouseWheel", 300, 500, deltaX=0, deltaY=-200)
        self.browser.until(f"{APART} > {closer} * 1.2")
        self.browser.press("0")
        self.assertAlmostEqual(self.browser.run(APART), before, places=3)
        self.browser.press("Enter")
        self.assertGreaterEqual(self.browser.run("window.manyview.picked()"), 0)
        self.quiet(self.page)

    def test_colors_can_be_chosen_and_a_label_shown_alone(self):
        self.browser.open(self.page)
        modes = self.browser.run("[...document.querySelectorAll('#color option')].map((o) => o.textContent)")
        self.assertEqual(modes, ["label", "cluster", "most view-specific", "consensus share", "none"])
        self.browser.run("document.querySelector('#legend button').click()")
        self.assertEqual(self.browser.run("document.querySelector('#legend button').getAttribute('aria-pressed')"), "true")
        for mode in range(len(modes)):
            self.browser.run(f"(() => {{ const s = document.getElementById('color'); s.value = {mode}; s.dispatchEvent(new Event('change')); }})()")
            self.settle()
            self.assertGreater(self.browser.run(INK), 5000, modes[mode])
        self.quiet(self.page)

    def test_light_and_dark_follow_the_system_and_the_button(self):
        paper = "getComputedStyle(document.documentElement).backgroundColor"
        self.browser.open(self.page)
        light = self.browser.run(paper)
        self.browser.dark()
        self.browser.until(f"{paper} !== {json.dumps(light)}")
        self.browser.run("document.getElementById('theme').click()")
        self.assertEqual(self.browser.run(paper), light)
        self.quiet(self.page)

    def test_a_phone_needs_no_sideways_scrolling(self):
        self.browser.size(360, 740, phone=True)
        self.browser.open(self.page)
        self.settle()
        self.assertEqual(self.browser.run("document.documentElement.scrollWidth"), 360)
        self.assertGreater(self.browser.run(INK), 5000)
        self.quiet(self.page)

    def test_markup_in_names_is_shown_and_never_run(self):
        place = self.folder / "evil"
        place.mkdir()
        edges = [f"{a}\tn{k}\n" for k, a in enumerate(EVIL)] + [f"n{k}\tn{k + 1}\n" for k in range(9)] + [f"{EVIL[0]}\t{EVIL[1]}\n"]
        (place / "view.tsv").write_text("".join(edges), encoding="utf-8")
        (place / "labels.tsv").write_text("".join(f"{node}\t{EVIL[k % 3]}\n" for k, node in enumerate(EVIL)), encoding="utf-8")
        view = f"<b>bold</b>={place / 'view.tsv'}"
        manyview("embed", "--view", view, "-o", place / "<i>title", "--dim", 16, "--stages", 2, "--header", "no", "--quiet")
        page = place / "report.html"
        manyview("report", place / "<i>title", "--labels", place / "labels.tsv", "-o", page, "--quiet")
        self.browser.open(page)
        for node in EVIL:
            self.find(node)
            self.browser.press("Enter")
            self.assertEqual(self.browser.run("document.querySelector('#node h3').textContent"), node)
            x, y = self.browser.run("window.manyview.place(window.manyview.picked())")
            self.browser.mouse("mouseMoved", 5, 5)
            self.browser.mouse("mouseMoved", x, y)
            self.assertIn(self.browser.run("document.querySelector('#tip-0 span')?.textContent"), EVIL + [f"n{k}" for k in range(10)])
        self.assertEqual(self.text("title"), "<i>title")
        self.assertIn("<b>bold</b>", self.text("view-table"))
        self.assertIsNone(self.browser.run("window.harmed"))
        self.assertEqual(self.browser.run("document.querySelectorAll('script').length"), 2)
        self.assertEqual(self.browser.run("document.querySelectorAll('img, b, h1 i').length"), 0)
        self.quiet(page)

    def test_a_view_named_proto_has_its_line_in_the_charts(self):
        """Defect 7: names of views were keys of objects, which inherit some."""
        names = ["__proto__", "constructor", "toString"]
        place = self.folder / "proto"
        place.mkdir()
        for shift, name in enumerate(names, 1):
            edges = "".join(f"n{k}\tn{(k * shift + 1) % 12}\n" for k in range(12))
            (place / f"{name}.tsv").write_text(edges, encoding="utf-8")
        manyview("embed", place, "-o", place / "out", "--dim", 24, "--stages", 4, "--negative", 1, "--quiet")
        run = json.loads((place / "out/run.json").read_text(encoding="utf-8"))
        self.assertEqual(sorted(view["name"] for view in run["network"]["views"]), sorted(names))
        manyview("report", place / "out", "--quiet")
        page = place / "out/report.html"
        self.browser.open(page)
        self.settle()
        for chart in ("residual", "entries"):
            paths = self.browser.run(f"[...document.querySelectorAll('#{chart} path.curve')].map((path) => path.getAttribute('d'))")
            # One for each view, and one for their union.
            self.assertEqual(len(paths), len(names) + 1)
            self.assertFalse([path for path in paths if "NaN" in path], chart)
        self.assertNotIn("NaN", self.text("view-table"))
        weights = self.browser.run("[...document.querySelectorAll('#weights td')].map((cell) => cell.textContent)")
        self.assertFalse([cell for cell in weights if "NaN" in cell or "undefined" in cell or "function" in cell])
        self.quiet(page)

    def test_a_sample_has_its_nearest_nodes_among_all_nodes(self):
        page = self.folder / "sample.html"
        manyview("report", self.folder / "digits", "--labels", DIGITS / "labels.tsv", "--sample", 150, "-o", page, "--quiet")
        self.browser.open(page)
        self.settle()
        self.assertIn("2,000 nodes, 6 views", self.text("lede"))
        self.assertIn("The map shows 150 of 2,000 nodes, drawn at random", self.text("map-caption"))
        legend = "[...document.querySelectorAll('#legend button span:last-child')].reduce((sum, e) => sum + Number(e.textContent), 0)"
        self.assertEqual(self.browser.run(legend), 150)
        x, y = self.browser.run("window.manyview.place(7)")
        self.browser.click(x, y)
        self.browser.until("window.manyview.picked() >= 0")
        name = self.browser.run("document.querySelector('#node h3').textContent")
        near = self.browser.run("[...document.querySelectorAll('.near .line')].map((e) => [...e.children].map((c) => c.textContent))")
        z = np.load(self.folder / "digits/embedding.npy").astype(float)
        unit = z / np.linalg.norm(z, axis=1, keepdims=True)
        cosine = unit @ unit[self.row[name]]
        cosine[self.row[name]] = -1
        self.assertEqual(len(near), 10)
        for (other, similarity), expected in zip(near, -np.sort(-cosine)[:10]):
            self.assertAlmostEqual(cosine[self.row[other]], expected, places=5)
            self.assertAlmostEqual(float(similarity), expected, places=3)
        # Of ten neighbors among 2,000 nodes, some are not among the 150.
        said = "document.getElementById('node').textContent.includes('This node was not drawn for the map')"
        outside = 0
        for other, _ in near:
            self.find(other)
            self.browser.press("Enter")
            self.assertEqual(self.browser.run("document.querySelector('#node h3').textContent"), other)
            self.assertEqual(self.browser.run("document.querySelectorAll('.bars .bar').length"), 8)
            outside += self.browser.run(said)
        self.assertGreater(outside, 0)
        self.quiet(page)

    def test_scores_and_clusters_are_shown(self):
        self.browser.open(self.page)
        heads = self.browser.run("[...document.querySelectorAll('#score-tables th')].map((head) => head.textContent)")
        self.assertIn("micro-F1", heads)
        self.assertIn("AMI", heads)
        # Three training fractions, and one row of k-means.
        self.assertEqual(self.browser.run("document.querySelectorAll('#score-tables tbody tr').length"), 4)
        self.find("1234")
        self.browser.press("Enter")
        self.assertRegex(self.text("node"), r"cluster \d+")
        self.quiet(self.page)

    def test_the_page_says_what_views_are_worth(self):
        """Issue 16: "strongest view" named the view with most columns of its own, which on the digits is the worst one."""
        self.browser.open(self.page)
        rows = self.browser.run("[...document.querySelectorAll('#worth tr')].map((row) => [...row.cells].map((cell) => cell.textContent))")
        head, rows = rows[0], {row[0]: row for row in rows[1:]}
        self.assertEqual(head[2:], ["its own columns explain", "consensus explains", "not explained", "columns", "F1 of these alone", "F1 without them"])
        self.assertEqual(len(rows), 8)
        run = json.loads((self.folder / "digits/run.json").read_text(encoding="utf-8"))
        z = np.load(self.folder / "digits/embedding.npy").astype(float)
        labels = dict(line.split("\t") for line in (DIGITS / "labels.tsv").read_text(encoding="utf-8").splitlines())
        y = np.array([labels[node] for node in self.row])
        for view in ("morphology", "pixel"):
            left, own, consensus = 1.0, 0.0, 0.0
            for record in run["stages"]:
                if view in record["residual"]:
                    gain, left = left - record["residual"][view], record["residual"][view]
                    own, consensus = (own, consensus + gain) if record["kind"] == "consensus" else (own + gain, consensus)
            self.assertEqual([float(cell.rstrip("%")) for cell in rows[view][2:5]], [round(100 * share) for share in (own, consensus, left)])
            columns = [column for part in run["stages"] if part["view"] == view for column in range(*part["columns"])]
            self.assertEqual(int(rows[view][5]), len(columns))
            for cell, used in ((rows[view][6], z[:, columns]), (rows[view][7], np.delete(z, columns, axis=1))):
                scores = []
                # Few columns: scores of single splits have a standard deviation of three points.
                for seed in range(20):
                    order = np.random.default_rng(seed).permutation(len(y))
                    train, test = order[:1000], order[1000:]
                    scores.append(LogisticRegression(C=1, max_iter=1000).fit(used[train], y[train]).score(used[test], y[test]))
                self.assertAlmostEqual(float(cell.split(" ")[0]), 100 * np.mean(scores), delta=2.5)
        self.assertLess(float(rows["morphology"][6][:4]), float(rows["pixel"][6][:4]))
        self.assertNotIn("strongest", self.browser.run("document.body.innerText").lower())
        self.color_by("most view-specific")
        self.assertIn("not a measure of quality", self.text("legend"))
        self.assertEqual(self.browser.run("document.querySelectorAll('#legend tbody tr').length"), 7)
        self.assertIn("says nothing of how useful the view is", self.text("weights-text"))
        self.quiet(self.page)

    def test_views_and_labels_share_no_color_and_all_contrast(self):
        def luminance(color):
            parts = [int(color[at:at + 2], 16) / 255 for at in (1, 3, 5)]
            red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
            return 0.2126 * red + 0.7152 * green + 0.0722 * blue

        def contrast(a, b):
            least, most = sorted((luminance(a), luminance(b)))
            return (most + 0.05) / (least + 0.05)

        self.browser.open(self.page)
        for mode in ("light", "dark"):
            self.browser.run(f"document.documentElement.dataset.theme = '{mode}'")
            names = [f"--l{k}" for k in range(10)] + [f"--v{k}" for k in range(8)] + ["--paper", "--panel"]
            value = self.browser.run(f"{names}.map((name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim())")
            labels, views, (paper, panel) = value[:10], value[10:18], value[18:]
            self.assertEqual(len({*labels, *views}), 18, mode)
            # Points are graphics, names of views at the ends of lines are text.
            for color in labels:
                self.assertGreaterEqual(contrast(color, panel), 3, (mode, color))
            for color in views:
                self.assertGreaterEqual(min(contrast(color, paper), contrast(color, panel)), 4.5, (mode, color))

    def test_the_page_is_accessible_in_both_modes(self):
        script = axe()
        if not script:
            self.skipTest("no npm")
        for wide, phone in ((1280, False), (390, True)):
            self.browser.size(wide, 900, phone)
            self.browser.open(self.page)
            for dark in (False, True):
                self.browser.dark(dark)
                for mode in ("label", "most view-specific", "consensus share"):
                    self.color_by(mode)
                    self.find("12")
                    self.browser.press("Enter")
                    self.assertEqual(self.browser.violations(script), [], (wide, dark, mode))

    def test_a_lasso_selects_and_the_selection_can_be_saved_and_copied(self):
        self.browser.open(self.page)
        self.settle()
        x, y = self.browser.run("window.manyview.place(900)")
        corners = [(x - 50, y - 50), (x + 50, y - 50), (x + 50, y + 50), (x - 50, y + 50)]
        self.browser.run("document.querySelector('[aria-label=\"Select with a lasso\"]').click()")
        self.browser.drag(*corners)
        places = self.browser.run("Array.from({length: 2000}, (_, node) => window.manyview.place(node))")
        within = [node for node, (a, b) in enumerate(places) if abs(a - x) < 50 and abs(b - y) < 50]
        selected = self.browser.run("window.manyview.selected()")
        # The loop closes a few points on its edge in or out.
        self.assertLessEqual(len(set(within) ^ set(selected)), 2)
        self.assertGreater(len(selected), 10)
        self.assertIn(f"{len(selected)} nodes selected", self.text("selection"))
        self.assertEqual(self.browser.run("document.querySelectorAll('#selection li').length"), len(selected))
        ids = list(self.row)
        table = list(csv.reader(io.StringIO(self.saved("document.querySelector('[aria-label=\"Download the selection as CSV\"]')", ".csv").decode())))
        self.assertEqual(table[0][:3], ["node", "label", "cluster"])
        self.assertEqual([line[0] for line in table[1:]], [ids[node] for node in selected])
        self.browser.run("document.addEventListener('copy', () => { window.copied = document.activeElement.value; }); Object.defineProperty(navigator, 'clipboard', {value: undefined})")
        self.browser.run("[...document.querySelectorAll('#selection button')].find((one) => one.textContent === 'Copy ids').click()")
        self.browser.until("document.getElementById('selection').textContent.includes('Copied')")
        self.assertEqual(self.browser.run("window.copied").split("\n"), [ids[node] for node in selected])
        self.browser.run("[...document.querySelectorAll('#selection button')].find((one) => one.textContent === 'Clear').click()")
        self.assertEqual(self.browser.run("window.manyview.selected()"), [])
        # Shift and drag is a lasso without the button, and a drag without either moves the map.
        self.browser.run("document.querySelector('[aria-label=\"Select with a lasso\"]').click()")
        self.browser.drag(*corners, shift=True)
        self.assertEqual(sorted(self.browser.run("window.manyview.selected()")), sorted(selected))
        self.browser.drag((x, y), (x + 30, y))
        self.assertEqual(len(self.browser.run("window.manyview.selected()")), len(selected))
        self.quiet(self.page)

    def test_a_filter_and_a_search_select(self):
        self.browser.open(self.page)
        self.browser.run("document.querySelectorAll('#legend .classes button')[3].click()")
        self.browser.run("[...document.querySelectorAll('#legend .take button')].find((one) => one.textContent === 'Select these 200').click()")
        self.assertEqual(len(self.browser.run("window.manyview.selected()")), 200)
        self.assertIn("label: 3 (200)", self.text("selection"))
        self.find("199")
        ids = list(self.row)
        matching = sorted(node for node in ids if "199" in node)
        self.assertGreater(len(matching), 10)
        self.assertEqual(self.browser.run("document.querySelector('#matches .all').textContent"), f"Select all {len(matching)} that match")
        self.browser.run("document.querySelector('#matches .all').dispatchEvent(new MouseEvent('mousedown'))")
        self.assertEqual(sorted(ids[node] for node in self.browser.run("window.manyview.selected()")), matching)
        self.quiet(self.page)

    def test_clusters_are_named_on_the_map(self):
        self.browser.open(self.page)
        self.settle()
        self.assertEqual(sorted(self.browser.run("window.manyview.named()")), [str(digit) for digit in range(10)])
        with_names = self.browser.run(INK)
        self.browser.run("document.getElementById('names').click()")
        self.settle()
        self.assertEqual(self.browser.run("window.manyview.named()"), [])
        self.assertLess(self.browser.run(INK), with_names)

    def test_several_sets_of_labels_can_be_switched(self):
        html = self.page.read_text(encoding="utf-8")
        before, rest = html.split('<script type="application/json" id="data">', 1)
        data, after = rest.split("</script>", 1)
        data = json.loads(data)
        parity = {"title": "parity", "names": ["even", "odd"], "of": [[label % 2 for label in labels] for labels in data["labels"][0]["of"]]}
        data["labels"].append(parity)
        page = self.folder / "sets.html"
        page.write_text(before + '<script type="application/json" id="data">' + json.dumps(data).replace("<", "\\u003c") + "</script>" + after, encoding="utf-8")
        self.browser.open(page)
        modes = self.browser.run("[...document.querySelectorAll('#color option')].map((o) => o.textContent)")
        self.assertEqual(modes[:2], ["label", "parity"])
        self.color_by("parity")
        self.assertEqual(self.browser.run("[...document.querySelectorAll('#legend .classes button')].map((one) => one.textContent)"), ["even1,000", "odd1,000"])
        self.find("123")
        self.browser.press("Enter")
        self.assertRegex(self.text("node"), r"label \d; parity (even|odd)")
        self.quiet(page)

    def with_folded_in_nodes(self):
        """A page of digits with two views, where the vectors of 200 nodes were folded in; those nodes."""
        place = self.folder / "folded"
        page, out = place / "all/report.html", lambda node: int(node) % 10 == 7
        nodes = {node for node in self.row if out(node)}
        if page.exists():
            return page, nodes
        for view in ("pixel", "fourier"):
            for folder in ("stay", "new"):
                (place / folder).mkdir(parents=True, exist_ok=True)
            lines = gzip.decompress((DIGITS / f"{view}.tsv.gz").read_bytes()).decode().splitlines(keepends=True)
            is_new = [any(map(out, line.split()[:2])) for line in lines]
            for folder, wanted in (("stay", False), ("new", True)):
                text = "".join(line for line, new in zip(lines, is_new) if new == wanted)
                (place / folder / f"{view}.tsv").write_text(text, encoding="utf-8")
        manyview("embed", place / "stay", "--dim", 32, "--save-model", "-q", "-o", place / "fitted")
        manyview("fold-in", place / "fitted", place / "new", "-q", "-o", place / "all")
        manyview("report", place / "all", "--labels", DIGITS / "labels.tsv", "-q")
        return page, nodes

    def test_nodes_that_were_folded_in_have_a_ring(self):
        page, nodes = self.with_folded_in_nodes()
        self.assertEqual(len(nodes), 200)
        ids = (page.parent / "nodes.txt").read_text(encoding="utf-8").split("\n")[:-1]
        new = [row for row, node in enumerate(ids) if node in nodes]
        self.browser.open(page)
        self.settle()
        self.assertIn("2,000 nodes (200 folded in), 2 views", self.text("lede"))
        self.assertIn("200 nodes were folded in and have a ring; the others were fitted.", self.text("map-caption"))
        entry = "document.querySelector('#legend .folded-in')"
        self.assertEqual(self.browser.run(f"{entry}.textContent"), "folded in200")
        with_rings = self.browser.run(INK)
        self.browser.run("document.getElementById('rings').click()")
        self.settle()
        self.assertLess(self.browser.run(INK), with_rings - 1000, "without its rings the map has less ink")
        self.browser.run("document.getElementById('rings').click()")
        self.settle()
        self.assertEqual(self.browser.run(INK), with_rings)
        # Only these, then only those of a class, then all again.
        shown = lambda: self.browser.run("[...document.querySelectorAll('#legend .take button')].map((one) => one.textContent)")
        self.browser.run(f"{entry}.click()")
        self.assertEqual(shown(), ["Select these 200", "Show all"])
        self.browser.run("document.querySelector('#legend .take button').click()")
        self.assertEqual(sorted(self.browser.run("window.manyview.selected()")), new)
        self.browser.run("document.querySelector('#legend .classes button').click()")
        labels = dict(line.split("\t") for line in (DIGITS / "labels.tsv").read_text().splitlines())
        name = self.browser.run("document.querySelector('#legend .classes button span').textContent")
        of_class = sum(labels[node] == name for node in nodes)
        self.assertTrue(0 < of_class < 200)
        self.assertEqual(shown()[0], f"Select these {of_class}")
        self.browser.run("[...document.querySelectorAll('#legend .take button')].find((one) => one.textContent === 'Show all').click()")
        self.assertEqual((shown(), self.browser.run(f"{entry}.getAttribute('aria-pressed')")), ([], "false"))
        # The legend entry stays with every color, and with none that has classes.
        for mode in ("most view-specific", "consensus share"):
            self.color_by(mode)
            self.assertEqual(self.browser.run(f"{entry}.textContent"), "folded in200")
        # The panel of a node says it.
        said = []
        for node in (ids[0], ids[-1]):
            self.find(node)
            self.browser.press("Enter")
            said.append("folded in: its vector" in self.text("node"))
        self.assertEqual(said, [False, True])
        button = "document.querySelector('[aria-label=\"Download map as %s\"]')"
        svg = xml.dom.minidom.parseString(self.saved(button % "SVG", ".svg"))
        rings = next(group for group in svg.getElementsByTagName("g") if group.getAttribute("class") == "rings")
        self.assertEqual(len(rings.getElementsByTagName("circle")), 200)
        table = list(csv.reader(io.StringIO(self.saved(button % "CSV", ".csv").decode())))
        at = table[0].index("folded in")
        self.assertEqual({line[0] for line in table[1:] if line[at] == "yes"}, nodes)
        self.quiet(page)
        if script := axe():
            for wide, phone in ((1280, False), (390, True)):
                self.browser.size(wide, 900, phone)
                self.browser.open(page)
                for dark in (False, True):
                    self.browser.dark(dark)
                    self.assertEqual(self.browser.violations(script), [], (wide, dark))

    def test_rings_contrast_with_the_map_in_both_modes(self):
        page, _ = self.with_folded_in_nodes()
        # A pixel of the ring around a node that is folded in, where no point is: the map may have others near by, so the best of all.
        strongest = """(() => {
          const canvas = document.getElementById("canvas-0"), ratio = devicePixelRatio, box = canvas.getBoundingClientRect();
          const copy = new OffscreenCanvas(canvas.width, canvas.height).getContext("2d");
          copy.drawImage(canvas, 0, 0);
          const [x, y] = window.manyview.place(1999), found = [];
          for (let angle = 0; angle < 6.28; angle += 0.1) for (let r = 3.5; r < 6.5; r += 0.25) {
            const at = [(x - box.left + r * Math.cos(angle)) * ratio, (y - box.top + r * Math.sin(angle)) * ratio].map(Math.round);
            const [red, green, blue, alpha] = copy.getImageData(...at, 1, 1).data;
            if (alpha > 200) found.push((red + green + blue) / 3);
          }
          return [Math.min(...found), Math.max(...found)];
        })()"""
        for dark in (False, True):
            self.browser.dark(dark)
            self.browser.open(page)
            self.settle()
            darkest, lightest = self.browser.run(strongest)
            self.assertTrue(lightest > 180 if dark else darkest < 80, (dark, darkest, lightest))

    def test_pages_without_folded_in_nodes_have_no_rings(self):
        self.browser.open(self.page)
        self.assertEqual(self.browser.run("document.querySelectorAll('#legend .marks, .folded-in, #rings').length"), 0)
        self.assertNotIn("folded in", self.text("map-caption") + self.text("lede"))
        self.quiet(self.page)

    def test_figures_are_saved_as_png_svg_and_csv(self):
        self.browser.open(self.page)
        self.settle()
        for name in ("map", "Share of each view not yet explained"):
            button = "document.querySelector('[aria-label=" + json.dumps(f"Download {name} as %s") + "]')"
            png = self.saved(button % "PNG", ".png")
            self.assertEqual(png[:8], b"\x89PNG\r\n\x1a\n")
            self.assertGreater(int.from_bytes(png[16:20], "big"), 900, "wide enough to print")
            self.assertGreater(len(png), 10000)
            svg = xml.dom.minidom.parseString(self.saved(button % "SVG", ".svg"))
            self.assertGreater(len(svg.getElementsByTagName("path")), 5)
            table = list(csv.reader(io.StringIO(self.saved(button % "CSV", ".csv").decode())))
            self.assertEqual(len({len(line) for line in table}), 1)
            self.assertEqual((table[0][0], len(table)), ("node", 2001) if name == "map" else ("after stage", 7))
        worth = list(csv.reader(io.StringIO(self.saved("document.querySelector('#worth .tools button')", ".csv").decode())))
        self.assertEqual((worth[0][0], worth[0][1], len(worth)), ("view", "its own columns explain", 9))
        self.quiet(self.page)

    def test_on_a_phone_the_node_panel_comes_into_view(self):
        self.browser.size(390, 800, phone=True)
        self.browser.open(self.page)
        self.browser.run("document.getElementById('map-section').scrollIntoView()")
        x, y = self.browser.run(MIDDLE)
        self.browser.touch("touchStart", (x, y))
        self.browser.touch("touchEnd")
        self.browser.until("window.manyview.picked() >= 0")
        top, bottom = self.browser.run("(({top, bottom}) => [top, bottom])(document.getElementById('node').getBoundingClientRect())")
        self.assertLess(top, 800 - 150)
        self.assertLessEqual(bottom, 800)
        self.assertLess(self.browser.run("window.manyview.place(window.manyview.picked())[1]"), top, "the node itself is not covered")
        self.browser.run("document.querySelector('#node .shut').click()")
        self.assertEqual(self.browser.run("getComputedStyle(document.getElementById('node')).position"), "relative")

    def test_charts_have_titles_round_ticks_and_a_name_at_each_line(self):
        self.browser.open(self.page)
        texts = self.browser.run("[...document.querySelectorAll('#residual svg text')].map((text) => text.textContent)")
        for words in ("after stage", "not explained, percent (logarithmic)", "100", "30", "10", "consensus", "unique", "morphology", "joint"):
            self.assertIn(words, texts)
        names = self.browser.run("[...document.querySelectorAll('#residual .line text')].map((text) => text.getBoundingClientRect()).map(({top, bottom, right}) => [top, bottom, right])")
        self.assertEqual(len(names), 7)
        names.sort()
        for above, below in zip(names, names[1:]):
            self.assertGreater(below[0] - above[0], 10, "names do not cover each other")
        edge = self.browser.run("document.getElementById('residual').getBoundingClientRect().right")
        self.assertLessEqual(max(right for _, _, right in names), edge + 1, "no name is cut")

    def test_the_policy_blocks_injected_markup(self):
        """Even if a name were inserted as markup, it would not run and would not load anything."""
        page = self.folder / "tampered.html"
        html = self.page.read_text(encoding="utf-8")
        page.write_text(html.replace("<main>", "<main><script>window.harmed = 1</script><img src='https://example.org/x.png'>"), encoding="utf-8")
        self.browser.open(page)
        self.assertIsNone(self.browser.run("window.harmed"))
        self.assertEqual(len(self.browser.problems), 2, self.browser.problems)


class Bytes(unittest.TestCase):
    """Tests without a browser."""

    def test_the_page_is_the_same_for_any_number_of_threads(self):
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            manyview("embed", DIGITS, "-o", folder / "r", "--dim", 48, "--quiet")
            for threads in (1, 2, 3):
                manyview("report", folder / "r", "-o", folder / f"{threads}.html", "--threads", threads, "--quiet")
            pages = [(folder / f"{threads}.html").read_bytes() for threads in (1, 2, 3)]
            self.assertTrue(pages[0] == pages[1] == pages[2])
            self.assertIsNone(re.search(rb"https?://(?!www\.w3\.org/2000/svg)", pages[0]))

    def test_views_and_explain_agree_with_numpy(self):
        def printed(*words):
            done = subprocess.run([BINARY, *map(str, words)], check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
            return json.loads(done.stdout)

        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            manyview("embed", DIGITS, "-o", folder / "r", "--dim", 64, "--quiet")
            run = json.loads((folder / "r/run.json").read_text(encoding="utf-8"))
            self.assertEqual(run["network"]["overlap"], printed("views", DIGITS, "--json", "--no-proximity")["overlap"])
            z = np.load(folder / "r/embedding.npy").astype(float)
            whole = printed("explain", folder / "r", "5", "7", "--json")
            self.assertAlmostEqual(whole["total"], z[5] @ z[7] / np.linalg.norm(z[5]) / np.linalg.norm(z[7]))
            for part in whole["parts"]:
                columns = slice(*part["columns"])
                self.assertAlmostEqual(part["share"], z[5, columns] @ z[7, columns] / (z[5] @ z[7]))


if __name__ == "__main__":
    unittest.main()
