"""The libraries of the extra ``lexloop[finetune]``."""

from importlib.util import find_spec

from lexloop.core.errors import InputError


def need_extra(*names: str) -> None:
    """Refuse to begin without libraries.

    Args:
        names: What is imported.

    Raises:
        InputError: One is missing.
    """
    missing = [name for name in names if find_spec(name) is None]
    if missing:
        raise InputError(
            f"Training needs {', '.join(missing)}, which is not installed.",
            'Install the extra: pip install "lexloop[finetune]".',
        )
