"""Every crate that would be published can be packaged, and the oldest Rust version is the one that really builds."""

import json
import os
import re
import shutil
import subprocess
import tarfile
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
#: In the order in which they depend on each other.
PUBLISHED = ["base", "data", "core", "baselines", "analysis", "manyview", "cli", "mpi"]
#: AVX-512 intrinsics are stable since this version; pulp uses them with the feature x86-v4.
AVX512 = (1, 89)


def cargo(*arguments):
    done = subprocess.run(["cargo", *arguments], cwd=ROOT, capture_output=True, text=True, env=os.environ)
    if done.returncode:
        raise AssertionError(done.stderr)
    return done.stdout


def version(text):
    return tuple(int(part) for part in text.split(".")[:2])


class Package(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.metadata = json.loads(cargo("metadata", "--format-version", "1", "--locked"))
        cls.packages = {package["name"]: package for package in cls.metadata["packages"]}

    def own(self, crate):
        return self.packages["manyview" if crate == "manyview" else f"manyview-{crate}"]

    def test_the_oldest_rust_version_is_what_code_and_dependencies_need(self):
        declared = version(self.own("manyview")["rust_version"])
        self.assertGreaterEqual(declared, AVX512)
        for package in self.packages.values():
            needed = version(package["rust_version"] or "1.0")
            self.assertGreaterEqual(declared, needed, package["name"])

    def test_it_builds_with_the_oldest_rust_version(self):
        oldest = self.own("manyview")["rust_version"]
        rustup = shutil.which("rustup")
        listed = subprocess.run([rustup, "toolchain", "list"], capture_output=True, text=True).stdout if rustup else ""
        if not re.search(rf"^{re.escape(oldest)}(\.\d+)?-", listed, flags=re.M):
            self.skipTest(f"Rust {oldest} is not installed; rustup toolchain install {oldest}")
        # A folder of its own: the two versions would throw away each other's work.
        target = Path(self.metadata["target_directory"]) / "oldest"
        toolchain = re.search(rf"^{re.escape(oldest)}[^-]*", listed, flags=re.M).group()
        cargo(f"+{toolchain}", "check", "--locked", "--target-dir", str(target))

    def test_published_crates_say_what_they_are(self):
        for crate in PUBLISHED:
            package = self.own(crate)
            for field in ("description", "license", "repository", "readme", "keywords", "categories"):
                self.assertTrue(package[field], f"{crate}: {field}")
            self.assertNotEqual(package["publish"], [], crate)
        # The documentation of the command line is its help, and docs.rs has no MPI.
        for crate in set(PUBLISHED) - {"cli", "mpi"}:
            self.assertTrue(self.own(crate)["metadata"]["docs"]["rs"]["all-features"], crate)

    def test_packages_hold_what_they_need(self):
        for crate in PUBLISHED:
            listed = cargo("package", "--list", "--allow-dirty", "-p", self.own(crate)["name"]).split("\n")
            for name in ("LICENSE-MIT", "LICENSE-APACHE", "README.md", "Cargo.toml"):
                self.assertIn(name, listed, crate)
        data = cargo("package", "--list", "--allow-dirty", "-p", "manyview-data").split("\n")
        self.assertIn("digits/pixel.tsv.gz", data)

    def test_every_published_crate_compiles_from_its_package(self):
        """As `cargo publish` would find them: unpacked, without the workspace, each depending on the other packages.

        `cargo package` can do this too, but it compiles all dependencies again; here they are those of the lints.
        """
        names = [self.own(crate)["name"] for crate in PUBLISHED]
        chosen = [word for name in names for word in ("-p", name)]
        cargo("package", "--allow-dirty", "--no-verify", "--locked", *chosen)
        target = Path(self.metadata["target_directory"])
        with tempfile.TemporaryDirectory() as folder:
            folders = []
            for name in names:
                package = f"{name}-{self.own('manyview')['version']}"
                with tarfile.open(target / "package" / f"{package}.crate") as archive:
                    archive.extractall(folder, filter="data")
                folders.append((name, f"{folder}/{package}"))
            # MPI and libclang are not everywhere.
            members = [path for name, path in folders if name != "manyview-mpi"]
            patches = "".join(f'{name} = {{ path = "{path}" }}\n' for name, path in folders)
            manifest = Path(folder) / "Cargo.toml"
            manifest.write_text(
                f'[workspace]\nresolver = "3"\nmembers = {json.dumps(members)}\n\n[patch.crates-io]\n{patches}'
                f"\n[profile.dev]\n{self.profile()}"
            )
            shutil.copy(ROOT / "Cargo.lock", folder)
            cargo("check", "--manifest-path", str(manifest), "--workspace", "--target-dir", str(target), "--offline")

    def profile(self):
        """The dev profile of the workspace, so that dependencies need not be compiled again."""
        text = (ROOT / "Cargo.toml").read_text()
        return text.split("[profile.dev]\n")[1].split("\n\n")[0] + "\n"


if __name__ == "__main__":
    unittest.main()
