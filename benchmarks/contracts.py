"""Questions on one of many contracts: the clause cited, and what is not there.

    python benchmarks/contracts.py [--contracts FOLDER] [--every N] [--questions N] [--three]

FOLDER holds ``documents``, some of them also in ``pdf``, and ``probes.jsonl``: questions that
describe a contract by its parties and ask for a clause that lawyers marked, or that it lacks
(default: the folder ``contracts`` of ``LEXLOOP_DATA``). All are one collection, of which as many
questions of each kind are asked, drawn at random. A clause is cited where a citation is of its
document and shares words with it. AUROC is that of the probability that an answer is said to have,
0 where none is given and 1 where it was read off the structure, for whether the contract has the
clause. Those that are in both forms are asked as text and as PDF; there a clause is told by its
words. With ``--three`` collections of three are asked, without a description, what at least two of
them answer: whether each that does is cited, and each that does not.
"""

import random
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from statistics import fmean

from _law import Provision
from _shared import DATA, Row, options, read_rows, table
from langchain_core.messages import HumanMessage
from sklearn.metrics import roc_auc_score

from lexloop.core.types import Citation
from lexloop.graph.app import graph

Cites = Callable[[Row, Citation], bool]
"""Whether a citation is of the clause that a question asks for."""
_SEED = 1
_GROUPS, _ASKED = 30, 8
_SHORT = 70_000
"""The most bytes of a contract that is one of three."""


def main() -> None:
    """Ask, and print what came of it."""
    parser = options(__doc__)
    parser.add_argument("--contracts", type=Path, default=DATA and DATA / "contracts")
    parser.add_argument("--every", type=int, default=1, help="take every Nth contract")
    parser.add_argument("--questions", type=int, default=300, help="how many of each kind")
    parser.add_argument("--three", action="store_true", help="ask three at once, and nothing else")
    given = parser.parse_args()
    if given.contracts is None or not (given.contracts / "probes.jsonl").is_file():
        sys.exit("There are no contracts; give --contracts FOLDER or set LEXLOOP_DATA.")
    texts = sorted((given.contracts / "documents").iterdir())[:: given.every]
    probes = read_rows(given.contracts / "probes.jsonl")
    if given.three:
        head = ["of three at once", "questions", "there", "contract cited", "clause", "not there"]
        print(table([*head, "contract cited"], [_of_each(texts, probes)]))
        return
    asked = _drawn(probes, {path.name for path in texts}, given.questions)
    rows = [["all", *_figures(texts, asked, _overlaps)]]
    printed = [path for path in texts if _pdf_of(path).is_file()]
    clauses = {path.name: path.read_text(encoding="utf-8") for path in printed}
    asked = [p for p in _drawn(probes, clauses, given.questions) if p["answerable"]]

    def says(probe: Row, citation: Citation) -> bool:
        text = clauses[probe["document"]]
        gold = [Provision(text[start:end]) for start, end in probe["spans"]]
        return any(one.holds(citation["quote"]) or one.lies_in(citation["quote"]) for one in gold)

    for form, paths in (("text", printed), ("PDF", [*map(_pdf_of, printed)])):
        if printed:
            rows.append([f"{len(printed)} as {form}", *_figures(paths, asked, says)])
    head = ["contracts", "there", "cited", "first", "right contract first", "refused"]
    print(table([*head, "not there", "refused", "AUROC"], rows))


def _pdf_of(path: Path) -> Path:
    return path.parents[1] / "pdf" / f"{path.stem}.pdf"


def _drawn(probes: Iterable[Row], names: Iterable[str], count: int) -> list[Row]:
    """As many questions about these documents that are answered there as that are not."""
    own = set(names)
    drawn = [probe for probe in probes if probe["document"] in own]
    random.Random(_SEED).shuffle(drawn)
    return [
        probe
        for there in (True, False)
        for probe in [one for one in drawn if one["answerable"] is there][:count]
    ]


def _overlaps(probe: Row, citation: Citation) -> bool:
    return any(citation["start"] < end and start < citation["end"] for start, end in probe["spans"])


def threes(texts: Sequence[Path], probes: Sequence[Row]) -> Iterator[tuple[str, list[list[Row]]]]:
    """Collections of three contracts, in a folder each, and what two of them answer at least.

    That is a few questions, each as three probes: one for each contract.
    """
    by: dict[str, dict[str, Row]] = {}
    for probe in probes:
        by.setdefault(probe["document"], {})[probe["category"]] = probe
    drawn = [path for path in texts if path.name in by and path.stat().st_size < _SHORT]
    random.Random(_SEED).shuffle(drawn)
    for group in list(zip(*[iter(drawn)] * 3, strict=False))[:_GROUPS]:
        kinds = [by[path.name] for path in group]
        common = sorted(set.intersection(*map(set, kinds)))
        shared = [c for c in common if sum(k[c]["answerable"] is True for k in kinds) > 1]
        random.Random(_SEED).shuffle(shared)
        with tempfile.TemporaryDirectory() as folder:
            for path in group:
                shutil.copy(path, folder)
            yield folder, [[kind[category] for kind in kinds] for category in shared[:_ASKED]]


def _of_each(texts: Sequence[Path], probes: Sequence[Row]) -> list[str]:
    """Ask collections of three contracts what two of them answer at least: a row of the table."""
    there: list[tuple[bool, bool]] = []
    lacking: list[bool] = []
    asked = 0
    for folder, questions in threes(texts, probes):
        for each in questions:
            asked += 1
            cited = graph.invoke(
                {"messages": [HumanMessage(each[0]["bare_question"])]}, context={"corpus": folder}
            )["citations"]
            for own in each:
                mine = [c for c in cited if c["document"] == own["document"]]
                if own["answerable"]:
                    there.append((bool(mine), any(_overlaps(own, c) for c in mine)))
                else:
                    lacking.append(bool(mine))
    shares = [f"{fmean(values):.3f}" for values in zip(*there, strict=True)]
    wrongly = f"{fmean(lacking):.3f}" if lacking else ""
    figures = [str(asked), str(len(there)), *shares, str(len(lacking)), wrongly]
    return [f"{_GROUPS} collections", *figures]


def _figures(documents: Sequence[Path], asked: Iterable[Row], cites: Cites) -> list[str]:
    """What came of questions on documents that are one collection: a row of the table."""
    there: list[tuple[bool, ...]] = []
    refused: list[bool] = []
    sure: list[tuple[bool, float]] = []
    with tempfile.TemporaryDirectory() as folder:
        for path in documents:
            shutil.copy(path, folder)
        for probe in asked:
            said = graph.invoke(
                {"messages": [HumanMessage(probe["question"])]}, context={"corpus": folder}
            )
            cited = said["citations"]
            own = [Path(c["document"]).stem == Path(probe["document"]).stem for c in cited]
            hits = [ours and cites(probe, c) for ours, c in zip(own, cited, strict=True)]
            none = said["abstained"]
            sure.append(
                (probe["answerable"], 0.0 if none else said["evaluation"].get("answers", 1.0))
            )
            if probe["answerable"]:
                there.append((any(hits), hits[:1] == [True], own[:1] == [True], none))
            else:
                refused.append(none)
    shares = (f"{fmean(values):.3f}" for values in zip(*there, strict=True))
    if not refused:
        return [str(len(there)), *shares, "", "", ""]
    auroc = roc_auc_score(*zip(*sure, strict=True))
    return [str(len(there)), *shares, str(len(refused)), f"{fmean(refused):.3f}", f"{auroc:.3f}"]


if __name__ == "__main__":
    main()
