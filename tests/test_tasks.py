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
    def test_messy_csv_files_to_joined_vectors(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        script = ROOT / "tests/tasks/messy_csv.sh"
        run = subprocess.run([script, BINARY, folder.name], capture_output=True, text=True, stdin=subprocess.DEVNULL)
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
        self.assertEqual(run.stdout.splitlines()[-1], "commands: 3")

        with open(pathlib.Path(folder.name) / "joined.csv", newline="", encoding="utf-8") as file:
            rows = list(csv.reader(file))
        self.assertEqual([len(rows), {len(row) for row in rows}], [60, {3 + 16}])
        vectors = np.array([row[3:] for row in rows], dtype=float)
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        nearness = vectors @ vectors.T - 2 * np.eye(60)
        teams = np.array([row[2].strip() for row in rows])
        # Chance would be a third.
        self.assertGreater(np.mean(teams[nearness.argmax(axis=1)] == teams), 0.9)

        record = json.loads((pathlib.Path(folder.name) / "people/run.json").read_text(encoding="utf-8"))
        self.assertEqual(record["network"]["nodes"], 60)
        visits = pathlib.Path(folder.name, "visits.csv").read_text(encoding="utf-8")
        self.assertEqual(record["skipped_lines"], visits.count(";unknown"))
        self.assertGreater(record["skipped_lines"], 0)
        self.assertEqual(len(record["notes"]) >= 3, True)


if __name__ == "__main__":
    unittest.main()
