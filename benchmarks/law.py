"""How well laws are read: by format, by part of the system, and by label.

    python benchmarks/law.py [--gdpr FOLDER] [--parts | --rewriter MODEL]
    python benchmarks/law.py --labels
    python benchmarks/law.py --headed FILE ...

The first asks the probes of a law (FOLDER holds its text, its page, ``structure.json`` and
``probes.jsonl``; default the folder ``gdpr`` of ``LEXLOOP_DATA``) of its text, its page, and a DOCX
and a PDF made from the text, and scores every citation by its words, so that all formats are
measured alike; ``_law.py`` says how. ``--parts`` asks of its text with one part of the system left
out at a time; ``--rewriter`` asks of its text what follows other questions, which the rules write
out, and beside them that model. ``--labels`` asks about the sample and about a contract, an act and
a policy with tables, and compares each citation's label with the one that a reader wrote down.
``--headed`` asks what provisions of these files say about their own heading, and about that of the
next provision, with the rule that quotes a provision whole and without it: the share that passes
and cites that provision alone, and of the other headings the share that passes.
"""

import json
import sys
import tempfile
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import replace
from functools import cache
from itertools import pairwise
from pathlib import Path
from statistics import fmean
from typing import Any
from unittest import mock

from _law import Law, Provision, as_format, quotes_row, scored
from _shared import DATA, ROOT, Row, options, read_rows, table
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage

from lexloop.core.metadata import Filters
from lexloop.core.settings import Settings
from lexloop.documents.structure.tree import Unit
from lexloop.documents.text.tokens import term_set
from lexloop.graph.app import graph
from lexloop.graph.resources import Resources
from lexloop.nodes.question import provisions
from lexloop_workbench.questions import about, is_asked

_ASKED = ROOT / "tests" / "data" / "asked_laws"
_HEADED = 40
"""The most provisions of a file that are asked for."""
_FORMATS = ("txt", "html", "docx", "pdf")
_PARTS: dict[str, dict[str, Any]] = {
    "everything": {},
    "untrained embedder": {"index.embedder": "minilm"},
    "no token vectors": {"index.token_vectors": False},
    "ranks fused": {"fusion": "rrf"},
    "no rewriting": {"retrieval.rewriter": "none"},
    "no graph": {"retrieval.knowledge_graph": "none"},
    "no reranking": {"retrieval.reranker": "none"},
    "one statement": {"answer.statements": 1},
    "no retry": {"loop.max_retries": 0},
}
_REWRITING = {
    "retrieval.rewriter": "model",
    "answer.generator": "embedded",
    "loop.evaluator": "embedded",
    "loop.prompt_engineer": "embedded",
}
"""The model writes questions out, and nothing else."""
Figures = dict[str, float]


def main() -> None:
    """Measure what is asked for, and print it."""
    parser = options(__doc__)
    parser.add_argument("--gdpr", type=Path, default=DATA and DATA / "gdpr")
    parser.add_argument("--parts", action="store_true")
    parser.add_argument("--rewriter", metavar="MODEL")
    parser.add_argument("--labels", action="store_true")
    parser.add_argument("--headed", type=Path, nargs="+", metavar="FILE")
    given = parser.parse_args()
    if given.headed:
        rows = [row for file in given.headed for row in _headed(file)]
        print(table(["law", "rule", "asked", "own heading: whole, passed", "next: passed"], rows))
    elif given.labels:
        questions = json.loads((_ASKED / "questions.json").read_text(encoding="utf-8"))
        print(json.dumps(_labelled((_ASKED, ROOT / "data" / "ll144"), questions), indent=2))
    elif given.gdpr is None or not (given.gdpr / "probes.jsonl").is_file():
        sys.exit(f"There are no probes in {given.gdpr}; give --gdpr FOLDER or set LEXLOOP_DATA.")
    else:
        [text] = given.gdpr.glob("*.txt")
        columns = _PARTS if given.parts else {name: {} for name in _FORMATS}
        kinds = {"follow_up"} if given.rewriter else set()
        if given.rewriter:
            columns = {"rules": {}, given.rewriter: {"model": given.rewriter, **_REWRITING}}
        with tempfile.TemporaryDirectory() as made:
            report = {
                name: _probed(
                    as_format(text, name if name in _FORMATS else "txt", Path(made)),
                    text,
                    how,
                    kinds,
                )
                for name, how in columns.items()
            }
        print(_beside_the_first(report))


