"""``lexloop show``: the provisions of a document, or one of them with what lies around it."""

import os.path
import shlex
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from lexloop.apps.cli import options
from lexloop.apps.cli.options import option
from lexloop.apps.cli.progress import Progress
from lexloop.apps.cli.session import open_resources
from lexloop.apps.cli.terminal import (
    Part,
    first_of,
    plain,
    result_console,
    say,
    similar,
    write_json,
)
from lexloop.apps.plain_text import one_line
from lexloop.core.errors import InputError
from lexloop.core.filters import Filters
from lexloop.core.settings import SAMPLE_CORPUS

if TYPE_CHECKING:
    from lexloop.corpus.index.view import View
    from lexloop.corpus.structure.tree import Tree

_NEAR = 5
_HEADS = frozenset({"part", "annex", "provision"})
_WORDS = 70
_MOST_PROBLEMS = 10


@options.taking("corpus", "index.embedder", *options.ACCESS)
def show(
    *,
    context: typer.Context,
    document: Annotated[
        str,
        typer.Argument(
            help="A document, as citations name it, or the end of its name; without --corpus "
            "also a file."
        ),
    ],
    provision: Annotated[
        list[str] | None,
        typer.Argument(help="E.g. 'Article 5(1)(a)', '§ 5-303', 4.2, 'Annex III' or a heading."),
    ] = None,
    depth: Annotated[
        int, option("How many levels below provisions are listed.", min=0, max=99)
    ] = 0,
    as_json: options.AsJson = False,
) -> None:
    """Print the provisions of a document, or one with its headings, lead-in and references."""
    command = shlex.join(["lexloop", "show", document, *options.typed(context.params)])
    settings = options.chosen_settings(context.params)
    if settings.corpus == SAMPLE_CORPUS and os.path.isfile(document):
        settings, document = settings.changed(corpus=document), os.path.basename(document)
    connection = options.chosen_connection(context.params)
    with Progress() as progress:
        collection, _ = open_resources(settings, connection, progress)[0].collection(settings)
        view = collection.seen_by(Filters.of(settings))
    name = _named(view, document)
    tree, text = view.tree_of(name), view.text_of(name)
    assert tree is not None
    assert text is not None
    source = _Source(name, tree, text, view.pages_of(name))
    if not provision:
        _outline(source, depth, as_json)
    else:
        places = _places(name, tree, " ".join(provision), command)
        _provisions(source, places, depth, as_json)


def _named(view: "View", said: str) -> str:
    """Return the document meant: by its name or the end of its path, with or without suffix."""
    if said in view.documents:
        return said
    wanted = said.casefold()
    found = [name for name in view.documents if wanted in _endings(name)]
    if len(found) == 1:
        return found[0]
    if found:
        raise InputError(f"{len(found)} documents end in {said!r}.", _one_of("Name one", found))
    alike = similar(wanted, {name.casefold(): name for name in reversed(view.documents)}, _NEAR)
    raise InputError(
        f"There is no document {said!r}.",
        _one_of("Near it are" if alike else "There are", alike or view.documents),
    )


def _endings(name: str) -> set[str]:
    """Return every end of a name, by whole parts of its path, with and without suffix."""
    parts = name.casefold().split("/")
    ends = {"/".join(parts[first:]) for first in range(len(parts))}
    return ends | {end.rpartition(".")[0] for end in ends}


def _places(name: str, tree: "Tree", said: str, command: str) -> "list[int]":
    """Return the places of the provision asked for; several where they share one label.

    Where there is none the error names the ``command`` that lists all of the document.
    """
    from lexloop.corpus.structure.lookup import asked_references, missing_place, named_places

    found = named_places(tree, said)
    labels = list(dict.fromkeys(tree.units[place].label for place in found))
    if found and (len(labels) == 1 or asked_references(said)):
        return found
    if found:
        raise InputError(f"{said!r} fits {len(labels)} places.", _one_of("Name one", labels))
    see = f"See `{command}`."
    missing = missing_place(tree, said)
    if missing is not None and missing.first >= 0:
        first, last = tree.units[missing.first].label, tree.units[missing.last].label
        there = f"is {first}" if first == last else f"are {first} to {last}"
        raise InputError(f"{name} has no {said}; there {there}.", see)
    known = {text.casefold(): text for u in tree.units for text in (u.label, u.heading) if text}
    alike = similar(said.casefold(), known, _NEAR)
    raise InputError(f"{name} has no {said}.", _one_of("Near it are", alike) if alike else see)


