"""What is looked up next, from the provisions that retrieved chunks state."""

import pytest
from relations import relation
from triplet_list import graph_of

from lexloop.core.types import Triplet


def said(label: str, predicate: str, obj: str, subject: str = "", start: int = 0) -> Triplet:
    """What a provision states; its chunk has its label as id."""
    return relation(subject or label, predicate, obj, chunk=label, section=label, start=start)


LAW = [
    said("Article 1(1)", "defines", "place where boats lie", "berth"),
    said("Article 2(1)", "requires", "pay for the berth", "owner", 10),
    said("Article 2(1)", "refers_to", "Article 3", start=11),
    said("Article 3(1)", "states", "the fee is low", start=20),
    said("Article 3(2)", "refers_to", "Article 5", start=21),
    said("Article 4(a)", "exception_to", "Article 2(1)", "wrecks", 30),
    said("Article 5", "states", "receipts are green", start=40),
    said("Article 6", "penalises", "Article 2", "fine", 50),
    said("Article 7", "requires", "sail", "captain", 60),
]


def looked_up(chunk: str, length: int, **seeds: float) -> dict[str, float]:
    graph = graph_of(LAW)
    found = graph.look_up([chunk], seeds, length, 20)
    return {up.stated[0]["section"]: up.score for up in found}


def test_one_step_leads_to_references_exceptions_sanctions_and_definitions() -> None:
    # unmet by any keyword, each step keeps 0.4 of its share
    assert looked_up("Article 2(1)", 1) == {
        "Article 4(a)": pytest.approx(0.8 * 0.4),
        "Article 6": pytest.approx(0.7 * 0.4),
        "Article 3(1)": pytest.approx(0.6 * 0.4),
        "Article 1(1)": pytest.approx(0.6 * 0.4 * 0.8),  # berth is in two triplets: 1 / 1.25
    }


def test_a_further_step_leads_on_from_there() -> None:
    near, far = looked_up("Article 2(1)", 1), looked_up("Article 2(1)", 2)
    assert set(far) - set(near) == {"Article 5"}
    assert far["Article 5"] == pytest.approx(0.6 * 0.4 * 0.6 * 0.6 * 0.4)
    assert looked_up("Article 2(1)", 0) == {}
    assert looked_up("Article 7", 3) == {}
    assert looked_up("unknown", 3) == {}


def test_what_meets_a_keyword_comes_first() -> None:
    plain = looked_up("Article 2(1)", 1)
    met = looked_up("Article 2(1)", 1, fine=1.0)
    assert next(iter(plain)) == "Article 4(a)"
    assert next(iter(met)) == "Article 6"
    assert met["Article 6"] == pytest.approx(0.7)


def test_a_better_chunk_counts_for_more() -> None:
    graph = graph_of(LAW)
    found = graph.look_up(["Article 7", "Article 3(2)"], {}, 1, 20)
    (five,) = [up for up in found if up.stated[0]["section"] == "Article 5"]
    assert five.score == pytest.approx(0.6 * 0.4 / 1.2)
    assert five.triplet["object"] == "Article 5"
    assert len(graph.look_up(["Article 2(1)"], {}, 1, 2)) == 2


def test_hidden_documents_have_no_part_in_it() -> None:
    hidden = [{**triplet, "document": "secret.txt", "chunk_id": "s"} for triplet in LAW]
    graph = graph_of([*LAW, *hidden]).view("d.txt".__eq__)
    alone = graph_of(LAW)
    assert graph.look_up(["s", "Article 2(1)"], {}, 2, 20) == alone.look_up(
        ["Article 2(1)"], {}, 2, 20
    )


def test_a_provision_is_found_by_its_parts_and_shown_as_it_is_written() -> None:
    graph = graph_of(
        [
            said("Annex III, point 4", "concerns", "high-risk tools"),
            said("Article 9(2)(a)", "requires", "keep High-Risk Tools safe", "owner", 5),
            relation("HRT", "alias_of", "high-risk tool", section="Article 9(1)", start=6),
        ]
    )
    assert graph.find("art. 9") == "article 9"
    assert graph.find("Article 9(2)") == "article 9(2)"
    assert graph.degree("article 9") == 2
    assert graph.find("a high risk tool") == graph.find("the HRTs") == "high risk tool"
    names = ["article 9(2)(a)", "annex iii point 4", "high risk tool", "zeppelin"]
    assert list(graph.written(names).values()) == [
        "Article 9(2)(a)", "Annex III, point 4", "high-risk tool", "zeppelin"
    ]  # fmt: skip


def test_a_short_form_is_written_out_to_meet_and_left_to_be_read() -> None:
    graph = graph_of(
        [
            relation("AI", "alias_of", "artificial intelligence"),
            relation("high-risk AI system", "requires", "be tested", start=1),
            relation("owner", "requires", "list artificial intelligence systems", start=2),
        ]
    )
    name = graph.find("High-risk AI systems")
    assert name == "high risk artificial intelligence system"
    assert graph.written([name]) == {name: "high-risk AI system"}


def test_a_plain_number_of_another_act_is_no_provision_of_this_one() -> None:
    graph = graph_of(
        [
            said("Article 8", "requires", "pay", "owner"),
            said("Article 1", "refers_to", "Article 8(1) of the Charter", start=1),
            said("Article 2", "refers_to", "Article 8", start=2),
        ]
    )
    assert graph.degree("article 8") == 2
    assert graph.find("Article 8 of the Charter") == "article 8 of charter"
