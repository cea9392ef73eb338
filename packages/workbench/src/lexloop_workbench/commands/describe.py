"""``lexloop describe``: a document's own description, and questions worth asking."""

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
    """Describe a document: kind, parties, dates, law, outline, terms, and questions to ask."""
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
        profile = described(build_graph(resources), settings, view, document)
    if as_json:
        write_json(profile.model_dump(mode="json"))
    else:
        _print(profile)


def _print(profile: "Profile") -> None:
    say(
        (one_line(profile.title or profile.document), "bold"),
        f"  {profile.kind}" if profile.kind else "",
    )
    length = [f"{profile.words} words", f"{profile.provisions} provisions"]
    length += [f"{profile.pages} pages"] if profile.pages else []
    say(f"{one_line(profile.document)} · {', '.join(length)}", style="dim")
    called = [
        (f"{party.said} (“{party.role}”)" if party.role else party.said, party)
        for party in profile.parties
    ]
    _listed("Parties", [(one_line(name), party) for name, party in called])
    _listed("Made", _days(profile.signed))
    _listed("In effect", _days(profile.effective))
    _listed("Lasts", [(one_line(item.said), item) for item in profile.term])
    _listed("Governing law", [(one_line(item.said), item) for item in profile.governing_law])
    say("Outline", style="bold") if profile.outline else None
    for part in profile.outline:
        title = " ".join(filter(None, dict.fromkeys((part.label, part.heading))))
        say(f"    {'    ' * part.depth}{one_line(title)}")
    _named("Defines", profile.terms)
    _named("Refers to", profile.refers_to)
    _listed("Worth asking", [(one_line(item.said), item) for item in profile.questions])


def _days(dates: "Sequence[Dated]") -> "list[tuple[str, Item]]":
    return [(str(item.day), item) for item in dates]


def _listed(name: str, items: "Sequence[tuple[str, Item]]") -> None:
    """Print items under a name, each with its provision."""
    if items:
        say(name, style="bold")
    for text, item in items:
        place = ", ".join(places(item.model_dump()))
        say(f"    {shortened(text, _CHARS)}", (f"  {place}" if place else "", "dim"))


def _named(name: str, items: "Sequence[Item]") -> None:
    """Print many short things on one line."""
    if items:
        say(name, style="bold")
        say(f"    {'; '.join(first_of([shortened(item.said, _CHARS) for item in items], _MOST))}")
