"""What no command of the server can use is one line with its code."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from refusing import check_refusal, place
from sets import rows

__all__ = ["place"]


@pytest.mark.parametrize(("command", "code", "said"), rows("refusals_server"))
def test_a_refusal_is_one_line(
    run: Callable[..., Any], place: Path, command: str, code: int, said: str
) -> None:
    check_refusal(run, place, command, code, said)
