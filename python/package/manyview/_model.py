"""The estimator, in scikit-learn's manner and without needing it."""

from __future__ import annotations

import inspect
import json
import os
import warnings
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from . import _check, _folder, _ids, _look, _native, _progress
from ._network import Directed, to_network
from ._warnings import ConvergenceWarning, ManyviewWarning

_WHOLE = ("dim", "stages", "window", "max_iter")
_WHOLE_OR_NONE = ("consensus_stages", "unique_max_iter", "threads")
_NUMBERS = ("gamma", "negative", "tol", "epsilon")
_NAMES = ("consensus", "solver", "share", "normalize", "scale", "isolated", "layout", "init", "stop")
#: Parameters that say how to work and not what to compute; the method's settings are all others.
_AROUND = ("directed", "duplicates", "max_memory", "progress", "verbose")


class MNMF:
    """Embeds the nodes of a network with several kinds of edges: one vector per node.

    Multi-stage non-negative matrix factorization (Huang et al.): consensus stages find what the views have in common,
    unique stages what each says alone, and each stage works on what the ones before it left over. The same views and
    ``seed`` give the same bytes on every machine, for any number of threads, and as the command line.

    Parameters
    ----------
    dim : int, default 256
        Columns of the embedding.
    stages : int, default 8
        Stages in all, consensus and unique.
    consensus_stages : int, optional
        How many are consensus stages; a quarter, rounded up, by default.
    gamma : float, default 5
        Exponent of the view weights in ``shared`` consensus stages, above 0.
    window : int, default 5
        How many steps of a random walk count as near.
    negative : float, default 1
        Pairs that meet less than this many times as often as chance are dropped; the paper has 5.
    consensus : {"pooled", "shared"}, default "pooled"
        Kind of consensus stage; ``shared`` is the paper's.
    solver : {"hals", "mu"}, default "hals"
        How factors are updated.
    max_iter : int, default 200
        At most so many iterations a stage.
    tol : float, default 1e-4
        A stage has converged when an iteration lowers its objective by less than this share.
    share : {"residual", "equal"}, default "residual"
        How a unique stage's columns are shared out over the views.
    normalize : {"residual", "none", "max"}, default "residual"
        How views of different size are made comparable.
    scale : {"balanced", "raw"}, default "balanced"
        Scale of the embedding's columns.
    seed : int, default 0
        All random numbers follow from it.
    threads : int, optional
        All cores by default. Does not change the result.
    stage_dims : list of int, optional
        Columns of each stage by hand; sets ``stages`` and ``dim`` too.
    isolated, unique_first, layout, init, unique_solver, unique_max_iter, stop, epsilon
        Rarely needed, for the paper's and the published code's variants: ``docs/method.md``.
    directed : bool, name or list of names, optional
        The views whose edges keep their directions. By default networkx graphs that are directed do.
    duplicates : {"sum", "max"}, default "sum"
        Several edges between the same two nodes of a view.
    max_memory : int, optional
        Refuse, with a ``MemoryError``, what is expected to take more bytes; what the machine has by default.
    progress : bool or callable, default False
        Shows a bar in a terminal or notebook; a callable gets a dict several times a second, and what it raises ends
        the fit.
    verbose : bool, default False
        Says how files were understood and what each stage did.

    Attributes
    ----------
    embedding_ : ndarray of shape (n, dim), float32
    nodes_ : ndarray of shape (n,)
        Node ids as they were given, in row order.
    view_names_ : list of str
    view_weights_ : ndarray of shape (stages, views)
        What a view counted in each stage; NaN where it took no part. Columns are ``view_names_``.
    residual_ : ndarray of shape (stages, views)
        Share ``||R||^2 / ||M||^2`` of a view that is left after each stage.
    stages_ : list of dict
        The record of each factorization, as in ``run.json``.
    n_iter_ : int
        Iterations of all stages.
    run_ : dict
        Everything about the run, as in ``run.json``.
    """

    def __init__(
        self,
        dim: int = 256,
        stages: int = 8,
        consensus_stages: int | None = None,
        gamma: float = 5.0,
        window: int = 5,
        negative: float = 1.0,
        consensus: str = "pooled",
        solver: str = "hals",
        max_iter: int = 200,
        tol: float = 1e-4,
        share: str = "residual",
        normalize: str = "residual",
        scale: str = "balanced",
        seed: int = 0,
        threads: int | None = None,
        *,
        stage_dims: Sequence[int] | None = None,
        isolated: str = "zero",
        unique_first: bool = False,
        layout: str = "even",
        init: str = "scaled",
        unique_solver: str | None = None,
        unique_max_iter: int | None = None,
        stop: str = "decrease",
        epsilon: float = 0.0,
        directed: Directed = None,
        duplicates: str = "sum",
        max_memory: int | None = None,
        progress: bool | _progress.Callback = False,
        verbose: bool = False,
    ) -> None:
        self.dim = dim
        self.stages = stages
        self.consensus_stages = consensus_stages
        self.gamma = gamma
        self.window = window
        self.negative = negative
        self.consensus = consensus
        self.solver = solver
        self.max_iter = max_iter
        self.tol = tol
        self.share = share
        self.normalize = normalize
        self.scale = scale
        self.seed = seed
        self.threads = threads
        self.stage_dims = stage_dims
        self.isolated = isolated
        self.unique_first = unique_first
        self.layout = layout
        self.init = init
        self.unique_solver = unique_solver
        self.unique_max_iter = unique_max_iter
        self.stop = stop
        self.epsilon = epsilon
        self.directed = directed
        self.duplicates = duplicates
        self.max_memory = max_memory
        self.progress = progress
        self.verbose = verbose

    @classmethod
    def preset(cls, name: str, **parameters: Any) -> MNMF:
        """An estimator with the settings of ``default``, ``paper`` or ``authors``, and given ones laid over them."""
        return cls(**{**_native.preset(_check.text("preset", name)), **parameters})

    # Fitting

    def fit(self, views: Any, y: Any = None) -> MNMF:
        """Embeds the nodes of ``views``.

        Parameters
        ----------
        views
            A dict (names and views) or list of sparse matrices, arrays, networkx graphs, edge tables or paths; one
            networkx ``MultiGraph`` whose edges have an attribute ``relation``; one edge table of pandas, polars or
            pyarrow with columns ``source``, ``target`` and maybe ``relation`` and ``weight``; a path to what the
            command line reads; or a :class:`Network`, for other names of columns and attributes.
        y
            Ignored; here for pipelines.
        """
        parameters = self._checked()
        network = to_network(views, directed=self.directed, duplicates=self.duplicates, threads=parameters["threads"])
        if self.verbose:
            for note in network.notes:
                print(f"note: {note}")
        callback = _progress.chosen(self.progress, self.verbose)
        limit = _check.whole_or_none("max_memory", self.max_memory)
        complete = False
        try:
            vectors, record, told = _native.fit(network._native, parameters, limit, repr(self), callback)
            complete = True
        finally:
            if isinstance(callback, _progress.Bar):
                callback.close(complete)
        self._keep(network.nodes, vectors, json.loads(record))
        self._fingerprint = network._native.fingerprint()
        for about_convergence, sentence in told:
            kind = ConvergenceWarning if about_convergence else ManyviewWarning
            warnings.warn(sentence, kind, stacklevel=2)
        return self

    def fit_transform(self, views: Any, y: Any = None) -> np.ndarray:
        """Embeds the nodes of ``views``; returns ``embedding_``, of shape (n, dim)."""
        return self.fit(views, y).embedding_

    def transform(self, views: Any) -> np.ndarray:
        """The embedding of the views it was fitted on, of shape (n, dim).

        A node has a vector because it took part in the fit, so other views are a ``ValueError``.
        """
        self._check_fitted()
        network = to_network(views, directed=self.directed, duplicates=self.duplicates, threads=self.threads)
        same_nodes = len(network) == len(self.nodes_) and bool(np.all(network.nodes == self.nodes_))
        if not same_nodes or network._native.fingerprint() != getattr(self, "_fingerprint", None):
            raise ValueError(
                "these are not the views that were fitted, and MNMF has vectors for those alone; use fit_transform"
            )
        return self.embedding_

    def _checked(self) -> dict[str, Any]:
        """The method's settings, of the right types; ranges are the library's to check."""
        given = {name: value for name, value in self.get_params().items() if name not in _AROUND}
        checked = dict(given)
        for name in _WHOLE:
            checked[name] = _check.whole(name, given[name])
        for name in _WHOLE_OR_NONE:
            checked[name] = _check.whole_or_none(name, given[name])
        for name in _NUMBERS:
            checked[name] = _check.number(name, given[name])
        for name in _NAMES:
            checked[name] = _check.text(name, given[name])
        checked["unique_solver"] = _check.text_or_none("unique_solver", given["unique_solver"])
        checked["unique_first"] = _check.flag("unique_first", given["unique_first"])
        checked["seed"] = _check.whole("seed", given["seed"], most=2**64 - 1)
        _check.flag("verbose", self.verbose)
        if not (callable(self.progress) or isinstance(self.progress, bool)):
            raise _check.InvalidParameter(f"progress = {self.progress!r} is neither True, False nor callable")
        if self.stage_dims is not None:
            if isinstance(self.stage_dims, str) or not isinstance(self.stage_dims, Iterable):
                raise _check.InvalidParameter(f"stage_dims = {self.stage_dims!r} is not a list of whole numbers")
            dims = [_check.whole("stage_dims", dim) for dim in self.stage_dims]
            checked.update(stage_dims=dims, stages=len(dims), dim=sum(dims))
        return checked

    def _keep(self, nodes: np.ndarray, vectors: np.ndarray, run: dict[str, Any]) -> None:
        self.nodes_ = nodes
        self.embedding_ = vectors
        self.run_ = run
        self.stages_ = run["stages"]
        self.view_names_ = [view["name"] for view in run["network"]["views"]]
        self.n_iter_ = sum(stage["iterations"] for stage in self.stages_)
        self.view_weights_ = self._by_stage("weights", carry=False)
        self.residual_ = self._by_stage("residual", carry=True)

    def _by_stage(self, field: str, carry: bool) -> np.ndarray:
        """A number for each stage and view; where a view took no part, NaN or what it was before."""
        last = max((stage["stage"] for stage in self.stages_), default=0)
        table = np.full((last, len(self.view_names_)), np.nan)
        for stage in self.stages_:
            for name, value in stage[field].items():
                table[stage["stage"] - 1, self.view_names_.index(name)] = value
        if carry:
            for row in range(1, last):
                table[row] = np.where(np.isnan(table[row]), table[row - 1], table[row])
        return table

    # What scikit-learn expects of an estimator

    @classmethod
    def _parameters(cls) -> dict[str, inspect.Parameter]:
        signature = inspect.signature(cls.__init__).parameters
        return {name: parameter for name, parameter in signature.items() if name != "self"}

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """All parameters by name."""
        return {name: getattr(self, name) for name in self._parameters()}

    def set_params(self, **parameters: Any) -> MNMF:
        """Sets parameters by name."""
        known = self._parameters()
        for name, value in parameters.items():
            if name not in known:
                raise ValueError(f"there is no parameter {name!r}; there are {', '.join(known)}")
            setattr(self, name, value)
        return self

    def __repr__(self) -> str:
        changed = [
            f"{name}={getattr(self, name)!r}"
            for name, parameter in self._parameters().items()
            if getattr(self, name) is not parameter.default and getattr(self, name) != parameter.default
        ]
        return f"MNMF({', '.join(changed)})"

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """A name for each column: its stage, ``consensus`` or the view, and its place there."""
        self._check_fitted()
        names = [f"unused_{column}" for column in range(self.embedding_.shape[1])]
        for stage in self.stages_:
            first, end = stage["columns"]
            kind = stage["view"] if stage["kind"] == "unique" else "consensus"
            names[first:end] = [f"stage{stage['stage']}_{kind}_{at}" for at in range(end - first)]
        return np.array(names, dtype=object)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "embedding_")

    def __sklearn_tags__(self) -> Any:
        # Only scikit-learn asks, so it is there.
        from sklearn.utils import InputTags, Tags, TargetTags, TransformerTags

        return Tags(
            estimator_type=None,
            target_tags=TargetTags(required=False),
            transformer_tags=TransformerTags(preserves_dtype=[]),
            input_tags=InputTags(two_d_array=False, sparse=True, dict=True),
        )

    def _check_fitted(self) -> None:
        if hasattr(self, "embedding_"):
            return
        try:
            from sklearn.exceptions import NotFittedError as Missing
        except ImportError:
            Missing = ValueError
        raise Missing("this MNMF has no vectors yet; call fit first")

    # Looking

    def neighbors(self, node: Any, count: int = 10) -> list[tuple[Any, float]]:
        """The nodes nearest to one, by cosine, and their cosines: ``manyview neighbors``."""
        row = self._row(node)
        found = _look.nearest(self.embedding_, row, _check.whole("count", count))
        return [(self.nodes_[row], near) for row, near in found]

    def explain(self, node: Any, other: Any = None) -> dict[str, Any]:
        """Which stages and views a node's vector, or the similarity of two nodes, comes from: ``manyview explain``.

        A dict with ``total`` (the squared norm, or the cosine) and, as shares of it, ``consensus``, ``views`` and
        ``parts``. Shares compare columns with each other, so they mean what they say for ``scale="balanced"``.
        """
        row = self._row(node)
        beside = None if other is None else self.embedding_[self._row(other)]
        return _look.origin(self.stages_, self.embedding_[row], beside)

    def _row(self, node: Any) -> int:
        self._check_fitted()
        return _ids.row(self.nodes_, node, "nodes_")

    # Keeping

    def save(self, folder: str | os.PathLike[str]) -> None:
        """Writes ``embedding.npy``, ``nodes.txt`` and ``run.json``, as the command line does.

        Ids are written as text: whole numbers and text come back as they were from :meth:`load`, all else as text.
        """
        self._check_fitted()
        _folder.save(folder, self.nodes_, self.embedding_, self.run_)

    @classmethod
    def load(cls, folder: str | os.PathLike[str]) -> MNMF:
        """An estimator as it was after its fit, from a folder of :meth:`save` or of ``manyview embed``."""
        nodes, vectors, run = _folder.load(folder)
        if run.get("method") != "mnmf":
            raise ValueError(f"{folder}: run.json is of the method {run.get('method')!r}, not mnmf; use Embedding.load")
        known = cls._parameters()
        model = cls(**{name: value for name, value in run["config"].items() if name in known})
        model._keep(nodes, vectors, run)
        return model

    def to_frame(self) -> Any:
        """A pandas ``DataFrame``: the vectors, with node ids as index and names of columns."""
        import pandas

        self._check_fitted()
        return pandas.DataFrame(self.embedding_, index=list(self.nodes_), columns=self.get_feature_names_out())
