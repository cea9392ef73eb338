"""``lexloop testset``: gold questions made from any documents, and a person's review of them."""

import csv
import io
from collections import Counter
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from lexloop.apps.cli import options
from lexloop.apps.cli.options import option
from lexloop.apps.cli.terminal import bar, note, plain, read_line, reported, result_console
from lexloop.apps.shapes.text import clean, one_line
from lexloop.core.errors import InputError
from lexloop_eval.asking import open_asker, open_documents

if TYPE_CHECKING:
    from lexloop_eval.testset.make import MadeSet
    from lexloop_eval.testset.review import Reviewed

_set = partial(option, panel="Test set")
_training = partial(option, panel="Training set of the complexity classifier")
_KEYS = "a accept   e edit   d drop   s skip   b back   q quit"

commands = typer.Typer(
    cls=options.with_default("make"),
    help="Make gold questions of documents: lexloop testset DIR --n 110 --out gold.jsonl.",
    no_args_is_help=True,
)


@commands.command()
@options.taking(*options.MODEL, *options.ACCESS)
def make(
    *,
    context: typer.Context,
    corpus: Annotated[
        str, typer.Argument(metavar="DIR", help="A folder of documents, an index, or sample.")
    ],
    n: Annotated[int, option("How many questions.")] = 110,
    out: Annotated[
        Path | None, option("The file to write. Default: standard output.", "FILE")
    ] = None,
    review: Annotated[
        Path | None,
        _set("Write a review file; go through it with: lexloop testset review FILE.", "FILE"),
    ] = None,
    types: Annotated[
        list[str] | None,
        _set(
            "Only questions of these types. May be repeated. Default: all that can be made.",
            "TYPE[,TYPE]",
        ),
    ] = None,
    choice_seed: Annotated[int, option("Of every choice.", flag="--seed")] = 7,
    training: Annotated[
        bool, _training("Make the classifier's training set instead, as CSV.", flag="--classifier")
    ] = False,
    noise: Annotated[
        Literal["paper", "independent"],
        _training(
            "Noise by label, as in the paper, which gives the label away; or independent of it."
        ),
    ] = "paper",
) -> None:
    """Make gold questions of documents, by rules or with --model by a model."""
    from lexloop.core.jsonl import check_writable

    for file in filter(None, (out, review)):
        check_writable(file)
    (_make_training_set if training else _make_test_set)(context.params)


def _make_test_set(given: dict[str, Any]) -> None:
    """Make gold questions and write them: as a gold file, a review file, or on the screen."""
    from lexloop.core.jsonl import as_lines, write_checked
    from lexloop_eval.testset.facts import RULE_TYPES, RuleMaker
    from lexloop_eval.testset.make import (
        QUESTION_TYPES,
        ModelMaker,
        chosen_types,
        make_test_set,
    )
    from lexloop_eval.testset.review import open_review, write_review

    settings, connection = options.chosen_settings(given), options.chosen_connection(given)
    names = [name for names_given in given["types"] or [] for name in names_given.split(",")]
    types = chosen_types(names, tuple(QUESTION_TYPES) if settings.model.name else RULE_TYPES)
    n, seed, out, review = (given[name] for name in ("n", "choice_seed", "out", "review"))
    with (
        bar() as report,
        open_documents(settings, connection, report) as (_, view),
        open_asker(settings, connection) as asker,
    ):
        maker = ModelMaker(view, asker, seed) if asker else RuleMaker(view, seed)
        made_set = make_test_set(view, maker, n, types, report)
    if out is not None:
        write_checked(out, as_lines(made_set.questions))
    if review is not None:
        write_review(review, open_review(made_set.questions))
    if out is None and review is None:
        print(as_lines(made_set.questions), end="")
    _tell_of(made_set, n)
    if isinstance(maker, RuleMaker) and not names:
        by_model = ", ".join(name for name in QUESTION_TYPES if name not in RULE_TYPES)
        note(f"Only a model makes these types: {by_model}.")
    if isinstance(maker, ModelMaker) and maker.failed:
        note(f"{maker.failed} of the model's replies came to nothing.")


