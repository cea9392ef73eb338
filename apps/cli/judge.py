"""``lexloop judge``: answers that any system wrote, judged."""

import json
from functools import partial
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lexloop.apps.cli import options
from lexloop.apps.cli.options import option
from lexloop.apps.cli.session import open_asker, say_where_text_goes
from lexloop.apps.cli.terminal import bar, note, plain, result_console, write_json
from lexloop.apps.shapes.record import text_hosts
from lexloop.core.errors import InputError

if TYPE_CHECKING:
    from lexloop.core.settings import Settings
    from lexloop.evaluation.eval_rag.judging import AnswerRecord

_against = partial(option, panel="Documents to judge against")


@options.taking(*options.MODEL, *options.ACCESS, "deadline_s")
def judge(
    *,
    context: typer.Context,
    answers: Annotated[
        Path,
        typer.Argument(
            metavar="ANSWERS.jsonl",
            help="One JSON object a line: question, answer and, where known, id, system, "
            "reference_answer, contexts, documents and a human score.",
        ),
    ],
    human: Annotated[
        str | None,
        option(
            "The field with human scores, to compare every judge with. Default: human.", "FIELD"
        ),
    ] = None,
    out: Annotated[
        Path | None,
        option("Write judged.jsonl, summary.json, summary.md and report.html there.", "FOLDER"),
    ] = None,
    as_json: options.AsJson = False,
    corpus: Annotated[
        str | None, _against("A folder of provisions and cases, an index, or sample.", "PATH")
    ] = None,
    pairs: Annotated[
        Path | None,
        _against(
            "Known questions with their answers, one JSON object a line; a gold file will do.",
            "FILE",
        ),
    ] = None,
    write_questions: Annotated[
        bool,
        _against(
            "Have the model write the questions of provisions and cases. Default: by rules.",
            flag="--write-questions",
        ),
    ] = False,
    each: Annotated[
        int, _against("How many the model writes for each.", flag="--questions-each", min=1, max=10)
    ] = 5,
    workers: Annotated[int, option("Questions put to the model at once.", min=1, max=32)] = 4,
) -> None:
    """Judge answers: on this machine, and with --model by a model as well.

    With --corpus or --pairs each question is given the document of the known question nearest to
    it, and answers are judged with that document as well (Eval-RAG). Of the corpus only the
    documents count that somebody with the given tags may see.
    """
    from lexloop.evaluation.eval_rag.report import to_markdown

    judged, summary = _judged(context.params)
    if out is not None:
        _write(out, judged, summary)
    if as_json:
        write_json(summary)
    else:
        result_console().print(plain(to_markdown(summary)), soft_wrap=True)


def _judged(given: dict[str, Any]) -> "tuple[list[AnswerRecord], dict[str, Any]]":
    """Read everything before anything is judged; judge; sum up."""
    from lexloop.evaluation.eval_rag.answers import read_answers, read_pairs
    from lexloop.evaluation.eval_rag.judging import AnswerJudge, judge_answers, model_scores
    from lexloop.evaluation.eval_rag.questions import entries_by_model, known_questions
    from lexloop.evaluation.eval_rag.report import summarise
    from lexloop.models.embedders import load_embedder
    from lexloop.models.minilm import load_minilm

    settings = options.chosen_settings(given)
    connection = options.chosen_connection(given)
    workers: int = given["workers"]
    _refuse_contradictions(given, settings)
    answers = read_answers(given["answers"], given["human"])
    pairs = read_pairs(given["pairs"]) if given["pairs"] else []
    say_where_text_goes(text_hosts(settings, connection))
    embedder = load_embedder(settings.index.embedder, connection)
    with bar() as report, open_asker(settings, connection) as asker:
        write = None
        if asker and given["write_questions"]:
            write = partial(entries_by_model, asker, given["each"], workers)
        corpus = settings if given["corpus"] else None
        index, missing = known_questions(corpus, pairs, embedder, write, report)
        judged = judge_answers(
            answers,
            index,
            AnswerJudge(load_minilm()),
            partial(model_scores, asker, embedder.embed) if asker else None,
            progress=report,
            workers=workers,
        )
    for line in missing:
        note(f"Questions by rule instead of the model's: {line}", style="yellow")
    if asker is not None:
        spent = asker.spent
        tokens = f"{spent['tokens_in']} tokens in, {spent['tokens_out']} out"
        note(f"{spent['model_calls']} model calls, {tokens}; replies kept before cost nothing.")
    about = {**_about(given), "model": settings.model.name, "embedder": embedder.name}
    return judged, summarise(judged, {**about, "known_questions": len(index) if index else 0})


def _refuse_contradictions(given: dict[str, Any], settings: "Settings") -> None:
    """Options that need others, and a folder that cannot be one, before anything is asked."""
    if given["write_questions"] and not (settings.model.name and given["corpus"]):
        raise InputError(
            "--write-questions is given without a model or a corpus.", "Add --model and --corpus."
        )
    if (out := given["out"]) is None:
        return
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{out} cannot be a folder: {error}.", "Name another.") from error


def _about(given: dict[str, Any]) -> dict[str, Any]:
    """Return the names and hashes of the files that were judged, the corpus, and the version."""
    from lexloop.evaluation.eval_rag.answers import HUMAN

    about: dict[str, Any] = {}
    for kind, file in (("answers", given["answers"]), ("pairs", given["pairs"])):
        about[f"{kind}_file"] = file.name if file else None
        about[f"{kind}_sha256"] = sha256(file.read_bytes()).hexdigest() if file else None
    human = given["human"] or HUMAN
    return {**about, "corpus": given["corpus"], "human": human, "version": version("lexloop")}


def _write(out: Path, judged: "list[AnswerRecord]", summary: dict[str, Any]) -> None:
    from lexloop.evaluation.eval_rag.report import to_html, to_markdown
    from lexloop.evaluation.jsonl import write_checked

    # each in one step
    write_checked(out / "judged.jsonl", "".join(json.dumps(row) + "\n" for row in judged))
    write_checked(out / "summary.json", json.dumps(summary, indent=2) + "\n")
    write_checked(out / "summary.md", to_markdown(summary))
    write_checked(out / "report.html", to_html(summary, judged))
