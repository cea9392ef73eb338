"""What the loop makes of twenty-four questions, every reply of the model recorded.

    python benchmarks/loop.py [--show] [--prompts FOLDER]

``loop`` has the documents, and ``_long_contract.py`` writes one more. ``loop.jsonl`` has a line for
each question, and one for each reply: its question, step and attempt. An answer names what it cites
by words of the passage in ``[[ ]]``. Of several answers for an attempt the server takes the first
whose passages were all handed over, and else abstains, so that a failure to find evidence shows;
each has the verdict of an honest judge. An engineer's replies follow each other, as it looks
further. ``--show`` prints each question's attempts, ``--prompts`` keeps what the model was asked.
"""

import re
import shutil
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

from _long_contract import long_contract
from _shared import Row, options, read_rows, table
from fake_openai import FakeOpenAI, Reply, Request, reply
from langchain_core.messages import AIMessage, HumanMessage

from lexloop.core.settings import Settings
from lexloop.core.state import State
from lexloop.core.types import ABSTENTION, Attempt
from lexloop.graph.build import build_graph
from lexloop.graph.resources import Resources
from lexloop.nodes.context import TRIAD

HOME = Path(__file__).with_name("loop")
CONTRACT = "port-services.txt"
_CITED = re.compile(r"\[\[(.+?)\]\]")
_PASSAGE = re.compile(r'<data-\w+ passage="(\d+)">(.*?)(?=</?data-)', re.DOTALL)
_CHARS_PER_TOKEN = 4
NARROW = 100
"""Tokens of passages with which first attempts lack evidence that the documents hold."""
GOOD = "good"
"""What a first draft is called that is not bad on purpose."""


class Player:
    """A server's replies to one question after another, as they were recorded."""

    def __init__(self, replies: Sequence[Row]) -> None:
        self._replies = replies
        self._question = ""
        self._asked: Counter[str] = Counter()
        self._verdict: Row = {}
        self.evidence: list[bool] = []
        """Whether each attempt was handed all passages of the right answer."""

    def begin(self, question: str) -> None:
        """Play the replies to this question, from the first."""
        self._question, self._asked, self._verdict = question, Counter(), {}
        self.evidence = []

    def play(self, server: FakeOpenAI) -> None:
        """Let a server answer with these replies."""
        server.play("rewrite", lambda _: reply(**self._next("rewrite")[0]["reply"]))
        server.play("generate", self._generate)
        server.play("evaluate", self._evaluate)
        server.play("engineer_prompt", self._engineer)

    def _next(self, step: str) -> list[Row]:
        """Return the replies for this time that the step is asked, or for the last recorded."""
        self._asked[step] += 1
        every = [r for r in self._replies if (r["question"], r["step"]) == (self._question, step)]
        last = max(row["attempt"] for row in every)
        return [row for row in every if row["attempt"] == min(self._asked[step], last)]

    def _generate(self, request: Request) -> Reply:
        passages = passages_in(request)
        right = next(r for r in self._replies if r["question"] == self._question and r.get("right"))
        self.evidence.append(_numbered(right["reply"], passages) is not None)
        for row in self._next("generate"):
            if (said := _numbered(row["reply"], passages)) is not None:
                self._verdict = row.get("judged", {})
                return Reply(said)
        return Reply(ABSTENTION)

    def _evaluate(self, request: Request) -> Reply:
        verdict, why = self._verdict, self._verdict.get("why", "As the passages say.")
        scores = dict(zip(TRIAD, verdict["scores"], strict=True))
        return reply(
            **{name: {"reasoning": why, "score": score} for name, score in scores.items()},
            unsupported=verdict.get("unsupported", []),
            missing=verdict.get("missing", []),
        )

    def _engineer(self, request: Request) -> Reply:
        said = self._next("engineer_prompt")[0]["reply"]
        found = passages_in(request)
        chosen = [n for words in said.get("passages", []) for n in holding(words, found)]
        return reply(**{**said, "passages": chosen})


def passages_in(request: Request) -> dict[int, str]:
    """Return the passages of a prompt by their numbers."""
    return {int(n): " ".join(said.split()) for n, said in _PASSAGE.findall(request.user)}


def holding(words: str, passages: dict[int, str]) -> list[int]:
    """Return the number of the first passage that holds some words, or nothing."""
    return [n for n, said in passages.items() if words in said][:1]


def _numbered(answer: str, passages: dict[int, str]) -> str | None:
    """Return an answer with the numbers of its passages; None if one was not handed over."""
    if not all(holding(words, passages) for words in _CITED.findall(answer)):
        return None
    return _CITED.sub(lambda named: f"[{holding(named[1], passages)[0]}]", answer)


