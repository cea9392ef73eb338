"""Lexloop's other packages and its extras: what they bring, and the error if one is missing."""

from collections.abc import Callable, Mapping
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from importlib.util import find_spec
from typing import Any

from lexloop.core.errors import InputError


def package_missing(what: str, package: str) -> InputError:
    """Return what is raised if another package of Lexloop is needed and not installed.

    Args:
        what: What needs it, as the subject of a sentence.
        package: Its short name, such as "server".
    """
    return InputError(
        f"{what} needs the package lexloop-{package}: not installed.",
        f'Install it: pip install "lexloop[{package}]", '
        f"or in a checkout pip install ./packages/{package}.",
        package,
    )


def need_extra(what: str, extra: str, *modules: str, package: str = "") -> None:
    """Refuse to begin without what an extra brings.

    Args:
        what: What needs it, as the subject of a sentence.
        extra: Such as "torch".
        modules: What will be imported.
        package: The short name of the package that has the extra; "" for Lexloop itself.

    Raises:
        InputError: A module is not installed.
    """
    if missing := [name for name in modules if find_spec(name) is None]:
        name = f"lexloop-{package}" if package else "lexloop"
        folder = f"./packages/{package}" if package else "."
        raise InputError(
            f"{what} needs {', '.join(missing)}: not installed.",
            f'Install the extra {extra}: pip install "{name}[{extra}]", '
            f'or in a checkout pip install "{folder}[{extra}]".',
        )


def is_installed(package: str) -> bool:
    """Return whether a package of Lexloop is installed, by its short name, such as "server"."""
    return find_spec(f"lexloop_{package}") is not None


@cache
def brought(group: str) -> Mapping[str, EntryPoint]:
    """Return what the installed packages bring to a group of entry points, by its names.

    Args:
        group: Such as "lexloop.readers".
    """
    return {entry.name: entry for entry in entry_points(group=group)}


def stores_that(function: str) -> list[Callable[..., Any]]:
    """Return the functions of this name of all stores, in the order of their ``FORGETS``.

    Stores are what the installed packages bring to ``lexloop.stores``. Most have only some
    functions: ``expire`` as in ``apps/retention.py``, others as in ``store/forgetting.py``.
    """
    # a module that is brought by several names is one store
    entries = {entry.value: entry for entry in brought("lexloop.stores").values()}
    stores = sorted(map(loaded, entries.values()), key=lambda store: getattr(store, "FORGETS", 0))
    return [getattr(store, function) for store in stores if hasattr(store, function)]


def required(group: str, name: str, what: str, package: str) -> Any:
    """Return what one of our packages brings to a group by a name.

    Args:
        group: Such as "lexloop.stores".
        name: Of the entry point.
        what: What needs it, as the subject of a sentence.
        package: The short name of the package, such as "engines".

    Raises:
        InputError: It is not installed, or cannot be imported.
    """
    if name not in brought(group):
        raise package_missing(what, package)
    return loaded(brought(group)[name])


def loaded(entry: EntryPoint) -> Any:
    """Return what a package brings.

    Raises:
        InputError: It cannot be imported.
    """
    try:
        return entry.load()
    except (ImportError, AttributeError) as error:
        package = entry.dist.name if entry.dist else "that package"
        raise InputError(
            f"{entry.value}, which {package} brings, cannot be imported: {error}.",
            f"Install {package} again in the version of Lexloop, or remove it.",
        ) from error
