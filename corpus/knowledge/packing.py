"""The graph on disk: its integers in one array that is mapped into memory, its texts as JSON."""

import json
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np

from lexloop.core.errors import DataError
from lexloop.core.files import remedy, write_text
from lexloop.corpus.arrays import load_array, save_array
from lexloop.corpus.knowledge.incidence import Incidence
from lexloop.corpus.knowledge.occurrences import Ints, Occurrences

_INTEGERS, _TEXTS = "knowledge.npy", "knowledge.json"
FILES = (_INTEGERS, _TEXTS)
"""The names of the files that ``pack`` writes."""


def pack(folder: Path, found: Occurrences, incidence: Incidence) -> dict[str, str]:
    """Write the graph into ``folder``; the SHA-256 of each file.

    Raises:
        OSError: It cannot be written.
    """
    texts: dict[str, list[str]] = {}
    integers: dict[str, Ints] = {}
    for part in (found, incidence):
        for field in fields(part):
            value = getattr(part, field.name)
            if isinstance(value, list):
                texts[field.name] = value
            else:
                integers[field.name] = value.ravel()
    lengths = {name: len(values) for name, values in integers.items()}
    text = json.dumps({"lengths": lengths, "texts": texts}, separators=(",", ":"))
    numbers = np.concatenate(list(integers.values()))
    return {
        _INTEGERS: save_array(folder / _INTEGERS, numbers),
        _TEXTS: write_text(folder / _TEXTS, text),
    }


def unpack(folder: Path) -> tuple[Occurrences, Incidence]:
    """Open what ``pack`` wrote.

    Raises:
        DataError: A file is missing, or the two do not fit together.
    """
    try:
        held = json.loads((folder / _TEXTS).read_text("utf-8"))
        mapped = load_array(folder / _INTEGERS, np.int32)
        values: dict[str, Any] = {name: _texts(texts) for name, texts in held["texts"].items()}
        values |= _split(np.asarray(mapped), held["lengths"])
        return _made(Occurrences, values), _made(Incidence, values)
    except (OSError, EOFError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise DataError(
            f"The knowledge graph in {folder} cannot be read: {error!r}.",
            remedy(error, "Build the index again with `lexloop index`."),
        ) from error


def _texts(value: Any) -> list[str]:
    if not isinstance(value, list) or not all(isinstance(text, str) for text in value):
        raise TypeError(f"{_TEXTS} holds something else than texts")
    return value


def _split(integers: Ints, lengths: dict[str, int]) -> dict[str, Ints]:
    total = sum(lengths.values())
    if integers.dtype != np.int32 or integers.shape != (total,):
        shown = f"{integers.dtype} {integers.shape}"
        raise ValueError(f"{_INTEGERS} is {shown} and not int32 ({total},)")
    ends = np.cumsum(list(lengths.values())).tolist()
    return dict(zip(lengths, np.split(integers, ends[:-1]), strict=True))


def _made(part: Any, values: dict[str, Any]) -> Any:
    made = {}
    for field in fields(part):
        value = values[field.name]
        columns = field.metadata.get("columns")
        made[field.name] = value.reshape(-1, columns) if columns else value
    return part(**made)
