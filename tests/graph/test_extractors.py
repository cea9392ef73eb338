"""Extraction by a model: what it states, paid for once, resumed, and stopped before the limit."""

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import records
from fake_openai import FakeOpenAI, Reply, Request, refusal
from indexes import Letters, content, sources

from lexloop.core.errors import BudgetError, ModelError
from lexloop.core.running import waited
from lexloop.core.settings import Settings
from lexloop.core.settings_groups import Price
from lexloop.core.types import Chunk, Triplet
from lexloop.graph.budget import Budget
from lexloop.graph.extractors import (
    ExtractedTriplet,
    Extraction,
    ExtractionCache,
    ModelExtractor,
    expected_cost,
    extract_with_model,
    extractions_path,
    extractor_for,
)
from lexloop.models.chat import ChatModel
from lexloop.models.request import ChatReply, ChatRequest
from lexloop.store.opening import tools_for
from lexloop.store.preparing import Tools
from lexloop.store.writer import estimate, write_index

MODEL = Settings(model="openai:scripted", **{"index.triplets": "model", "model.attempts": 1})
PARAGRAPHS = 4


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LEXLOOP_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "source"
    made.mkdir()
    for number in range(PARAGRAPHS):
        (made / f"act-{number}.txt").write_text(f"The owner must pay fee {number}.")
    return made


def quoting(request: Request) -> Reply:
    """One relation, quoted from the passage that is asked about."""
    sentence = next(line for line in request.user.splitlines() if "must pay" in line)
    quote = sentence[sentence.index("The owner") : sentence.index(".") + 1]
    relation = {"subject": "owner", "predicate": "must", "object": f"pay {quote}", "quote": quote}
    return Reply(json.dumps({"triplets": [relation]}))


@pytest.fixture
def extracting(server: FakeOpenAI) -> FakeOpenAI:
    server.play("extract_triplets", quoting)
    return server


def tools(chat: ChatModel, budget: Budget | None = None) -> tuple[Tools, ModelExtractor]:
    name, extract = extractor_for(MODEL, chat, budget)
    assert isinstance(extract, ModelExtractor)
    return tools_for(MODEL, Letters(), extract, name), extract


Connect = Callable[..., ChatModel]


def test_what_was_extracted_is_never_paid_for_again(
    extracting: FakeOpenAI, chat_model: Connect, folder: Path, tmp_path: Path
) -> None:
    made, extract = tools(chat_model())
    write_index(tmp_path / "a", sources(folder), made)
    assert extracting.roles_asked() == ["extract_triplets"] * PARAGRAPHS
    assert extract.spent["model_calls"] == PARAGRAPHS
    assert extract.spent["tokens_in"] == 11 * PARAGRAPHS
    found = content(tmp_path / "a")
    assert [t["quote"] for t in found["triplets"]] == [
        f"The owner must pay fee {n}." for n in range(PARAGRAPHS)
    ]
    made, extract = tools(chat_model())
    write_index(tmp_path / "b", sources(folder), made)
    assert len(extracting.requests) == PARAGRAPHS
    assert extract.spent["model_calls"] == 0
    assert content(tmp_path / "b") == found
    (folder / "act-2.txt").write_text("The owner must pay fee 2 at once.")
    (folder / "copy.txt").write_text("The owner must pay fee 1.")
    write_index(tmp_path / "b", sources(folder), made)
    assert len(extracting.requests) == PARAGRAPHS + 1


def test_a_failure_halfway_loses_nothing(
    extracting: FakeOpenAI, chat_model: Connect, folder: Path, tmp_path: Path
) -> None:
    extracting.script(quoting, quoting, refusal(500))
    made, _ = tools(chat_model(**{"model.attempts": 1}))
    with pytest.raises(ModelError):
        write_index(tmp_path / "a", sources(folder), made)
    assert not (tmp_path / "a").exists()
    assert len(extracting.requests) == 3
    write_index(tmp_path / "a", sources(folder), made)
    assert len(extracting.requests) == 3 + PARAGRAPHS - 2
    assert len(content(tmp_path / "a")["triplets"]) == PARAGRAPHS


def test_the_limit_stops_before_it_is_passed(
    extracting: FakeOpenAI, chat_model: Connect, folder: Path, tmp_path: Path
) -> None:
    # the server reports 11 tokens in and 7 out; a call is expected to cost 300 out at least
    budget = Budget(Price(input=0.0, output=1_000_000.0), most=315.0)
    made, extract = tools(chat_model(), budget)
    with pytest.raises(BudgetError, match=r"\$321\.0000, above the limit of \$315\.0000, after 3"):
        write_index(tmp_path / "a", sources(folder), made)
    assert len(extracting.requests) == 3
    assert budget.cost(extract.spent["tokens_in"], extract.spent["tokens_out"]) == 21.0
    raised = Budget(Price(input=0.0, output=1_000_000.0), most=307.0)
    made, extract = tools(chat_model(), raised)
    write_index(tmp_path / "a", sources(folder), made)
    assert (len(extracting.requests), extract.spent["model_calls"]) == (PARAGRAPHS, 1)