def _make_training_set(given: dict[str, Any]) -> None:
    """Make the classifier's training set and write it as CSV."""
    from lexloop.core.jsonl import write_checked
    from lexloop_eval.testset.facts import RuleMaker
    from lexloop_eval.testset.training import COLUMNS, ModelNoise, training_set

    settings, connection = options.chosen_settings(given), options.chosen_connection(given)
    n, seed, out, noise = (given[name] for name in ("n", "choice_seed", "out", "noise"))
    with (
        bar() as report,
        open_documents(settings, connection, report) as (_, view),
        open_asker(settings, connection) as asker,
    ):
        change = ModelNoise(asker)
        rows = training_set(RuleMaker(view, seed).facts, n, seed, noise, change)
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow([*COLUMNS, "noise"])
    table.writerows([row.question, row.label, row.question_clean, row.noise] for row in rows)
    if out is None:
        print(text.getvalue(), end="")
    else:
        write_checked(out, text.getvalue())
    counts = " / ".join(str(sum(row.label == label for row in rows)) for label in (0, 1, 2))
    note(f"{len(rows)} questions: {counts} of label 0 / 1 / 2.")
    if len(rows) < n:
        note(f"{n - len(rows)} fewer than asked for: the documents give no more.")
    if change.failed:
        note(f"{change.failed} questions were reworded by rules: the model did not.")


def _tell_of(made_set: "MadeSet", wanted: int) -> None:
    """Report what was made and what was not."""
    note(
        f"{len(made_set.questions)} questions; left out: {made_set.repeated} that repeat another, "
        f"{made_set.unconnected} that retrieval does not connect to their evidence."
    )
    if made_set.shortfall:
        missing = ", ".join(f"{kind} {count}" for kind, count in made_set.shortfall.items())
        note(f"Missing from an even share: {missing}. Other types replace them if possible.")
    if len(made_set.questions) < wanted:
        fewer = wanted - len(made_set.questions)
        note(f"{fewer} of {wanted} could not be made, because the documents do not give more.")


@commands.command()
@reported
def review(
    *,
    file: Annotated[
        Path,
        typer.Argument(metavar="FILE", help="A review file. Each decision is saved at once."),
    ],
    accept: Annotated[
        list[str] | None, option("Accept without asking. May be repeated.", "ID")
    ] = None,
    drop: Annotated[list[str] | None, option("Drop without asking. May be repeated.", "ID")] = None,
    again: Annotated[bool, option("Also show decided questions.", flag="--again")] = False,
    to_csv: Annotated[
        Path | None, option("Write the review as a table for a spreadsheet instead.", "TABLE")
    ] = None,
    from_csv: Annotated[
        Path | None, option("Take the decisions and edits of such a table.", "TABLE")
    ] = None,
) -> None:
    """Go through questions one by one: accept, edit or drop each by six criteria. Quit at any time.

    To use a spreadsheet instead, write a table with --to-csv and read it back with --from-csv.
    """
    ways = [bool(accept or drop), again, to_csv is not None, from_csv is not None]
    if sum(ways) > 1:
        raise InputError(
            "--accept and --drop, --again, --to-csv and --from-csv go each without the others.",
            "Give one of them.",
        )
    if to_csv is not None:
        _write_table(file, to_csv)
    elif from_csv is not None:
        _read_table(file, from_csv)
    elif accept or drop:
        _decide(file, accept or [], drop or [])
    else:
        _walk(file, again)


@commands.command()
@reported
def apply(
    *,
    file: Annotated[Path, typer.Argument(metavar="REVIEW", help="The review file.")],
    out: Annotated[Path, option("The gold file to write.", "FILE")],
) -> None:
    """Write the accepted questions as a gold file."""
    from lexloop.core.jsonl import check_writable
    from lexloop_eval.testset.review import apply_review

    check_writable(out)
    passed, dropped, still_open = apply_review(file, out)
    counts = f"{passed} accepted, {dropped} dropped, {still_open} open."
    note(counts, style="yellow" if still_open else "")


def _write_table(file: Path, table: Path) -> None:
    """Write a review as CSV."""
    from lexloop.core.jsonl import check_writable, write_checked
    from lexloop_eval.testset.review import as_table, read_review

    check_writable(table)
    if table.exists() and table.samefile(file):
        raise InputError(f"{table} is the review itself.", "Name another file.")
    rows = read_review(file)
    write_checked(table, as_table(rows))
    note(f"{len(rows)} questions; then: lexloop testset review {file} --from-csv {table}")


