"""What a question costs with a chat model: calls, and tokens that go in.

    python benchmarks/costs.py [--every N]

The sample's questions go through the state machine under its default settings. Its model is a
server on this machine which replies in the form that each step asks for: it searches for the
question itself, answers with the first statement of each of the first three passages, and gives
scores that fail as many times as retries are wanted. Tokens are those of the system and the user
part of every request, as MiniLM's tokenizer counts them; intervals are bootstrap 95 % over
questions. ``shared`` is how much of the system part of one step is the beginning of that of every
other step of the loop, the least of them. ``cited`` counts the answers whose citations verified.
"""

import itertools
import json
import os
import re
from collections import Counter
from typing import Any

from _shared import ROOT, Row, options, read_rows, shown, table
from fake_openai import FakeOpenAI, Reply, Request

from lexloop.core.settings import Settings
from lexloop.documents.text.tokens import sentence_spans
from lexloop.graph.build import build_graph
from lexloop.graph.resources import Resources
from lexloop.models.minilm import load_shipped

_GOOD, _BAD = 0.9, 0.3
_RETRIES = (0, 1, 2)
_PASSAGE = re.compile(r'<(data-\w+) passage="(\d+)">\n(.*?)\n(?=</?\1)', re.DOTALL)
_ANSWERED_FROM = 3


def main() -> None:
    """Ask every question with no, one and two retries, and print the tables."""
    parser = options(__doc__)
    parser.add_argument("--every", type=int, default=1, metavar="N", help="ask each Nth question")
    given = parser.parse_args()
    os.environ["LANGSMITH_TRACING"] = "false"
    questions = read_rows(ROOT / "data" / "gold.jsonl")[:: given.every]
    systems: dict[str, str] = {}
    rows, by_role = [], []
    for retries in _RETRIES:
        asked = _asked(questions, retries, systems)
        tokens = [one["tokens"] for one in asked]
        rows.append(
            [
                *(retries, len(asked), shown([float(one["calls"]) for one in asked], 2)),
                *(shown([float(sum(one.values())) for one in tokens], 0),),
                sum(one["cited"] for one in asked),
            ]
        )
        for role in sorted(set().union(*tokens)):
            calls = sum(one["roles"][role] for one in asked)
            by_role.append([retries, role, calls, round(sum(t[role] for t in tokens) / calls)])
    print(table(["retries", "questions", "calls", "tokens in", "cited"], rows))
    print()
    print(table(["retries", "step", "calls", "tokens in a call"], by_role))
    print(f"\nshared by the system parts of {', '.join(sorted(systems))}: {_shared_share(systems)}")


def _asked(questions: list[Row], retries: int, systems: dict[str, str]) -> list[dict[str, Any]]:
    """What each question cost; ``systems`` gets the system part of each role."""
    count = load_shipped().count_tokens
    found = []
    with FakeOpenAI() as server:
        resources = Resources(server.connection)
        graph = build_graph(resources)
        settings = Settings(
            **{"model.name": "openai:scripted", "loop.max_retries": retries, "deadline_s": 60.0}
        )
        for row in questions:
            server.requests.clear()
            _play(server, retries)
            messages = [*row["conversation_history"], {"role": "user", "content": row["question"]}]
            result = graph.invoke({"messages": messages}, context=settings)
            tokens: Counter[str] = Counter()
            for request in server.requests:
                tokens[str(request.role)] += count(request.system) + count(request.user)
                systems[str(request.role)] = request.system
            roles = Counter(map(str, server.roles_asked()))
            cited = result["evaluation"]["citations_verified"]
            calls = len(server.requests)
            found.append({"calls": calls, "tokens": tokens, "roles": roles, "cited": cited})
        resources.close()
    return found


def _play(server: FakeOpenAI, retries: int) -> None:
    """Reply as a model would whose first attempts do not pass."""
    number = itertools.count(1)
    server.play("rewrite", _rewritten)
    server.play("generate", _answer)
    scored = [_BAD] * retries + [_GOOD]
    server.play("evaluate", *(_judged(score, next(number)) for score in scored))
    server.play("engineer_prompt", *(_advice(n) for n in range(1, retries + 1)))


def _rewritten(request: Request) -> Reply:
    asked = _told(request.user, "question")
    words = [word for word in re.findall(r"\w+", asked) if len(word) > 3]
    queries = [asked, " ".join(words), " ".join(reversed(words))]
    return _json(standalone=asked, queries=queries, keywords=words[:3])


def _answer(request: Request) -> Reply:
    """The longest sentence of each of some passages, the further ones at a later attempt."""
    passages = _PASSAGE.findall(request.user)
    later = "guided" in request.user
    chosen = passages[later : later + _ANSWERED_FROM]
    said = []
    for _, number, text in chosen:
        last = text.rstrip().rpartition("\n")[2]
        start, end = max(sentence_spans(last), key=lambda span: span[1] - span[0])
        said.append(f"{last[start:end].strip(' .;:')} [{number}].")
    return Reply(" ".join(said))


def _judged(score: float, number: int) -> Reply:
    told = "The passages were gone through one by one, and so were the sentences of the answer."
    scores = {"reasoning": told, "score": score}
    names = ("context_relevance", "groundedness", "answer_relevance")
    return _json(**dict.fromkeys(names, scores))


def _advice(number: int) -> Reply:
    guidance = f"guided {number}: answer each part, and give the condition that goes with it."
    queries = [f"duty of an employer {number}", f"notice to candidates {number}"]
    strategy = ("whole", "broaden")[number % 2]
    question = "Which rule applies to the tool?"
    return _json(question=question, queries=queries, guidance=guidance, strategy=strategy)


def _told(user: str, kind: str) -> str:
    found = re.search(rf'<(data-\w+) kind="{kind}">\n(.*?)\n</\1>', user, re.DOTALL)
    return found[2] if found else ""


def _json(**fields: object) -> Reply:
    return Reply(json.dumps(fields))


def _shared_share(systems: dict[str, str]) -> str:
    pairs = itertools.permutations(systems.values(), 2)
    shares = [_alike(one, other) / len(one) for one, other in pairs]
    return f"{min(shares, default=0.0):.3f}"


def _alike(one: str, other: str) -> int:
    """How many characters two texts begin with alike."""
    pairs = zip(one, other, strict=False)
    return sum(1 for _ in itertools.takewhile(lambda pair: pair[0] == pair[1], pairs))


if __name__ == "__main__":
    main()
