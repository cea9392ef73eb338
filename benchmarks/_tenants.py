"""Whether what one party is told depends on the documents of another.

A thousand questions are put to the documents of a party alone, and to the same documents beside
those of another party, told apart by tags, and the two answers are compared as whole JSON, the
seconds left out. Then it is told what a tag costs: the first question, the memory, and a warm one.
"""

import gc
import json
import shutil
import statistics
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from _shared import read_rows, resident_mb, timed

from lexloop.core.settings import Connection, Settings
from lexloop.graph.build import build_graph
from lexloop.graph.compiled import Lexloop
from lexloop.graph.resources import Resources
from lexloop.models.minilm import load_shipped
from lexloop.store.manifest import IndexSource
from lexloop.store.opening import tools_for
from lexloop.store.writer import write_index

Rows = list[tuple[str, str]]
_QUESTIONS, _CONTRACTS, _WARM, _ROUNDS = 1000, 36, 40, 3
_UNTOLD = {"seconds", "turn", "messages"}


def tenants(data: Path, count: int = _QUESTIONS) -> Rows:
    """The rows of the table: how many answers differ, and what a tag costs.

    Args:
        data: The folder of the published sets.
        count: How many questions are put, half of them to a law and half to contracts.
    """
    rows: Rows = []
    with tempfile.TemporaryDirectory() as folder:
        for name, own, other, asked in _parties(data, count):
            alone, beside = Path(folder, name, "alone"), Path(folder, name, "beside")
            _index(alone, {"a": own})
            _index(beside, {"a": own, "b": other})
            rows += _compared(name, alone, beside, asked)
    return rows


def _parties(
    data: Path, count: int
) -> Iterator[tuple[str, Sequence[Path], Sequence[Path], list[str]]]:
    """Yield a name, a party's files, another's, and questions on the first's."""
    law = [row["question"] for row in read_rows(data / "gdpr" / "probes.jsonl")]
    others = [*sorted((data / "us_cfr").glob("*.txt")), *sorted((data / "policies").glob("*.md"))]
    half = count // 2
    yield "a law", [data / "gdpr" / "gdpr_en.txt"], others, law[:half]
    contracts = sorted((data / "contracts" / "documents").glob("*.txt"))[:_CONTRACTS]
    own, other = contracts[::3], [path for n, path in enumerate(contracts) if n % 3]
    names = {path.name for path in own}
    probes = read_rows(data / "contracts" / "probes.jsonl")
    said = [row["question"] for row in probes if row["document"] in names]
    yield "contracts", own, other, said[:: max(1, len(said) // half)][: count - len(law[:half])]


def _index(index: Path, parties: dict[str, Sequence[Path]]) -> None:
    """Write an index of the parties' files, which lie mixed in one folder, each with its tag."""
    folder = index.with_name(f"{index.name}-files")
    folder.mkdir(parents=True)
    rows = ["file,tags"]
    for tag, files in parties.items():
        for path in files:
            shutil.copyfile(path, folder / path.name)
            rows.append(f'"{path.name}",{tag}')
    (folder / "metadata.csv").write_text("\n".join(rows), "utf-8")
    write_index(index, [IndexSource(str(folder))], tools_for(Settings(), load_shipped()))


def _compared(name: str, alone: Path, beside: Path, asked: Sequence[str]) -> Rows:
    with_both = Settings().changed(corpus=str(beside), **{"access.tags": ["a"]})
    settings = {"alone": with_both.changed(corpus=str(alone)), "beside": with_both}
    _answer(build_graph(Resources(Connection(), settings["alone"])), asked[0])  # loads the model
    firsts, megabytes = {}, {}
    graphs: dict[str, Lexloop] = {}
    for which, chosen in settings.items():
        gc.collect()
        before = resident_mb()
        graphs[which] = build_graph(Resources(Connection(), chosen))
        firsts[which] = timed(lambda w=which: _answer(graphs[w], asked[0]))[0]
        megabytes[which] = resident_mb() - before
    differing = [
        question
        for question in asked
        if _answer(graphs["alone"], question) != _answer(graphs["beside"], question)
    ]
    warm = asked[:: max(1, len(asked) // _WARM)]
    took: dict[str, list[float]] = {which: [] for which in graphs}
    for _ in range(_ROUNDS):
        for question in warm:
            for which, graph in graphs.items():
                took[which].append(timed(lambda g=graph, q=question: _answer(g, q))[0])
    median = {which: statistics.median(found) * 1000 for which, found in took.items()}
    ratio = statistics.median(b / a for a, b in zip(took["alone"], took["beside"], strict=True))
    return [
        (f"{name}: answers whose JSON differs", f"{len(differing)} of {len(asked)}"),
        (f"{name}: first question, alone / beside", _pair(firsts, "{:.2f} s")),
        (f"{name}: memory of the first question", _pair(megabytes, "{:.0f} MiB")),
        (f"{name}: warm question", f"{_pair(median, '{:.0f} ms')} ({ratio:.2f} times)"),
    ]


def _pair(found: dict[str, float], form: str) -> str:
    return " / ".join(form.format(found[which]) for which in ("alone", "beside"))


def _answer(graph: Lexloop, question: str) -> str:
    """All that the graph wrote, as text, without seconds and marks of the state of the corpus."""
    state: dict[str, Any] = {}
    for step in graph.stream({"question": question}, stream_mode="updates"):
        for update in step.values():
            state |= update or {}
    return json.dumps(_told(state), sort_keys=True, default=repr)


def _told(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: _told(v) for k, v in value.items() if k not in _UNTOLD}
    return [_told(one) for one in value] if isinstance(value, (list, tuple)) else value
