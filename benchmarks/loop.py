"""What trying again gains and costs: questions mended, questions harmed, and the seconds.

    python benchmarks/loop.py [--gdpr FOLDER] [--ll144 FOLDER] [--sets gdpr,ll144,sample]
                              [--kinds everyday,list] [--limit N] [--each] [--json OUT]

The answer of each question is compared with its first attempt, which is what ``loop.max_retries=0``
answers. The probes of the GDPR are scored by the provisions that are cited (``_law_scoring.py``),
the questions of LL144 and of the sample by the embedded judge of correctness: right from 4 of 5,
and right to abstain where the documents do not answer. ``--each`` asks them of each strategy alone,
one retry a question. FOLDER defaults to ``gdpr`` and ``ll144`` in ``LEXLOOP_DATA``; what is absent
is left out.
"""

import argparse
import json
import os
import shutil
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any, get_args

from _law_asking import chosen
from _law_files import as_format
from _law_scoring import Law, scored
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage

from lexloop.core.settings import Connection, Settings
from lexloop.core.types import Advice, Attempt, ParsedQuestion, Strategy
from lexloop.evaluation.case import Case, read_cases
from lexloop.evaluation.correctness import CorrectnessJudge
from lexloop.evaluation.metrics.hypa import is_correct
from lexloop.graph.build import Lexloop, build_graph
from lexloop.graph.resources import Resources
from lexloop.models.minilm import load_minilm
from lexloop.nodes.context import Context
from lexloop.nodes.engineer_prompt import advised
from lexloop.nodes.evaluate.node import best_attempt

_ROOT = Path(__file__).resolve().parents[1]
_SETS = ("gdpr", "ll144", "sample")
_COLUMNS = ("questions", "retried", "run", "ended", "taken", "mended", "harmed", "seconds")
Figures = dict[str, dict[str, float]]
Score = Callable[[Mapping[str, Any]], tuple[float, ...]]


@dataclass(frozen=True)
class Question:
    """A question, what was said before it, and what an attempt at it is worth.

    ``history`` are turns, or the questions before, whose answers are then the system's own.
    """

    kind: str
    asked: str
    history: tuple[BaseMessage | str, ...]
    score: Score


class Only:
    """A prompt engineer that knows one strategy."""

    def __init__(self, strategy: Strategy) -> None:
        self._strategy = strategy

    async def advise(self, asked: ParsedQuestion, attempts: list[Attempt]) -> Advice:
        """To follow it."""
        return advised(self._strategy, asked)

    def has_more(self, asked: ParsedQuestion, attempts: list[Attempt]) -> bool:
        """Until it was followed."""
        return len(attempts) == 1


class Asker:
    """Asks one corpus.

    Args:
        graph: The state machine.
        settings: Name the corpus.
    """

    def __init__(self, graph: Lexloop, settings: Settings) -> None:
        self._graph, self._settings = graph, settings
        self._known: dict[tuple[str, ...], tuple[dict[str, Any], float]] = {}

    def ask(self, question: Question) -> tuple[dict[str, Any], float]:
        """The final state, and the seconds after the first verdict."""
        said: list[BaseMessage] = []
        for place, turn in enumerate(question.history):
            if isinstance(turn, str):
                before = replace(question, asked=turn, history=question.history[:place])
                said += [HumanMessage(turn), AIMessage(self.ask(before)[0]["answer"])]
            else:
                said.append(turn)
        turns = (*(str(message.content) for message in said), question.asked)
        if turns not in self._known:
            self._known[turns] = self._run([*said, HumanMessage(question.asked)])
        return self._known[turns]

    def _run(self, messages: list[BaseMessage]) -> tuple[dict[str, Any], float]:
        state: dict[str, Any] = {}
        first = 0.0
        shown = self._graph.stream(
            {"messages": messages}, context=self._settings, stream_mode=["updates", "values"]
        )
        for mode, news in shown:
            if mode == "values":
                state = news
            elif "evaluate" in news and not first:
                first = time.perf_counter()
        return state, time.perf_counter() - first


def main() -> None:
    """Ask every set, print what retries did, and write it where asked."""
    options = _options()
    report: dict[str, Any] = {}
    resources = Resources(Connection())
    with tempfile.TemporaryDirectory() as made:
        for name in options.sets.split(","):
            folder = options.folders[name]
            if folder is None or not folder.is_dir():
                print(f"{name} left out: give --{name} FOLDER or set LEXLOOP_DATA.")
                continue
            read = _probes if name == "gdpr" else _gold
            corpus, questions = read(folder, Path(made), options)
            settings = Settings(corpus=str(corpus))
            report[name] = _account(Asker(build_graph(resources), settings), questions)
            print(_table(name, report[name]), flush=True)
            alone: Figures = {}
            for strategy in get_args(Strategy) if options.each else ():
                graph = build_graph(_with_only(resources, strategy))
                asker = Asker(graph, settings.changed(**{"loop.max_retries": 1}))
                alone[strategy] = _account(asker, questions)["all"]
                print(f"{strategy} alone on {name}", alone[strategy], file=sys.stderr, flush=True)
            if alone:
                report[f"{name}, each alone"] = alone
                print(_table(f"{name}, each alone", alone), flush=True)
    if options.json:
        options.json.write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")


