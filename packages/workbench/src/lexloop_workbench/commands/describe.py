"""``lexloop describe``: what a document says that it is, and what is worth asking of it."""

import os.path
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from lexloop.apps.cli import options
from lexloop.apps.cli.session import open_resources
from lexloop.apps.cli.terminal import Progress, say, write_json
from lexloop.apps.shapes.text import first_of, one_line, places, shortened
from lexloop.core.metadata import Filters
from lexloop.core.settings import SAMPLE_CORPUS

if TYPE_CHECKING:
    from lexloop_workbench.profile import Dated, Item, Profile

_CHARS, _MOST = 100, 12


@options.taking("corpus", "index.embedder", *options.ACCESS)
def describe(
    *,
    context: typer.Context,
    document: Annotated[
        str,
        typer.Argument(
            help="A document, as citations name it, or the end of its name; without --corpus "
            "also a file."
        ),
    ],
    as_json: options.AsJson = False,
) -> None:
    """Tell what a document is: kind, parties, dates, law, outline, terms, and what to ask of it."""
    settings = options.chosen_settings(context.params)
    if settings.corpus == SAMPLE_CORPUS and os.path.isfile(document):
        settings, document = settings.changed(corpus=document), os.path.basename(document)
    connection = options.chosen_connection(context.params)
    with Progress() as progress:
        resources, _ = open_resources(settings, connection, progress)
        collection, _ = resources.collection(settings)
        view = collection.seen_by(Filters.of(settings))
        from lexloop.graph.build import build_graph
        from lexloop_workbench.describing import described

        progress.say("Reading")
        made = described(build_graph(resources), settings, view, document)
    if as_json:
        write_json(made.model_dump(mode="json"))
    else:
        _print(made)


def _print(made: "Profile") -> None:
    say((one_line(made.title or made.document), "bold"), f"  {made.kind}" if made.kind else "")
    length = [f"{made.words} words", f"{made.provisions} provisions"]
    length += [f"{made.pages} pages"] if made.pages else []
    say(f"{one_line(made.document)} · {', '.join(length)}", style="dim")
    called = [(f"{one.said} (“{one.role}”)" if one.role else one.said, one) for one in made.parties]
    _listed("Parties", [(one_line(said), one) for said, one in called])
    _listed("Made", _days(made.signed))
    _listed("In effect", _days(made.effective))
    _listed("Lasts", [(one_line(one.said), one) for one in made.term])
    _listed("Governing law", [(one_line(one.said), one) for one in made.governing_law])
    say("Outline", style="bold") if made.outline else None
    for part in made.outline:
        named = " ".join(filter(None, dict.fromkeys((part.label, part.heading))))
        say(f"    {'    ' * part.depth}{one_line(named)}")
    _named("Defines", made.terms)
    _named("Refers to", made.refers_to)
    _listed("Worth asking", [(one_line(one.said), one) for one in made.questions])


def _days(found: "Sequence[Dated]") -> "list[tuple[str, Item]]":
    return [(str(one.day), one) for one in found]


def _listed(name: str, found: "Sequence[tuple[str, Item]]") -> None:
    """Print what was found under a name, each with its provision."""
    if found:
        say(name, style="bold")
    for said, item in found:
        where = ", ".join(places(item.model_dump()))
        say(f"    {shortened(said, _CHARS)}", (f"  {where}" if where else "", "dim"))


def _named(name: str, found: "Sequence[Item]") -> None:
    """Print many short things on one line."""
    if found:
        say(name, style="bold")
        say(f"    {'; '.join(first_of([shortened(one.said, _CHARS) for one in found], _MOST))}")
