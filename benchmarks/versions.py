"""Whether an answer tells that two versions of a text disagree, and only then.

    python benchmarks/versions.py [--most N] [--data DATA]

Each question of the sample is asked of its law alone; then of the law beside a version in which the
statement that was quoted first is altered in one way (``altered.py``), beside an equal version, and
beside the other texts of the sample. Where DATA (by default ``LEXLOOP_DATA``) has them, questions
of the GDPR's and COPPA's probes are asked of both laws together, and the GDPR's of its text beside
its page. ``shown`` is the share of answers that cite both statements,
``altered alone`` of those that cite the altered one and not the other, and ``passed`` of those that
cite it and pass; ``told`` is the share whose reasons say that documents disagree. Printed last is
the median, over questions and three turns, of a warm question's time to its time without the
comparison.
"""

import random
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import fmean, median
from typing import Any

from _shared import DATA, ROOT, options, read_rows, table, timed
from altered import alterations
from rules import put, unchanged

from lexloop.graph.app import graph
from lexloop_eval.case import read_cases

_KINDS = {"number_nowhere", "must_may", "may_must", "bound", "unit", "not_put_in", "allowed"}
_TURNS = 3
Said = dict[str, Any]


def main() -> None:
    """Ask everything and print the tables."""
    parser = options(__doc__)
    parser.add_argument("--most", type=int, default=60, help="questions")
    parser.add_argument("--data", type=Path, default=DATA, help="folder of the published sets")
    given = parser.parse_args()
    rows = [*disagreeing(given.most, given.data)]
    print(table([*rows[0]], [[*row.values()] for row in rows]))
    with tempfile.TemporaryDirectory() as made:
        same = _folder(Path(made) / "same", {"law.txt": _law(), "version.txt": _law()})
        cost = _cost(_questions(given.most), same)
    print(f"a warm question, times without the comparison: {cost:.2f}")


def disagreeing(most: int, data: Path | None) -> Iterator[dict[str, str]]:
    """What is told, shown and passed beside an altered version; what is told where none is."""
    questions = _questions(most)
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        rows = [*_altered(questions, _law(), folder)]
        if not rows:
            sys.exit(f"none of {len(questions)} answers quotes what can be altered")
        names = ("told", "shown", "altered alone", "passed")
        figures = {name: f"{fmean(row[name] for row in rows):.3f}" for name in names}
        yield {"beside": "an altered version", "questions": str(len(rows)), **figures}
        same = _folder(folder / "same", {"law.txt": _law(), "version.txt": _law()})
        quiet = [
            ("an equal version", questions, same),
            ("the sample's texts", questions, ROOT / "data" / "ll144"),
            *_laws(data, most, folder),
        ]
        for name, asked, corpus in quiet:
            told = f"{fmean(_disagree(_ask(question, corpus)) for question in asked):.3f}"
            yield {"beside": name, "questions": str(len(asked)), "told": told} | dict.fromkeys(
                names[1:], "–"
            )


def _questions(most: int) -> list[str]:
    return [case.question for case in read_cases(ROOT / "data" / "gold.jsonl")][:most]


def _law() -> str:
    return (ROOT / "data" / "ll144" / "law.txt").read_text(encoding="utf-8")


def _folder(folder: Path, texts: dict[str, str]) -> Path:
    folder.mkdir()
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def _ask(question: str, corpus: Path) -> Said:
    said: Said = graph.invoke({"question": question}, context={"corpus": str(corpus)})
    return said


def _disagree(said: Said) -> bool:
    return any(" disagrees with " in reason for reason in said["evaluation"]["reasons"])


def _altered(questions: list[str], law: str, made: Path) -> Iterator[dict[str, bool]]:
    chance = random.Random(1)
    alone = _folder(made / "alone", {"law.txt": law})
    for n, question in enumerate(questions):
        said = _ask(question, alone)
        for cited in said["citations"][:1]:
            quote = cited["quote"]
            ways = [text for kind, text in alterations([quote], law, chance) if kind in _KINDS]
            if not ways:
                continue
            other = chance.choice(ways)
            version = f"{law[: cited['start']]}{other}{law[cited['end'] :]}"
            beside = _folder(made / str(n), {"law.txt": law, "version.txt": version})
            yield _row(_ask(question, beside), {"law.txt": quote, "version.txt": other})


def _row(said: Said, wanted: dict[str, str]) -> dict[str, bool]:
    quotes = [(one["document"], one["quote"]) for one in said["citations"]]
    law, version = (
        any(name == where and (text in quote or quote in text) for where, quote in quotes)
        for name, text in wanted.items()
    )
    passed = version and bool(said["evaluation"]["passed"])
    told, alone = _disagree(said), version and not law
    return {"told": told, "shown": law and version, "altered alone": alone, "passed": passed}


def _laws(data: Path | None, most: int, made: Path) -> Iterator[tuple[str, list[str], Path]]:
    """Folders of laws that do not disagree, with questions on them."""
    if data is None or not (data / "gdpr").is_dir():
        print("laws left out: give --data or set LEXLOOP_DATA.")
        return
    asked = {}
    for law in ("gdpr", "us_cfr"):
        rows = [row for row in read_rows(data / law / "probes.jsonl") if not row.get("history")]
        asked[law] = [row["question"] for row in rows[:: -(-len(rows) // most)]]
    texts = [next((data / law).glob("*.txt")) for law in asked]
    both = _folder(made / "laws", {text.name: text.read_text("utf-8") for text in texts})
    yield "the GDPR and COPPA", [*asked["gdpr"], *asked["us_cfr"]], both
    files = [texts[0], next((data / "gdpr").glob("*.html"))]
    twice = _folder(made / "twice", {file.name: file.read_text("utf-8") for file in files})
    yield "the GDPR's text and its page", asked["gdpr"], twice


def _cost(questions: list[str], corpus: Path) -> float:
    """How many times as long a warm question takes with the comparison as without."""

    def seconds() -> list[float]:
        return [median(timed(_asking(q, corpus))[0] for _ in range(_TURNS)) for q in questions]

    with_it = seconds()
    put("nodes.generate.conflicts:with_conflicts", unchanged)
    return median(a / b for a, b in zip(with_it, seconds(), strict=True))


def _asking(question: str, corpus: Path) -> Callable[[], Said]:
    return lambda: _ask(question, corpus)


if __name__ == "__main__":
    main()
