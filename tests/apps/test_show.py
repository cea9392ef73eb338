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
    shown = show("directive.txt").stdout.splitlines()
    assert shown[:2] == ["directive.txt", "Title I  General provisions"]
    assert "    Title I, Chapter I, Section 1  Subject matter" in shown
    assert shown[-1] == "Doubt: Article 3(3)(g) does not follow what precedes it."
    deep = show("act", "--depth", "2").stdout
    assert "    Section 3(1)  (1) A site manager must keep a register of plots." in deep
    assert "      Section 3(2)(a)  (a) its number," in deep


def test_the_whole_outline_has_kinds_and_doubts(run: Run, tmp_path: Path) -> None:
    law = tmp_path / "law.txt"
    rest = "As Annex II says.\nArticle 2\nFees\nSee Annex II.\nANNEX I\nBoats\n1. A sloop.\n"
    law.write_text(f"Article 1\nScope\n{rest}")
    shown = run("show", str(law), "--outline").stdout.splitlines()
    assert shown == [
        "law.txt",
        "Article 1  Scope  [provision]",
        "  Article 1  As Annex II says.  [text]",
        "Article 2  Fees  [provision]",
        "  Article 2  See Annex II.  [text]",
        "Annex I  Boats  [annex]",
        "  Annex I, point 1  1. A sloop.  [point]",
        "Doubt: Annex II is referred to 2 times and was not found.",
    ]


def test_a_provision_with_what_lies_around_it(show: Run) -> None:
    shown = show("directive.txt", "Article", "3(1)(b)").stdout.splitlines()
    assert shown[0] == "Article 3(1)(b) · directive.txt · characters 689–801"
    assert shown[4:6] == ["in Article 3  Duties of keepers", "in Article 3(1)"]
    assert shown[7].startswith("1. A keeper shall, in accordance with")
    assert shown[8] == "(b) state, each year:"
    assert "Refers to Annex I, point 2: Annex I, point 2" in shown


def test_the_identifier_of_a_law_is_shown(run: Run) -> None:
    law = Path(__file__).parents[1] / "documents" / "reading" / "laws" / "formex.xml"
    assert run("show", str(law)).stdout.splitlines()[0] == "formex.xml · 32021R0014"
    assert json.loads(run("show", str(law), "--json").stdout)["identifier"] == "32021R0014"
    asked = ("ask", "How many hours must a raft float?", "--corpus", str(law.parent), "--json")
    (cited, *_) = json.loads(run(*asked).stdout)["citations"]
    assert (cited["document"], cited["section"]) == ("akoma_ntoso.xml", "Annex I, point 1")
    assert cited["identifier"] == "http://data.example.org/eli/reg/2021/14"


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
        (
            ("directive.txt", "Subject matter"),
            "fits 2 places. Name one: Title I, Chapter I, Section 1;",
        ),
        (("directive.txt", "zzz"), f"See `lexloop show directive.txt --corpus {LAWS}`."),
        (("directve.txt",), "Near it are: directive.txt;"),
    ],
)
def test_what_is_not_there_is_said_with_what_is(
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


def test_what_an_asker_may_not_see_is_not_there_nor_is_its_numbering(
    run: Run, in_json: Run, tmp_path: Path
) -> None:
    laws, index = tmp_path / "laws", tmp_path / "index"
    laws.mkdir()
    (laws / "open.txt").write_text("Article 1\nA\nText.\n", "utf-8")
    numbers = [1, 2, 2, 4, 3, *range(10, 60, 3)]
    secret = "".join(f"Article {number}\nMerger\nText.\n" for number in numbers)
    (laws / "secret.txt").write_text(f"---\ntags: board\n---\n{secret}", "utf-8")
    hidden = run("show", "secret.txt", "--corpus", str(laws))
    assert hidden.exit_code == 2
    assert "open.txt" in hidden.stderr
    assert "secret.txt;" not in hidden.stderr
    assert "Merger" in run("show", "secret.txt", "--corpus", str(laws), "--tag", "board").stdout
    assert run("index", str(laws), "--out", str(index)).exit_code == 0
    assert in_json("index", "info", index)["numbering"] == []
    (found,) = in_json("index", "info", index, "--tag", "board")["numbering"]
    assert found["problems"][2] == "Article 3 follows Article 4: out of order."
    assert len(found["problems"]) == 20
    shown = run("index", "info", str(index), "--tag", "board").stdout
    assert "Numbering of secret.txt: Article 2 follows Article 2: repeated." in shown
    assert "15 more." in shown


def test_hostile_text_is_printed_as_text(run: Run, tmp_path: Path) -> None:
    (tmp_path / "x.txt").write_text(
        "Article 1\n[red]Fees\x1b[31m\u202e\n1. See Article 2:\n(a) a \x1b]0;x\x07 b;\n", "utf-8"
    )
    for asked in (("x.txt", "--depth", "9"), ("x.txt", "Article 1"), ("x.txt", "\x1b[31m\u202e")):
        result = run("show", *asked, "--corpus", str(tmp_path))
        assert not {"\x1b", "\u202e", "\x07"} & set(result.stdout + result.stderr)
