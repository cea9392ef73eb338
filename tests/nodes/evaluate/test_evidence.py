"""The evidence: its sentences and the sections they stand in."""

import numpy as np
from statute import LAW

from lexloop.models.minilm import load_minilm
from lexloop.nodes.evaluate.disagreements import disagreements, quantities
from lexloop.nodes.evaluate.evidence import Evidence, evidence_of


def test_sentences_carry_their_section() -> None:
    evidence = evidence_of([LAW, "A boat sinks."], load_minilm().embed)
    places = dict(zip(evidence.sentences, evidence.places, strict=True))
    assert places["A boat sinks."] == ""
    assert places["A boat shorter than 4 metres is exempt from the mooring fee."] == "§ 10-3"
    assert [place for text, place in places.items() if '"Berth" means' in text] == [
        '§ 10-1 "Berth"'
    ]
    assert evidence.vectors.shape == (len(evidence.sentences), 384)
    assert "§ 10-2 Duties of owners." in evidence.text  # a heading is no sentence, but is read


def test_pairs_stay_inside_their_sentence() -> None:
    evidence = Evidence(["Red boats.", "Blue rafts."], np.zeros((2, 1), dtype=np.float32))
    assert evidence.pairs == {("red", "boat"), ("blue", "raft")}
    assert evidence.all_terms == {"red", "boat", "blue", "raft"}


def test_quantities_are_numbers_with_what_they_count() -> None:
    assert quantities("Two boats, 3 business days and one raft of 1,500 metres; 7.") == {
        ("2", "boat"),
        ("3", "day"),
        ("1500", "metr"),
    }


def test_another_count_of_the_same_thing_disagrees() -> None:
    evidence = evidence_of(["Each berth holds three boats in summer."], load_minilm().embed)
    assert disagreements("In summer a berth holds five boats.", evidence) == ["5 is 3 there"]
    assert disagreements("In summer a berth holds three boats.", evidence) == []
    assert disagreements("", evidence) == []
