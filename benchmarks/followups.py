"""How much of what a follow-up leaves out is written out without a model.

    python benchmarks/followups.py --rewrites FILE [FILE ...] [--answers] [--model NAME --most N]

``followups.jsonl`` beside this script has follow-ups and corrections of our own.
Each line of a file is a turn of a conversation as JSON: ``history``, the turns before; ``q``, what
was asked; ``standalone``, the same as a person wrote it out. ``recovered`` is the share of the
words that the person added which the embedded rewriter adds as well, ``right`` the share of its
added words that the person added too; words that name nothing are left out. ``left alone`` is the
share of the turns to which the person added nothing that stay as they were, ``taken up`` that of
the others which do not. ``understood`` is the share of the turns that ask for the same kind of
fact by the same terms as what the person wrote. Intervals are bootstrap 95 % over turns. With
``--answers`` the first turn of a history names its subject, the second a part of it, which is left
out, and then questions and answers take turns.

``found`` is the reciprocal rank, up to 10, at which the product's hybrid retrieval has what belongs
to a turn, searched for as ``asked``, as ``written out`` and as ``a person`` wrote it: with
``--answers`` the answer that followed, among all answers; else what the person wrote, among all
that persons wrote. Some 500 turns are asked, evenly spread.

With ``--model`` the turns of the conversations that ``finetune.public_rows`` keeps from training, N
of a file and evenly spread, are written out by that model as well, as the product has it: where the
model wrote another question, the rules' reading stands. ``stood`` is the share of turns in which
the model's did.
"""

import asyncio
import json
import time
from collections.abc import Callable, Coroutine, Iterator, Mapping
from pathlib import Path
from typing import Any

from _pipeline import TOP, candidates_for, index_passages
from _shared import Row, options, read_rows

from lexloop.core.errors import LexloopError, hearing
from lexloop.core.metadata import Filters
from lexloop.core.settings import Connection, Settings
from lexloop.core.types import Plan, Turn, Usage
from lexloop.documents.text.tokens import STOP_WORDS, term_set, words
from lexloop.models.chat import ChatModel, asking, connect
from lexloop.models.minilm import load_shipped
from lexloop.models.request import ChatReply, ChatRequest
from lexloop.nodes.question.followups import resolved
from lexloop.nodes.question.parts import parse
from lexloop.nodes.question.rewrite import ModelRewriter
from lexloop_eval.statistics import Estimate, estimate
from training.public_rows import is_kept, turns

_ASKED = 500
_DEADLINE_S = 120.0
_PLAN: Plan = {"k": 3, "Q": 0, "K": 0, "S": 0}
Scores = dict[str, list[float]]
Write = Callable[[str, list[Turn]], str]
"""From a question and the turns before it to the question written out."""


class ByModel:
    """Writes questions out as the product does with a model, the same once; counts its own."""

    def __init__(self, model: str, base_url: str | None) -> None:
        chat, embedder = (
            connect(Settings(model=model), Connection(base_url=base_url)),
            load_shipped(),
        )
        view = index_passages([{"id": "0", "text": "A law."}], Settings(), embedder)
        self._rewriter = ModelRewriter(chat, view.seen_by(Filters()), embedder.embed)
        self.known: dict[str, tuple[str, bool]] = {}

    def __call__(self, question: str, history: list[Turn]) -> str:
        """The question written out: by the rules where the model has no form or another meaning."""
        key = json.dumps([question, history])
        if key not in self.known:
            with asking(_ask), hearing() as lost:
                try:
                    ask = self._rewriter.rewrite(question, history, _PLAN, None)
                    self.known[key] = asyncio.run(ask)["text"], not lost
                except LexloopError:
                    self.known[key] = resolved(question, history), False
        return self.known[key][0]


