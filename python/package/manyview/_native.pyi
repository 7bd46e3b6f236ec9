from collections.abc import Callable
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

__version__: str

_Csr = tuple[NDArray[np.int64], NDArray[np.int32], NDArray[Any]]
_Labels = str | tuple[list[list[str]], int]
_Callback = Callable[[dict[str, Any]], None]
_Model = tuple[str, str, str]
_Warnings = list[tuple[bool, str]]

class Network:
    @staticmethod
    def build(
        nodes: int,
        ids: list[str] | None,
        views: list[tuple[str, bool, NDArray[Any], NDArray[Any], NDArray[Any] | None]],
        by_rows: bool,
        duplicates: str,
        notes: list[str],
        threads: int | None,
    ) -> Network: ...
    def ids(self) -> list[str]: ...
    def notes(self) -> list[str]: ...
    def warnings(self) -> _Warnings: ...
    def skipped(self) -> int: ...
    def names(self) -> list[str]: ...
    def only(self, view: str) -> Network: ...
    def facts(self) -> list[tuple[bool, int, int]]: ...
    def fingerprint(self) -> str: ...
    def adjacency(self, view: str) -> _Csr: ...
    def summary(self, settings: str | None, threads: int | None) -> str: ...
    def proximity(self, view: str, settings: str, double: bool, threads: int | None) -> _Csr: ...

class KeptModel:
    @staticmethod
    def open(folder: str) -> KeptModel: ...
    def record(self) -> str: ...
    def fold_in(
        self, network: Network, threads: int | None
    ) -> tuple[NDArray[np.float32], NDArray[np.uint32], int]: ...
    def directed(self) -> list[str]: ...
    def update(
        self,
        vectors: NDArray[np.float32],
        run: str,
        add: Network | None,
        remove: Network | None,
        duplicates: str,
        tolerance: float,
        command: str,
        threads: int | None,
    ) -> tuple[NDArray[np.float32], str, KeptModel, str | None]: ...
    def add_view(
        self,
        vectors: NDArray[np.float32],
        run: str,
        network: Network,
        columns: int | None,
        command: str,
        threads: int | None,
    ) -> tuple[NDArray[np.float32], str, KeptModel, _Warnings]: ...

def methods() -> str: ...
def describe(method: str) -> str: ...
def resolve(model: _Model) -> str: ...
def override_settings(settings: str, given: str) -> str: ...
def reopen(config: str, views: int) -> str: ...
def factorize(
    matrices: list[tuple[NDArray[Any], NDArray[Any], NDArray[Any]]],
    shape: tuple[int, int],
    double: bool,
    start: tuple[NDArray[Any], list[NDArray[Any]]] | None,
    settings: str,
    seed: int,
    threads: int | None,
    callback: _Callback | None,
) -> dict[str, Any]: ...
def fit(
    network: Network,
    model: _Model,
    labels: _Labels | None,
    max_memory: int | None,
    command: str,
    keep_model: bool,
    callback: _Callback | None,
) -> tuple[NDArray[np.float32], str, _Warnings, KeptModel | None]: ...
def save(
    folder: str, ids: list[str], vectors: NDArray[np.float32], run: str, model: KeptModel | None
) -> None: ...
def truncate(
    vectors: NDArray[np.float32],
    run: str,
    stages: int | None,
    dim: int | None,
    command: str,
    model: KeptModel | None,
) -> tuple[NDArray[np.float32], str, KeptModel | None]: ...
def load(folder: str) -> tuple[list[str], NDArray[np.float32]]: ...
def explain(vectors: NDArray[np.float32], parts: str) -> str: ...
def neighbors(vectors: NDArray[np.float32], row: int, count: int) -> list[tuple[int, float]]: ...
def generate(
    nodes: int,
    views: int,
    communities: int,
    degree: list[float],
    noise: list[float],
    consensus: float,
    absent: float,
    skew: float,
    weighted: bool,
    seed: int,
) -> tuple[
    NDArray[np.int64],
    list[tuple[str, NDArray[np.int32], NDArray[np.int32], NDArray[np.float32] | None, NDArray[np.int64]]],
]: ...
def index_objects(objects: list[Any]) -> tuple[NDArray[np.int64], list[Any]]: ...
def read_network(
    views: list[tuple[str, str | PathLike[str]]] | None,
    paths: list[str | PathLike[str]],
    options: dict[str, Any],
    threads: int | None,
) -> Network: ...
def table_columns(
    names: list[str], rows: list[list[str]], options: dict[str, Any], lone: bool
) -> tuple[int, int, int | None, int | None, str]: ...
def classify(vectors: NDArray[np.float32], ids: list[str], labels: _Labels, given: dict[str, Any]) -> str: ...
def cluster(vectors: NDArray[np.float32], ids: list[str], labels: _Labels, given: dict[str, Any]) -> str: ...
def compare(
    network: Network,
    labels: _Labels,
    given: dict[str, Any],
    folder: str | None,
    force: bool,
    command: str,
    callback: _Callback | None,
) -> tuple[str, list[str], list[tuple[str, str]], _Warnings]: ...
def tune(
    network: Network,
    labels: _Labels | None,
    model: _Model,
    given: dict[str, Any],
    folder: str | None,
    force: bool,
    command: str,
    callback: _Callback | None,
) -> str: ...
def links(
    network: Network,
    model: _Model,
    view: str | None,
    hide: float,
    repeats: int,
    score: str,
    callback: _Callback | None,
) -> tuple[str, _Warnings]: ...
