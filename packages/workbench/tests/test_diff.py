"""Two versions of a document: what is told of each provision."""

from itertools import combinations
from pathlib import Path

import pytest
from compared import comparison, told, version
from hypothesis import given
from hypothesis import strategies as st
from sets import whole_text

from lexloop.core.errors import CorpusError, InputError
from lexloop_workbench.diff import Comparison, Version

OLD = whole_text("diff_old.txt")


def test_equal_texts_have_no_changes() -> None:
    found = comparison(OLD, OLD).record()
    assert (found.changes, found.counts, found.stale, found.unchanged) == ([], {}, [], 11)
    # blanks and where lines are broken are no words
    assert told(OLD, OLD.replace(" of a sale", "  of a\tsale")) == []
    assert told("", "") == []
    assert told("", "A line that is new.\n") == [("new", "", "")]


def test_changed_words_are_told_of_the_smallest_provision() -> None:
    new = OLD.replace("10 euro", "12 euro").replace("each boat", "each boat or raft")
    assert told(OLD, new) == [
        ("changed", "Article 2(1)", "Article 2(1)"),
        ("changed", "Article 2(1)(a)", "Article 2(1)(a)"),
    ]
    (first, _) = comparison(OLD, new).record().changes
    assert [(part.op, part.text) for part in first.parts] == [
        ("same", "1. The owner must pay a fee of "),
        ("removed", "10"),
        ("added", "12"),
        ("same", " euro:"),
    ]
    assert first.old is not None
    assert OLD[first.old.start : first.old.end] == first.old.quote


def test_a_point_that_begins_within_a_line_is_told_by_itself() -> None:
    old = "Article 1 Keeper\n1. (a) The keeper counts the boats;\n(b) the keeper mends nets.\n"
    assert told(old, old.replace("boats", "rafts")) == [
        ("changed", "Article 1(1)(a)", "Article 1(1)(a)")
    ]
    counted = old.replace("(b)", "(c)").replace("1. (a)", "1. (a) The lamp is lit;\n(b)")
    assert [kind for kind, *_ in told(old, counted)] == ["new", "renumbered", "renumbered"]


def test_what_counts_on_behind_an_insertion_is_renumbered_and_not_changed() -> None:
    new = OLD.replace("Article 4 Register", "Article 5 Register").replace(
        "Article 3 Notice", "Article 3 Rafts\nRafts must carry a lamp at night.\n\nArticle 4 Notice"
    )
    assert told(OLD, new) == [
        ("new", "", "Article 3"),
        ("renumbered", "Article 3", "Article 4"),
        ("renumbered", "Article 4", "Article 5"),
    ]
    # Article 2(2) still says Article 4, which is the notice now
    (stale,) = comparison(OLD, new).record().stale
    assert (stale.at.section, stale.said, stale.meant, stale.now) == (
        "Article 2(2)",
        "Article 4",
        "Article 4",
        "Article 5",
    )
    follows = new.replace("fee of Article 4", "fee of Article 5")
    assert ("follows", "Article 2(2)", "Article 2(2)") in told(OLD, follows)
    assert comparison(OLD, follows).record().stale == []
    # of several in one group each is looked at by itself
    both, behind = (
        text.replace("fee of Article 4", "fee of Articles 1 and 4") for text in (OLD, new)
    )
    (stale,) = comparison(both, behind).record().stale
    assert (stale.meant, stale.now) == ("Article 4", "Article 5")
    other = new.replace("fee of Article 4", "fee of Article 1")
    assert ("changed", "Article 2(2)", "Article 2(2)") in told(OLD, other)


def test_a_number_that_only_counts_within_another_is_not_told_again() -> None:
    fees = "1. Fees\n\n1.1 The owner pays a fee.\n\n1.2 The fee is 10 euro.\n\n"
    old = f"{fees}2. Lamps\n\n2.1 Lamps are lit at night.\n"
    new = old.replace("2.1", "3.1").replace("2. Lamps", "2. Nets\n\n2.1 Nets dry here.\n\n3. Lamps")
    assert told(old, new) == [("new", "", "Section 2"), ("renumbered", "Section 2", "Section 3")]