def main() -> None:
    """Write every turn out and print the table."""
    parser = options(__doc__)
    parser.add_argument("--rewrites", type=Path, nargs="+", required=True)
    parser.add_argument("--answers", action="store_true", help="histories hold answers as well")
    parser.add_argument("--model")
    parser.add_argument("--base-url")
    parser.add_argument("--most", type=int, default=None, metavar="N")
    given = parser.parse_args()
    for path in given.rewrites:
        rows = read_rows(path)
        conversation = "dialog" if given.answers else "topic"
        following = [
            row
            for row in rows
            if row["history"] and (not given.model or is_kept(row[conversation]))
        ]
        following = _spread(following, given.most)
        print(f"\n{path.parent.name}/{path.name}: {len(following)} turns")
        write: dict[str, Write] = {"written out": _resolved}
        if given.model:
            write["by the model"] = ByModel(given.model, given.base_url)
        for name, one in write.items():
            shown = _written_out(following, given.answers, one)
            if isinstance(one, ByModel):
                shown["stood"] = [float(stood) for _, stood in one.known.values()]
            _print(
                shown if name == "written out" else {f"{k}, {name}": v for k, v in shown.items()}
            )
        _print(_found(rows, following, given.answers, write))


def _ask(chat: ChatModel, request: ChatRequest) -> Coroutine[Any, Any, ChatReply]:
    spent: Usage = {"model_calls": 0, "tokens_in": 0, "tokens_out": 0, "seconds": 0.0}
    return chat.acomplete(request, deadline=time.monotonic() + _DEADLINE_S, meter=spent)


def _resolved(question: str, history: list[Turn]) -> str:
    return resolved(question, history, load_shipped().embed)


def _understood(question: str) -> list[tuple[str | None, frozenset[str]]]:
    return [(part["kind"], term_set(part["text"])) for part in parse(question)["parts"]]


def _spread(rows: list[Row], most: int | None) -> list[Row]:
    return rows[:: -(-len(rows) // most)] if most and rows else rows


def _print(scores: Scores) -> None:
    for name, values in scores.items():
        if isinstance(made := estimate(values), Estimate):
            spread = f"({made.low:.3f} to {made.high:.3f})"
            print(f"  {name:25} {made.mean:.3f} {spread}, {made.n} turns", flush=True)


def _written_out(rows: list[Row], answers: bool, write: Write) -> Scores:
    shown = ("understood", "recovered", "right", "left alone", "taken up")
    scores: Scores = {name: [] for name in shown}
    for row in rows:
        asked = _named(row["q"])
        wanted = _named(row["standalone"]) - asked
        written = write(row["q"], turns(row["history"], answers))
        added = _named(written) - asked
        alike = _understood(written) == _understood(row["standalone"])
        scores["understood"].append(float(alike))
        scores["taken up" if wanted else "left alone"].append(float(bool(added) == bool(wanted)))
        if wanted:
            scores["recovered"].append(len(added & wanted) / len(wanted))
        if added:
            scores["right"].append(len(added & wanted) / len(added))
    return scores


def _found(
    rows: list[Row], following: list[Row], answers: bool, write: Mapping[str, Write]
) -> Scores:
    """How high what belongs to a turn is found, by each of its forms."""
    belongs, settings = dict(_belonging(rows, answers)), Settings()
    texts = list(dict.fromkeys(belongs.values()))
    passages = [{"id": str(place), "text": text} for place, text in enumerate(texts)]
    view = index_passages(passages, settings, load_shipped()).seen_by(Filters())
    chosen = {id(row) for row in following}
    asked = [n for n in belongs if id(rows[n]) in chosen]
    scores: Scores = {}
    for n in _spread(asked, _ASKED):
        row = rows[n]
        told = turns(row["history"], answers)
        written = {name: one(row["q"], told) for name, one in write.items()}
        for name, form in {"asked": row["q"], **written, "a person": row["standalone"]}.items():
            ranked = [texts[int(c["document"])] for c in candidates_for(form, view, settings)[:TOP]]
            rank = ranked.index(belongs[n]) + 1 if belongs[n] in ranked else 0
            scores.setdefault(f"found, {name}", []).append(1 / rank if rank else 0.0)
    return scores


def _belonging(rows: list[Row], answers: bool) -> Iterator[tuple[int, str]]:
    """What belongs to a turn, by its place among the rows."""
    for n, row in enumerate(rows):
        if not answers:
            yield n, row["standalone"]
        elif n + 1 < len(rows) and rows[n + 1]["history"][:-2] == row["history"]:
            yield n, rows[n + 1]["history"][-1]


def _named(text: str) -> set[str]:
    return set(words(text)) - STOP_WORDS


if __name__ == "__main__":
    main()
