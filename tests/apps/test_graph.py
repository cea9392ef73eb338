import json
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from laws import examples
from relations import relation

from lexloop.apps.cli.graph import as_page, as_svg, row
from lexloop.store.graph import Relation

Run = Callable[..., Any]
SVG = "{http://www.w3.org/2000/svg}"
HOSTILE = [
    "<script>alert(1)</script>",
    '"\' onload="alert(1)',
    "</svg></title><img src=x onerror=alert(1)>",
    "a\x00b\x1b[31mc\x07",
    "pay \u202eeef eht\u202c now",
    "]]> &lt; &amp; &#60;script&#62;",
    "lone \ud800 surrogate \ufffe \uffff",
    "{title} {rows} %s",
    "long " * 60,
]


@pytest.fixture
def dogs(run: Run, documents: Path) -> Callable[..., Any]:
    def show(*arguments: str) -> Any:
        return run("graph", "show", *arguments, "--corpus", str(documents))

    return show


def test_prints_the_relations_with_their_places(dogs: Run) -> None:
    result = dogs("the Dog ordinance")
    assert result.exit_code == 0
    words = " ".join(result.stdout.split())
    assert words.startswith("Dog ordinance: ")
    assert "dogs.txt" in words
    assert "§ 1" in words


def test_a_section_is_an_entity_however_it_is_written(dogs: Run) -> None:
    found = [json.loads(dogs(said, "--json").stdout) for said in ("§ 2", "Section 2", "§2")]
    assert found[0] == found[1] == found[2]
    assert found[0]["entity"] == "§ 2"
    about, part = sorted(found[0]["relations"], key=lambda relation: relation["predicate"])
    assert (about["predicate"], about["object"]) == ("concerns", "Leash")
    assert (part["predicate"], part["object"]) == ("part_of", "Dog ordinance")
    assert (about["document"], about["section"], about["reached"]) == ("dogs.txt", "§ 2", "§ 2")


def test_further_entities_and_fewer_relations(dogs: Run) -> None:
    near = json.loads(dogs("§ 1", "--json").stdout)["relations"]
    far = json.loads(dogs("§ 1", "--depth", "2", "--json").stdout)["relations"]
    assert len(near) < len(far)
    assert far[: len(near)] == near
    few = json.loads(dogs("§ 1", "--depth", "2", "--limit", "2", "--json").stdout)["relations"]
    assert few == far[:2]


def test_an_unknown_entity_names_those_near(dogs: Run) -> None:
    result = dogs("leesh of a dog licence")
    assert result.exit_code == 2
    assert "no entity 'leesh of a dog licence'" in result.stderr
    assert "'Dog ordinance'" in result.stderr
    misspelt = dogs("leesh", "--json")
    assert misspelt.exit_code == 2
    assert "Leash" in json.loads(misspelt.stdout)["error"]["hint"]
    assert "Ask for" in dogs("qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqq").stderr


@pytest.mark.parametrize("said", ["", " ", "\u202e", "<b>", "§"])
def test_what_names_nothing_is_refused(dogs: Run, said: str) -> None:
    result = dogs(said)
    assert result.exit_code == 2
    assert "\u202e" not in result.stderr


@pytest.mark.parametrize("wrong", [("--depth", "3"), ("--depth", "0"), ("--limit", "0")])
def test_depth_and_limit_are_bounded(dogs: Run, wrong: tuple[str, str]) -> None:
    assert dogs("§ 1", *wrong).exit_code == 2


def test_draws_the_neighbourhood(dogs: Run, tmp_path: Path) -> None:
    svg, html = tmp_path / "o.svg", tmp_path / "o.html"
    assert dogs("§ 1", "--svg", str(svg), "--html", str(html)).exit_code == 0
    drawn = ElementTree.fromstring(svg.read_text("utf-8"))
    assert drawn.tag == f"{SVG}svg"
    texts = [text.text for text in drawn.iter(f"{SVG}text")]
    assert "§ 1" in texts
    assert "concerns" in texts
    assert svg.read_text("utf-8") in html.read_text("utf-8")


def test_the_same_neighbourhood_is_drawn_the_same(dogs: Run, tmp_path: Path) -> None:
    files = [tmp_path / "1.svg", tmp_path / "2.svg"]
    for file in files:
        dogs("§ 1", "--depth", "2", "--svg", str(file))
    assert files[0].read_bytes() == files[1].read_bytes()


def test_a_place_that_cannot_be_written_is_reported(dogs: Run, tmp_path: Path) -> None:
    result = dogs("§ 1", "--svg", str(tmp_path / "missing" / "o.svg"))
    assert result.exit_code == 2
    assert "cannot be written" in result.stderr


