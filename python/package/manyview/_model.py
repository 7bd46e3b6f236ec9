"""MNMF as a scikit-learn estimator. scikit-learn itself is not required."""

from __future__ import annotations

import inspect
import json
import os
import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np

from . import _check, _fit, _folder, _native, _settings
from ._embedding import Embedding
from ._network import Network, names_or_flag, part_of_network, to_network
from ._parameters import PARAMETERS, SETTINGS, MnmfParameters
from ._renamed import renamed
from ._warnings import ManyviewWarning, warn

#: Parameters of earlier versions, and their names now.
OLD_NAMES = {"normalise": "normalize"}


class MNMF(MnmfParameters):
    """Embeds the nodes of a network with several kinds of edges: one vector per node.

    Multi-stage non-negative matrix factorization (Huang et al.): consensus stages find what the views have in common,
    unique stages what is specific to each view, and each stage works on the residual of the stages before it. The same
    views and ``seed`` give the same bytes as the command line, for any number of threads (tried on x86-64 only).

    A parameter that equals its default counts as not given: ``MNMF(stage_dims=[8, 4, 4], dim=256)`` has 16 columns.

    Parameters
    ----------
    {parameters}
    directed : bool, name or list of names, optional
        The directed views. By default, networkx graphs of a directed type are.
    duplicates : {"sum", "max"}, default "sum"
        How several edges between the same two nodes of a view are merged.
    max_memory : int or str, optional
        The maximum memory in bytes, or as text such as "8G". What is expected to need more is sampled, or by fewer walks,
        unless ``proximity`` or ``walks`` say otherwise; if nothing fits, a ``MemoryError`` is raised. Default: the
        available memory.
    progress : bool or callable, default False
        True shows a progress bar in a terminal or notebook. A callable receives a dict several times per second; an
        exception that it raises ends the fit.
    verbose : bool, default False
        Prints how files were interpreted, and a line per stage.
    keep_model : bool, default False
        Keeps the factors of the fit and its network, with which :meth:`transform` gives vectors to new nodes, and
        :meth:`update` and :meth:`add_view` take new edges. They take about twice as much memory as the vectors, and the network; :meth:`save` writes them as ``model.bin``.

    Attributes
    ----------
    embedding_ : ndarray of shape (n, dim), float32
    nodes_ : ndarray of shape (n,)
        Node ids as given, in row order.
    view_names_ : list of str
    view_weights_ : ndarray of shape (stages, views)
        The weight of each view in each stage; NaN if the view is not part of the stage. Columns are ``view_names_``. The
        union of the views (``joint``) also has a weight in consensus stages, which is in ``stages_``.
    residual_ : ndarray of shape (stages, views)
        The unexplained share ``||R||^2 / ||M||^2`` of each view after each stage.
    stages_ : list of dict
        The record of each factorization, as in ``run.json``.
    n_iter_ : int
        The number of iterations of all stages.
    run_ : dict
        The record of the run, as in ``run.json``.
    """

    # Signature and attributes are those of the generated class; inspect and scikit-learn see them through the wrapper.
    __init__ = renamed(**OLD_NAMES)(MnmfParameters.__init__)

    @classmethod
    @renamed(**OLD_NAMES)
    def preset(cls, name: str, **parameters: Any) -> MNMF:
        """Returns an estimator with the settings of a preset: ``default``, ``paper`` or ``authors``.

        Parameters override it, as options override ``--preset`` on the command line. Settings that follow from them
        are adjusted: ``MNMF.preset("authors", stages=6)`` has three consensus stages.
        """
        known = cls._parameters()
        for parameter in parameters:
            if parameter not in known:
                raise _unknown(parameter, known)
        given = {name: value for name, value in parameters.items() if name in SETTINGS}
        resolved = json.loads(_native.resolve(_settings.model("mnmf", name, given)))
        return cls(**{**resolved, **parameters})

    # Fit

    def _network(self, views: Any, threads: int | None) -> Network:
        how: dict[str, Any] = {"directed": self.directed, "duplicates": self.duplicates, "threads": threads}
        return to_network(views, max_memory=self.max_memory, **how)

    def fit(self, views: Any, y: Any = None) -> MNMF:
        """Embeds the nodes of ``views``.

        Parameters
        ----------
        views
            A dict (name and view) or list of sparse matrices, arrays, networkx graphs, edge tables or paths; one
            networkx ``MultiGraph`` whose edges have an attribute ``relation``; one edge table of pandas, polars or
            pyarrow with columns ``source``, ``target`` and optionally ``relation`` and ``weight``; a path to files that
            the command line reads; or a :class:`Network`, for other names of columns and attributes.
        y
            Ignored; for pipelines.
        """
        model = self._model()
        threads = json.loads(_native.resolve(model))["threads"]
        network = self._network(views, threads)
        vectors, run, kept = _fit.fit(
            network,
            model,
            max_memory=self.max_memory,
            progress=self.progress,
            verbose=self.verbose,
            command=repr(self),
            keep_model=self.keep_model,
        )
        self._keep(network.nodes, vectors, run, kept)
        return self

    def fit_transform(self, views: Any, y: Any = None) -> np.ndarray:
        """Embeds the nodes of ``views`` and returns ``embedding_``, of shape (n, dim)."""
        return self.fit(views, y).embedding_

    def transform(self, views: Any) -> np.ndarray:
        """Returns the vectors of the nodes of ``views``, of shape (nodes, dim).

        For the views that were fitted, these are the fitted vectors. With ``keep_model=True``, the views may also have
        new nodes, with edges between them and nodes of the fit: those get vectors by their edges, and nodes of the fit
        have their fitted vectors to the bit. Rows are in the order in which the nodes of ``views`` appear, as in a fit; see
        also :meth:`fold_in`.
        """
        self._check_fitted()
        network = self._network(views, self.threads) if self._kept is None else self._edges(views)
        if self._kept is None or self._was_fitted(network):
            self._check_same(network)
            return self.embedding_
        vectors, numbers = self._folded(network)
        return np.vstack([self.embedding_, vectors])[numbers]

    def fold_in(self, views: Any) -> Embedding:
        """Returns vectors of new nodes by their edges to nodes of the fit and to each other, as ``manyview fold-in`` does.

        Needs a fit with ``keep_model=True``, or a folder that was saved with its model. The result has the new nodes
        only; :meth:`transform` returns the rows of all nodes of ``views``. A node without a path to a node of the fit
        has a vector of zeros, with a warning.
        """
        self._check_fitted()
        network = self._edges(views)
        vectors, numbers = self._folded(network)
        known = len(self.nodes_)
        new = sorted((number, row) for row, number in enumerate(numbers.tolist()) if number >= known)
        run = {name: value for name, value in self.run_.items() if name != "model"}
        edges = {name: facts[1] for name, facts in zip(network._native.names(), network._native.facts(), strict=True)}
        run["folded_in"] = {"first_row": 0, "nodes": len(new), "edges": edges, "fit": run["command"]}
        run["network"] = {**run["network"], "nodes": len(new)}
        run["network"].pop("fingerprint", None)
        return Embedding(network.nodes[[row for _, row in new]], vectors, run)

    def _folded(self, network: Network) -> tuple[np.ndarray, np.ndarray]:
        """The vectors of new nodes, and for each node of a network its row among these after those of the fit."""
        if self._kept is None:
            raise ValueError("vectors of new nodes need the model: fit with keep_model=True, or load a folder that has it")
        vectors, numbers, zero = self._kept.fold_in(network._native, self.threads)
        if zero:
            warnings.warn(
                f"{zero} of {len(vectors)} new nodes have vectors of zeros: they have no path to a node of the fit, or no "
                "pair that is near by more than chance",
                ManyviewWarning,
                stacklevel=3,
            )
        return vectors, numbers

    def update(self, *, add: Any = None, remove: Any = None, tolerance: float = 0.05) -> MNMF:
        """Returns an estimator after edges between nodes of the fit came and went, as ``manyview update`` does.

        Needs a fit with ``keep_model=True``, or a folder that was saved with its model. Only the vectors of nodes that can
        feel the change are computed again; all others keep their bytes. ``run_["updated"]`` of the result says how many
        (``vectors``), how far they moved (``median_moved`` and ``most_moved``, 1 minus the cosine), and the ``drift``: what the
        stages leave unexplained of them, divided by what they left before. A :class:`ManyviewWarning` says when a new fit
        is worth it.

        Parameters
        ----------
        add
            The edges that come, in views of the fit, in any form that :meth:`fit` accepts. One that is there already gets
            the sum of both weights, or with ``duplicates="max"`` the larger one.
        remove
            The edges that go, whatever their weights.
        tolerance : float, default 0.05
            A vector is computed again if the walks from its node change by more than this, from 0 (all that can change) to
            1.

        Examples
        --------
        >>> import manyview
        >>> import numpy
        >>> made = manyview.generate(nodes=200, views=2, communities=4, seed=1)
        >>> model = manyview.MNMF(dim=16, keep_model=True).fit(made.views)
        >>> new = numpy.zeros((200, 200))
        >>> new[0, 1] = new[0, 2] = 1
        >>> later = model.update(add={"view1": new})
        >>> later.run_["updated"]["edges_added"]
        2
        """
        kept = self._model_that_changes("edges can only be changed in the model")
        if add is None and remove is None:
            raise _check.InvalidParameter("no change given: give edges that come as add, and edges that go as remove")
        if not 0 <= _check.number("tolerance", tolerance) <= 1:
            raise _check.InvalidParameter(f"tolerance={tolerance!r}: expected a number from 0 to 1")
        come, go = (None if edges is None else self._edges(edges)._native for edges in (add, remove))
        vectors, run, after, advice = kept.update(
            np.ascontiguousarray(self.embedding_, dtype=np.float32),
            json.dumps(self.run_),
            come,
            go,
            self.duplicates,
            float(tolerance),
            f"{self!r}.update(...)",
            self.threads,
        )
        if advice is not None:
            warn([(False, advice)])
        return self._changed_to(vectors, run, after)

    def add_view(self, views: Any, *, columns: int | None = None, directed: bool | None = None) -> MNMF:
        """Returns an estimator with one more view: columns of its own after the others, as ``manyview add-view`` does.

        Needs a fit with ``keep_model=True``, or a folder that was saved with its model. The consensus columns explain a part
        of the new view, its own columns a part of what is left; ``run_["added_views"]`` of the result has the shares. All
        other columns keep their bytes. Parameters such as ``dim`` remain those of the fit.

        Parameters
        ----------
        views
            A dict with the name of the view and its edges between nodes of the fit, in any form that :meth:`fit` accepts.
        columns : int, optional
            The number of columns. Default: as many as a view of the fit has of its own, on average.
        directed : bool, optional
            Whether its edges have directions. By default, networkx graphs of a directed type do.

        Examples
        --------
        >>> import manyview
        >>> made = manyview.generate(nodes=200, views=3, communities=4, seed=1)
        >>> last = {"view3": made.views.pop("view3")}
        >>> model = manyview.MNMF(dim=16, keep_model=True).fit(made.views)
        >>> wider = model.add_view(last, columns=4)
        >>> wider.embedding_.shape
        (200, 20)
        >>> bool((wider.embedding_[:, :16] == model.embedding_).all())
        True
        """
        kept = self._model_that_changes("views can only be added to the model")
        width = _check.whole_or_none("columns", columns)
        if directed is not None:
            _check.flag("directed", directed)
        how: dict[str, Any] = {"duplicates": self.duplicates, "threads": self.threads, "max_memory": self.max_memory}
        network = to_network(views, directed=directed, **how)
        vectors, run, after, told = kept.add_view(
            np.ascontiguousarray(self.embedding_, dtype=np.float32),
            json.dumps(self.run_),
            network._native,
            width,
            f"{self!r}.add_view({', '.join(network.views)})",
            self.threads,
        )
        warn(told)
        # Graphs say themselves whether they are directed, unless views are named.
        named = self.directed is not None or directed is not None
        return self._changed_to(vectors, run, after, directed=(named and after.directed()) or self.directed)

    def _model_that_changes(self, why: str) -> _native.KeptModel:
        self._check_fitted()
        if self._kept is None:
            raise ValueError(f"{why}: fit with keep_model=True, or load a folder that has it")
        return self._kept

    def _changed_to(self, vectors: np.ndarray, run: str, kept: _native.KeptModel, **parameters: Any) -> MNMF:
        """An estimator with the same nodes and another result."""
        model = type(self)(**{**self.get_params(), **parameters})
        model._keep(self.nodes_, vectors, json.loads(run), kept)
        return model

    def _edges(self, views: Any) -> Network:
        """Edges in some of the views of the fit, with the directions that these have."""
        how: dict[str, Any] = {"duplicates": self.duplicates, "threads": self.threads, "max_memory": self.max_memory}
        directed = self.directed
        named = names_or_flag(directed)
        if isinstance(views, Mapping) and isinstance(named, list):
            directed = [name for name in named if name in views]
        return part_of_network(views, directed=directed, **how)

    def _was_fitted(self, network: Network) -> bool:
        same_nodes = list(map(str, network.nodes.tolist())) == list(map(str, self.nodes_.tolist()))
        return same_nodes and network._native.fingerprint() == self.run_["network"].get("fingerprint")

    def _check_same(self, network: Network) -> None:
        if self.run_["network"].get("fingerprint") is None:
            raise ValueError("this result is of an older version, which did not record its network; fit again")
        if not self._was_fitted(network):
            raise ValueError(
                "these are not the views that were fitted; for vectors of new nodes, fit with keep_model=True, or use "
                "fit_transform"
            )

    def truncate(self, *, stages: int | None = None, dim: int | None = None) -> MNMF:
        """Returns an estimator with the first stages only: fewer columns without a new fit.

        Parameters
        ----------
        stages : int, optional
            The number of stages, in the order in which they ran.
        dim : int, optional
            Instead of ``stages``: as many stages as have at most this many columns.
        """
        self._check_fitted()
        if (stages is None) == (dim is None):
            raise _check.InvalidParameter("give either stages or dim")
        at = _check.whole_or_none("stages", stages), _check.whole_or_none("dim", dim)
        command = f"{self!r}.truncate({f'stages={stages}' if dim is None else f'dim={dim}'})"
        vectors = np.ascontiguousarray(self.embedding_, dtype=np.float32)
        found = _native.truncate(vectors, json.dumps(self.run_), *at, command, self._kept)
        shorter, run = found[0], json.loads(found[1])
        model = type(self)(**{**self.get_params(), **_settings_of(run)})
        model._keep(self.nodes_, shorter, run, found[2])
        return model

    def _model(self) -> _settings.Model:
        """The method with the settings that differ from their defaults."""
        return _settings.model("mnmf", "default", self._changed(SETTINGS))

    def _keep(
        self, nodes: np.ndarray, vectors: np.ndarray, run: dict[str, Any], kept: _native.KeptModel | None = None
    ) -> None:
        self._kept = kept
        self.nodes_ = nodes
        self.embedding_ = vectors
        self.run_ = run
        self.stages_ = run["stages"]
        self.view_names_ = [view["name"] for view in run["network"]["views"]]
        self.n_iter_ = sum(stage["iterations"] for stage in self.stages_)
        self.view_weights_ = self._by_stage("weights", carry=False)
        self.residual_ = self._by_stage("residual", carry=True)

    def _by_stage(self, field: str, carry: bool) -> np.ndarray:
        """A table of stages and views. Views that are not part of a stage have NaN, or their previous value.

        The union of the views, which is not a view, is only in ``stages_``.
        """
        last = max((stage["stage"] for stage in self.stages_), default=0)
        table = np.full((last, len(self.view_names_)), np.nan)
        for stage in self.stages_:
            for name, value in stage[field].items():
                if name in self.view_names_:
                    table[stage["stage"] - 1, self.view_names_.index(name)] = value
        if carry and last:
            # Before the first stage, all of a view is left.
            table[0] = np.where(np.isnan(table[0]), 1.0, table[0])
            for row in range(1, last):
                table[row] = np.where(np.isnan(table[row]), table[row - 1], table[row])
        return table

    # The interface of scikit-learn's estimators

    @classmethod
    def _parameters(cls) -> dict[str, inspect.Parameter]:
        signature = inspect.signature(cls.__init__).parameters
        return {name: parameter for name, parameter in signature.items() if name != "self"}

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Returns all parameters by name."""
        return {name: getattr(self, name) for name in self._parameters()}

    @renamed(**OLD_NAMES)
    def set_params(self, **parameters: Any) -> MNMF:
        """Sets parameters by name.

        Settings that follow from them are adjusted, as in :meth:`preset`: with ``stage_dims``, also ``stages`` and ``dim``.
        """
        known = self._parameters()
        for name in parameters:
            if name not in known:
                raise _unknown(name, known)
        for name, value in {**self._following(parameters), **parameters}.items():
            setattr(self, name, value)
        return self

    def _following(self, parameters: dict[str, Any]) -> dict[str, Any]:
        """The settings that change with those that are set, and their new values."""
        before = {name: _settings.plain(getattr(self, name)) for name in SETTINGS}
        given = _settings.as_json({name: value for name, value in parameters.items() if name in SETTINGS})
        try:
            after = json.loads(_native.override_settings(json.dumps(before), given))
        except ValueError:
            return {}  # fit reports values that are not accepted.
        return {name: value for name, value in after.items() if value != before[name]}

    def _changed(self, names: Any) -> dict[str, Any]:
        """The parameters that differ from their defaults."""
        parameters, changed = self._parameters(), {}
        for name in names:
            value, default = getattr(self, name), parameters[name].default
            plain = value if callable(value) else _settings.plain(value)
            if isinstance(plain, bool) != isinstance(default, bool) or plain != default:
                changed[name] = value
        return changed

    def __repr__(self) -> str:
        changed = self._changed(self._parameters())
        return f"MNMF({', '.join(f'{name}={value!r}' for name, value in changed.items())})"

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Returns a name for each column: its stage, ``consensus``, ``joint`` or the view, and its position there."""
        self._check_fitted()
        names = [f"unused_{column}" for column in range(self.embedding_.shape[1])]
        for stage in self.stages_:
            first, end = stage["columns"]
            kind = stage["view"] if stage["kind"] == "unique" else stage["kind"]
            names[first:end] = [f"stage{stage['stage']}_{kind}_{at}" for at in range(end - first)]
        return np.array(names, dtype=object)

    def __getstate__(self) -> dict[str, Any]:
        # Memory of compiled code cannot be pickled; save writes it to a file.
        return {**self.__dict__, "_kept": None} if hasattr(self, "_kept") else self.__dict__

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "embedding_")

    def __sklearn_tags__(self) -> Any:
        # Only scikit-learn calls this, so it is installed.
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
        raise Missing("this MNMF is not fitted; call fit first")

    # The result

    def _result(self) -> Embedding:
        self._check_fitted()
        return Embedding(self.nodes_, self.embedding_, self.run_)

    def neighbors(self, node: Any, count: int = 10) -> list[tuple[Any, float]]:
        """Returns the nearest nodes by cosine similarity, and the similarities, as ``manyview neighbors`` does."""
        return self._result().neighbors(node, count)

    def explain(self, node: Any, other: Any = None) -> dict[str, Any]:
        """Returns the shares of stages and views in a vector, or in the similarity of two nodes, as ``manyview explain``.

        The dict contains ``total`` (the squared norm, or the cosine similarity) and the shares ``consensus``, ``views``
        and ``parts``. Shares of different stages are comparable only with ``scale="balanced"``.
        """
        return self._result().explain(node, other)

    def to_frame(self) -> Any:
        """Returns the vectors as a pandas ``DataFrame`` indexed by node id, with the names of the columns."""
        frame = self._result().to_frame()
        frame.columns = self.get_feature_names_out()
        return frame

    def save(self, folder: str | os.PathLike[str], model: bool | None = None) -> None:
        """Writes ``embedding.npy``, ``nodes.txt`` and ``run.json``, as the command line does.

        With ``model``, also ``model.bin``, with which :meth:`load` or ``manyview fold-in`` give vectors to new nodes; by
        default, if the fit kept it.

        An existing result is replaced. Ids are written as text; :meth:`load` restores whole numbers and text, and
        returns other ids as text.
        """
        self._check_fitted()
        # How the views were read; without it, transform could not recognize them after loading.
        reading = self._changed(("directed", "duplicates"))
        if "directed" in reading:
            reading["directed"] = names_or_flag(self.directed)
        if model and self._kept is None:
            raise ValueError("the model was not kept: fit with keep_model=True")
        kept = None if model is False else self._kept
        _folder.save(folder, self.nodes_, self.embedding_, {**self.run_, **reading}, kept)

    @classmethod
    def load(cls, folder: str | os.PathLike[str]) -> MNMF:
        """Returns the fitted estimator from a folder written by :meth:`save` or by ``manyview embed``."""
        nodes, vectors, run = _folder.load(folder)
        if run["method"] != "mnmf":
            raise ValueError(f"{folder}: the method is {run['method']}, not mnmf; use Embedding.load")
        reading = {name: run[name] for name in ("directed", "duplicates") if name in run}
        kept = _native.KeptModel.open(os.fspath(folder)) if "model" in run else None
        model = cls(**_settings_of(run), **reading, keep_model=kept is not None)
        model._keep(nodes, vectors, run, kept)
        return model


if MNMF.__doc__ is not None:
    MNMF.__doc__ = MNMF.__doc__.replace("{parameters}", PARAMETERS)


def _settings_of(run: dict[str, Any]) -> dict[str, Any]:
    """The settings as they were given to a run; for files of older versions, the settings as they were used."""
    described = json.loads(_native.describe("mnmf"))
    names = {setting[key]: setting["name"] for setting in described for key in ("alias", "name")}
    found = {names[name]: value for name, value in run.get("settings", run["config"]).items() if name in names}
    if "settings" not in run:
        found = json.loads(_native.reopen(json.dumps(found), len(run["network"]["views"])))
    return found


def _unknown(name: str, known: Any) -> ValueError:
    return _check.InvalidParameter(f"there is no parameter {name!r}; the parameters are {', '.join(known)}")
