"""How well the embedded judge of groundedness agrees with people who judged claims.

    python benchmarks/agreement.py --claims FOLDER

Each line of ``FOLDER/*.jsonl`` is a claim with its evidence and a person's label: supported, or
not wholly. The judge calls a claim supported from a probability of 0.5 on. The figures are those of
HyPA-RAG's figures 2, 8 and 9, by set in place of the question type, with bootstrap 95 % intervals
over claims that share nothing. The first ``--most`` claims of a set are judged. WiCE, on which the
judge was fitted, is in ``judges.py``, cross-validated.
"""

import sys
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from _shared import options
from pydantic import BaseModel, Field

from lexloop.core.errors import LexloopError
from lexloop.documents.text.tokens import term_set
from lexloop.evaluation.agreement import Judged, agreement
from lexloop.evaluation.jsonl import read_jsonl
from lexloop.evaluation.report.tables import markdown_table, number, probability
from lexloop.evaluation.score import Score, Unresolved
from lexloop.evaluation.statistics import Estimate, correlation
from lexloop.models.minilm import load_minilm
from lexloop.nodes.evaluate.evidence import evidence_of
from lexloop.nodes.evaluate.judges import ClaimSupport

SUPPORTED = 0.5
COLUMNS = ("precision", "recall", "f1", "agreement", "kappa", "spearman")


class Claim(BaseModel):
    """A claim that a person judged; ``question`` or ``seed`` is what others of its set share."""

    claim: str = Field(min_length=1)
    evidence: str = Field(min_length=1)
    label: str
    question: str = ""
    seed: str = ""


class Row(NamedTuple):
    """What the judge and the share of the claim's terms give a claim, and what a person said."""

    judged: Judged
    cover: float


def main(arguments: list[str] | None = None) -> int:
    """Run the benchmark that the command line describes; the exit code."""
    parser = options(__doc__)
    parser.add_argument("--claims", type=Path, required=True, help="a folder of sets of claims")
    parser.add_argument("--most", type=int, default=700, help="claims of a set")
    given = parser.parse_args(arguments)
    try:
        paths = sorted(given.claims.glob("*.jsonl"))
        sets = {path.stem: of_claims(read_jsonl(path, Claim)[: given.most]) for path in paths}
    except LexloopError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    head = ["set", "claims", "supported", "called so", *COLUMNS, "p", "Spearman of cover"]
    print("\n".join(markdown_table(head, [line(name, rows) for name, rows in sets.items()])))
    return 0


def of_claims(claims: Sequence[Claim]) -> list[Row]:
    """The claims of a set, judged by the shipped weights; those of one evidence in a row."""
    embed = load_minilm().embed
    judge, read = ClaimSupport(embed), lru_cache(1)(lambda text: evidence_of([text], embed))

    def rows() -> Iterator[Row]:
        for one in sorted(claims, key=lambda claim: claim.evidence):
            likely = judge.of([one.claim], read(one.evidence))[0].probability
            wanted = term_set(one.claim)
            cover = len(wanted & term_set(one.evidence)) / len(wanted) if wanted else 0.0
            shared = one.seed or one.question or one.claim
            said = (int(one.label == "supported"),)
            yield Row(Judged(shared, "", likely, int(likely >= SUPPORTED), said), cover)

    return [*rows()]


def line(name: str, rows: Sequence[Row]) -> list[str]:
    """The figures of a set."""
    each = [row.judged for row in rows]
    found = agreement(each)
    said = [sum(one.people[0] for one in each), sum(one.label for one in each)]
    cover = correlation("spearman", [(row.cover, row.judged.people[0]) for row in rows])
    figures = [shown(found.figures[column]) for column in COLUMNS]
    p = "-" if isinstance(found.p, Unresolved) else probability(found.p).removeprefix("= ")
    return [name, str(len(each)), *map(str, said), *figures, p, shown(cover)]


def shown(value: Estimate | Score) -> str:
    """A figure with its interval behind it; a dash where there is none."""
    if isinstance(value, Unresolved):
        return "-"
    if isinstance(value, Estimate):
        return f"{number(value.mean)} [{number(value.low)}, {number(value.high)}]"
    return number(value)


if __name__ == "__main__":
    sys.exit(main())
