"""How long a search for exact words takes, and whether it finds all that a scan of the texts does.

    python benchmarks/words.py [--data DATA]

Over the passages of ObliQA, each a document, and over the agreements of the contracts, each set
indexed in memory with vectors that cost nothing. What is sought is drawn by a seed from the texts
themselves: words that three to ten documents have, those ranked from 100 to 300 by documents, the
ten that most have, neighbouring words as a phrase, and section 4.2. Times are the median of three
searches of five queries each, the first twenty documents shown, three passages of each. ``as a
scan`` says how many of the queries found the very documents that a regular expression over all
texts finds.
"""

import random
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import median

import numpy as np
from _shared import DATA, options, read_rows, table, timed

from lexloop.core.folding import plain
from lexloop.core.metadata import Filters
from lexloop.core.settings import Settings
from lexloop.documents.document import Document
from lexloop.documents.text.tokens import STOP_WORDS
from lexloop.models.embedding import Halves, Progress, Vectors
from lexloop.store.opening import tools_for
from lexloop.store.view import View
from lexloop.store.writer import build_collection
from lexloop_workbench.search import Asked, search

_QUERIES, _TURNS, _SEED = 5, 3, 7


class _Nothing:
    """Vectors that say nothing."""

    name, dimension, window = "nothing", 2, 256

    def embed(self, texts: list[str]) -> Vectors:
        return np.tile(np.array([1, 0], np.float32), (len(texts), 1))

    def encode(self, texts: Sequence[str], _: Progress) -> Halves:
        return self.embed(list(texts)).astype(np.float16)

    def count_tokens(self, text: str) -> int:
        return len(text.split())

    def count_tokens_many(self, texts: Sequence[str]) -> list[int]:
        return [*map(self.count_tokens, texts)]


def main() -> None:
    """Index both sets, search them, and print the table."""
    parser = options(__doc__)
    parser.add_argument("--data", type=Path, default=DATA, help="folder of the published sets")
    given = parser.parse_args()
    rows: list[list[object]] = []
    for name, documents in (("obliqa", _passages(given.data)), ("contracts", _read(given.data))):
        tools = replace(tools_for(Settings(), _Nothing()), extract=lambda *_: [])
        view = build_collection(documents, tools).seen_by(Filters())
        texts = {one.name: plain(one.text) for one in documents}
        print(f"{name}: {len(documents)} documents, {len(view)} chunks")
        for kind, queries in _drawn([*texts.values()]).items():
            rows.append([name, kind, *_measured(view, texts, queries)])
    print(table(["set", "sought", "documents found", "places", "ms", "as a scan"], rows))


def _passages(data: Path) -> list[Document]:
    rows = [row for row in read_rows(data / "obliqa" / "passages.jsonl") if row["text"]]
    return [Document(f"{row['id']}.txt", str(row["id"]), str(row["text"])) for row in rows]


def _read(data: Path) -> list[Document]:
    files = sorted((data / "contracts" / "documents").glob("*.txt"))
    return [Document(one.name, one.stem, one.read_text("utf-8")) for one in files]


def _drawn(texts: list[str]) -> dict[str, list[str]]:
    lot = random.Random(_SEED)
    having = Counter(word for text in texts for word in {*re.findall(r"[a-z]{4,}", text)})
    words = [word for word, _ in sorted(having.items(), key=lambda one: (-one[1], one[0]))]
    words = [word for word in words if word not in STOP_WORDS]
    drawn = {
        "a rare word": lot.sample([w for w in words if 3 <= having[w] <= 10], _QUERIES),
        "a usual word": lot.sample(words[100:300], _QUERIES),
        "a common word": lot.sample(words[:10], _QUERIES),
    }
    pairs = zip(drawn["a usual word"], drawn["a common word"], strict=True)
    runs = [run for text in texts for run in re.findall(r"[a-z]{2,} [a-z]{2,} [a-z]{2,}", text)]
    return {
        **drawn,
        "two words": [" ".join(pair) for pair in pairs],
        "a phrase of three": [f'"{one}"' for one in lot.sample(runs, _QUERIES)],
        "of the": ['"of the"'] * _QUERIES,
        "section 4.2": ["section 4.2"] * _QUERIES,
    }


def _measured(view: View, texts: dict[str, str], queries: list[str]) -> Iterator[object]:
    took, documents, places, same = list[float](), list[int](), list[int](), 0
    for query in queries:
        for _ in range(_TURNS):
            asked = Asked.of(query)
            seconds, found = timed(lambda asked=asked: search({"": view}, asked, limit=20))
            took.append(seconds)
        documents.append(found.total)
        places.append(found.places)
        every = {
            one.document for one in search({"": view}, asked, limit=10**6, passages=1).documents
        }
        same += not asked.references and every == _scanned(texts, query)
    alike = f"{same} of {len(queries)}" if not asked.references else "-"
    yield from (median(documents), median(places), f"{1000 * median(took):.0f}", alike)


def _scanned(texts: dict[str, str], query: str) -> set[str]:
    sought = [query.strip('"')] if query.startswith('"') else query.split()
    forms = [re.compile(rf"(?<!\w){one.replace(' ', chr(92) + 'W+')}(?!\w)") for one in sought]
    return {name for name, text in texts.items() if all(form.search(text) for form in forms)}


if __name__ == "__main__":
    main()
