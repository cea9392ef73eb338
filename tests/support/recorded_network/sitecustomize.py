"""The suite's guard for a served graph: it writes down what was tried, as a server may hide it."""

import os
from pathlib import Path

import network_guard


class _Written(list[str]):
    def append(self, attempt: str) -> None:
        super().append(attempt)
        with Path(os.environ["NETWORK_ATTEMPTS"]).open("a", encoding="utf-8") as file:
            file.write(f"{attempt}\n")


network_guard.attempts = _Written()
network_guard.install()