def _headed(file: Path) -> Iterator[list[str]]:
    """What comes of questions with headings, with the rule for them and without it."""
    settings = Settings(corpus=str(file))
    with closing(Resources(defaults=settings)) as resources:
        view = resources.collection(settings)[0].seen_by(Filters.of(settings))
        tree = view.tree_of(file.name)
    units = [one for one in tree.units if one.number and is_asked(one)] if tree else []
    chosen = [*pairwise(units)][:_HEADED]
    for rule in ("with", "without") if chosen else ():
        whole = provisions._Question.whole if rule == "with" else _pointed_alone
        with mock.patch.object(provisions._Question, "whole", whole):
            ask = asker(file, {})
            own = [_passed(ask(about(unit)[1]), unit) for unit, _ in chosen]
            other = [
                ask(about(replace(unit, heading=after.heading))[1])["evaluation"]["passed"]
                for unit, after in chosen
                if not term_set(after.heading) <= term_set(unit.heading)
            ]
        yield [file.name, rule, str(len(own)), f"{fmean(own):.2f}", f"{fmean(other):.2f}"]


def _pointed_alone(asked: Any, _: Any) -> bool:
    return bool(asked._pointing["only"])


def _passed(answer: Mapping[str, Any], unit: Unit) -> bool:
    within = (unit.start <= one["start"] < unit.end for one in answer["citations"])
    return answer["evaluation"]["passed"] and bool(answer["citations"]) and all(within)


def _beside_the_first(report: dict[str, Figures]) -> str:
    """The figures by format, each with its difference from the first format's."""
    first, *others = report.values()
    rows = (
        [name, f"{value:.3f}", *(f"{one[name]:.3f} ({one[name] - value:+.3f})" for one in others)]
        for name, value in first.items()
    )
    return table(["", *report], rows)


def asker(corpus: Path, settings: Mapping[str, Any]) -> Callable[..., dict[str, Any]]:
    """What asks of one corpus, behind the questions of a history; the same turns once.

    Args:
        corpus: A folder, a document or an index.
        settings: Further settings by name.
    """
    context = {**settings, "corpus": str(corpus)}

    @cache
    def ask(question: str, *history: str) -> dict[str, Any]:
        messages: list[BaseMessage] = []
        for number, turn in enumerate(history):
            messages += [HumanMessage(turn), AIMessage(ask(turn, *history[:number])["answer"])]
        said: dict[str, Any] = graph.invoke(
            {"messages": [*messages, HumanMessage(question)]}, context=context
        )
        return said

    return ask


def _probed(
    corpus: Path, text: Path, settings: Mapping[str, Any], kinds: Collection[str]
) -> Figures:
    """Mean figures by kind of probe, ``list_items`` for example; without kinds of all."""
    structure = json.loads(text.with_name("structure.json").read_text(encoding="utf-8"))
    law, ask = Law(text.read_text(encoding="utf-8"), structure), asker(corpus, settings)
    figures: dict[str, list[float]] = defaultdict(list)
    probes = read_rows(text.with_name("probes.jsonl"))
    for probe in [one for one in probes if not kinds or one["kind"] in kinds]:
        answer = ask(probe["question"], *probe["history"])
        for name, value in scored(probe, answer, law).items():
            figures[f"{probe['kind']}_{name}"].append(value)
    return {name: fmean(values) for name, values in sorted(figures.items())}


def _labelled(corpora: Iterable[Path], questions: Iterable[Row]) -> Figures:
    """How citations are labelled that quote what a question asks for, and rows that are found.

    Args:
        corpora: Folders that hold the documents.
        questions: ``document``, ``question``, the ``label`` of the provision that answers, and its
            ``words``; of a row of a table also the ``value`` asked for.
    """
    askers = {path.name: asker(path, {}) for corpus in corpora for path in corpus.iterdir()}
    exact: list[bool] = []
    found: dict[str, list[bool]] = {"provisions": [], "rows": []}
    for row in questions:
        citations = askers[row["document"]](row["question"])["citations"]
        held = [c["section"] for c in citations if quotes(row, c["quote"])]
        found["rows" if "value" in row else "provisions"].append(bool(held))
        exact += [section == row["label"] for section in held]
        if held[:1] != [row["label"]]:
            print(f"{row['label']}: {held or 'not cited'} ({row['question']})", file=sys.stderr)
    return {
        "labels_exact": round(sum(exact) / max(1, len(exact)), 3),
        "labels_of": len(exact),
        **{f"{name}_found": round(fmean(held), 3) for name, held in found.items() if held},
    }


def quotes(row: Row, quote: str) -> bool:
    """Whether a citation quotes the provision, or the row, that a question asks for."""
    if "value" in row:
        return quotes_row(quote, (row["words"], row["value"]), f"{row['words']} {row['value']}")
    return Provision(row["words"]).grams <= Provision(quote).grams


if __name__ == "__main__":
    main()
