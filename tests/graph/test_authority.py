"""The weightier of two sources that say the same comes first: by its host, and by its kind."""

from pathlib import Path
from typing import Any

import pytest

from lexloop.core.settings import Settings
from lexloop.graph.build import Lexloop, build_graph
from lexloop.graph.resources import Resources

ASKED = {"question": "How long may a dog be on a lead in the park?"}
SAID = {
    "pets": ("guidance", "A dog shall be held in the park on a lead not longer than 2 metres."),
    "city": ("statute", "In the park your dog may be on a lead of up to 2 metres."),
}
LINEAR = {"fusion": "linear", "retrieval.authority": 0.0}


@pytest.fixture(scope="module")
def graph(tmp_path_factory: pytest.TempPathFactory) -> Lexloop:
    folder: Path = tmp_path_factory.mktemp("hosts")
    for host, (kind, text) in SAID.items():
        front = f"---\nkind: {kind}\nurl: https://{host}.example/dogs\n---\n"
        (folder / f"{host}.md").write_text(
            f"{front}{text}\n\nA cat may climb the trees.\n", "utf-8"
        )
    return build_graph(Resources(defaults=Settings(corpus=str(folder))))


def first(graph: Lexloop, **settings: Any) -> tuple[str, str]:
    """The document of the first passage, and of the first citation."""
    found = graph.invoke(ASKED, context=settings)
    return found["passages"][0]["document"], found["citations"][0]["document"]


def test_of_kinds_the_statute_comes_before_the_guidance_unless_they_weigh_nothing(
    graph: Lexloop,
) -> None:
    assert first(graph, **{"retrieval.authority": 0.0})[1] == "pets.md"
    assert first(graph)[1] == "city.md"


@pytest.mark.parametrize("reranker", ["embedded", "none"])
@pytest.mark.parametrize("boost", [0.1, 1.0])
def test_of_two_hosts_the_preferred_one_comes_first_whoever_reranks(
    graph: Lexloop, boost: float, reranker: str
) -> None:
    for preferred in SAID:
        scores = {f"{host}.example": float(host == preferred) for host in SAID}
        chosen = {
            **LINEAR,
            "fusion.host_boost": boost,
            "retrieval.host_scores": scores,
            "retrieval.reranker": reranker,
        }
        assert first(graph, **chosen) == (f"{preferred}.md", f"{preferred}.md")
