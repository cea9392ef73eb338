"""How ``lexloop show`` prints a tree and a provision, for people and as JSON."""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from lexloop.apps.cli.terminal import first_of, joined, one_line, plain, result_console, write_json
from lexloop.corpus.structure.lookup import lead_ins, mentions, owns_label
from lexloop.corpus.structure.tree import Tree

_HEADS = frozenset({"part", "annex", "provision"})
_WORDS = 70
_MOST_PROBLEMS = 10


@dataclass(frozen=True)
class Source:
    """A document to be shown.

    Args:
        name: The document.
        tree: Its provisions.
        text: Its whole text.
        pages: Where its pages begin; nothing where it has none.
    """

    name: str
    tree: Tree
    text: str
    pages: Sequence[int]

    def record(self, place: int) -> dict[str, Any]:
        """What is known of a unit, without its text."""
        unit = self.tree.units[place]
        page = bisect_right(self.pages, unit.start) or None
        return {
            "label": unit.label,
            "kind": unit.kind,
            "number": unit.number,
            "heading": unit.heading,
            "page": page,
            "start": unit.start,
            "end": unit.end,
        }


def outline(source: Source, depth: int, as_json: bool) -> None:
    """Print what a document consists of, and what is wrong with its numbering.

    Args:
        source: The document.
        depth: How many levels below provisions are listed.
        as_json: Whether to print one JSON object instead.
    """
    tree = source.tree
    listed = list(_listed(tree, range(len(tree)), depth))
    if as_json:
        units = [{**source.record(place), "depth": level} for place, level in listed]
        problems = list(tree.problems)
        write_json({"document": source.name, "units": units, "problems": problems})
        return
    console = result_console()
    console.print(plain(one_line(source.name), "bold"))
    _print_units(source, listed)
    if not listed:
        console.print(plain("It has no provisions; --depth 1 lists its paragraphs.", "dim"))
    for said in first_of(tree.problems, _MOST_PROBLEMS):
        console.print(plain(one_line(f"Numbering: {said}"), "yellow"))


def provisions(source: Source, places: Sequence[int], depth: int, as_json: bool) -> None:
    """Print provisions with the headings above them, their lead-ins and what they refer to.

    Args:
        source: The document.
        places: Of the provisions in its tree.
        depth: How many levels below provisions are listed where one is a part of the document.
        as_json: Whether to print one JSON object instead.
    """
    found = [_provision(source, place) for place in places]
    if as_json:
        write_json({"document": source.name, "provisions": found})
        return
    for place, record in zip(places, found, strict=True):
        _print_provision(source, place, record, depth)


def _provision(source: Source, place: int) -> dict[str, Any]:
    tree, text, units = source.tree, source.text, source.tree.units
    above = [at for at in tree.above(place) if owns_label(tree, at)]
    return {
        **source.record(place),
        "above": [source.record(at) for at in above[::-1]],
        "lead_in": lead_ins(tree, place, text),
        "text": text[units[place].start : units[place].end].strip(),
        "refers_to": [
            {"said": said, "labels": [units[at].label for at in there]}
            for said, there in mentions(tree, place, text).items()
        ],
    }


def _print_provision(source: Source, place: int, record: dict[str, Any], depth: int) -> None:
    console = result_console()
    tree, kind = source.tree, record["kind"]
    where = [one_line(source.name)]
    where += [f"page {record['page']}"] if record["page"] else []
    where.append(f"characters {record['start']}–{record['end']}")
    console.print(joined(_title(record), plain(" · " + " · ".join(where), "dim")))
    for above in record["above"]:
        console.print(joined(plain("in ", "dim"), _title(above)))
    console.print()
    for said in record["lead_in"]:
        console.print(plain(said, "italic"))
    if kind == "part":
        _print_units(source, list(_listed(tree, tree.below(place), depth)))
    else:
        console.print(plain(record["text"]))
        console.print()
    for mention in record["refers_to"] if kind != "part" else ():
        labels = mention["labels"]
        there = "not in this document" if not labels else ", ".join((labels[0], *labels[1:][-1:]))
        console.print(plain(one_line(f"Refers to {mention['said']}: {there}"), "dim"))
    console.print()


def _title(record: dict[str, Any]) -> Any:
    heading = record["heading"] if record["heading"] != record["label"] else ""
    label = plain(one_line(record["label"] or record["kind"]), "bold")
    return joined(label, plain(f"  {one_line(heading)}")) if heading else label


def _listed(tree: Tree, places: Sequence[int], depth: int) -> Iterator[tuple[int, int]]:
    """The units to be listed, each with how many of them it lies in."""
    below: dict[int, int] = {}
    indent: dict[int, int] = {}
    for place in places:
        unit = tree.units[place]
        head = unit.kind in _HEADS or (unit.kind == "table" and bool(unit.number))
        below[place] = 0 if head else below.get(unit.parent, 0) + 1
        indent[place] = indent.get(unit.parent, 0)
        if below[place] <= depth:
            yield place, indent[place]
            indent[place] += 1


def _print_units(source: Source, listed: Sequence[tuple[int, int]]) -> None:
    console = result_console()
    for place, level in listed:
        unit, record = source.tree.units[place], source.record(place)
        line = joined(plain("  " * level), _title(record))
        if unit.kind not in _HEADS:
            words = one_line(source.text[unit.body : unit.end][: 2 * _WORDS])
            short = words if len(words) <= _WORDS else words[:_WORDS].rsplit(" ", 1)[0] + " …"
            line = joined(line, plain(f"  {short}", "dim"))
        console.print(
            joined(line, plain(f"  page {record['page']}" if record["page"] else "", "dim"))
        )
