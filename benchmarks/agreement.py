"""How well judges of groundedness agree with people who judged claims: the embedded one, a model.

    python benchmarks/agreement.py --claims FOLDER
    python benchmarks/agreement.py --claims FOLDER --model NAME [--base-url URL] [--rubrics NAME]

Each line of ``FOLDER/*.jsonl`` is a claim with its evidence and a person's label: supported, or
not wholly. The judge calls a claim supported from a probability of 0.5 on. The figures are those of
HyPA-RAG's figures 2, 8 and 9, by set in place of the question type, with bootstrap 95 % intervals
over claims that share nothing. The first ``--most`` claims of a set are judged. WiCE, on which the
judge was fitted, is in ``judges.py``, cross-validated. With --model that model judges by our
rubrics or by the reworded ones, as the loop has it judge an answer; ``unread`` are replies that
have no scores, and count in no figure.
"""

import os
import sys
from collections.abc import Sequence
from functools import lru_cache, partial
from pathlib import Path
from typing import NamedTuple, get_args

from _shared import options
from pydantic import BaseModel, Field

from lexloop.core.errors import LexloopError
from lexloop.core.jsonl import read_jsonl
from lexloop.core.settings import Connection, Settings
from lexloop.core.settings_groups import Rubrics
from lexloop.core.types import Passage
from lexloop.documents.text.tokens import term_set
from lexloop.models.minilm import load_minilm
from lexloop.nodes.evaluate.evidence import evidence_of
from lexloop.nodes.evaluate.judges import ClaimSupport, ModelJudge
from lexloop.nodes.question.parts import parse
from lexloop_eval.agreement import Judged, agreement
from lexloop_eval.asking import Asker
from lexloop_eval.report.tables import markdown_table, number, probability
from lexloop_eval.score import Score, Unresolved
from lexloop_eval.statistics import Estimate, correlation

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
    parser.add_argument("--model")
    parser.add_argument("--base-url")
    parser.add_argument("--cache", type=Path, help="the model's replies, so that a run goes on")
    parser.add_argument("--rubrics", choices=get_args(Rubrics), default="hardened")
    given = parser.parse_args(arguments)
    if not [*given.claims.glob("*.jsonl")]:
        parser.error(f"{given.claims} has no .jsonl files of claims")
    try:
        paths = sorted(given.claims.glob("*.jsonl"))
        sets = {path.stem: read_jsonl(path, Claim)[: given.most] for path in paths}
        chosen = {"model.name": given.model, "loop.rubrics": given.rubrics}
        told = {**os.environ, "LEXLOOP_BASE_URL": given.base_url or ""}
        judge = of_claims
        if given.model:
            asker = Asker(Settings(**chosen), Connection.from_environment(told), given.cache)
            judge = partial(by_model, asker)
        rows = {name: judge(claims) for name, claims in sets.items()}
    except LexloopError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    head = ["set", "claims", "supported", "called so", *COLUMNS, "p", "Spearman of cover", "unread"]
    lines = [[*line(name, rows[name]), str(len(sets[name]) - len(rows[name]))] for name in sets]
    print("\n".join(markdown_table(head, lines)))
    return 0


def of_claims(claims: Sequence[Claim]) -> list[Row]:
    """The claims of a set, judged by the shipped weights; those of one evidence in a row."""
    embed = load_minilm().embed
    judge, read = ClaimSupport(embed), lru_cache(1)(lambda text: evidence_of([text], embed))
    together = sorted(claims, key=lambda claim: claim.evidence)
    return [row(one, judge.of([one.claim], read(one.evidence))[0].probability) for one in together]


def by_model(asker: Asker, claims: Sequence[Claim]) -> list[Row]:
    """The claims of a set that a model gave scores, judged by the asker's rubrics."""
    judge = ModelJudge(asker, rubrics=asker.rubrics)
    found = []
    for one in claims:
        passage: Passage = {
            **{"id": "", "document": "evidence", "title": "", "section": "", "page": None},
            **{"start": 0, "end": len(one.evidence), "text": one.evidence},
            **{"score": 1.0, "signals": {}, "n": 1},
        }
        asked = parse(one.question or one.claim)
        judged = asker.settle(judge.judge(asked, [passage], f"{one.claim} [1]"))
        if not isinstance(judged, Unresolved) and judged.groundedness is not None:
            found.append(row(one, judged.groundedness))
    return found


def row(claim: Claim, likely: float) -> Row:
    """What a judge gives a claim, beside what a person said of it."""
    wanted = term_set(claim.claim)
    cover = len(wanted & term_set(claim.evidence)) / len(wanted) if wanted else 0.0
    shared = claim.seed or claim.question or claim.claim
    said = (int(claim.label == "supported"),)
    return Row(Judged(shared, "", likely, int(likely >= SUPPORTED), said), cover)


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