@dataclass(frozen=True)
class Played:
    """A question and what the loop made of it."""

    question: Row
    state: State
    evidence: Sequence[bool]
    doubted: bool  # whether the judge was told doubts of the first draft
    calls: int
    tokens: float

    @property
    def attempts(self) -> list[Attempt]:
        """Its attempts."""
        return self.state["attempts"]

    @property
    def first(self) -> bool:
        """Whether the first attempt is right."""
        return self.right(self.attempts[0]["answer"])

    @property
    def last(self) -> bool:
        """Whether the answer in the end is right."""
        return self.right(self.state["answer"])

    @property
    def held(self) -> bool:
        """Whether code refused the first draft, or doubted it to the judge."""
        return not self.attempts[0]["evaluation"]["citations_verified"] or self.doubted

    @property
    def told(self) -> bool:
        """Whether it was told that the first attempt is bad, and that the answer is, if it is."""
        warned = self.state["warning"] or self.state["abstained"]
        return not self.attempts[0]["evaluation"]["passed"] and bool(self.last or warned)

    def right(self, answer: str) -> bool:
        """Return whether an answer has every string that it needs, and no string of a wrong one."""
        plain = " ".join(answer.split())
        holds = all(any(o in plain for o in one.split("|")) for one in self.question["holds"])
        return holds and not any(wrong in plain for wrong in self.question.get("never", []))


def played(rows: Sequence[Row], prompts: Path | None = None, **settings: Any) -> Iterator[Played]:
    """Ask all questions of the rows, each in a conversation of its own."""
    with FakeOpenAI() as server, tempfile.TemporaryDirectory() as folder:
        shutil.copytree(HOME, folder, dirs_exist_ok=True)
        Path(folder, CONTRACT).write_text(long_contract(), encoding="utf-8")
        player = Player([row for row in rows if "step" in row])
        player.play(server)
        chosen = Settings(**{"corpus": folder, "model": "openai:played", **settings})
        graph = build_graph(Resources(server.connection, chosen))
        for question in (row for row in rows if "step" not in row):
            player.begin(question["id"])
            server.requests.clear()
            earlier = [
                made(text)
                for turn in question.get("history", [])
                for made, text in zip((HumanMessage, AIMessage), turn, strict=True)
            ]
            state = graph.invoke({"messages": [*earlier, HumanMessage(question["question"])]})
            if prompts:
                _keep(prompts / f"{question['id']}.txt", server.requests)
            sent = sum(len(m["content"]) for r in server.requests for m in r.messages)
            judging = (r.user for r in server.requests if r.role == "evaluate")
            doubted = 'kind="doubt"' in next(judging, "")
            calls, tokens = len(server.requests), sent / _CHARS_PER_TOKEN
            yield Played(question, state, player.evidence, doubted, calls, tokens)


def _keep(file: Path, requests: Sequence[Request]) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    said = [f"=== {request.role}\n{request.user}" for request in requests]
    file.write_text("\n".join(said), encoding="utf-8")


def figures(found: Sequence[Played]) -> dict[str, str]:
    """Return what is asked of the loop."""
    good = [one for one in found if one.question["draft"] == GOOD]
    bad = [one for one in found if one.question["draft"] != GOOD]
    lacking = [one for one in found if not one.evidence[0]]
    wrong = [one for one in found if not one.last]

    def passed(some: Sequence[Played]) -> str:
        return _of(some, [one.attempts[0]["evaluation"]["passed"] for one in some])

    return {
        "first attempts that pass, of the good drafts": passed(good),
        "first attempts that pass, of all": passed(found),
        "right at first": _of(found, [one.first for one in found]),
        "right in the end": _of(found, [one.last for one in found]),
        "made worse": _of(found, [one.first and not one.last for one in found]),
        "mended": _of(found, [one.last and not one.first for one in found]),
        "bad drafts told": _of(bad, [one.told for one in bad]),
        "bad drafts that code alone refuses or doubts": _of(bad, [one.held for one in bad]),
        "good drafts that it refuses or doubts": _of(good, [one.held for one in good]),
        "not right in the end, and told": _of(
            wrong, [bool(one.state["warning"] or one.state["abstained"]) for one in wrong]
        ),
        "evidence lacking at first, and brought by a retry": _of(
            lacking, [any(one.evidence) for one in lacking]
        ),
        "calls a question": f"{fmean(one.calls for one in found):.1f}",
        "tokens sent a question": f"{fmean(one.tokens for one in found):.0f}",
    }


def _of(some: Sequence[Played], holds: Sequence[bool]) -> str:
    return f"{sum(holds)} of {len(some)}"


def main() -> None:
    """Play all questions and print the figures."""
    parser = options(__doc__)
    parser.add_argument("--show", action="store_true")
    parser.add_argument("--prompts", type=Path)
    given = parser.parse_args()
    rows = read_rows(HOME.with_suffix(".jsonl"))
    found = [*played(rows, given.prompts)]
    narrow = [*played(rows, **{"plan.k": {"budgets": [NARROW] * 3}})]
    shown = zip(figures(found).items(), figures(narrow).values(), strict=True)
    print(table(["", "default", f"{NARROW} tokens"], [[*first, other] for first, other in shown]))
    for one in [*found, *narrow] if given.show else ():
        shown = {"first": one.first, "last": one.last, "evidence": one.evidence, "told": one.told}
        print(f"\n{one.question['id']} ({one.question['draft']}), {shown}")
        for attempt in one.attempts:
            verdict = attempt["evaluation"]
            print(f"  {verdict['passed']}: {attempt['answer']}", *verdict["reasons"], sep="\n    ")
        print(f"  {one.state['warning']}")


if __name__ == "__main__":
    main()
