"""Tests of the page of a comparison in a browser."""
import pathlib
import tempfile
import unittest

from browser import CHROMIUM, Browser
from test_files import manyview

EVIL = "<img src=x onerror=window.harmed=1>"


@unittest.skipUnless(CHROMIUM, "Chromium is not installed")
class Comparison(unittest.TestCase):
    def test_the_page_opens_draws_and_runs_nothing(self):
        with tempfile.TemporaryDirectory() as place:
            folder = pathlib.Path(place)
            manyview("generate", "--nodes", 90, "--views", 2, "--communities", 3, "-q", "-o", folder / "net")
            labels = (folder / "net/labels.tsv").read_text()
            (folder / "labels.tsv").write_text(labels.replace("\t0", f"\t{EVIL}"))
            manyview("compare", folder / "net", "--labels", folder / "labels.tsv", "-o", folder / "c", "--quiet", "--dim", 16,
                     "--repeats", 2, "--c", 1, "--methods", "mnmf,netmf,netmf-sum", "--sweep", "stages")
            page = folder / "c/compare.html"
            browser = Browser()
            self.addCleanup(browser.close)
            browser.open(page, ready="document.readyState === 'complete' && document.querySelector('main') !== null")
            self.assertEqual(browser.problems, [])
            self.assertEqual([url for url in browser.requests if url != page.resolve().as_uri()], [])
            self.assertIn(EVIL, browser.run("document.body.innerText"))
            self.assertFalse(browser.run("'harmed' in window"))
            self.assertEqual(browser.run("document.querySelectorAll('table').length"), 2)
            self.assertEqual(browser.run("document.querySelectorAll('path.nodes').length"), 9)
            self.assertEqual(browser.run("document.querySelectorAll('path.curve').length"), 6 + 2)
            best = "[...document.querySelectorAll('td.best')].map(cell => cell.parentNode.firstChild.innerText)"
            self.assertTrue(browser.run(f"{best}.length >= 8"), "each column of both tables has a best row")
            self.assertFalse(browser.run(f"{best}.some(name => name.endsWith('*'))"), "a row selected on the test nodes is not marked as the best")
            self.assertIn("relative to the best row of another method without a star", browser.run("document.body.innerText"))
            wide = "document.documentElement.scrollWidth <= document.documentElement.clientWidth"
            browser.size(390, 800, phone=True)
            self.assertTrue(browser.run(wide), "on a phone, wide tables scroll separately")


if __name__ == "__main__":
    unittest.main()
