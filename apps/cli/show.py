"""``lexloop show``: the provisions of a document, or one of them with what lies around it."""

import os.path
import shlex
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lexloop.apps.cli import options
from lexloop.apps.cli.options import option
from lexloop.apps.cli.session import open_resources
from lexloop.apps.cli.terminal import Part, Progress, plain, result_console, say, write_json
from lexloop.apps.shapes.text import first_of, one_line
from lexloop.core.metadata import Filters
from lexloop.core.settings import SAMPLE_CORPUS

if TYPE_CHECKING:
    from lexloop.apps.provisions import Source

_WORDS = 70
_MOST_DOUBTS, _DEEPEST = 10, 99


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
        int, option("How many levels below provisions are listed.", min=0, max=_DEEPEST)
    ] = 0,
    outline: Annotated[
        bool, option("The whole tree: every unit with its kind, and each doubt of the reading.")
    ] = False,
    as_json: options.AsJson = False,
) -> None:
    """Print the provisions of a document, or one with its headings, lead-in and references."""
    depth = _DEEPEST if outline else depth
    command = shlex.join(["lexloop", "show", document, *options.typed(context.params)])
    settings = options.chosen_settings(context.params)
    if settings.corpus == SAMPLE_CORPUS and os.path.isfile(document):
        settings, document = settings.changed(corpus=document), os.path.basename(document)
    connection = options.chosen_connection(context.params)
    with Progress() as progress:
        collection, _ = open_resources(settings, connection, progress)[0].collection(settings)
        view = collection.seen_by(Filters.of(settings))
    from lexloop.apps.provisions import Source

    source = Source.of(view, document)
    places = source.places(" ".join(provision), f"See `{command}`.") if provision else []
    found = [source.provision(place) for place in places]
    if as_json and provision:
        write_json({"document": source.name, "provisions": found})
    elif as_json:
        write_json(source.outline(depth))
    elif provision:
        for place, record in zip(places, found, strict=True):
            _print_provision(source, place, record, depth)
    else:
        _print_outline(source, depth, whole=outline)


def _print_outline(source: "Source", depth: int, whole: bool) -> None:
    """Print what a document consists of, and the doubts of its reading; all where it is whole."""
    units = source.listed(range(len(source.tree)), depth)
    known = f" · {one_line(source.identifier)}" if source.identifier else ""
    say((source.name, "bold"), (known, "dim"))
    _print_units(source, units, kinds=whole)
    if not units:
        say("It has no provisions; --depth 1 lists its paragraphs.", style="dim")
    doubts = source.doubts()
    for said in doubts if whole else first_of(doubts, _MOST_DOUBTS):
        say(f"Doubt: {said}", style="yellow")


def _print_provision(source: "Source", place: int, record: dict[str, Any], depth: int) -> None:
    """Print a provision with the headings above it, its lead-in and what it refers to."""
    from lexloop.documents.structure.telling import UNRESOLVED

    kind = record["kind"]
    page = f" · page {record['page']}" if record["page"] else ""
    where = f" · {source.name}{page} · characters {record['start']}–{record['end']}"
    say(*_title(record), (where, "dim"))
    for above in record["above"]:
        say(("in ", "dim"), *_title(above))
    say()
    for said in record["lead_in"]:
        result_console().print(plain(said, "italic"))
    if kind == "part":
        _print_units(source, source.listed(source.tree.below(place), depth))
    else:
        result_console().print(plain(record["text"]))
        say()
    for mention in record["refers_to"] if kind != "part" else ():
        labels = mention["labels"]
        there = UNRESOLVED if not labels else ", ".join((labels[0], *labels[1:][-1:]))
        say(f"Refers to {mention['said']}: {there}", style="dim")
    say()


def _title(record: dict[str, Any]) -> list[Part]:
    heading = record["heading"] if record["heading"] != record["label"] else ""
    label = one_line(record["label"] or record["kind"])
    return [(label, "bold"), f"  {one_line(heading)}" if heading else ""]


def _print_units(source: "Source", listed: Sequence[tuple[int, int]], kinds: bool = False) -> None:
    from lexloop.apps.provisions import HEADS

    for place, level in listed:
        unit, record = source.tree.units[place], source.record(place)
        short = ""
        if unit.kind not in HEADS:
            words = one_line(source.text[unit.body : unit.end][: 2 * _WORDS])
            short = words if len(words) <= _WORDS else words[:_WORDS].rsplit(" ", 1)[0] + " …"
            short = f"  {short}"
        page = f"  page {record['page']}" if record["page"] else ""
        kind = f"  [{unit.kind}]" if kinds else ""
        say("  " * level, *_title(record), (short, "dim"), (kind, "cyan"), (page, "dim"))
