"""What an answer cites, and the pairs made of it."""

from pathlib import Path

import pytest

from lexloop.core.errors import InputError
from lexloop.corpus.index.view import View
from lexloop.evaluation.eval_rag.authority import MOST_CHARS
from lexloop.evaluation.eval_rag.cited import CitedProvisions
from lexloop.evaluation.eval_rag.pairs import Pair, pair_entries, read_pairs
from lexloop.evaluation.eval_rag.provisions import Provision, provisions_of


@pytest.fixture(scope="module")
def provisions(acts: View) -> list[Provision]:
    return provisions_of(acts)


def labels(provisions: list[Provision], text: str) -> list[str]:
    return [one.authority.label for one in CitedProvisions(provisions).of(text)]


def test_the_sections_of_a_corpus(provisions: list[Provision]) -> None:
    assert [one.authority.kind for one in provisions if one.authority.kind == "case"] == ["case"]
    found = {one.authority.label for one in provisions}
    assert {"dog_act.txt § 1", "dog_act.txt § 2", "cat_act.txt § 7"} <= found
    assert all(one.authority.text for one in provisions)


def test_a_long_section_is_cut(provisions: list[Provision]) -> None:
    assert all(len(one.authority.text) <= MOST_CHARS for one in provisions)


@pytest.mark.parametrize(
    ("answer", "cited"),
    [
        ("By § 2 every dog wears a leash.", ["dog_act.txt § 2"]),
        ("See section 1 of the Cat Welfare Act.", ["cat_act.txt § 1"]),
        ("Under § 1 a dog licence costs 40 euros.", ["dog_act.txt § 1"]),
        ("Under § 1(a) a cat needs no licence.", ["cat_act.txt § 1"]),
        ("Sections 7 and 2 tell.", ["cat_act.txt § 7", "dog_act.txt § 2"]),
        ("As held in Case No. 2013MU2250, yes.", ["2013MU2250.txt"]),
        ("As held in miller v town of Ferrow and § 2.", ["2013MU2250.txt", "dog_act.txt § 2"]),
        ("§ 99 says nothing, and nor does this.", []),
        ("", []),
    ],
)
def test_references(provisions: list[Provision], answer: str, cited: list[str]) -> None:
    assert labels(provisions, answer) == cited


def test_a_pair_rests_on_what_its_answer_cites(provisions: list[Provision]) -> None:
    cited, alone = pair_entries(
        [Pair(question="How?", answer="By § 2 and § 7."), Pair(question="Why?", answer=" So. ")],
        provisions,
    )
    assert cited.authority.origin == "cited"
    assert cited.authority.label == "dog_act.txt § 2, cat_act.txt § 7"
    assert cited.authority.documents == ("dog_act.txt", "cat_act.txt")
    assert "leash" in cited.authority.text
    assert "chip" in cited.authority.text
    assert (alone.authority.origin, alone.authority.text) == ("answer", "So.")
    assert alone.authority.documents == ()


def test_pairs_of_a_file(tmp_path: Path) -> None:
    file = tmp_path / "pairs.jsonl"
    file.write_text(
        '{"question": "a", "answer": "b"}\n{"question": "c", "reference_answer": "d"}\n'
    )
    assert [pair.answer for pair in read_pairs(file)] == ["b", "d"]
    file.write_text('{"question": "a", "answer": "b"}\n\n{"question": "c"}\n')
    with pytest.raises(InputError, match=r"line 3, field answer"):
        read_pairs(file)
