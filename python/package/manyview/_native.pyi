from collections.abc import Callable
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

__version__: str

_Csr = tuple[NDArray[np.int64], NDArray[np.int32], NDArray[Any]]
_Labels = str | tuple[list[list[str]], int]
_Callback = Callable[[dict[str, Any]], None]

class Network:
    @staticmethod
    def build(
        nodes: int,
        views: list[tuple[str, bool, NDArray[Any], NDArray[Any], NDArray[Any] | None]],
        by_rows: bool,
        duplicates: str,
        threads: int | None,
    ) -> Network: ...
    def ids(self) -> list[str]: ...
    def notes(self) -> list[str]: ...
    def names(self) -> list[str]: ...
    def only(self, view: str) -> Network: ...
    def facts(self) -> list[tuple[bool, int, int]]: ...
    def fingerprint(self) -> int: ...
    def adjacency(self, view: str) -> _Csr: ...
    def summary(
        self, with_proximity: bool, window: int, negative: float, isolated_nodes: str, threads: int | None
    ) -> str: ...
    def proximity(
        self,
        view: str,
        window: int,
        negative: float,
        isolated_nodes: str,
        double: bool,
        threads: int | None,
    ) -> _Csr: ...

def preset(name: str) -> dict[str, Any]: ...
def factorize(
    matrices: list[tuple[NDArray[Any], NDArray[Any], NDArray[Any]]],
    start: tuple[NDArray[Any], list[NDArray[Any]]] | None,
    asked: dict[str, Any],
    callback: _Callback | None,
) -> dict[str, Any]: ...
def fit(
    network: Network,
    parameters: dict[str, Any],
    max_memory: int | None,
    command: str,
    callback: _Callback | None,
) -> tuple[NDArray[np.float32], str, list[tuple[bool, str]]]: ...
def methods() -> str: ...
def embed(
    network: Network,
    method: str,
    preset: str,
    settings: str,
    labels: tuple[_Labels, list[str]] | None,
    command: str,
    callback: _Callback | None,
) -> tuple[NDArray[np.float32], str, list[str]]: ...
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
def classify(vectors: NDArray[np.float32], ids: list[str], labels: _Labels, given: dict[str, Any]) -> str: ...
def cluster(vectors: NDArray[np.float32], ids: list[str], labels: _Labels, given: dict[str, Any]) -> str: ...
def links(
    network: Network,
    method: dict[str, Any] | tuple[str, str, str],
    view: str | None,
    hide: float,
    repeats: int,
    score: str,
    callback: _Callback | None,
) -> tuple[str, list[str]]: ...
