"""Questions put to the state machine over one corpus, conversations with their own answers."""

import json
import sys
from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path
from statistics import fmean
from typing import Any

from _law_scoring import Law, Provision, quotes_row, scored
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage

from lexloop.graph.app import graph

Figures = dict[str, float]


class Asker:
    """Asks of one corpus; the same question in the same conversation once.

    Args:
        corpus: A folder, a document or an index.
        settings: Further settings by name.
    """

    def __init__(self, corpus: Path | str, settings: Mapping[str, Any] | None = None) -> None:
        self._context = {**(settings or {}), "corpus": str(corpus)}
        self._known: dict[tuple[str, ...], dict[str, Any]] = {}

    def __call__(self, question: str, history: Iterable[str] = ()) -> dict[str, Any]:
        """The output of the state machine; ``history`` are the questions asked before."""
        turns = (*history, question)
        if turns not in self._known:
            messages: list[BaseMessage] = []
            for number, turn in enumerate(turns[:-1]):
                before = self(turn, turns[:number])["answer"]
                messages += [HumanMessage(turn), AIMessage(before)]
            asked = {"messages": [*messages, HumanMessage(question)]}
            self._known[turns] = graph.invoke(asked, context=self._context)
        return self._known[turns]


def chosen(probes: Path, kinds: str | None, limit: int | None) -> list[dict[str, Any]]:
    """The probes of some kinds, of each kind the first few."""
    counts: dict[str, int] = defaultdict(int)
    found = []
    for line in probes.read_text(encoding="utf-8").splitlines():
        probe = json.loads(line)
        kind = probe["kind"]
        if kinds and kind not in kinds.split(","):
            continue
        counts[kind] += 1
        if limit is None or counts[kind] <= limit:
            found.append(probe)
    return found


def probed(
    corpus: Path,
    law: Law,
    probes: Iterable[Mapping[str, Any]],
    settings: Mapping[str, Any] | None = None,
) -> Figures:
    """Mean figures by kind, ``list_items`` for example."""
    ask = Asker(corpus, settings)
    figures: dict[str, list[float]] = defaultdict(list)
    for number, probe in enumerate(probes):
        answer = ask(probe["question"], probe["history"])
        for name, value in scored(probe, answer, law).items():
            figures[f"{probe['kind']}_{name}"].append(value)
        if number % 50 == 49:
            print(f"{corpus.name}: {number + 1} asked", file=sys.stderr, flush=True)
    return {name: round(fmean(values), 3) for name, values in sorted(figures.items())}


def labelled(corpora: Iterable[Path], questions: Iterable[Mapping[str, Any]]) -> Figures:
    """How citations are labelled that quote what a question asks for, and rows that are found.

    Args:
        corpora: Folders that hold the documents.
        questions: ``document``, ``question``, the ``label`` of the provision that answers, and its
            ``words``; of a row of a table also the ``value`` asked for.
    """
    texts = {path.name: path for corpus in corpora for path in corpus.iterdir()}
    askers = {name: Asker(path) for name, path in texts.items()}
    exact: list[bool] = []
    found: dict[str, list[bool]] = {"provisions": [], "rows": []}
    for row in questions:
        citations = askers[row["document"]](row["question"])["citations"]
        held = [c for c in citations if quotes(row, c["quote"])]
        found["rows" if "value" in row else "provisions"].append(bool(held))
        exact += [citation["section"] == row["label"] for citation in held]
        if not held or held[0]["section"] != row["label"]:
            said = held[0]["section"] if held else "not cited"
            print(f"{row['label']}: {said!r} ({row['question']})", file=sys.stderr)
    return {
        "labels_exact": round(sum(exact) / max(1, len(exact)), 3),
        "labels_of": len(exact),
        **{f"{name}_found": round(fmean(held), 3) for name, held in found.items() if held},
    }


def quotes(row: Mapping[str, Any], quote: str) -> bool:
    """Whether a citation quotes the provision, or the row, that a question asks for."""
    if "value" in row:
        return quotes_row(quote, (row["words"], row["value"]), f"{row['words']} {row['value']}")
    return Provision(row["words"]).grams <= Provision(quote).grams
