"""Tests of the pages of comparisons, searches and figures in a browser."""
import pathlib
import tempfile
import unittest

from browser import CHROMIUM, Browser, axe
from test_files import manyview

EVIL = "<img src=x onerror=window.harmed=1>"


@unittest.skipUnless(CHROMIUM, "Chromium is not installed")
class Pages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        place = tempfile.TemporaryDirectory()
        cls.addClassCleanup(place.cleanup)
        folder = pathlib.Path(place.name)
        manyview("generate", "--nodes", 90, "--views", 2, "--communities", 3, "-q", "-o", folder / "net")
        labels = (folder / "net/labels.tsv").read_text()
        (folder / "labels.tsv").write_text(labels.replace("\t0", f"\t{EVIL}"))
        network = (folder / "net", "--labels", folder / "labels.tsv", "--quiet", "--dim", 16, "--repeats", 2)
        manyview("compare", *network, "-o", folder / "c", "--c", 1, "--methods", "mnmf,netmf,netmf-sum", "--sweep", "stages")
        manyview("tune", *network[:-2], "-o", folder / "t", "--over", "stages=1,2", "--over", "negative=1,5")
        manyview("figures", *network, "-o", folder / "f", "--stages", 2, "--only", "stages,weights,maps,ablation")
        cls.pages = {name: folder / name[0] / f"{name}.html" for name in ("compare", "tune", "figures")}

    def setUp(self):
        self.browser = Browser()
        self.addCleanup(self.browser.close)

    def count(self, selector):
        return self.browser.run(f"document.querySelectorAll({selector!r}).length")

    def open(self, name):
        self.browser.requests.clear()
        self.browser.open(self.pages[name])
        self.assertEqual(self.browser.problems, [])
        outside = [url for url in self.browser.requests if url != self.pages[name].resolve().as_uri() and not url.startswith("data:")]
        self.assertEqual(outside, [])

    def test_the_comparison_opens_draws_and_runs_nothing(self):
        self.open("compare")
        self.assertIn(EVIL, self.browser.run("document.body.innerText"))
        self.assertFalse(self.browser.run("'harmed' in window"))
        self.assertEqual(self.count("table"), 2)
        self.assertEqual(self.count("#maps .map"), 3)
        self.assertEqual(self.count("path.curve"), 6 + 2)
        best = "[...document.querySelectorAll('td.best')].map(cell => cell.parentNode.firstChild.innerText)"
        self.assertTrue(self.browser.run(f"{best}.length >= 8"), "each column of both tables has a best row")
        self.assertFalse(self.browser.run(f"{best}.some(name => name.endsWith('*'))"), "a row selected on the test nodes is not marked as the best")
        self.assertIn("relative to the best row of another method without a star", self.browser.run("document.body.innerText"))

    def test_maps_are_linked_and_can_be_enlarged(self):
        self.open("compare")
        self.browser.run("document.getElementById('top-1').scrollIntoView({block: 'center'})")
        x, y = self.browser.run("window.manyview.place(7, 1)")
        overs = "[0, 1, 2].map((map) => document.getElementById(`top-${map}`).toDataURL())"
        before = self.browser.run(overs)
        self.browser.click(x, y)
        self.browser.until("window.manyview.picked() >= 0")
        self.browser.mouse("mouseMoved", 5, 5)
        self.browser.run("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))")
        for map_, (empty, ringed) in enumerate(zip(before, self.browser.run(overs))):
            self.assertNotEqual(empty, ringed, f"the node is ringed in map {map_}")
        wide = "document.getElementById('top-0').clientWidth"
        small = self.browser.run(wide)
        self.browser.run("document.querySelector('[aria-label^=\"Larger map\"]').click()")
        self.browser.until(f"{wide} > 1.5 * {small}")
        corners = self.browser.run("(({left, top, right, bottom}) => [left, top, right, bottom])(document.getElementById('top-0').getBoundingClientRect())")
        self.assertGreater(corners[3] - corners[1], 400)

    def test_a_selection_is_shown_in_all_maps(self):
        self.open("compare")
        ink = """[0, 1, 2].map((map) => {
          const canvas = document.getElementById(`canvas-${map}`), data = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
          let sum = 0;
          for (let i = 3; i < data.length; i += 4) sum += data[i];
          return sum;
        })"""
        before = self.browser.run(ink)
        self.browser.run("document.querySelector('#legend .classes button').click(); document.querySelector('#legend .take button').click()")
        self.assertGreater(len(self.browser.run("window.manyview.selected()")), 10)
        self.browser.run("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))")
        for all_nodes, dimmed in zip(before, self.browser.run(ink)):
            self.assertLess(dimmed, 0.8 * all_nodes, "the others are faint in each map")

    def test_all_pages_have_one_design(self):
        styles, names = set(), ("font-family", "font-size", "color", "background-color")
        for name in self.pages:
            self.open(name)
            styles.add(self.browser.run(f"JSON.stringify(['html', 'h1', 'h2', 'thead th:last-child', 'pre', '#theme'].map((tag) => {list(names)}.map((name) => "
                                        "getComputedStyle(document.querySelector(tag)).getPropertyValue(name))))"))
            paper = "getComputedStyle(document.documentElement).backgroundColor"
            light = self.browser.run(paper)
            self.browser.run("document.getElementById('theme').click()")
            self.assertNotEqual(self.browser.run(paper), light)
            self.assertEqual(self.count("table[data-name]"), self.count(".below-table .tools"), "each table can be downloaded")
            self.assertEqual(self.count("figure.chart"), self.count("figure.chart figcaption .tools"))
            self.assertEqual(self.count("figure.chart svg .title"), 2 * self.count("figure.chart svg:has(.line)"), "both axes have titles")
        self.assertEqual(len(styles), 1)

    def test_nothing_is_cut_on_a_phone(self):
        self.browser.size(390, 800, phone=True)
        for name in self.pages:
            self.open(name)
            self.assertTrue(self.browser.run("document.documentElement.scrollWidth <= document.documentElement.clientWidth"), "wide tables scroll separately")
            cut = "[...document.querySelectorAll('table')].filter((table) => table.offsetParent && !table.closest('.scroll'))"
            self.assertEqual(self.browser.run(f"{cut}.length"), 0)

    def test_all_pages_are_accessible_in_both_modes(self):
        script = axe()
        if not script:
            self.skipTest("no npm")
        for name in self.pages:
            self.open(name)
            self.browser.run("document.querySelectorAll('details').forEach((details) => { details.open = true; })")
            for dark in (False, True):
                self.browser.dark(dark)
                self.assertEqual(self.browser.violations(script), [], (name, dark))


if __name__ == "__main__":
    unittest.main()
