"""Questions beside statements that answer them, and that only look as if they did, of public sets.

``finetune.answers`` trains on them. What does not answer is what of the same document shares most
with the question: so nothing is learned but whether it answers.
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
"""The share of statements that stand behind the title of their document."""
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
            for one in asked:
                yield from self._pairs_of(name, one)
        yield from _rules(reader / "or_sharc_devtest")

    def _pairs_of(self, name: str, asked: _Asked) -> Iterator[Pair]:
        answers = [*dict.fromkeys(asked.answers)][: asked.most_answers]
        others = [one for one in dict.fromkeys(asked.others) if one not in set(answers)]
        near = _nearest(asked.question, others, 2 * asked.most_others)
        near = [one for one in near if not any(_is_copy(one, other) for other in answers)]
        for right, statements in ((True, answers), (False, near[: asked.most_others])):
            for statement in statements:
                titled = self.chance.random() < _TITLED and asked.title
                shown = f"{asked.title}. {statement}" if titled else statement
                yield Pair(name, right, asked.question, shown)

    def _articles(self, path: Path) -> Iterator[_Asked]:
        """Articles of an encyclopaedia, with questions that nothing in them answers."""
        for article, rows in _by(read_rows(path), "article").items():
            contexts = dict.fromkeys(row["context"] for row in rows)
            every = [one for context in contexts for one in _statements(context)]
            for row in rows:
                held = _holding(row["context"], row["answers"]) if row["answerable"] else []
                if held or not row["answerable"]:
                    title = article.replace("_", " ")
                    yield _Asked(row["question"], held, every, title, most_others=3)

    def _marked(self, folder: Path, most_others: int = 2, most: int = 0) -> Iterator[_Asked]:
        """Passages whose answering sentences people marked."""
        rows = [*read_rows(folder / "pairs.jsonl")]
        for row in self.chance.sample(rows, most) if most else rows:
            title = "" if most else row["doc"].split(" / ")[0]
            said = row.get("sents") or []
            yield _Asked(row["q"], said, row["all_sentences"], title, most_others=most_others)

    def _regulations(self, path: Path) -> Iterator[_Asked]:
        """Sections whose headings ask, beside sentences of the other sections of their part."""
        parts = _by(read_rows(path), "doc")
        names, count = sorted(parts), 0
        self.chance.shuffle(names)
        for rows in (parts[name] for name in names if len(parts[name]) in _PARTS):
            said = {row["cite"]: _statements(row["pos"])[:40] for row in rows}
            every = [one for row in rows for one in said[row["cite"]]]
            for row in self.chance.sample(rows, min(len(rows), _OF_A_PART)):
                if _GENERAL.search(row["q"]):
                    continue
                own = set(said[row["cite"]])
                title = row["part_title"].title() if row["part_title"] else ""
                others = [one for one in every if one not in own]
                yield _Asked(row["q"], [_beginning(row["pos"], _SECTION)], others, title)
                count += 1
            if count > _REGULATIONS:
                return

    def _dialogues(self, folder: Path) -> Iterator[_Asked]:
        """What people ask of pages of an office, beside the other spans of the page."""
        spans: dict[str, list[str]] = {}
        for path in folder.glob("docs.jsonl"):
            for row in read_rows(path):
                spans[row["doc"]] = [one for part in row["sections"] for one in part["spans"]]
        for name, rows in _by(read_rows(folder / "pairs.jsonl"), "doc").items():
            every = spans.get(name) or [one for row in rows for one in _statements(row["pos"])]
            for row in rows:
                alone = row.get("history") in ([], None, "None") or len(row["q"].split()) >= 7
                if row.get("is_question") and alone and row["sents"]:
                    others = [one for one in every if one not in row["sents"]]
                    said = " ".join(row["sents"])[:_LONGEST]
                    yield _Asked(row["q"], [said], others, row.get("title") or "")

    def _replies(self, folder: Path) -> Iterator[_Asked]:
        """Questions that offices answer on their pages, beside what the other replies say."""
        pages = self._pages_of_replies(folder)
        every = [
            one for rows in pages.values() for row in rows for one in _statements(row["pos"])[:6]
        ]
        for rows in pages.values():
            for row in rows:
                beside = (other for other in rows if other is not row)
                others = [one for other in beside for one in _statements(other["pos"])]
                if len(others) < _SHORTEST:
                    others += self.chance.sample(every, min(_OTHER_REPLIES, len(every)))
                said = _beginning(row["pos"], _REPLY)
                yield _Asked(row["q"], [said], others, row.get("title") or "")

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
                marked, said = row["answers"][0]["text"], _statements(row["context"])
                held = [one for one in said if marked[:60] in one or one in marked][:1]
                others = [one for one in said if one not in held and marked[:30] not in one]
                if held:
                    yield _Asked(row["question"], held, others, policy, most_others=1)


_REPLIES = ("va_gov_faq", "ada_gov_faq", "misc_us_gov_faq", "creativecommons_faq")


def _rules(folder: Path) -> Iterator[Pair]:
    """Rules of an office, each second question beside its rule and the nearest other one."""
    rows = [*read_rows(folder / "pairs.jsonl")][::2]
    for row in rows:
        yield Pair("sharc", True, row["question"], row["pos"][:_LONGEST])
    rules = [row["text"] for row in read_rows(folder / "snippets.jsonl")]
    for row in rows:
        near = _nearest(row["question"], rules, 4, all_words=True)
        other = next((one for one in near if one[:80] != row["pos"][:80]), None)
        if other is not None:
            yield Pair("sharc", False, row["question"], other[:_LONGEST])


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


def _is_copy(one: str, other: str) -> bool:
    mine, theirs = (set(re.findall(r"\w+", text.lower())) for text in (one, other))
    return len(mine & theirs) > _COPY * min(len(theirs), len(mine) or 1)


def _statements(text: str) -> list[str]:
    return [one.strip() for one in _ENDS.split(text) if len(one.split()) >= _SHORTEST]


def _holding(text: str, answers: Sequence[Row]) -> list[str]:
    """Return the statement that holds the first answer; none where an end falls into it."""
    place, begin, found = answers[0]["answer_start"], 0, list[str]()
    for one in _statements(text):
        start = text.find(one, begin)
        if start <= place < start + len(one):
            found = [one]
        begin = max(begin, start)
    return found


def _beginning(text: str, words: int) -> str:
    return " ".join(text.split()[:words])


def _by(rows: Iterable[Row], key: str) -> dict[str, list[Row]]:
    found: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        found[row[key]].append(row)
    return found
