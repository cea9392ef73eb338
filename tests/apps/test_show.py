"""``lexloop show`` and ``graph``: provisions and relations as they stand."""

import json
import shlex
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from laws import examples
from relations import relation

from lexloop.apps.cli.show import as_page, as_svg, row
from lexloop.store.graph import Relation

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


SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture
def dogs(run: Run, documents: Path) -> Callable[..., Any]:
    def show(*arguments: str) -> Any:
        return run("graph", "show", *arguments, "--corpus", str(documents))

    return show


def test_relations_are_shown_with_their_quotes_and_places(dogs: Run, tmp_path: Path) -> None:
    said = dogs("§ 1").stdout
    assert "dogs.txt, § 1: “§ 1 Licence.”" in said
    found = [json.loads(dogs(name, "--json").stdout) for name in ("§ 2", "Section 2", "§2")]
    assert found[0] == found[1] == found[2]
    about, part = sorted(found[0]["relations"], key=lambda relation: relation["predicate"])
    assert (about["predicate"], about["object"]) == ("concerns", "Leash")
    assert (part["predicate"], part["object"]) == ("part_of", "Dog ordinance")
    assert (about["document"], about["section"], about["reached"]) == ("dogs.txt", "§ 2", "§ 2")
    svg, html = tmp_path / "o.svg", tmp_path / "o.html"
    far = dogs("§ 1", "--depth", "2", "--json", "--svg", str(svg), "--html", str(html)).stdout
    few = dogs("§ 1", "--depth", "2", "--limit", "2", "--json").stdout
    assert json.loads(few)["relations"] == json.loads(far)["relations"][:2]
    assert "more: --limit shows up to 200" in dogs("§ 1", "--limit", "1").stdout
    drawn = ElementTree.fromstring(svg.read_text("utf-8"))
    assert {"§ 1", "concerns"} <= {text.text for text in drawn.iter(f"{SVG}text")}
    assert svg.read_text("utf-8") in html.read_text("utf-8")


class _Tags(HTMLParser):
    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs


@settings(max_examples=examples(40))
@given(st.text(st.characters(codec=None), max_size=30))
@example("<script>alert(1)</script>")
@example('"\' onload="alert(1)')
@example("</svg></title><img src=x onerror=alert(1)>")
@example("a\x00b\x1b[31mc\u202e \ud800 \ufffe ]]> &lt; {title}")
def test_any_name_is_drawn_as_text(text: str) -> None:
    triplet = relation(text, "requires", text, section=text, document=text)
    other = relation("owner", text, "pay", section="§ 1")
    relations = [
        Relation(triplet, text, f"{text} object", "owner"),
        Relation(other, "owner", text, text),
    ]
    svg = as_svg(text, relations)
    page = as_page(text, relations, svg)
    allowed = {"svg", "title", "defs", "marker", "path", "rect", "line", "g", "text"}
    assert {one.tag.removeprefix(SVG) for one in ElementTree.fromstring(svg).iter()} <= allowed
    found = _Tags(page)
    assert not {"script", "img", "iframe", "style", "link", "a"} & set(found.tags)
    assert not [name for name, _ in found.attributes if name.startswith("on") or "href" in name]
    assert found.tags.count("tr") == len(relations) + 1
    page.encode("utf-8")
    assert not {"\x00", "\x1b", "\u202e", "\ud800", "\ufffe"} & set(page)
    assert all("\n" not in cell for cell in row(relations[0]))


def test_the_drawing_fits_a_screen_and_no_label_covers_another() -> None:
    count = 200
    triplets = [relation(f"owner number {i}", "requires", f"pay fee {i % 7}") for i in range(count)]
    relations = [Relation(t, t["subject"], t["object"], "harbour") for t in triplets]
    drawn = ElementTree.fromstring(as_svg("harbour", relations, more=5))
    assert int(drawn.attrib["width"]) <= 1280
    assert int(drawn.attrib["height"]) <= 1000
    assert f"{count - 18 + 5} more" in [text.text for text in drawn.iter(f"{SVG}text")]
    boxes = []
    for shape in drawn.iterfind(f".//{SVG}g/{SVG}rect"):
        boxes.append([float(shape.attrib[side]) for side in ("x", "y", "width", "height")])
    for i, (x, y, width, height) in enumerate(boxes):
        for other_x, other_y, other_width, _ in boxes[:i]:
            beside = x >= other_x + other_width or other_x >= x + width
            assert beside or abs(y - other_y) >= height
