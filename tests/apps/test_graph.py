"""``lexloop graph show``: relations as they stand, printed and drawn."""

import json
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
