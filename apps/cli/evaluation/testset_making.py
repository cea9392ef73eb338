"""From documents to a test set or a training set, and what is said about it."""

import csv
import io
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import get_args

from lexloop.apps.cli.index.bar import bar
from lexloop.apps.cli.material import Report, asking, opened, tell
from lexloop.core.errors import InputError
from lexloop.core.settings import Connection, Settings
from lexloop.evaluation.asking import Asker
from lexloop.evaluation.testset.augment import ModelNoise
from lexloop.evaluation.testset.by_model import ModelMaker
from lexloop.evaluation.testset.by_rules import RuleMaker
from lexloop.evaluation.testset.make import MadeSet, make_test_set
from lexloop.evaluation.testset.material import Material
from lexloop.evaluation.testset.question_types import chosen_types
from lexloop.evaluation.testset.review import open_review, write_review
from lexloop.evaluation.testset.training import Noise, training_set
from lexloop.evaluation.testset.writing import as_lines, write_checked, write_rows
from lexloop.finetune.classifier_data import COLUMNS


@dataclass(frozen=True)
class Making:
    """What is made of which documents.

    Args:
        settings: Name the corpus, and perhaps a model.
        connection: Where the model is reached.
        n: How many questions.
        seed: Of every choice.
    """

    settings: Settings
    connection: Connection
    n: int
    seed: int

    def test_set(self, types: Sequence[str], out: Path | None, review: Path | None) -> None:
        """Make gold questions and write them: as a gold file, a review file, or on the screen.

        Raises:
            LexloopError: The documents, the model or the number cannot be used.
        """
        chosen = chosen_types([name for given in types for name in given.split(",")])
        self._check()
        with self._opened() as (material, asker, report):
            if asker is None:
                maker: RuleMaker | ModelMaker = RuleMaker(material, self.seed)
            else:
                maker = ModelMaker(material, asker, self.seed)
            made = make_test_set(material, maker, self.n, chosen, report)
        if out is not None:
            write_rows(out, made.questions)
        if review is not None:
            write_review(review, open_review(made.questions))
        if out is None and review is None:
            print(as_lines(made.questions), end="")
        tell(_about(made, self.n))
        if isinstance(maker, ModelMaker) and maker.failed:
            tell([f"{maker.failed} of the model's replies came to nothing."])

    def training_set(self, noise: str, out: Path | None) -> None:
        """Make the classifier's training set and write it as CSV.

        Raises:
            LexloopError: The documents, the model or the number cannot be used.
        """
        known: dict[str, Noise] = {name: name for name in get_args(Noise)}
        if noise not in known:
            raise InputError(f"There is no noise {noise!r}.", f"Known: {', '.join(known)}.")
        self._check()
        with self._opened() as (material, asker, _):
            facts = RuleMaker(material, self.seed).facts
            change = ModelNoise(asker)
            rows = training_set(facts, self.n, self.seed, known[noise], change)
        text = io.StringIO()
        table = csv.writer(text, lineterminator="\n")
        table.writerow([*COLUMNS, "noise"])
        table.writerows([row.question, row.label, row.question_clean, row.noise] for row in rows)
        if out is None:
            print(text.getvalue(), end="")
        else:
            write_checked(out, text.getvalue())
        counts = [sum(row.label == label for row in rows) for label in (0, 1, 2)]
        notes = [
            f"{len(rows)} questions: {counts[0]} / {counts[1]} / {counts[2]} of label 0 / 1 / 2."
        ]
        if len(rows) < self.n:
            notes.append(f"{self.n - len(rows)} fewer than asked for: the documents give no more.")
        if change.failed:
            notes.append(f"{change.failed} questions were reworded by rules: the model did not.")
        tell(notes)

    def _check(self) -> None:
        """Refuse what cannot be made before anything is opened."""
        if self.n < 1:
            raise InputError(f"n is {self.n}.", "Ask for at least 1 question.")

    @contextmanager
    def _opened(self) -> Iterator[tuple[Material, Asker | None, Report]]:
        with (
            bar() as report,
            opened(self.settings, self.connection, report) as (_, view),
            asking(self.settings, self.connection) as asker,
        ):
            yield Material(view), asker, report


def _about(made: MadeSet, wanted: int) -> list[str]:
    """What was made and what was not."""
    notes = [
        f"{len(made.questions)} questions; left out: {made.repeated} that repeat another, "
        f"{made.unconnected} that retrieval does not connect to their evidence."
    ]
    if made.shortfall:
        missing = ", ".join(f"{kind} {count}" for kind, count in made.shortfall.items())
        notes.append(f"Missing from an even share: {missing}; other types stand in where they can.")
    if len(made.questions) < wanted:
        fewer = wanted - len(made.questions)
        notes.append(f"{fewer} of {wanted} could not be made: the documents give no more.")
    return notes
