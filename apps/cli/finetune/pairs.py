"""``lexloop finetune pairs``: questions with the provisions that answer them."""

from collections import Counter
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lexloop.apps.cli import options
from lexloop.apps.cli.edge import reported
from lexloop.apps.cli.finetune.shared import Seed

if TYPE_CHECKING:
    from lexloop.core.types import Usage
    from lexloop.corpus.index.view import View
    from lexloop.finetune.asked import Asked
    from lexloop.finetune.pairs_making import Made

_by_model = partial(typer.Option, rich_help_panel="Questions by a model")


@options.taking(*options.MODEL, *options.ACCESS)
def pairs(
    *,
    context: typer.Context,
    corpus: Annotated[
        str, typer.Argument(metavar="DIR", help="A folder of documents, an index, or sample.")
    ],
    out: Annotated[Path, typer.Option(metavar="FILE", help="To write, as JSON Lines.")] = Path(
        "pairs.jsonl"
    ),
    keep: Annotated[
        float,
        typer.Option(
            metavar="SHARE",
            help="Of the documents, how many are kept for measuring, in FILE.kept.jsonl; 0: none.",
        ),
    ] = 0.1,
    negatives: Annotated[
        bool,
        typer.Option(
            help="Add up to three provisions that retrieval ranks high and that do not answer."
        ),
    ] = True,
    feedback: Annotated[
        bool,
        typer.Option("--feedback", help="Add the questions whose answers got a thumb up in chat."),
    ] = False,
    feedback_file: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The SQLite file of feedback, if another.")
    ] = None,
    choice_seed: Seed = 7,
    each: Annotated[int, _by_model(help="How many questions to a provision.")] = 3,
    most: Annotated[
        int | None,
        _by_model(help="At most so many provisions, and so calls, drawn at random. Default: all."),
    ] = None,
    base_url: options.BaseUrl = None,
) -> None:
    """Make training pairs of documents, by rules or with --model by a model, split by document."""
    with reported():
        from lexloop.apps.cli.index.bar import bar
        from lexloop.apps.cli.material import asking, opened, tell
        from lexloop.core.errors import InputError
        from lexloop.evaluation.testset.material import Material
        from lexloop.evaluation.testset.writing import check_writable
        from lexloop.finetune.negatives import Miner
        from lexloop.finetune.pairs import write_pairs
        from lexloop.finetune.pairs_by_model import ModelAsker, chosen_provisions
        from lexloop.finetune.pairs_by_rules import asked_by_rules
        from lexloop.finetune.pairs_making import make_pairs

        if min(each, 1 if most is None else most) < 1:
            raise InputError(f"--each is {each} and --most is {most}.", "Give at least 1.")
        if not 0.0 <= keep < 1.0:
            raise InputError(f"--keep is {keep}.", "Give a share from 0 to below 1.")
        settings = options.chosen_settings(context.params)
        connection = options.chosen_connection(base_url)
        kept = out.with_suffix(".kept.jsonl")
        check_writable(out)
        check_writable(kept)
        with (
            bar() as report,
            opened(settings, connection, report) as (collection, view),
            asking(settings, connection) as asker,
        ):
            if keep and len(view.documents) < 2:
                raise InputError(
                    f"{settings.corpus} holds one document, which is never on both sides.",
                    "Give --keep 0, or more documents.",
                )
            asked = _thumbs(view, feedback_file) if feedback else []
            if asker is None:
                asked += asked_by_rules(Material(view), choice_seed)
            else:
                provisions = chosen_provisions(view, most, choice_seed)
                tell([f"{len(provisions)} provisions: as many calls of {asker.name}."])
                writer = ModelAsker(asker, each, report)
                asked += writer(provisions)
                tell(_spent(writer.failed, asker.spent))
            made = make_pairs(
                asked,
                view.documents,
                share=keep,
                seed=choice_seed,
                mine=Miner(collection, settings) if negatives else None,
                report=report,
            )
        write_pairs(out, made.training)
        if made.kept:
            write_pairs(kept, made.kept)
        tell(_told(made, out, kept))


def _thumbs(view: "View", file: Path | None) -> "list[Asked]":
    from lexloop.apps.cli.threads import feedback_file
    from lexloop.evaluation.feedback.store import FeedbackStore
    from lexloop.finetune.asked import asked_with_thumbs

    return [*asked_with_thumbs(FeedbackStore(file or feedback_file()).all(), view)]


def _spent(failed: int, spent: "Usage") -> list[str]:
    note = (
        f"{spent['model_calls']} calls, {spent['tokens_in']:,} tokens in, "
        f"{spent['tokens_out']:,} out, {spent['seconds']:.0f} s; kept replies cost nothing."
    )
    return [note, f"{failed} of the model's replies came to nothing."] if failed else [note]


def _told(made: "Made", out: Path, kept: Path) -> list[str]:
    """How many pairs there are, and of what kinds."""
    counts = Counter(pair.source for pair in (*made.training, *made.kept))
    kinds = ", ".join(f"{source} {count}" for source, count in counts.most_common())
    held = f", {len(made.kept)} of other documents in {kept}" if made.kept else ""
    return [f"{len(made.training)} pairs in {out}{held}; left out: {made.left_out}.", f"{kinds}."]
