"""Libraries that only an extra of this package brings."""

from importlib.util import find_spec

from lexloop.core.errors import InputError


def need_extra(extra: str, *names: str) -> None:
    """Refuse to begin without libraries.

    Args:
        extra: What brings them.
        names: Their packages.

    Raises:
        InputError: One is missing.
    """
    missing = [name for name in names if find_spec(name) is None]
    if missing:
        raise InputError(
            f"This needs {', '.join(missing)}: not installed.",
            f'Install the extra: pip install "lexloop-engines[{extra}]", '
            f'or in a checkout pip install "./packages/engines[{extra}]".',
        )
