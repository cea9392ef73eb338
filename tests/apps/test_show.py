"""``lexloop show``, and what ``lexloop index info`` says of numbering."""

import json
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]
LAWS = Path(__file__).parents[1] / "data" / "laws"


@pytest.fixture
def show(run: Run) -> Run:
    def shown(*arguments: str) -> Any:
        return run("show", *arguments, "--corpus", str(LAWS))

    return shown


def test_the_tree_of_a_document(show: Run) -> None:
    assert show("directive.txt").stdout.splitlines() == [
        "directive.txt",
        "Title I  General provisions",
        "  Title I, Chapter I  Scope",
        "    Title I, Chapter I, Section 1  Subject matter",
        "      Article 1  Subject matter",
        "      Article 2  Definitions",
        "      Article 3  Duties of keepers",
        "  Title I, Chapter II  Final provisions",
        "    Article 4  Entry into force",
        "Annex I  Fees",
        "Annex II",
        "Numbering: Article 3(3)(g) does not follow what precedes it.",
    ]


def test_deeper_levels_are_listed_with_their_first_words(show: Run) -> None:
    one, two = (show("act", "--depth", str(depth)).stdout for depth in (1, 2))
    assert "    Section 3(1)  (1) A site manager must keep a register of plots." in one
    assert "Section 3(2)(a)" not in one
    assert "      Section 3(2)(a)  (a) its number," in two


def test_a_provision_with_what_lies_around_it(show: Run) -> None:
    shown = show("directive.txt", "Article", "3(1)(b)").stdout.splitlines()
    assert shown[0] == "Article 3(1)(b) · directive.txt · characters 689–801"
    assert shown[1:6] == [
        "in Title I  General provisions",
        "in Title I, Chapter I  Scope",
        "in Title I, Chapter I, Section 1  Subject matter",
        "in Article 3  Duties of keepers",
        "in Article 3(1)",
    ]
    assert shown[7].startswith("1. A keeper shall, in accordance with")
    assert shown[8] == "(b) state, each year:"
    assert "Refers to Annex I, point 2: Annex I, point 2" in shown


def test_a_part_is_shown_by_what_it_consists_of(show: Run) -> None:
    shown = show("directive.txt", "chapter ii").stdout
    assert "Article 4  Entry into force" in shown
    assert "This Directive" not in shown


def test_json(show: Run) -> None:
    tree = json.loads(show("contract", "--json").stdout)
    assert (tree["document"], tree["problems"]) == ("contract.txt", [])
    assert [(u["label"], u["depth"]) for u in tree["units"]][:2] == [
        ("Clause 1", 0),
        ("Clause 2", 0),
    ]
    found = json.loads(show("contract", "2.1(b)", "--json").stdout)["provisions"]
    (clause,) = found
    text = (LAWS / "contract.txt").read_text("utf-8")
    assert clause["label"] == "Clause 2.1(b)"
    assert clause["text"] == text[clause["start"] : clause["end"]].strip()
    assert [above["label"] for above in clause["above"]] == ["Clause 2", "Clause 2.1"]
    assert len(clause["lead_in"]) == 1
    assert clause["page"] is None


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (("directive.txt", "Article 9"), "its articles run from Article 1 to Article 4"),
        (("directive.txt", "Article 3(9)"), "Article 3 runs from (1) to (3)"),
        (("directive.txt", "dutes of keepers"), "Near it are: Duties of keepers."),
        (
            ("directive.txt", "Subject matter"),
            "fits 2 places. Name one: Title I, Chapter I, Section 1;",
        ),
        (("directive.txt", "zzz"), f"See `lexloop show directive.txt --corpus {LAWS}`."),
        (("directve.txt",), "Near it are: directive.txt;"),
        (("qqqqqqqqqqqqqqqqqqqqq",), "There are: act.txt; contract.txt;"),
    ],
)
def test_what_is_not_there_is_said_with_what_is(
    show: Run, asked: tuple[str, ...], said: str
) -> None:
    result = show(*asked)
    assert result.exit_code == 2
    assert said in result.stderr
    assert json.loads(show(*asked, "--json").stdout)["error"]["exit_code"] == 2


def test_a_file_is_shown_without_a_corpus(run: Run) -> None:
    assert run("show", str(LAWS / "act.txt"), "3A").stdout.startswith("Section 3A  Electronic reg")
    missing = run("show", str(LAWS / "act.txt"), "99")
    assert f"See `lexloop show {LAWS / 'act.txt'}`." in missing.stderr