def _options() -> argparse.Namespace:
    data = os.environ.get("LEXLOOP_DATA")
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    for name in ("gdpr", "ll144"):
        parser.add_argument(f"--{name}", type=Path, default=Path(data) / name if data else None)
    parser.add_argument("--sets", default=",".join(_SETS))
    parser.add_argument("--kinds", help="kinds of the GDPR's probes, with commas")
    parser.add_argument("--limit", type=int, help="at most so many questions of each kind")
    parser.add_argument("--each", action="store_true", help="each strategy alone as well")
    parser.add_argument("--json", type=Path, metavar="OUT", help="also write the figures here")
    options = parser.parse_args()
    options.folders = {"gdpr": options.gdpr, "ll144": options.ll144, "sample": _ROOT / "data"}
    return options


def _with_only(resources: Resources, strategy: Strategy) -> Callable[..., Context]:
    return lambda context, snapshot: replace(resources(context, snapshot), engineer=Only(strategy))


def _probes(folder: Path, made: Path, options: argparse.Namespace) -> tuple[Path, list[Question]]:
    """A law's text as a corpus, and its probes."""
    text = next(iter(sorted(folder.glob("*.txt"))))
    structure = json.loads((folder / "structure.json").read_text(encoding="utf-8"))
    law = Law(text.read_text(encoding="utf-8"), structure)

    def score(probe: Mapping[str, Any]) -> Score:
        return lambda answer: tuple(scored(probe, answer, law).values())

    probes = chosen(folder / "probes.jsonl", options.kinds, options.limit)
    found = [Question(p["kind"], p["question"], (*p["history"],), score(p)) for p in probes]
    return as_format(text, "txt", made), found


def _gold(folder: Path, made: Path, options: argparse.Namespace) -> tuple[Path, list[Question]]:
    """The documents of a folder, the sample's in the one below, and its gold questions."""
    minilm = load_minilm()
    judge = CorrectnessJudge(minilm.embed)
    corpus = folder / "ll144"
    if not corpus.is_dir():
        corpus = made / folder.name
        corpus.mkdir()
        for text in folder.glob("*.txt"):
            shutil.copy(text, corpus)
    asked: Counter[str] = Counter()
    found: list[Question] = []
    for gold in read_cases(next(iter(sorted(folder.glob("gold*.jsonl"))))):
        asked[gold.question_type] += 1
        if options.limit is None or asked[gold.question_type] <= options.limit:
            *history, _ = gold.messages
            question = Question(
                gold.question_type, gold.question, (*history,), _correct(gold, judge)
            )
            found.append(question)
    return corpus, found


def _correct(gold: Case, judge: CorrectnessJudge) -> Score:
    def score(answer: Mapping[str, Any]) -> tuple[float, ...]:
        if gold.out_of_scope or answer["abstained"]:
            return (float(gold.out_of_scope and answer["abstained"]),)
        judged = judge.score(gold.question, answer["answer"], gold.reference_answer or "")
        return (float(is_correct(judged) == 1.0),)

    return score


def _account(asker: Asker, questions: Iterable[Question]) -> Figures:
    """What retries did: over all, by kind of question, and by strategy.

    A strategy has what became of the questions whose answer is its attempt. ``ended`` counts the
    questions whose last retry was not run, since it found nothing new.
    """
    figures: Figures = defaultdict(lambda: defaultdict(float))

    def count(name: str, done: Mapping[str, float]) -> None:
        for figure, value in done.items():
            figures[name][figure] = round(figures[name][figure] + value, 3)

    for question in questions:
        state, seconds = asker.ask(question)
        attempts: list[Attempt] = state["attempts"]
        done: dict[str, float] = {"questions": 1}
        if "advice" in attempts[0]:
            last, first = question.score(state), question.score(attempts[0])
            changed = {"mended": last > first, "harmed": last < first}
            idle = "advice" in attempts[-1]
            done |= {"retried": 1, "ended": idle, "seconds": seconds, **changed}
            best = best_attempt(attempts)["number"]
            for before, after in pairwise(attempts):
                taken = after["number"] == best
                count(before["advice"]["strategy"], {"run": 1, "taken": taken})
                count(before["advice"]["strategy"], changed if taken else {})
        count("all", done)
        count(question.kind, done)
    return {name: {**counts} for name, counts in figures.items()}


def _table(name: str, figures: Figures) -> str:
    """The figures of what was retried at all, as Markdown."""
    lines = [f"\n| {name} | {' | '.join(_COLUMNS)} |", "|---" * (1 + len(_COLUMNS)) + "|"]
    for row, found in sorted(figures.items(), key=lambda one: one[0] != "all"):
        if found.keys() - {"questions"}:
            cells = [f"{found[column]:g}" if column in found else "" for column in _COLUMNS]
            lines.append(f"| {row} | {' | '.join(cells)} |")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
