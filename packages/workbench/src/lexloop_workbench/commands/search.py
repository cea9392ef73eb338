"""``lexloop search``: exact words, phrases and provisions, each with its place."""

from collections.abc import Sequence
from contextlib import closing
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lexloop.apps.cli import options
from lexloop.apps.cli.options import option
from lexloop.apps.cli.session import open_resources
from lexloop.apps.cli.terminal import Part, Progress, note, say, write_json
from lexloop.apps.shapes.text import places
from lexloop.core.metadata import Filters

if TYPE_CHECKING:
    from lexloop.apps.threads import SaidTurn
    from lexloop.store.view import View
    from lexloop_workbench.search import Asked, Excerpt, Found

_MOST, _MOST_PASSAGES = 1000, 500


@options.taking("corpus", "index.embedder", *options.ACCESS)
def search(
    *,
    context: typer.Context,
    words: Annotated[
        list[str],
        typer.Argument(
            help='In one pair of single quotes: words, all of which must be there, a "phrase", '
            "a provision such as section 4.2, and -word for what must not be there."
        ),
    ],
    collections: Annotated[
        str | None,
        option("Search several collections, each a path or NAME=PATH.", "A,B,C"),
    ] = None,
    document: Annotated[
        list[str] | None, option("Only this document. May be repeated.", "NAME")
    ] = None,
    any_form: Annotated[
        bool, option("Find other forms of a word, too: terminate, terminated.", flag="--any-form")
    ] = False,
    first: Annotated[int, option("How many documents to leave out.", min=0)] = 0,
    limit: Annotated[int, option("The most documents.", min=1, max=_MOST)] = 20,
    passages: Annotated[
        int, option("The most passages of each document.", min=1, max=_MOST_PASSAGES)
    ] = 3,
    chats: Annotated[
        bool, option("Search the conversations that `lexloop chat` kept, and no document.")
    ] = False,
    file: Annotated[
        Path | None,
        option("With --chats, their SQLite file, if another.", "FILE", flag="--threads-file"),
    ] = None,
    as_json: options.AsJson = False,
) -> None:
    """Find exact words, phrases and provisions in documents, each in its context."""
    from lexloop_workbench.search import Asked
    from lexloop_workbench.search import search as find

    if chats:
        found_turns = _turns(Asked.of(" ".join(words), any_form, provisions=False), file)
        if as_json:
            write_json({"turns": [_record(*one) for one in found_turns]})
        else:
            _print_turns(found_turns, limit)
        return
    asked = Asked.of(" ".join(words), any_form)
    views = _views(context.params)
    found = find(
        views, asked, documents=document or (), first=first, limit=limit, passages=passages
    )
    if as_json:
        write_json(found.model_dump(mode="json"))
    else:
        print_found(found)


def _turns(asked: "Asked", file: Path | None) -> "list[tuple[SaidTurn, list[Excerpt]]]":
    """Return what of kept conversations holds all that is sought, the last first."""
    from lexloop.apps.threads import LOCAL, ThreadStore
    from lexloop.core.configuration import data_folder
    from lexloop_workbench.search import excerpts

    with closing(ThreadStore(file or data_folder() / "threads.sqlite")) as store:
        said = ((one, excerpts(one.text, asked)) for one in store.said(LOCAL))
        return [one for one in said if one[1]]


def _record(turn: "SaidTurn", excerpts: "list[Excerpt]") -> dict[str, Any]:
    return {**asdict(turn), "excerpts": [one.model_dump(mode="json") for one in excerpts]}


def _print_turns(found: "Sequence[tuple[SaidTurn, list[Excerpt]]]", limit: int) -> None:
    for turn, held in found[:limit]:
        say((turn.thread, "bold"), (f" · {turn.title} · {turn.updated[:10]}", "dim"))
        for one in held:
            say("  ", *marked(one))
    say("1 answer" if len(found) == 1 else f"{len(found):,} answers", style="bold")


def _views(given: dict[str, Any]) -> "dict[str, View]":
    """Return what is searched by collection; of a corpus alone the name is empty."""
    each = options.settings_of_each(given) or {"": options.chosen_settings(given)}
    connection = options.chosen_connection(given)
    settings = next(iter(each.values()))
    corpora = [one.corpus for one in each.values()]
    with Progress() as progress:
        resources, _ = open_resources(settings, connection, progress, corpora)
        return {
            name: resources.collection(one)[0].seen_by(Filters.of(one))
            for name, one in each.items()
        }


def print_found(found: "Found") -> None:
    """Print documents with their passages, and how many there are."""
    sought = found.sought
    if sought.left_out:
        note(f"Not sought, as nearly every text has it: {', '.join(sought.left_out)}.")
    for one in found.documents:
        told = [one.collection, one.title if one.title != one.document else "", one.version]
        beside = "".join(f" · {said}" for said in told if said)
        say((one.document, "bold"), (beside, "dim"), (f" · {counted(one.places)}", "dim"))
        for passage in one.passages:
            where = ", ".join(places(passage.model_dump()))
            say("  ", (f"{where}: " if where else "", "cyan"), *marked(passage))
        if one.more:
            say("  --passages shows more of it.", style="dim")
        say()
    documents = "1 document" if found.total == 1 else f"{found.total:,} documents"
    say(f"{counted(found.places)} in {documents}", style="bold" if found.total else "")
    last = found.first + len(found.documents)
    if last < found.total:
        say(f"{found.total - last:,} more: --first {last} goes on", style="dim")


def counted(places: int) -> str:
    """Return how many places there are, in words."""
    return "1 place" if places == 1 else f"{places:,} places"


def marked(excerpt: "Excerpt") -> list[Part]:
    """Return the parts of a quote, what was sought in bold."""
    parts: list[Part] = []
    at = 0
    for start, end in excerpt.marks:
        parts += [excerpt.quote[at:start], (excerpt.quote[max(at, start) : end], "bold yellow")]
        at = max(at, end)
    return [*parts, excerpt.quote[at:]]
