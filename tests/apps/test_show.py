"""``lexloop show``: provisions as they stand, and what is near what is not there."""

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
    shown = show("directive.txt").stdout.splitlines()
    assert shown[:2] == ["directive.txt", "Title I  General provisions  line 8"]
    assert "    Title I, Chapter I, Section 1  Subject matter  line 12" in shown
    assert shown[-1] == "Doubt: Article 3(3)(g) does not follow what precedes it."
    deep = show("act", "--depth", "2").stdout
    assert "    Section 3(1)  (1) A site manager must keep a register of plots.  line 35" in deep
    assert "      Section 3(2)(a)  (a) its number,  line 37" in deep


def test_a_provision_with_what_lies_around_it(show: Run) -> None:
    shown = show("directive.txt", "Article", "3(1)(b)").stdout.splitlines()
    assert shown[0] == "Article 3(1)(b) · directive.txt · line 28"
    assert shown[4:6] == ["in Article 3  Duties of keepers", "in Article 3(1)"]
    assert shown[7].startswith("1. A keeper shall, in accordance with")
    assert shown[8] == "(b) state, each year:"
    assert "Refers to Annex I, point 2: Annex I, point 2" in shown


def test_json(show: Run) -> None:
    tree = json.loads(show("contract", "--json").stdout)
    assert (tree["document"], tree["problems"]) == ("contract.txt", [])
    assert (tree["units"][0]["label"], tree["units"][0]["depth"]) == ("Clause 1", 0)
    found = json.loads(show("contract", "2.1(b)", "--json").stdout)["provisions"]
    (clause,) = found
    text = (LAWS / "contract.txt").read_text("utf-8")
    assert clause["label"] == "Clause 2.1(b)"
    assert clause["text"] == text[clause["start"] : clause["end"]].strip()
    assert [above["label"] for above in clause["above"]] == ["Clause 2", "Clause 2.1"]


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (("directive.txt", "Article 9"), "its articles run from Article 1 to Article 4"),
        (("directive.txt", "Subject matter"), "fits 2 places. Name one: Title I, Chapter I"),
        (("directive.txt", "zzz"), f"See `lexloop show directive.txt --corpus {LAWS}`."),
        (("directve.txt",), "Near it are: directive.txt;"),
    ],
)
def test_what_is_missing_is_said_with_what_is_near(
    show: Run, asked: tuple[str, ...], said: str
) -> None:
    result = show(*asked)
    assert result.exit_code == 2
    assert said in result.stderr


def test_a_document_is_found_by_the_end_of_its_name(run: Run, tmp_path: Path) -> None:
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        law = f"---\ntags: board\n---\nArticle 1\nFees of {folder}\nText.\n"
        (tmp_path / folder / "the law.txt").write_text(law, "utf-8")
    given = ("--corpus", str(tmp_path), "--tag", "board", "--tag", "public")
    both = run("show", "the law", *given)
    assert both.exit_code == 2
    assert "2 documents end in 'the law'. Name one: a/the law.txt; b/the law.txt." in both.stderr
    assert "Fees of b" in run("show", "b/the law", *given).stdout
    # the command that is named has every option that was given
    missing = run("show", "a/the law.txt", "Article 9", *given).stderr
    named = shlex.split(missing[missing.index("`") + 1 : missing.rindex("`")])
    assert named == ["lexloop", "show", "a/the law.txt", *given]
    assert "Article 1" in run(*named[1:]).stdout
    assert run("show", str(LAWS / "act.txt"), "3A").stdout.startswith("Section 3A  Electronic reg")


def test_numbering_is_told_to_who_may_see_it(run: Run, in_json: Run, tmp_path: Path) -> None:
    laws, index = tmp_path / "laws", tmp_path / "index"
    laws.mkdir()
    wrong = "".join(f"Article {number}\nMerger\nText.\n" for number in (1, 2, 2, 4, 3))
    (laws / "secret.txt").write_text(f"---\ntags: board\n---\n{wrong}", "utf-8")
    assert run("index", str(laws), "--out", str(index)).exit_code == 0
    assert in_json("index", "info", index)["numbering"] == []
    shown = run("index", "info", str(index), "--tag", "board").stdout
    assert "Numbering of secret.txt: Article 2 follows Article 2: repeated." in shown
    assert "Article 3 follows Article 4: out of order." in shown
