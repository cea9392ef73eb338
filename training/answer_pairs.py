"""Questions with statements that answer them, and that only seem to, from public sets.

``training.answers`` trains on them. The wrong statements are those of the same document that share
most with the question, so that only answering is learned.
"""

import random
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from training.public_pairs import read_rows

_ENDS = re.compile(r'(?<=[.!?;])\s+(?=[A-Z"“(\d-])|\n+')
_GENERAL = re.compile(r"purpose of this|definitions|terms")
_TAG = re.compile(r"<[^<>]+>")
_SHORTEST, _LONGEST = 4, 700
"""The fewest words and the most characters of a statement."""
_SECTION, _REPLY = 120, 100
"""The words of a section and of a reply that are read."""
_SQUAD, _OF_A_PART, _REGULATIONS, _OF_A_POLICY, _OTHER_REPLIES = 7000, 12, 7000, 60, 200
_PARTS = range(6, 151)
_COPY = 0.7
"""The share of words that makes one statement a copy of another."""
_TITLED = 0.5
"""The share of statements that are preceded by the title of their document."""
Row = dict[str, Any]


class Pair(NamedTuple):
    """A question and a statement of a set, and whether the statement answers it."""

    source: str
    answers: bool
    question: str
    statement: str


@dataclass(frozen=True)
class _Asked:
    """A question, what answers it, what else its document says, and how many of these to take."""

    question: str
    answers: Sequence[str]
    others: Sequence[str]
    title: str = ""
    most_answers: int = 2
    most_others: int = 2


@dataclass
class Draw:
    """Draws pairs from the sets of a folder; see ``../shared/data/README.md``."""

    data: Path
    chance: random.Random = field(default_factory=lambda: random.Random(0))  # noqa: S311 - it draws no secret

    def pairs(self) -> Iterator[Pair]:
        """Yield the pairs of all sets."""
        reader = self.data / "reader"
        sets: Mapping[str, Iterable[_Asked]] = {
            "squad2": self._articles(self.data / "squad2" / "dev.jsonl"),
            "squad1": self._marked(reader / "squad_train_part", 1, _SQUAD),
            "selqa": self._marked(reader / "selqa_devtest"),
            "clapnq": self._marked(reader / "clapnq_dev"),
            "cfr": self._regulations(reader / "cfr_questions" / "pairs.jsonl"),
            "doc2dial": self._dialogues(reader / "doc2dial_val"),
            "multidoc2dial": self._dialogues(reader / "multidoc2dial_evaltest"),
            **{name: self._replies(reader / name) for name in _REPLIES},
            "conditionalqa": self._guides(self.data / "conditionalqa"),
            "policyqa": self._policies(self.data / "policyqa" / "dev.jsonl"),
        }
        for name, asked in sets.items():
            for asked_item in asked:
                yield from self._pairs_of(name, asked_item)
        yield from _rules(reader / "or_sharc_devtest")

    def _pairs_of(self, name: str, asked: _Asked) -> Iterator[Pair]:
        answers = [*dict.fromkeys(asked.answers)][: asked.most_answers]
        others = [
            statement for statement in dict.fromkeys(asked.others) if statement not in set(answers)
        ]
        near = _nearest(asked.question, others, 2 * asked.most_others)
        near = [
            statement
            for statement in near
            if not any(_is_copy(statement, answer) for answer in answers)
        ]
        for right, statements in ((True, answers), (False, near[: asked.most_others])):
            for statement in statements:
                titled = self.chance.random() < _TITLED and asked.title
                shown = f"{asked.title}. {statement}" if titled else statement
                yield Pair(name, right, asked.question, shown)

    def _articles(self, path: Path) -> Iterator[_Asked]:
        """Articles of an encyclopaedia, with questions that nothing in them answers."""
        for article, rows in _by(read_rows(path), "article").items():
            contexts = dict.fromkeys(row["context"] for row in rows)
            every = [statement for context in contexts for statement in _statements(context)]
            for row in rows:
                answering = _holding(row["context"], row["answers"]) if row["answerable"] else []
                if answering or not row["answerable"]:
                    title = article.replace("_", " ")
                    yield _Asked(row["question"], answering, every, title, most_others=3)

    def _marked(self, folder: Path, most_others: int = 2, most: int = 0) -> Iterator[_Asked]:
        """Passages whose answering sentences people marked."""
        rows = [*read_rows(folder / "pairs.jsonl")]
        for row in self.chance.sample(rows, most) if most else rows:
            title = "" if most else row["doc"].split(" / ")[0]
            answering = row.get("sents") or []
            yield _Asked(row["q"], answering, row["all_sentences"], title, most_others=most_others)

    def _regulations(self, path: Path) -> Iterator[_Asked]:
        """Sections whose headings ask, beside sentences of the other sections of their part."""
        parts = _by(read_rows(path), "doc")
        names, count = sorted(parts), 0
        self.chance.shuffle(names)
        for rows in (parts[name] for name in names if len(parts[name]) in _PARTS):
            statements_of = {row["cite"]: _statements(row["pos"])[:40] for row in rows}
            every = [statement for row in rows for statement in statements_of[row["cite"]]]
            for row in self.chance.sample(rows, min(len(rows), _OF_A_PART)):
                if _GENERAL.search(row["q"]):
                    continue
                own = set(statements_of[row["cite"]])
                title = row["part_title"].title() if row["part_title"] else ""
                others = [statement for statement in every if statement not in own]
                yield _Asked(row["q"], [_beginning(row["pos"], _SECTION)], others, title)
                count += 1
            if count > _REGULATIONS:
                return

    def _dialogues(self, folder: Path) -> Iterator[_Asked]:
        """Yield people's questions on pages of an office, with the other spans of the page."""
        spans: dict[str, list[str]] = {}
        for path in folder.glob("docs.jsonl"):
            for row in read_rows(path):
                spans[row["doc"]] = [span for part in row["sections"] for span in part["spans"]]
        for name, rows in _by(read_rows(folder / "pairs.jsonl"), "doc").items():
            every = spans.get(name) or [
                statement for row in rows for statement in _statements(row["pos"])
            ]
            for row in rows:
                alone = row.get("history") in ([], None, "None") or len(row["q"].split()) >= 7
                if row.get("is_question") and alone and row["sents"]:
                    others = [span for span in every if span not in row["sents"]]
                    answer = " ".join(row["sents"])[:_LONGEST]
                    yield _Asked(row["q"], [answer], others, row.get("title") or "")

    def _replies(self, folder: Path) -> Iterator[_Asked]:
        """Yield questions that offices answer on their pages, with the other replies."""
        pages = self._pages_of_replies(folder)
        every = [
            statement
            for rows in pages.values()
            for row in rows
            for statement in _statements(row["pos"])[:6]
        ]
        for rows in pages.values():
            for row in rows:
                beside = (other for other in rows if other is not row)
                others = [statement for other in beside for statement in _statements(other["pos"])]
                if len(others) < _SHORTEST:
                    others += self.chance.sample(every, min(_OTHER_REPLIES, len(every)))
                answer = _beginning(row["pos"], _REPLY)
                yield _Asked(row["q"], [answer], others, row.get("title") or "")

    def _pages_of_replies(self, folder: Path) -> dict[str, list[Row]]:
        return _by(read_rows(folder / "pairs.jsonl"), "doc")

    def _guides(self, folder: Path) -> Iterator[_Asked]:
        """Pages of guidance, with the paragraph that people marked first."""
        pages: dict[str, list[tuple[str, str]]] = defaultdict(list)
        for row in read_rows(folder / "train_passages.jsonl"):
            pages[row["document_id"]].append((row["id"], _TAG.sub("", row["text"]).strip()))
        for row in read_rows(folder / "train.jsonl"):
            long = [(n, t) for n, t in pages[row["document_id"]] if len(t.split()) > _SHORTEST]
            answers = [text for name, text in long if name in row["relevant_ids"]]
            others = [text for name, text in long if name not in row["relevant_ids"]]
            title = row["document_id"].replace("-", " ").capitalize()
            yield _Asked(row["question"], answers[:1], others, title, most_answers=1)

    def _policies(self, path: Path) -> Iterator[_Asked]:
        """Segments of privacy policies, with the sentence that people marked first."""
        for policy, rows in _by(read_rows(path), "policy").items():
            for row in self.chance.sample(rows, min(_OF_A_POLICY, len(rows))):
                marked, statements = row["answers"][0]["text"], _statements(row["context"])
                answering = [
                    statement
                    for statement in statements
                    if marked[:60] in statement or statement in marked
                ][:1]
                others = [
                    statement
                    for statement in statements
                    if statement not in answering and marked[:30] not in statement
                ]
                if answering:
                    yield _Asked(row["question"], answering, others, policy, most_others=1)