def test_an_estimate_costs_nothing_and_comes_near(
    extracting: FakeOpenAI, chat_model: Connect, folder: Path, tmp_path: Path
) -> None:
    made, _ = tools(chat_model())
    found = estimate(tmp_path / "a", sources(folder), made)
    # each text is one window of six words, which the embedder counts as tokens
    assert (found.documents, len(found.chunks), found.embedded_tokens) == (4, 4, 24)
    cost = expected_cost(found, MODEL, Budget(Price(input=1.0, output=2.0)), None)
    assert (cost["model_calls"], cost["tokens_out"]) == (4, 1200)
    assert cost["cost_usd"] == pytest.approx((cost["tokens_in"] + 2 * 1200) / 1e6)
    assert not (tmp_path / "a").exists()
    assert not extractions_path().exists()
    assert extracting.requests == []
    write_index(tmp_path / "a", sources(folder), made)
    sent = sum(len(r.system + r.user) // 4 + 1 for r in extracting.requests)
    assert cost["tokens_in"] == pytest.approx(sent, rel=0.5)
    (folder / "act-2.txt").write_text("The owner must pay fee 2 at once.")
    after = estimate(tmp_path / "a", sources(folder), made)
    assert (after.files_changed, after.documents) == (1, 1)


TEXT = "An owner must pay\nthe fee (40 dollars) within  10 days."


def extracted(*items: tuple[str, str, str, str]) -> list[Triplet]:
    said = [ExtractedTriplet(subject=s, predicate=p, object=o, quote=q) for s, p, o, q in items]

    class Scripted:
        async def ask(self, request: ChatRequest) -> ChatReply:
            return ChatReply("", Extraction(triplets=said))

    return waited(extract_with_model(Scripted(), chunk(500, text=TEXT)))


def test_a_quote_is_found_whatever_its_white_space() -> None:
    [found] = extracted(
        ("The owner", "must pay", "the fee", "owner must  pay the fee (40 dollars)")
    )
    assert found["quote"] == "owner must pay\nthe fee (40 dollars)"
    assert (found["start"], found["end"]) == (503, 538)
    assert TEXT[found["start"] - 500 : found["end"] - 500] == found["quote"]


@pytest.mark.parametrize(
    "item",
    [
        ("owner", "must pay", "the fee", "An owner may pay the fee"),
        ("owner", "must pay", "the fee", ".*"),
        ("", "must pay", "the fee", "An owner"),
        ("The insurer", "must pay", "the fee", "must pay the fee"),
        ("An owner", "must pay", "40 euros", "An owner must pay the fee (40 dollars)"),
    ],
)
def test_what_the_passage_does_not_state_is_dropped(item: tuple[str, str, str, str]) -> None:
    assert extracted(item) == []


def test_a_provision_may_be_an_end_without_being_quoted() -> None:
    [found] = extracted(("§ 500", "applies_to", "An owner", "An owner"))
    assert (found["subject"], found["predicate"], found["quote"]) == (
        "§ 500",
        "applies_to",
        "An owner",
    )


SAID = "The owner “é” must pay \ud800 the fee."


def chunk(start: int = 0, name: str = "law.txt", text: str = SAID) -> Chunk:
    place = {"section": f"§ {start}", "page": start or None}
    return records.chunk(text, document=name, start=start, **place)


@pytest.fixture
def kept_at(tmp_path: Path) -> Path:
    return tmp_path / "deep" / "extractions.sqlite"


@pytest.mark.parametrize(
    "held",
    [
        "[",
        '[{"at": [4]}]',
        '[{"subject": "a", "predicate": "b", "object": "c", "quote": "wrong", "at": [4, 9]}]',
    ],
)
def test_what_is_no_extraction_of_the_text_counts_as_nothing(kept_at: Path, held: Any) -> None:
    with closing(ExtractionCache(kept_at)):
        pass
    with closing(sqlite3.connect(kept_at)) as connection, connection:
        connection.execute("INSERT INTO kept VALUES ('key', ?)", (held,))
    with closing(ExtractionCache(kept_at)) as kept:
        assert kept.find("key", chunk()) is None
