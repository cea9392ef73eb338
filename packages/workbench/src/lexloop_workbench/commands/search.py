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
            help='In one pair of single quotes: words that must all occur, a "phrase", a provision '
            "such as section 4.2, and -word for a word that must not occur."
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
        bool, option("Also find other forms of a word: terminate, terminated.", flag="--any-form")
    ] = False,
    first: Annotated[int, option("Number of documents to skip.", min=0)] = 0,
    limit: Annotated[int, option("Maximum number of documents.", min=1, max=_MOST)] = 20,
    passages: Annotated[
        int, option("Maximum number of passages of each document.", min=1, max=_MOST_PASSAGES)
    ] = 3,
    chats: Annotated[
        bool, option("Search the stored conversations of `lexloop chat` instead of documents.")
    ] = False,
    file: Annotated[
        Path | None,
        option(
            "With --chats, the SQLite file to search instead of the default.",
            "FILE",
            flag="--threads-file",
        ),
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
    query = Asked.of(" ".join(words), any_form)
    views = _views(context.params)
    results = find(
        views, query, documents=document or (), first=first, limit=limit, passages=passages
    )
    if as_json:
        write_json(results.model_dump(mode="json"))
    else:
        print_found(results)


def _turns(query: "Asked", file: Path | None) -> "list[tuple[SaidTurn, list[Excerpt]]]":
    """Return what of kept conversations holds all that is sought, the last first."""
    from lexloop.apps.threads import LOCAL, ThreadStore
    from lexloop.core.configuration import data_folder
    from lexloop_workbench.search import excerpts

    with closing(ThreadStore(file or data_folder() / "threads.sqlite")) as store:
        turns = ((turn, excerpts(turn.text, query)) for turn in store.said(LOCAL))
        return [pair for pair in turns if pair[1]]


def _record(turn: "SaidTurn", excerpts: "list[Excerpt]") -> dict[str, Any]:
    return {**asdict(turn), "excerpts": [excerpt.model_dump(mode="json") for excerpt in excerpts]}


def _print_turns(matches: "Sequence[tuple[SaidTurn, list[Excerpt]]]", limit: int) -> None:
    for turn, excerpts in matches[:limit]:
        say((turn.thread, "bold"), (f" · {turn.title} · {turn.updated[:10]}", "dim"))
        for excerpt in excerpts:
            say("  ", *marked(excerpt))
    say("1 answer" if len(matches) == 1 else f"{len(matches):,} answers", style="bold")


def _views(given: dict[str, Any]) -> "dict[str, View]":
    """Return the views to search, by collection. The name of a single corpus is empty."""
    settings_by_name = options.settings_of_each(given) or {"": options.chosen_settings(given)}
    connection = options.chosen_connection(given)
    settings = next(iter(settings_by_name.values()))
    corpora = [chosen.corpus for chosen in settings_by_name.values()]
    with Progress() as progress:
        resources, _ = open_resources(settings, connection, progress, corpora)
        return {
            name: resources.collection(chosen)[0].seen_by(Filters.of(chosen))
            for name, chosen in settings_by_name.items()
        }


def print_found(found: "Found") -> None:
    """Print documents with their passages, and how many there are."""
    sought = found.sought
    if sought.left_out:
        note(f"Not sought, as nearly every text has it: {', '.join(sought.left_out)}.")
    for document in found.documents:
        details = [
            document.collection,
            document.title if document.title != document.document else "",
            document.version,
        ]
        beside = "".join(f" · {detail}" for detail in details if detail)
        say((document.document, "bold"), (beside, "dim"), (f" · {counted(document.places)}", "dim"))
        for passage in document.passages:
            place = ", ".join(places(passage.model_dump()))
            say("  ", (f"{place}: " if place else "", "cyan"), *marked(passage))
        if document.more:
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
    """Return the parts of a quote, with matches in bold."""
    parts: list[Part] = []
    at = 0
    for start, end in excerpt.marks:
        parts += [excerpt.quote[at:start], (excerpt.quote[max(at, start) : end], "bold yellow")]
        at = max(at, end)
    return [*parts, excerpt.quote[at:]]
