"""Tasks as a new user would do them, with the number of commands that they take."""
import csv
import json
import pathlib
import subprocess
import tempfile
import unittest

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parent.parent
BINARY = ROOT / "target/release/manyview"


class Tasks(unittest.TestCase):
    def done(self, script, commands, *arguments):
        """Does a task with so many commands; returns its folder."""
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        words = [ROOT / "tests/tasks" / script, BINARY, *arguments, folder.name]
        run = subprocess.run(words, capture_output=True, text=True, stdin=subprocess.DEVNULL)
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
        self.assertEqual(run.stdout.splitlines()[-1], f"commands: {commands}")
        return pathlib.Path(folder.name)

    def test_messy_csv_files_to_joined_vectors(self):
        folder = self.done("messy_csv.sh", 3)
        with open(folder / "joined.csv", newline="", encoding="utf-8") as file:
            rows = list(csv.reader(file))
        self.assertEqual([len(rows), {len(row) for row in rows}], [60, {3 + 16}])
        vectors = np.array([row[3:] for row in rows], dtype=float)
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        nearness = vectors @ vectors.T - 2 * np.eye(60)
        teams = np.array([row[2].strip() for row in rows])
        # Chance would be a third.
        self.assertGreater(np.mean(teams[nearness.argmax(axis=1)] == teams), 0.9)

        record = json.loads((folder / "people/run.json").read_text(encoding="utf-8"))
        self.assertEqual(record["network"]["nodes"], 60)
        visits = (folder / "visits.csv").read_text(encoding="utf-8")
        self.assertEqual(record["skipped_lines"], visits.count(";unknown"))
        self.assertGreater(record["skipped_lines"], 0)
        self.assertEqual(len(record["notes"]) >= 3, True)

    def test_which_screen_contributes(self):
        folder = self.done("screens.sh", 3)
        table = (folder / "worth.txt").read_text(encoding="utf-8").splitlines()
        alone = {line.split()[0]: float(line.split()[1]) for line in table[2:8]}
        self.assertEqual(list(alone), ["literature", "genetic", "coexpression", "complexes", "affinity", "yeast2hybrid"])
        # One of eight functions by chance; the others say more the fewer errors they have.
        self.assertLess(alone["yeast2hybrid"], 0.2)
        self.assertGreater(alone["affinity"], 0.5)
        # The random screen has the most edges, and the page does not call it the strongest view.
        page = (folder / "genes/report.html").read_text(encoding="utf-8")
        self.assertIn("most view-specific", page)
        self.assertNotIn("strongest view", page.lower())

    def test_the_tables_and_figures_of_the_paper(self):
        folder = self.done("paper.sh", 2, ROOT / "data/digits")
        found = json.loads((folder / "tables/compare.json").read_text(encoding="utf-8"))
        titles = [table["title"] for table in found["tables"]]
        self.assertEqual(titles, ["Classification, C = 1", "Clustering"])
        names = [line["name"] for line in found["tables"][0]["lines"]]
        for name in ("mnmf", "netmf-sum", "netmf, best view", "no consensus", "no unique"):
            self.assertIn(name, names)
        self.assertIn("\\toprule", (folder / "tables/compare.tex").read_text(encoding="utf-8"))
        figures = sorted(path.name for path in (folder / "figures").glob("*.svg"))
        self.assertEqual(figures, ["stages-error.svg", "stages.svg", "weights.svg"])


if __name__ == "__main__":
    unittest.main()
