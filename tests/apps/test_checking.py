"""``lexloop check``, ``lexloop.check`` and the guard of an agent's reply."""

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from fake_openai import KEY, FakeOpenAI, Reply
from langchain.agents import create_agent
from langchain_core.messages import HumanMessage

import lexloop

Run = Callable[..., Any]
RIGHT = "A bias audit is made impartially by an independent auditor."
WRONG = 'The law says "made impartially by an auditor of the employer".'
ASKED: Any = {"messages": [HumanMessage("Who makes a bias audit?")]}


def test_a_text_is_checked_with_its_places(run: Run, tmp_path: Path) -> None:
    memo = tmp_path / "memo.md"
    memo.write_text(f"# Memo\n\n{RIGHT} {WRONG}\n", "utf-8")
    checked = run("check", str(memo))
    assert checked.exit_code == 1
    assert "ok statement" in checked.stdout
    assert "ALTERED quote “made impartially by an auditor of the employer”" in checked.stdout
    assert 'law.txt, § 20-870 "Bias audit", line 15:' in checked.stdout
    record = json.loads(run("check", str(memo), "--json").stdout)
    assert (record["wrong"], record["documents"][0]["document"]) == (1, "memo.md")
    memo.write_text(RIGHT, "utf-8")
    right = run("check", str(memo))
    assert (right.exit_code, right.stdout.splitlines()[-1]) == (0, "Nothing is wrong.")
    missing = run("check", "no-memo.txt")
    assert (missing.exit_code, "no-memo.txt is not a file" in missing.stderr) == (4, True)


def test_the_same_in_python() -> None:
    assert lexloop.check(RIGHT)["wrong"] == 0
    assert lexloop.check(WRONG)["sentences"][0]["points"][0]["status"] == "altered"
    with pytest.raises(lexloop.CorpusError):
        lexloop.check(RIGHT, "no-such-folder")


@pytest.mark.parametrize("way", ["invoke", "ainvoke"])
@pytest.mark.parametrize(
    ("replies", "said", "unverified"),
    [((RIGHT,), RIGHT, 0), ((WRONG, RIGHT), RIGHT, 0), ((WRONG, WRONG), WRONG, 1)],
)
def test_an_agents_reply_goes_back_once(
    server: FakeOpenAI,
    monkeypatch: pytest.MonkeyPatch,
    *,
    way: str,
    replies: tuple[str, ...],
    said: str,
    unverified: int,
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
    server.script(*map(Reply, replies))
    agent = create_agent("openai:scripted", middleware=[lexloop.CitationGuard()])
    state = agent.invoke(ASKED) if way == "invoke" else asyncio.run(agent.ainvoke(ASKED))
    last = state["messages"][-1]
    assert last.text == said
    assert len(last.response_metadata.get("unverified", [])) == unverified
    assert len(server.requests) == len(replies)
    if len(replies) > 1:
        sent_back = server.requests[1].messages[-1]["content"]
        assert "made impartially by an auditor of the employer" in sent_back
        assert "independent auditor" in sent_back