def test_settings_without_a_graph_are_refused(dogs: Run) -> None:
    result = dogs("§ 1", "--set", "retrieval.knowledge_graph=none")
    assert result.exit_code == 2
    assert "knowledge_graph none" in result.stderr


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


def _hostile_relations(text: str) -> list[Relation]:
    triplet = relation(text, "requires", text, section=text, document=text)
    other = relation("owner", text, "pay", section="§ 1")
    return [
        Relation(triplet, text, f"{text} object", "owner"),
        Relation(other, "owner", text, text),
    ]


def _is_harmless(name: str, relations: list[Relation]) -> None:
    svg = as_svg(name, relations)
    page = as_page(name, relations, svg)
    drawn = ElementTree.fromstring(svg)
    allowed = {"svg", "title", "defs", "marker", "path", "rect", "line", "g", "text"}
    assert {element.tag.removeprefix(SVG) for element in drawn.iter()} <= allowed
    found = _Tags(page)
    assert not {"script", "img", "iframe", "style", "link", "a"} & set(found.tags)
    assert not [name for name, _ in found.attributes if name.startswith("on") or "href" in name]
    assert found.tags.count("tr") == len(relations) + 1
    page.encode("utf-8")
    for unsafe in ("\x00", "\x1b", "\u202e", "\ud800", "\ufffe"):
        assert unsafe not in page


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_names_are_drawn_as_text(text: str) -> None:
    _is_harmless(text, _hostile_relations(text))
    assert all("\n" not in cell for cell in row(_hostile_relations(text)[0]))


@settings(max_examples=examples(40))
@given(st.text(st.characters(codec=None), max_size=30))
def test_any_name_is_drawn_as_text(text: str) -> None:
    _is_harmless(text, _hostile_relations(text))


@pytest.mark.parametrize("count", [30, 200])
def test_the_drawing_fits_a_screen_and_says_how_many_more_there_are(count: int) -> None:
    triplets = [
        relation(f"owner {i} of a large boat", "requires", f"pay {i}") for i in range(count)
    ]
    relations = [Relation(t, t["subject"], t["object"], "harbour") for t in triplets]
    drawn = ElementTree.fromstring(as_svg("harbour", relations, more=5))
    assert int(drawn.attrib["width"]) <= 1280
    assert int(drawn.attrib["height"]) <= 1000
    assert f"{count - 18 + 5} more" in [text.text for text in drawn.iter(f"{SVG}text")]


def test_each_relation_shows_its_quote_and_a_pipe_gets_whole_lines(dogs: Run) -> None:
    printed = dogs("§ 1").stdout
    assert "§ 1, dogs.txt: “§ 1 Licence.”" in printed
    few = dogs("§ 1", "--limit", "1").stdout
    assert few.count("“") == 1
    assert "more: --limit shows up to 200" in few


def test_an_entity_alone_is_drawn() -> None:
    assert len(list(ElementTree.fromstring(as_svg("owner", [])).iter(f"{SVG}g"))) == 1


def test_a_hostile_document_is_printed_and_drawn_as_text(run: Run, tmp_path: Path) -> None:
    folder = tmp_path / "hostile"
    folder.mkdir()
    (folder / "<img src=x>.txt").write_text(
        "# The <b>law</b>\n\n§ 1 Of <script>alert(1)</script>\n\nSee § 2.\n\n"
        "§ 2 Of [red]things\x1b[31m\u202e & <b>more</b>\n\nSee § 1.\n",
        "utf-8",
    )
    page, drawing = tmp_path / "p.html", tmp_path / "d.svg"
    result = run(
        "graph", "show", "§ 1", "--depth", "2", "--corpus", str(folder), "--html", str(page),
        "--svg", str(drawing),
    )  # fmt: skip
    assert result.exit_code == 0
    assert "\x1b" not in result.stdout
    assert "\u202e" not in result.stdout
    assert not {"script", "img", "b"} & set(_Tags(page.read_text("utf-8")).tags)
    ElementTree.fromstring(drawing.read_text("utf-8"))


@pytest.mark.parametrize("count", [1, 12, 40])
def test_no_label_covers_another(count: int) -> None:
    triplets = [relation(f"owner number {i}", "requires", f"pay fee {i % 7}") for i in range(count)]
    relations = [Relation(t, t["subject"], t["object"], "harbour") for t in triplets]
    boxes = []
    for group in ElementTree.fromstring(as_svg("harbour", relations)).iter(f"{SVG}g"):
        shape = group.find(f"{SVG}rect")
        assert shape is not None
        boxes.append([float(shape.attrib[side]) for side in ("x", "y", "width", "height")])
    for i, (x, y, width, height) in enumerate(boxes):
        for other_x, other_y, other_width, _ in boxes[:i]:
            beside = x >= other_x + other_width or other_x >= x + width
            assert beside or abs(y - other_y) >= height