def test_what_was_moved_is_told_once_and_nothing_else_is() -> None:
    parts = OLD.replace("fee of Article 4", "fee of the list").split("\n\n")
    moved = "\n\n".join([parts[0], parts[2], parts[3].strip(), parts[1], ""])
    old = "\n\n".join(parts)
    # four lines stay and five are passed by
    assert told(old, moved) == [
        ("moved", "Article 3", "Article 3"),
        ("moved", "Article 4", "Article 4"),
    ]
    also = moved.replace("within 5 days", "within 6 days")
    kinds = {kind for kind, *_ in told(old, also)}
    assert kinds <= {"moved", "changed", "moved changed", "changed moved"}
    assert any("changed" in kind for kind in kinds)


def test_a_provision_with_other_words_under_its_number_is_found_by_what_stands_below() -> None:
    new = OLD.replace("Article 2 Fees", "Article 2 What owners pay")
    assert told(OLD, new) == [("changed", "Article 2", "Article 2")]
    gone = OLD.replace(
        "Article 3 Notice\nThe owner must give notice within 5 days of a sale.\n\n", ""
    )
    assert told(OLD, gone) == [("gone", "Article 3", "")]


def test_a_text_without_structure_is_told_by_its_lines() -> None:
    lines = [f"The {word} is kept in the shed by the water.\n" for word in ("oar", "net", "sail")]
    assert told("".join(lines), "".join([lines[0], "A lamp hangs there.\n", *lines[1:]])) == [
        ("new", "", "")
    ]
    assert told("".join(lines), "".join(lines[:2])) == [("gone", "", "")]


def test_files_that_are_none_or_not_one_are_refused(tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match="does not exist"):
        Version.read(tmp_path / "nothing.txt")
    with pytest.raises(InputError, match="is a folder"):
        Version.read(tmp_path)
    (tmp_path / "broken.pdf").write_bytes(b"no PDF")
    with pytest.raises(CorpusError, match="cannot be read"):
        Version.read(tmp_path / "broken.pdf")
    (tmp_path / "rows.jsonl").write_text('{"text": "One."}\n{"text": "Two."}\n')
    with pytest.raises(InputError, match="holds 2 documents"):
        Version.read(tmp_path / "rows.jsonl")
    (tmp_path / "one.txt").write_text(OLD)
    assert Version.read(tmp_path / "one.txt").source.text == OLD
    with pytest.raises(InputError, match="characters, more than"):
        Comparison(version("x" * 10_000_001), version("y"))


def test_very_many_lines_that_are_alike_take_no_time_of_pairs() -> None:
    many = "".join(f"Item {n % 7} of the list is kept.\n" for n in range(20_000))
    found = comparison(many, many.replace("Item 3", "Item 9", 1)).record()
    assert found.counts == {"changed": 1}
    other = "".join(f"Row {n} says {n * 7919 % 10007} words.\n" for n in range(3_000))
    assert comparison(many, other).record().counts["gone"] == 20_000


WORDS = [
    f"Line {name} tells of the {name} that is kept." for name in "oar net sail lamp rope".split()
]


@given(st.permutations(WORDS), st.permutations(WORDS))
def test_as_few_lines_as_can_be_are_moved(old: list[str], new: list[str]) -> None:
    found = comparison("\n".join(old), "\n".join(new))
    assert {(pair.old, pair.new) for pair in found.pairs.values()} == {
        (i, new.index(line)) for i, line in enumerate(old)
    }
    order = [new.index(line) for line in old]
    longest = max(
        size
        for size in range(1, len(order) + 1)
        if any([*chosen] == sorted(chosen) for chosen in combinations(order, size))
    )
    assert sum(pair.moved for pair in found.pairs.values()) == len(order) - longest


texts = st.lists(
    st.sampled_from([*WORDS, "1. Fees", "2. Fees", "(a) one;", "(b) two.", "", "A", "Article 1"])
).map("\n".join)


@given(texts, texts)
def test_every_line_is_the_same_or_told(old: str, new: str) -> None:
    found = comparison(old, new)
    assert len({pair.new for pair in found.pairs.values()}) == len(found.pairs)
    record = found.record()
    quoted = "\n".join(one.old.quote for one in record.changes if one.old)
    for i, piece in enumerate(found.olds):
        text = old[piece.start : piece.end]
        assert found.kinds[i] == () or text in quoted
        pair = found.pairs.get(i)
        if pair and not found.kinds[i] and piece.number == found.news[pair.new].number:
            assert new[slice(*found.news[pair.new][:2])].split() == text.split()
