"""A file of settings, as ``lexloop tune`` writes it: one JSON object, settings by name."""

import difflib
import json
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lexloop.core.errors import SettingsError

_MOST_BYTES = 1024 * 1024
_HINT = "Give a JSON object of settings, such as `lexloop tune --out FILE` writes."


def read_settings(path: Path, known: Iterable[str]) -> dict[str, Any]:
    """The settings that a file names; their values are checked where they are used.

    Args:
        path: UTF-8 text.
        known: The names of all settings.

    Raises:
        SettingsError: It cannot be read, is no JSON object, or names something that is no setting.
    """
    from lexloop.core.errors import SettingsError

    try:
        if path.stat().st_size > _MOST_BYTES:
            raise SettingsError(f"{path} is larger than {_MOST_BYTES} bytes.", _HINT)
        found = json.loads(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise SettingsError(f"The settings in {path} cannot be read: {error}.", _HINT) from error
    except (ValueError, RecursionError) as error:
        raise SettingsError(f"{path} is no JSON: {error}.", _HINT) from error
    if not isinstance(found, dict):
        raise SettingsError(f"{path} holds a {type(found).__name__}, not an object.", _HINT)
    names = list(known)
    for name in found:
        if name not in names:
            raise unknown_setting(name, names, f"{path}: ")
    return found


def unknown_setting(name: str, known: Iterable[str], where: str = "") -> "SettingsError":
    """The error that says which setting there is none of, and which was perhaps meant."""
    from lexloop.core.errors import SettingsError

    names = list(known)
    near = difflib.get_close_matches(name, names, n=1)
    meant = f"Did you mean {near[0]!r}? " if near else ""
    return SettingsError(
        f"{where}There is no setting {name!r}.", f"{meant}Settings: {', '.join(names)}."
    )
