"""A process on a real pseudo-terminal, driven by what it prints."""

import os
import pty
import re
import select
import signal
import sys
import time
from collections.abc import Mapping

CTRL_C = "\x03"
CTRL_D = "\x04"
_PATIENCE_S = 30.0
_REPEAT_S = 1.0


class Terminal:
    """Runs ``lexloop`` with these arguments on a terminal of its own.

    ``screen`` is everything it has printed so far. Ctrl-C does what it does on a terminal, whether
    or not the suite itself ignores it, or nothing where it is to be ``ignored``.
    """

    def __init__(
        self, arguments: list[str], environ: Mapping[str, str], ignored: bool = False
    ) -> None:
        self.screen = ""
        self._read = 0
        command = [sys.executable, "-m", "lexloop.apps.cli", *arguments]
        self._pid, self._terminal = pty.fork()
        if self._pid == 0:
            signal.signal(signal.SIGINT, signal.SIG_IGN if ignored else signal.SIG_DFL)
            os.execve(sys.executable, command, {**os.environ, "TERM": "xterm", **environ})

    def expect(self, pattern: str) -> str:
        """Read until ``pattern`` is printed after what was expected before; what it matched."""
        deadline = time.monotonic() + _PATIENCE_S
        while not (found := re.compile(pattern).search(self.screen, self._read)):
            if not self._more(deadline - time.monotonic()):
                raise AssertionError(f"{pattern!r} was not printed: {self.screen!r}")
        self._read = found.end()
        return found.group()

    def type(self, text: str) -> None:
        """Press these keys."""
        os.write(self._terminal, text.encode())

    def ask(self, line: str) -> None:
        """Type a line at the prompt."""
        self.expect("> ")
        self.type(line + "\r")

    def interrupt_prompt(self) -> None:
        """Press Ctrl-C at the prompt, until its line ends.

        One that arrives while ``input`` is about to wait for a key is overlooked until the next.
        """
        before = len(self.screen)
        for _ in range(int(_PATIENCE_S / _REPEAT_S)):
            self.type(CTRL_C)
            while self._more(_REPEAT_S):
                if "\n" in self.screen[before:]:
                    return
        raise AssertionError(f"Ctrl-C had no effect: {self.screen!r}")

    def wait(self) -> int:
        """Read to the end; the exit status."""
        deadline = time.monotonic() + _PATIENCE_S
        while self._more(deadline - time.monotonic()):
            pass
        assert time.monotonic() < deadline, f"it did not end: {self.screen!r}"
        _, status = os.waitpid(self._pid, 0)
        self._pid = 0
        return os.waitstatus_to_exitcode(status)

    def close(self) -> None:
        """End the process, if a failed test has left it running."""
        if self._pid:
            os.kill(self._pid, signal.SIGKILL)
            os.waitpid(self._pid, 0)
        os.close(self._terminal)

    def _more(self, patience: float) -> bool:
        waiting = select.poll()  # select itself takes no descriptor above 1023
        waiting.register(self._terminal, select.POLLIN)
        ready = waiting.poll(max(0.0, patience) * 1000)
        try:
            data = os.read(self._terminal, 4096) if ready else b""
        except OSError:  # Linux says so when the other side is closed
            data = b""
        self.screen += data.decode("utf-8", "replace")
        return bool(data)
