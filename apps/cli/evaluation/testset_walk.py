"""A walk through a review file in the terminal: one question, one decision, kept at once."""

from collections.abc import Sequence
from pathlib import Path

from lexloop.apps.cli.terminal import clean, one_line, plain, read_line, result_console
from lexloop.core.errors import InputError
from lexloop.evaluation.testset.review import CRITERIA, Reviewed, read_review, write_review

_HELP = "a accept   e edit   d drop   s skip   b back   q quit"
_PROMPT = f"[{_HELP}] > "


def decide(file: Path, accept: Sequence[str], drop: Sequence[str]) -> None:
    """Accept and drop questions by their ids.

    Raises:
        InputError: The file cannot be used, or an id is not in it or named for both.
    """
    rows = read_review(file)
    known = {row.id for row in rows}
    for name in (*accept, *drop):
        if name not in known:
            raise InputError(f"{file} holds no question {name!r}.", "Look the ids up in the file.")
        if name in accept and name in drop:
            raise InputError(f"{name!r} is to be accepted and dropped.", "Name it once.")
    decided = [
        row.decided("accept") if row.id in accept
        else row.decided("drop", row.failed) if row.id in drop else row
        for row in rows
    ]  # fmt: skip
    write_review(file, decided)


class Walk:
    """Shows the open questions one after the other.

    Args:
        file: The review file; every decision is written to it before the next question is shown.
        again: Whether those that are decided are shown, too.

    Raises:
        InputError: The file cannot be used.
    """

    def __init__(self, file: Path, again: bool) -> None:
        self._file, self._rows = file, read_review(file)
        self._places = [
            place for place, row in enumerate(self._rows) if again or row.decision == "open"
        ]
        self._console = result_console()

    def run(self) -> None:
        """Walk until the end of the questions or of the input.

        Raises:
            InputError: A decision cannot be written.
        """
        at = 0
        while 0 <= at < len(self._places):
            self._show(at)
            step = self._decide(self._places[at])
            if step is None:
                break
            at = max(0, at + step)
        self._sum_up()

    def _decide(self, place: int) -> int | None:
        """Ask for one decision; how far to go on, None to quit."""
        while True:
            answer = _ask(_PROMPT)
            if answer is None or answer in ("q", "quit"):
                return None
            if answer in ("s", "skip", "b", "back"):
                return -1 if answer.startswith("b") else 1
            if answer in ("a", "accept"):
                self._keep(place, self._rows[place].decided("accept"))
                return 1
            if answer in ("d", "drop"):
                return self._drop(place)
            if answer in ("e", "edit"):
                self._edit(place)
            else:
                self._say(_HELP)

    def _drop(self, place: int) -> int | None:
        names = list(CRITERIA)
        listed = "  ".join(f"{n} {name}" for n, name in enumerate(names, start=1))
        self._say(f"Which criteria fail? {listed}")
        answer = _ask("numbers, and a note after them if you like > ")
        if answer is None:
            return None
        parts = answer.replace(",", " ").split()
        numbers = [part for part in parts if part in {"1", "2", "3", "4", "5", "6"}]
        note = " ".join(part for part in parts if part not in numbers)
        failed = [names[int(number) - 1] for number in numbers]
        self._keep(place, self._rows[place].decided("drop", failed, note))
        return 1

    def _edit(self, place: int) -> None:
        """Take a new wording; the decision on it is still to be made."""
        question = _ask("question, or nothing to keep it > ", folded=False)
        answer = (
            None if question is None else _ask("answer, or nothing to keep it > ", folded=False)
        )
        if question is None or answer is None:
            return
        self._keep(place, self._rows[place].changed(question, answer))
        row = self._rows[place]
        self._say(f"Q  {row.question}")
        self._say(f"A  {row.reference_answer or ''}")

    def _keep(self, place: int, row: Reviewed) -> None:
        rows = [*self._rows[:place], row, *self._rows[place + 1 :]]
        write_review(self._file, rows)
        self._rows = rows

    def _show(self, at: int) -> None:
        row = self._rows[self._places[at]]
        decided = "" if row.decision == "open" else f", {row.decision}"
        self._console.print()
        self._say(
            f"{at + 1} of {len(self._places)}: {row.id} ({row.question_type}{decided})", "bold"
        )
        for said in row.conversation_history:
            self._say(f"   {said.role}: {said.content}", "dim")
        self._say(f"Q  {row.question}", "cyan")
        self._say(f"A  {row.reference_answer or 'no reference answer'}")
        for line in clean(row.reference_context or "no context").splitlines():
            self._say(f"   | {line}", "dim")

    def _sum_up(self) -> None:
        counts = [
            sum(r.decision == kind for r in self._rows) for kind in ("accept", "drop", "open")
        ]
        self._say(f"{counts[0]} accepted, {counts[1]} dropped, {counts[2]} open in {self._file}")

    def _say(self, text: str, style: str = "") -> None:
        self._console.print(plain(one_line(text) if not text.startswith(" ") else text, style))


def _ask(prompt: str, folded: bool = True) -> str | None:
    """A line that the reviewer types; None at the end of the input."""
    try:
        line = read_line(prompt)
    except EOFError:
        return None
    return line.lower() if folded else line
