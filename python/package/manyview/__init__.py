"""One vector per node for a network whose nodes are linked in several ways.

    import manyview

    z = manyview.MNMF(dim=64).fit_transform({"calls": calls, "mail": mail})

The method is MNMF, the multi-stage non-negative matrix factorization of Huang et al., "Multi-Stage Network Embedding
for Exploring Heterogeneous Edges". Parameters have the names, defaults and meanings of the command-line options.
"""

from . import evaluate
from ._compare import Comparison, compare
from ._embed import embed, methods
from ._embedding import Embedding
from ._factorize import Factorization, factorize
from ._model import MNMF
from ._native import __version__
from ._network import Network, read_network
from ._planted import Planted, generate
from ._proximity import proximity
from ._tune import Tuning, tune
from ._warnings import ConvergenceWarning, ManyviewWarning

__all__ = [
    "MNMF",
    "Comparison",
    "ConvergenceWarning",
    "Embedding",
    "Factorization",
    "ManyviewWarning",
    "Network",
    "Planted",
    "Tuning",
    "__version__",
    "compare",
    "embed",
    "evaluate",
    "factorize",
    "generate",
    "methods",
    "proximity",
    "read_network",
    "tune",
]
