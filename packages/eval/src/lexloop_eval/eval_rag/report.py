"""The judges' scores of each system and their agreement with people: figures, Markdown, a page."""

from collections import Counter
from collections.abc import Sequence

from lexloop_eval.eval_rag.judging import AnswerRecord
from lexloop_eval.report.drawing import judges_against_human
from lexloop_eval.report.page import Section, render
from lexloop_eval.report.tables import (
    NOTE,
    Figures,
    Table,
    as_markdown,
    figures,
    of_estimate,
    plain_cell,
)
from lexloop_eval.score import Score, Unresolved, from_json, is_resolved
from lexloop_eval.statistics import CORRELATIONS, correlations

_MOST_PLOTS = 12


def summarise(records: Sequence[AnswerRecord], about: Figures) -> Figures:
    """Return figures, each with its 95 % interval.

    Args:
        records: Every answer.
        about: The identity of the run, copied unchanged.

    Returns:
        ``systems``: the mean of each score per system. ``agreement``: per score its Pearson,
        Spearman and Kendall correlation with the human scores (Eval-RAG, section 3), resampling
        whole questions. ``unresolved``: per score and reason the number of answers without that
        score.
    """
    names = list(dict.fromkeys(name for record in records for name in record["scores"]))
    rated = [record for record in records if record["human"] is not None]
    documents = [record["document"] for record in records]
    kinds = (
        f"{document['kind']}, {document['origin']}" if document else "none"
        for document in documents
    )
    scores = [(name, score) for name in names for score in _scores(records, name)]
    missing = Counter((name, s.reason) for name, s in scores if isinstance(s, Unresolved))
    return {
        **about,
        "answers": len(records),
        "questions": len({record["question"] for record in records}),
        "human_scores": len(rated),
        "documents": dict(Counter(kinds)),
        "systems": _systems(records, names),
        "agreement": [_agreement(name, rated) for name in (names if rated else ())],
        "unresolved": [
            {"score": name, "reason": reason, "answers": count}
            for (name, reason), count in missing.items()
        ],
    }


def _systems(records: Sequence[AnswerRecord], names: Sequence[str]) -> list[Figures]:
    rows: list[Figures] = []
    for system in dict.fromkeys(record["system"] for record in records):
        own = [record for record in records if record["system"] == system]
        columns: dict[str, Sequence[Score]] = {name: _scores(own, name) for name in names}
        if human := [record["human"] for record in own if record["human"] is not None]:
            columns["human"] = human
        rows += [{"system": system, "score": name, **f} for name, f in figures(columns).items()]
    return rows


def _agreement(name: str, rated: Sequence[AnswerRecord]) -> Figures:
    scored = _paired(name, rated)
    figures: Figures = {"score": name, "n": len(scored), "unresolved": len(rated) - len(scored)}
    pairs, questions = [pair for pair, _ in scored], [question for _, question in scored]
    coefficients = correlations(pairs, questions)
    figures |= {key: of_estimate(value) for key, value in coefficients.items()}
    return figures


def _paired(name: str, records: Sequence[AnswerRecord]) -> list[tuple[tuple[float, float], str]]:
    """A judge's score with a person's, and the question, of each answer that has both."""
    return [
        ((score, record["human"]), record["question"])
        for record, score in zip(records, _scores(records, name), strict=True)
        if is_resolved(score) and record["human"] is not None
    ]


def _scores(records: Sequence[AnswerRecord], name: str) -> list[Score]:
    return [from_json(record["scores"][name]) for record in records]


def to_markdown(summary: Figures) -> str:
    """Return tables of scores, agreement and unresolved scores, readable in a terminal."""
    title, *facts = map(plain_cell, (f"{summary['answers_file']}, judged", *_facts(summary)))
    heading = "\n".join([f"# {title}", "", *(f"- {fact}" for fact in facts)])
    shown = (as_markdown(table, plain_cell) for table in _tables(summary) if table.rows)
    return "\n\n".join([heading, *shown])


def to_html(summary: Figures, records: Sequence[AnswerRecord]) -> str:
    """Return the page of a summary. Texts by others are escaped.

    Args:
        summary: The result of ``summarise``.
        records: The answers of the summary, for plots of single answers.
    """
    systems, agreement, missing = ([table] if table.rows else [] for table in _tables(summary))
    about = "Each judge's scores against a person's, of the same answers."
    sections = [
        Section("Scores", "What each judge says of each system.", (), systems),
        Section("Judges and people", about, _plots(summary, records), agreement),
        Section("What is missing", "Scores without a value.", (), missing),
    ]
    return render(f"{summary['answers_file']}, judged", _facts(summary), sections)


def _facts(summary: Figures) -> list[str]:
    origins = ", ".join(f"{name}: {count}" for name, count in summary["documents"].items())
    question_count = summary["known_questions"]
    return [
        f"{summary['answers']} answers to {summary['questions']} questions, "
        f"{summary['human_scores']} with a person's score",
        f"Judging model: {summary['model'] or 'none'}; its rubrics: {summary['rubrics']}",
        *(
            [f"Documents from an index of {question_count} questions ({origins})"]
            if question_count
            else []
        ),
        f"Code: Lexloop {summary['version']}",
    ]


def _tables(summary: Figures) -> tuple[Table, Table, Table]:
    """The scores of each system, the agreement with people, and the unresolved scores."""
    systems = summary["systems"]
    names = list(dict.fromkeys(row["system"] for row in systems))
    rows_by_place = {(row["score"], row["system"]): row for row in systems}
    scores = dict.fromkeys(row["score"] for row in systems)
    lines = [[name, *(rows_by_place.get((name, system)) for system in names)] for name in scores]
    agreement = [
        [row["score"], *(row[name] for name in CORRELATIONS), row["n"]]
        for row in summary["agreement"]
    ]
    missing = [[row["score"], row["answers"], row["reason"]] for row in summary["unresolved"]]
    note = "Correlation [95 % bootstrap interval, questions resampled whole]."
    heads = [*map(str.capitalize, CORRELATIONS)]
    return (
        Table("Scores", NOTE, ["Score", *(name or "answers" for name in names)], lines),
        Table(f"Agreement with {summary['human']}", note, ["Score", *heads, "Answers"], agreement),
        Table("Unresolved", "", ["Score", "Answers", "Why"], missing),
    )


def _plots(summary: Figures, records: Sequence[AnswerRecord]) -> list[str]:
    """Return plots of judges, best agreement first, without judges that have no correlation."""
    correlated = [row for row in summary["agreement"] if row["spearman"]["mean"] is not None]
    best = sorted(correlated, key=lambda row: -row["spearman"]["mean"])[:_MOST_PLOTS]
    panels = {row["score"]: [pair for pair, _ in _paired(row["score"], records)] for row in best}
    return [judges_against_human(panels)] if panels else []