_REPLIES = ("va_gov_faq", "ada_gov_faq", "misc_us_gov_faq", "creativecommons_faq")


def _rules(folder: Path) -> Iterator[Pair]:
    """Rules of an office, each second question beside its rule and the nearest other one."""
    rows = [*read_rows(folder / "pairs.jsonl")][::2]
    for row in rows:
        yield Pair("sharc", True, row["question"], row["pos"][:_LONGEST])
    rules = [row["text"] for row in read_rows(folder / "snippets.jsonl")]
    for row in rows:
        near = _nearest(row["question"], rules, 4, all_words=True)
        nearest = next((text for text in near if text[:80] != row["pos"][:80]), None)
        if nearest is not None:
            yield Pair("sharc", False, row["question"], nearest[:_LONGEST])


def _nearest(question: str, texts: Sequence[str], most: int, all_words: bool = False) -> list[str]:
    """Return the texts that share most with a question, weighted by how rare a word is in them."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    if not texts:
        return []
    words = r"(?u)\b\w\w+\b" if all_words else r"(?u)\b\w+"
    vectors = TfidfVectorizer(sublinear_tf=True, token_pattern=words)
    vectors.fit(texts if all_words else [*texts, question])
    near = (vectors.transform(texts) @ vectors.transform([question]).T).toarray().ravel()
    return [texts[place] for place in np.argsort(-near)[:most].tolist()]


def _is_copy(statement: str, answer: str) -> bool:
    words, answer_words = (set(re.findall(r"\w+", text.lower())) for text in (statement, answer))
    return len(words & answer_words) > _COPY * min(len(answer_words), len(words) or 1)


def _statements(text: str) -> list[str]:
    return [
        statement.strip() for statement in _ENDS.split(text) if len(statement.split()) >= _SHORTEST
    ]


def _holding(text: str, answers: Sequence[Row]) -> list[str]:
    """Return the statement with the first answer, or none if the answer crosses its end."""
    place, begin, holding = answers[0]["answer_start"], 0, list[str]()
    for statement in _statements(text):
        start = text.find(statement, begin)
        if start <= place < start + len(statement):
            holding = [statement]
        begin = max(begin, start)
    return holding


def _beginning(text: str, words: int) -> str:
    return " ".join(text.split()[:words])


def _by(rows: Iterable[Row], key: str) -> dict[str, list[Row]]:
    groups: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        groups[row[key]].append(row)
    return groups
