"""The authority of sources."""

import pytest

from lexloop.core.metadata import Metadata
from lexloop.core.settings import Settings
from lexloop.nodes.hybrid_retrieve.fusion import host_score, with_host

SCORES = {"statute": 1.0, "guidance": 0.25, "law.example": 0.75}


@pytest.mark.parametrize(
    ("metadata", "score"),
    [
        (Metadata(), 0.0),
        (Metadata(kind="statute"), 1.0),
        (Metadata(kind="case"), 0.0),
        (Metadata(host="law.example"), 0.75),
        (Metadata(host="law.example", kind="statute"), 0.75),
        (Metadata(host="blog.example", kind="guidance"), 0.25),
        (Metadata(host="blog.example"), 0.0),
    ],
)
def test_the_publisher_goes_before_the_kind(metadata: Metadata, score: float) -> None:
    assert host_score(metadata, SCORES) == score


def test_a_nameless_entry_is_nobodys_score() -> None:
    assert host_score(Metadata(), {"": 1.0}) == 0.0
    assert host_score(Metadata(kind="statute"), {"": 0.5, "statute": 1.0}) == 1.0


def test_statutes_stand_above_rules_and_guidance() -> None:
    scores = Settings().host_scores
    order = [host_score(Metadata(kind=kind), scores) for kind in ("statute", "rule", "guidance")]
    assert order == sorted(order, reverse=True)
    assert len(set(order)) == 3


def test_the_host_term_by_hand() -> None:
    documents = {"a1": "act", "g1": "guide", "n1": "note"}
    fused = with_host(
        {"a1": 0.5, "g1": 0.5, "n1": 0.5}, documents, {"act": 1.0, "guide": 0.25}, 0.2
    )
    assert fused == {"a1": pytest.approx(0.7), "g1": pytest.approx(0.55), "n1": 0.5}