def _one_of(lead: str, names: "Sequence[str]") -> str:
    more = f", and {len(names) - _NEAR} more" if len(names) > _NEAR else ""
    return f"{lead}: {'; '.join(names[:_NEAR])}{more}."


class _Source(NamedTuple):
    """A document to show; ``pages`` has the offset at which each page begins, if it has any."""

    name: str
    tree: "Tree"
    text: str
    pages: Sequence[int]

    def record(self, place: int) -> dict[str, Any]:
        """Return a unit's label, kind, number, heading, page and span, without its text."""
        unit = self.tree.units[place]
        return {
            **{name: getattr(unit, name) for name in ("label", "kind", "number", "heading")},
            "page": bisect_right(self.pages, unit.start) or None,
            "start": unit.start,
            "end": unit.end,
        }


def _outline(source: _Source, depth: int, as_json: bool) -> None:
    """Print what a document consists of, and what is wrong with its numbering."""
    tree = source.tree
    listed = list(_listed(tree, range(len(tree)), depth))
    if as_json:
        units = [{**source.record(place), "depth": level} for place, level in listed]
        problems = list(tree.problems)
        write_json({"document": source.name, "units": units, "problems": problems})
        return
    say(source.name, style="bold")
    _print_units(source, listed)
    if not listed:
        say("It has no provisions; --depth 1 lists its paragraphs.", style="dim")
    for said in first_of(tree.problems, _MOST_PROBLEMS):
        say(f"Numbering: {said}", style="yellow")


def _provisions(source: _Source, places: Sequence[int], depth: int, as_json: bool) -> None:
    """Print provisions with the headings above them, their lead-ins and what they refer to."""
    found = [_provision(source, place) for place in places]
    if as_json:
        write_json({"document": source.name, "provisions": found})
        return
    for place, record in zip(places, found, strict=True):
        _print_provision(source, place, record, depth)


def _provision(source: _Source, place: int) -> dict[str, Any]:
    from lexloop.corpus.structure.lookup import lead_ins, mentions, owns_label

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


def _print_provision(source: _Source, place: int, record: dict[str, Any], depth: int) -> None:
    tree, kind = source.tree, record["kind"]
    page = f" · page {record['page']}" if record["page"] else ""
    where = f" · {source.name}{page} · characters {record['start']}–{record['end']}"
    say(*_title(record), (where, "dim"))
    for above in record["above"]:
        say(("in ", "dim"), *_title(above))
    say()
    for said in record["lead_in"]:
        result_console().print(plain(said, "italic"))
    if kind == "part":
        _print_units(source, list(_listed(tree, tree.below(place), depth)))
    else:
        result_console().print(plain(record["text"]))
        say()
    for mention in record["refers_to"] if kind != "part" else ():
        labels = mention["labels"]
        there = "not in this document" if not labels else ", ".join((labels[0], *labels[1:][-1:]))
        say(f"Refers to {mention['said']}: {there}", style="dim")
    say()


def _title(record: dict[str, Any]) -> list[Part]:
    heading = record["heading"] if record["heading"] != record["label"] else ""
    label = one_line(record["label"] or record["kind"])
    return [(label, "bold"), f"  {one_line(heading)}" if heading else ""]


def _listed(tree: "Tree", places: Sequence[int], depth: int) -> Iterator[tuple[int, int]]:
    """Yield the units to list, each with the number of listed units that it lies in."""
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


def _print_units(source: _Source, listed: Sequence[tuple[int, int]]) -> None:
    for place, level in listed:
        unit, record = source.tree.units[place], source.record(place)
        short = ""
        if unit.kind not in _HEADS:
            words = one_line(source.text[unit.body : unit.end][: 2 * _WORDS])
            short = words if len(words) <= _WORDS else words[:_WORDS].rsplit(" ", 1)[0] + " …"
            short = f"  {short}"
        page = f"  page {record['page']}" if record["page"] else ""
        say("  " * level, *_title(record), (short, "dim"), (page, "dim"))
