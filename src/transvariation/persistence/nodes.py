"""Models as JSON: plain values as they are, everything else as an object with one tag."""

import math
from pathlib import PurePath
from typing import Any

import numpy as np

from transvariation.persistence.allowed_classes import assembled, class_named, name_of, parts_of
from transvariation.persistence.archive import KINDS
from transvariation.persistence.errors import ModelFileError

DEEPEST = 100


class Encoder:
    """Takes a model apart into JSON and a list of arrays."""

    def __init__(self) -> None:
        self.arrays: list[np.ndarray] = []

    def node(self, value: Any, where: str) -> Any:
        """Turn a value into JSON.

        Parameters
        ----------
        value : object
        where : str
            The way to it from the model, for messages.
        """
        if value is None or type(value) in (bool, int, str):
            return value
        if type(value) is float:
            return value if math.isfinite(value) else {"float": repr(value)}
        if isinstance(value, np.ndarray):
            return self._array(value, where)
        if isinstance(value, np.generic):
            return {"scalar": self._array(np.asarray(value), where)["array"]}
        if type(value) in (list, tuple, set, frozenset):
            items = sorted(value) if isinstance(value, set | frozenset) else value
            return {type(value).__name__: [self.node(item, f"{where}[{i}]") for i, item in enumerate(items)]}
        if type(value) is dict:
            pairs = value.items()
            return {"dict": [[self.node(k, where), self.node(v, f"{where}[{k!r}]")] for k, v in pairs]}
        if type(value) is range:
            return {"range": [value.start, value.stop, value.step]}
        if _is_frame(value):
            return self._frame(value, where)
        if isinstance(value, PurePath):
            return str(value)
        if type(value).__module__.startswith("transvariation.dask.") and hasattr(value, "kept"):
            value = value.kept()  # rows that lay in files, or that a function gave
        name = name_of(type(value))
        if name is None:
            kind = f"{type(value).__module__}.{type(value).__qualname__}"
            raise TypeError(
                f"{where} is of type {kind}, which a model file cannot hold without running code when it is read;"
                " estimators of transvariation, pipelines and scalers can be saved, with whole numbers as seeds"
            )
        given, learned = ({k: self.node(v, f"{where}.{k}") for k, v in part.items()} for part in parts_of(value))
        return {"object": name, "given": given, "learned": learned}

    def _array(self, value: np.ndarray, where: str) -> dict[str, Any]:
        if value.dtype == object and all(isinstance(item, str) for item in value.ravel()):
            return {"names": value.ravel().tolist(), "shape": list(value.shape)}
        if value.dtype.kind not in KINDS or type(value) is not np.ndarray or not value.dtype.itemsize:
            raise TypeError(f"{where} is an array of {value.dtype}, which a model file cannot hold")
        self.arrays.append(value)
        return {"array": len(self.arrays) - 1}

    def _frame(self, frame: Any, where: str) -> dict[str, Any]:
        columns = {str(j): frame.iloc[:, j].to_numpy() for j in range(frame.shape[1])}
        parts = {
            "columns": self.node(list(frame.columns), f"{where}.columns"),
            "names": self.node([frame.columns.name, frame.index.name], where),
            "index": self.node(frame.index.to_numpy(), f"{where}.index"),
            "data": self.node(columns, where),
        }
        return {"frame": parts}


def _is_frame(value: Any) -> bool:
    return type(value).__name__ == "DataFrame" and type(value).__module__.startswith("pandas")


class Decoder:
    """Puts a model together from JSON and arrays; makes nothing but what the encoder can have taken apart."""

    def __init__(self, arrays: list[np.ndarray]):
        self._arrays = dict(enumerate(arrays))

    def value(self, node: Any, depth: int = 0) -> Any:
        """Turn JSON into the value it stands for."""
        if node is None or isinstance(node, bool | int | float | str):
            return node
        if depth > DEEPEST:
            raise ModelFileError(f"the file nests more than {DEEPEST} levels deep: refused")
        if not isinstance(node, dict) or not node:
            raise ModelFileError("the manifest holds a value of no known kind: the file was tampered with")
        tag, content = next(iter(node.items()))
        method = getattr(self, f"_{tag}", None) if tag in _TAGS else None
        if method is None or (len(node) > 1 and tag not in ("object", "names")):
            raise ModelFileError(f"the manifest holds a value of the unknown kind {str(tag)[:40]!r}: refused")
        try:
            return method(node if tag in ("object", "names") else content, depth + 1)
        except ModelFileError:
            raise
        except (LookupError, TypeError, ValueError, AttributeError, OverflowError, MemoryError) as error:
            raise ModelFileError(f"the manifest's {tag!r} is malformed ({error}): the file was tampered with") from None

    def _array(self, number: int, depth: int) -> np.ndarray:
        if type(number) is not int or number < 0:
            raise ModelFileError(f"the manifest refers to array {number!r}: the file was tampered with")
        return self._arrays.pop(number)  # each is written for one place, and cannot be made into many

    def _scalar(self, number: int, depth: int) -> Any:
        return self._array(number, depth)[()]

    def _float(self, text: str, depth: int) -> float:
        return {"inf": math.inf, "-inf": -math.inf, "nan": math.nan}[text]

    def _names(self, node: dict[str, Any], depth: int) -> np.ndarray:
        names = node["names"]
        if not all(isinstance(name, str) for name in names):
            raise ModelFileError("the manifest's 'names' are not all text: the file was tampered with")
        array = np.empty(len(names), dtype=object)
        array[:] = names
        return array.reshape(node["shape"])

    def _items(self, nodes: list[Any], depth: int) -> list[Any]:
        return [self.value(node, depth) for node in nodes]

    def _list(self, nodes: list[Any], depth: int) -> list[Any]:
        return self._items(nodes, depth)

    def _tuple(self, nodes: list[Any], depth: int) -> tuple[Any, ...]:
        return tuple(self._items(nodes, depth))

    def _set(self, nodes: list[Any], depth: int) -> set[Any]:
        return set(self._items(nodes, depth))

    def _frozenset(self, nodes: list[Any], depth: int) -> frozenset[Any]:
        return frozenset(self._items(nodes, depth))

    def _dict(self, pairs: list[Any], depth: int) -> dict[Any, Any]:
        return {self.value(k, depth): self.value(v, depth) for k, v in pairs}

    def _range(self, ends: list[int], depth: int) -> range:
        return range(*ends)

    def _frame(self, parts: dict[str, Any], depth: int) -> Any:
        import pandas as pd

        columns, names, index, data = (self.value(parts[key], depth) for key in ("columns", "names", "index", "data"))
        # Checked before anything is reserved: pandas repeats a value for any index, and fills up labels to the longest.
        shapes = {values.shape for values in (index, *data.values())}
        fits = shapes == {(len(index),)} and len(columns) == len(data)
        if not fits or len({len(label) for label in columns if isinstance(label, tuple)}) > 1:
            raise ModelFileError("the manifest's 'frame' claims more than the file holds: it was tampered with")
        frame = pd.DataFrame(data, index=pd.Index(index, name=names[1]))
        return frame.set_axis(pd.Index(columns, name=names[0]), axis=1)

    def _object(self, node: dict[str, Any], depth: int) -> Any:
        cls = class_named(str(node["object"]))
        given, learned = ({k: self.value(v, depth) for k, v in node[part].items()} for part in ("given", "learned"))
        return assembled(cls, given, learned)


_TAGS = {"array", "scalar", "float", "names", "list", "tuple", "set", "frozenset", "dict", "range", "frame", "object"}
