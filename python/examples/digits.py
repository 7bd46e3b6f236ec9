"""Six views of 2,000 handwritten digits: embed, classify, draw.

    python examples/digits.py [PICTURE.png]

Needs scikit-learn and matplotlib. Reads data/digits of the repository.
"""

import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import manyview
import matplotlib.pyplot as plt
import numpy as np
from sklearn.decomposition import PCA
from sklearn.linear_model import LogisticRegression
from sklearn.manifold import TSNE
from sklearn.model_selection import train_test_split

DATA = Path(__file__).resolve().parents[2] / "data" / "digits"


def main() -> None:
    picture = sys.argv[1] if len(sys.argv) > 1 else "digits.png"
    model = manyview.MNMF(progress=True)
    model.fit(DATA)
    labels = np.loadtxt(DATA / "labels.tsv", dtype=str, delimiter="\t")
    digit = {node: int(label) for node, label in labels}

    def accuracy(model: manyview.MNMF) -> float:
        y = [digit[node] for node in model.nodes_]
        known, unknown, y_known, y_unknown = train_test_split(
            model.embedding_, y, test_size=0.5, random_state=0, stratify=y
        )
        return LogisticRegression(max_iter=1000).fit(known, y_known).score(unknown, y_unknown)

    print(f"all six views: {accuracy(model):.1%} of the digits right, half of them known")
    for view in model.view_names_:
        alone = manyview.MNMF().fit({view: DATA / f"{view}.tsv.gz"})
        print(f"{view:>10} alone: {accuracy(alone):.1%}")
    y = np.array([digit[node] for node in model.nodes_])
    draw(model, y, picture)
    print(f"picture in {picture}")


def draw(model: manyview.MNMF, y: np.ndarray, picture: str) -> None:
    places = TSNE(random_state=0).fit_transform(PCA(50, random_state=0).fit_transform(model.embedding_))
    figure, (left, right) = plt.subplots(1, 2, figsize=(12, 5.4), width_ratios=[1.25, 1], layout="constrained")
    for value in range(10):
        of_digit = places[y == value]
        left.scatter(*of_digit.T, s=5, color=plt.cm.tab10(value), linewidths=0)
        left.annotate(str(value), np.median(of_digit, axis=0), fontsize=17, weight="bold", ha="center", va="center")
    left.set(title="2,000 digits, six views, one vector each (t-SNE)", xticks=[], yticks=[])
    for view, residual in zip(model.view_names_, model.residual_.T):
        right.plot(range(len(residual) + 1), [1, *residual], marker="o", markersize=4, label=view)
    right.set(title="What is left of each view", xlabel="after stage", ylabel="share of the squared norm", ylim=(0, 1))
    right.legend(frameon=False)
    right.spines[["top", "right"]].set_visible(False)
    figure.savefig(picture, dpi=110)


if __name__ == "__main__":
    main()
