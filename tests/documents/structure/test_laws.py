"""What holds for the tree, the statements and the references of any text."""

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from laws import examples

from lexloop.documents.chunks.chunkers import chunk_document
from lexloop.documents.chunks.statements import statements
from lexloop.documents.document import Document
from lexloop.documents.structure.references import find_references, loose_numbers
from lexloop.documents.structure.tree import Tree
from lexloop.documents.text.tokens import sentence_spans, tokenize

_OPENERS = (
    "Article 1|Article 2 Fees|§ 5-3 Scope.|Section 4.|Clause 2|CHAPTER II|Section 1|ANNEX I"
    "|SCHEDULE|PART 2|Whereas:|Contents|Done at Delta|EXCEPTION: |Advisory 4 |Table 2 Fines|# Head"
    "|## 2 Two|5 Bare|6 Barer|(a) |(b) |(c)|(h) |(i) |(ii) |(v) |(1) |(2) |(A) |1. |2. |1.1 |1.2 "
    "|4.2.1 |1.—(1) |a. |- |• |a | b|| c | d ||“term” means |‘t’ means |\t\t|   x   y"
).split("|")
_WORDS = ["The duty applies. ", "it includes:", "and so on;", "x" * 90, "\n", "\n\n", " "]
_WORDS += ["法。", "😀", "of Article 1(2)"]
LEGAL = st.lists(st.sampled_from([*_OPENERS, *_WORDS, "\n"]), max_size=40).map("".join)
ANY = st.text(st.characters(exclude_categories=["Cs"]), max_size=300)
LEVELS = st.lists(st.tuples(st.integers(0, 400), st.integers(1, 6)), max_size=4)


def document(text: str, headings: list[tuple[int, int]]) -> Document:
    return Document("d.txt", "d", text, headings=tuple(sorted(headings)))


def check_spans(tree: Tree, text: str) -> None:
    """Spans nest, siblings do not overlap, every word lies in a unit, and labels lead back."""
    reached, covered = {-1: 0}, [not c.isalnum() for c in text]
    for place, unit in enumerate(tree.units):
        above = tree.units[unit.parent] if unit.parent >= 0 else None
        assert -1 <= unit.parent < place
        assert 0 <= unit.start <= unit.body <= unit.end <= len(text)
        assert above is None or above.start <= unit.start <= unit.end <= above.end
        assert unit.start >= reached[unit.parent]
        assert unit.body <= max(tree.own_end(place), unit.start)
        reached[unit.parent], reached[place] = unit.end, unit.start
        covered[unit.start : unit.end] = [True] * (unit.end - unit.start)
        for reference in find_references(unit.label):
            assert all(tree.units[found].number for found in tree.find(reference))
    assert all(covered)


def check_statements(tree: Tree, text: str) -> None:
    """Statements come in order and say something."""
    begun = reached = 0
    for statement in statements(tree, text):
        assert begun <= statement.start < statement.end <= len(text)
        assert text[statement.start : statement.end].strip()
        assert all(0 <= start < end <= statement.start for start, end in statement.leads)
        begun = statement.start
        if not statement.points:
            assert reached <= statement.start
            reached = statement.end


@settings(max_examples=examples(300))
@given(st.one_of(LEGAL, ANY), LEVELS)
def test_laws_of_trees_statements_and_references(
    text: str, headings: list[tuple[int, int]]
) -> None:
    tree = document(text, headings).tree
    assert Tree.from_json(tree.to_json()) == tree
    check_spans(tree, text)
    check_statements(tree, text)
    for reference in [*find_references(text), *loose_numbers(text)]:
        assert 0 <= reference.start < reference.end <= len(text)
        assert reference.steps


_SIZES = (500, 4_000)
_HOSTILE = {
    "points": lambda n: "Article 1\nA\n1. It is:\n" + "".join(f"({i}) one;\n" for i in range(1, n)),
    "letters": lambda n: (
        "§ 1 A\nIt is:\n" + "".join(f"({chr(97 + i % 26)}) x;\n" for i in range(n))
    ),
    "articles": lambda n: "".join(f"Article {i}\nB\nText.\n" for i in range(1, n // 3)),
    "one line": lambda n: "Article 1\nA\n" + "a (b) " * n * 8,
    "rows": lambda n: "Table 1 X\n" + "".join(f"k{i} | v | w\n" for i in range(n)),
    "contents": lambda n: "Contents\n" + "".join(f"{i} Head {i} .... {i}\n" for i in range(n)),
    "short lines": lambda n: "Some heading\n" * n,
    "broken lines": lambda n: "".join(
        f"{'a ' * 40}so that\nAnnex {i % 50}\n" for i in range(n // 60)
    ),
    "brackets": lambda n: "(a)(1)(i)" * n,
    "blanks": lambda n: "Article" + " " * n * 8 + "x",
    "signs": lambda n: "§" * n * 8,
    "a word": lambda n: "a" * n * 8,
    "blank lines": lambda n: "a\n" + " \n" * n,
    "sentences": lambda n: ". " * n + "\n" + ("a." * 45 + " B") * (n // 45),
    "numbers": lambda n: "1-" * n + " " + "1," * n,
}


@pytest.mark.parametrize("name", _HOSTILE)
def test_time_grows_with_the_length_and_no_faster(name: str) -> None:
    taken = []
    for size in _SIZES:
        text = _HOSTILE[name](size)
        begun = time.process_time()
        source = document(text, [])
        sum(1 for _ in statements(source.tree, text))
        find_references(text)
        sentence_spans(text)
        tokenize(text)
        assert sum(len(chunk["text"]) for chunk in chunk_document(source)) == len(text)
        taken.append(time.process_time() - begun)
    assert taken[1] < 2.5 * (_SIZES[1] / _SIZES[0]) * taken[0] + 0.3
