"""``lexloop show``: the provisions of a document, or one of them with what lies around it."""

import os.path
from typing import TYPE_CHECKING, Annotated

import typer

from lexloop.apps.cli import options
from lexloop.apps.cli.edge import reported

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lexloop.core.settings import Settings
    from lexloop.corpus.index.view import View
    from lexloop.corpus.structure.tree import Tree

_NEAR = 5


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
        int,
        typer.Option("--depth", min=0, max=99, help="How many levels below provisions are listed."),
    ] = 0,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object and nothing else.")
    ] = False,
    base_url: options.BaseUrl = None,
) -> None:
    """Print the provisions of a document, or one with its headings, lead-in and references."""
    with reported(as_json):
        from lexloop.apps.cli import show_view
        from lexloop.core.settings import SAMPLE_CORPUS

        settings = options.chosen_settings(context.params)
        if settings.corpus == SAMPLE_CORPUS and os.path.isfile(document):
            settings, document = settings.changed(corpus=document), os.path.basename(document)
        view = _open(settings, base_url)
        name = _named(view, document)
        tree, text = view.tree_of(name), view.text_of(name)
        assert tree is not None
        assert text is not None
        source = show_view.Source(name, tree, text, view.pages_of(name))
        if not provision:
            show_view.outline(source, depth, as_json)
        else:
            show_view.provisions(source, _places(name, tree, " ".join(provision)), depth, as_json)


def _open(settings: "Settings", base_url: str | None) -> "View":
    from lexloop.apps.cli.progress import Progress
    from lexloop.apps.cli.session import say_where_text_goes, text_hosts
    from lexloop.core.filters import Filters
    from lexloop.graph.resources import Resources

    connection = options.chosen_connection(base_url)
    with Progress() as progress:
        progress.say("Loading")
        say_where_text_goes(text_hosts(settings, connection))
        collection, _ = Resources(connection, progress=progress.corpus).collection(settings)
        return collection.seen_by(Filters.of(settings))


def _named(view: "View", said: str) -> str:
    """The document meant: by its name, or by the last parts of its path, with or without suffix.

    Raises:
        InputError: There is none, or there are several; the message names those near.
    """
    from lexloop.core.errors import InputError

    if said in view.documents:
        return said
    wanted = said.casefold()
    found = [name for name in view.documents if wanted in _endings(name)]
    if len(found) == 1:
        return found[0]
    if found:
        raise InputError(f"{len(found)} documents end in {said!r}.", _one_of("Name one", found))
    near = _near(wanted, {name.casefold(): name for name in reversed(view.documents)})
    raise InputError(
        f"There is no document {said!r}.",
        _one_of("Near it are" if near else "There are", near or view.documents),
    )


def _endings(name: str) -> set[str]:
    """What a name ends in, by whole parts of its path; also without its suffix."""
    parts = name.casefold().split("/")
    ends = {"/".join(parts[first:]) for first in range(len(parts))}
    return ends | {end.rpartition(".")[0] for end in ends}


def _places(name: str, tree: "Tree", said: str) -> "list[int]":
    """The places of the provision asked for; several where one label is that of several.

    Raises:
        InputError: There is none, or words fit several; the message says what there is.
    """
    from lexloop.core.errors import InputError
    from lexloop.corpus.structure.lookup import asked_references, missing_place, named_places

    found = named_places(tree, said)
    labels = list(dict.fromkeys(tree.units[place].label for place in found))
    if found and (len(labels) == 1 or asked_references(said)):
        return found
    if found:
        raise InputError(f"{said!r} fits {len(labels)} places.", _one_of("Name one", labels))
    see = f"See `lexloop show {name}`."
    missing = missing_place(tree, said)
    if missing is not None and missing.first >= 0:
        first, last = tree.units[missing.first].label, tree.units[missing.last].label
        there = f"is {first}" if first == last else f"are {first} to {last}"
        raise InputError(f"{name} has no {said}; there {there}.", see)
    known = {text.casefold(): text for u in tree.units for text in (u.label, u.heading) if text}
    near = _near(said.casefold(), known)
    raise InputError(f"{name} has no {said}.", _one_of("Near it are", near) if near else see)


def _near(wanted: str, known: "dict[str, str]") -> "Sequence[str]":
    """What is spelled like the words, or holds them."""
    import difflib

    holding = [said for key, said in known.items() if wanted in key]
    # only those of about its length, since comparing with very many takes seconds
    alike = [key for key in known if abs(len(key) - len(wanted)) <= _NEAR]
    close = difflib.get_close_matches(wanted, alike, _NEAR)
    return list(dict.fromkeys([*(known[key] for key in close), *holding]))[:_NEAR]


def _one_of(lead: str, names: "Sequence[str]") -> str:
    more = f", and {len(names) - _NEAR} more" if len(names) > _NEAR else ""
    return f"{lead}: {'; '.join(names[:_NEAR])}{more}."