def _read_table(file: Path, table: Path) -> None:
    """Put the decisions and edits of a table into the review."""
    from lexloop_eval.testset.review import read_review, read_table, write_review

    rows = read_review(file)
    decided = read_table(table, rows)
    write_review(file, decided)
    changed = sum(before != after for before, after in zip(rows, decided, strict=True))
    note(f"{changed} changed; {_counted(decided)} in {file}")


def _decide(file: Path, accept: Sequence[str], drop: Sequence[str]) -> None:
    """Accept and drop questions by their ids."""
    from lexloop_eval.testset.review import read_review, write_review

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


def _walk(file: Path, again: bool) -> None:
    """Show the open questions one after the other, with ``again`` the decided ones as well.

    Every decision is written to the review file before the next question is shown.
    """
    from lexloop_eval.testset.review import read_review, write_review

    rows = read_review(file)
    places = [place for place, row in enumerate(rows) if again or row.decision == "open"]
    at, shown = 0, -1
    while at < len(places):
        row = rows[places[at]]
        if shown != at:
            _show(row, f"{at + 1} of {len(places)}")
        shown, answer = at, _ask(f"[{_KEYS}] > ")
        if answer is None or answer in ("q", "quit"):
            break
        if answer in ("s", "skip", "b", "back"):
            at, shown = max(0, at - 1) if answer.startswith("b") else at + 1, -1
            continue
        decided = _decided(row, answer)
        if decided is None:
            break
        if decided is not row:
            rows[places[at]] = decided
            write_review(file, rows)
        at += answer in ("a", "accept", "d", "drop")
    _say(f"{_counted(rows)} in {file}")


def _decided(row: "Reviewed", answer: str) -> "Reviewed | None":
    """Return a question after the person's answer, or None at the end of the input."""
    if answer in ("a", "accept"):
        return row.decided("accept")
    if answer in ("d", "drop"):
        return _dropped(row)
    if answer not in ("e", "edit"):
        _say(_KEYS)
        return row
    question = _ask("question, or nothing to keep it > ", folded=False)
    reworded = None if question is None else _ask("answer, or nothing to keep it > ", folded=False)
    if question is None or reworded is None:
        return row
    changed = row.changed(question, reworded)
    _say(f"Q  {changed.question}")
    _say(f"A  {changed.reference_answer or ''}")
    return changed


def _dropped(row: "Reviewed") -> "Reviewed | None":
    from lexloop_eval.testset.review import CRITERIA

    names = list(CRITERIA)
    listed = "  ".join(f"{n} {name}" for n, name in enumerate(names, start=1))
    _say(f"Which criteria fail? {listed}")
    answer = _ask("numbers, and a note after them if you like > ")
    if answer is None:
        return None
    parts = answer.replace(",", " ").split()
    numbers = [part for part in parts if part in set("123456")]
    note = " ".join(part for part in parts if part not in numbers)
    return row.decided("drop", [names[int(number) - 1] for number in numbers], note)


def _show(row: "Reviewed", place: str) -> None:
    decided = "" if row.decision == "open" else f", {row.decision}"
    result_console().print()
    _say(f"{place}: {row.id} ({row.question_type}{decided})", "bold")
    for turn in row.conversation_history:
        _say(f"   {turn.role}: {turn.content}", "dim")
    _say(f"Q  {row.question}", "cyan")
    _say(f"A  {row.reference_answer or 'no reference answer'}")
    for line in clean(row.reference_context or "no context").splitlines():
        _say(f"   | {line}", "dim")


def _counted(rows: "Sequence[Reviewed]") -> str:
    counts = Counter(row.decision for row in rows)
    done = f"{counts['accept']} accepted, {counts['drop']} dropped"
    return f"{done}, {counts['open']} open"


def _say(text: str, style: str = "") -> None:
    shown = text if text.startswith(" ") else one_line(text)
    result_console().print(plain(shown, style))


def _ask(prompt: str, folded: bool = True) -> str | None:
    """A line that the reviewer types; None at the end of the input."""
    try:
        line = read_line(prompt)
    except EOFError:
        return None
    return line.lower() if folded else line