def test_the_command_that_is_named_has_every_option_that_was_given(
    run: Run, tmp_path: Path
) -> None:
    (tmp_path / "a b.txt").write_text("---\ntags: board\n---\nArticle 1\nA\nText.\n", "utf-8")
    given = ("--corpus", str(tmp_path), "--tag", "board", "--tag", "public")
    missing = run("show", "a b.txt", "Article 9", *given).stderr
    named = shlex.split(missing[missing.index("`") + 1 : missing.rindex("`")])
    assert named == ["lexloop", "show", "a b.txt", *given]
    assert "Article 1" in run(*named[1:]).stdout


def test_two_documents_of_one_name_are_told_apart(run: Run, tmp_path: Path) -> None:
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "law.txt").write_text(f"Article 1\nFees of {folder}\nText.\n", "utf-8")
    both = run("show", "law", "--corpus", str(tmp_path))
    assert both.exit_code == 2
    assert "2 documents end in 'law'. Name one: a/law.txt; b/law.txt." in both.stderr
    assert "Fees of b" in run("show", "b/law", "--corpus", str(tmp_path)).stdout


def test_what_an_asker_may_not_see_is_not_there(run: Run, tmp_path: Path) -> None:
    (tmp_path / "open.txt").write_text("Article 1\nA\nText.\n", "utf-8")
    secret = "---\ntags: board\n---\nArticle 1\nMerger\nText.\nArticle 5\nB\nText.\n"
    (tmp_path / "secret.txt").write_text(secret, "utf-8")
    hidden = run("show", "secret.txt", "--corpus", str(tmp_path))
    assert hidden.exit_code == 2
    assert "open.txt" in hidden.stderr
    assert "secret.txt;" not in hidden.stderr
    corpus = ("--corpus", str(tmp_path))
    assert "Merger" in run("show", "secret.txt", *corpus, "--tag", "board").stdout
    index = tmp_path / "index"
    assert run("index", str(tmp_path), "--out", str(index)).exit_code == 0
    public = json.loads(run("index", "info", str(index), "--json").stdout)
    assert public["numbering"] == []
    told = json.loads(run("index", "info", str(index), "--tag", "board", "--json").stdout)
    assert told["numbering"] == [
        {
            "document": "secret.txt",
            "problems": ["Article 5 follows Article 1: numbers are missing."],
        }
    ]


def test_hostile_text_is_printed_as_text(run: Run, tmp_path: Path) -> None:
    (tmp_path / "x.txt").write_text(
        "Article 1\n[red]Fees\x1b[31m\u202e\n1. See Article 2:\n(a) a \x1b]0;x\x07 b;\n", "utf-8"
    )
    for asked in (("x.txt", "--depth", "9"), ("x.txt", "Article 1"), ("x.txt", "\x1b[31m\u202e")):
        result = run("show", *asked, "--corpus", str(tmp_path))
        assert not {"\x1b", "\u202e", "\x07"} & set(result.stdout + result.stderr)


def test_numbering_that_is_wrong_is_reported_and_bounded(run: Run, tmp_path: Path) -> None:
    numbers = [1, 2, 2, 4, 3, *range(10, 60, 3)]
    text = "".join(f"Article {number}\nHeading\nText.\n" for number in numbers)
    (tmp_path / "law.txt").write_text(text, "utf-8")
    index = tmp_path / "index"
    assert run("index", str(tmp_path / "law.txt"), "--out", str(index)).exit_code == 0
    (found,) = json.loads(run("index", "info", str(index), "--json").stdout)["numbering"]
    assert found["problems"][:4] == [
        "Article 2 follows Article 2: repeated.",
        "Article 4 follows Article 2: numbers are missing.",
        "Article 3 follows Article 4: out of order.",
        "Article 10 follows Article 3: numbers are missing.",
    ]
    assert len(found["problems"]) == 20
    shown = run("index", "info", str(index)).stdout
    assert "Numbering of law.txt: Article 2 follows Article 2: repeated." in shown
    assert "15 more." in shown
    assert "Article 16" not in shown


def test_a_document_without_structure(run: Run, documents: Path) -> None:
    (documents / "note.txt").write_text("We met. Nothing was decided.\n", "utf-8")
    shown = run("show", "note.txt", "--corpus", str(documents)).stdout
    assert "It has no provisions; --depth 1 lists its paragraphs." in shown
    deep = run("show", "note.txt", "--depth", "1", "--corpus", str(documents)).stdout
    assert "We met. Nothing was decided." in deep
