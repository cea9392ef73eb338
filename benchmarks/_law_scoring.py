"""Whether a citation's words are those of a provision, whatever file they were read from."""

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

Gram = tuple[str, ...]
Span = tuple[int, int]

_WITHIN = 0.6
"""The share of a quote's word 3-grams that must be a provision's."""
_OWN = 0.25
"""The share that must be a point's own where its lead-in is quoted with it."""
_CLOSER = 0.05
_SAID, _POINT_WORDS = 0.8, 40
_ROW_SLACK = 40
_HYPHENS = re.compile("[-\u2010\u2011\u00ad]\\s*")


def words_of(text: str) -> list[str]:
    """The words of a text in small letters; a word broken by a hyphen is one."""
    plain = unicodedata.normalize("NFKC", text).lower().replace("’", "'").replace("'", "")
    return re.findall(r"[^\W_]+", _HYPHENS.sub("", plain))


def grams_of(text: str) -> list[Gram]:
    """The word 3-grams of a text; of a shorter one all its words together."""
    words = words_of(text)
    return list(zip(words, words[1:], words[2:], strict=False)) if len(words) > 2 else [(*words,)]


def follows(wanted: str, text: str) -> bool:
    """Whether words stand in a text one after the other."""
    return f" {' '.join(words_of(wanted))} " in f" {' '.join(words_of(text))} "


@dataclass(frozen=True)
class Provision:
    """One provision of the law.

    Args:
        text: Its words.
        lead: Those that lead into it, where it is a point.
        points: The words of its points.
    """

    text: str
    lead: str = ""
    points: tuple[str, ...] = ()

    @cached_property
    def grams(self) -> frozenset[Gram]:
        """Its 3-grams."""
        return frozenset(grams_of(self.text))

    @cached_property
    def with_lead(self) -> frozenset[Gram]:
        """Its 3-grams and those of what leads into it."""
        return self.grams.union(grams_of(self.lead))

    def holds(self, quote: str, others: Iterable["Provision"] = ()) -> bool:
        """Whether a quote is taken from here and from none of the others.

        Args:
            quote: The words of a citation.
            others: Provisions beside it, which may say nearly the same.
        """
        grams = grams_of(quote)
        own = _share(grams, self.grams)
        if own < _WITHIN and not (own >= _OWN and _share(grams, self.with_lead) >= _WITHIN):
            return False
        return all(_share(grams, other.grams) <= own + _CLOSER for other in others)

    def lies_in(self, quote: str) -> bool:
        """Whether a quote has most of it, whatever else it has."""
        return _share(list(self.grams), frozenset(grams_of(quote))) >= _WITHIN

    def points_said(self, answer: str) -> list[bool]:
        """Of each point, whether an answer says most of its words."""
        said = set(words_of(answer))
        wanted = (
            {word for word in words_of(point)[:_POINT_WORDS] if len(word) > 2}
            for point in self.points
        )
        return [len(words & said) >= _SAID * len(words) for words in wanted if words]


def _share(grams: Sequence[Gram], among: frozenset[Gram]) -> float:
    return sum(gram in among for gram in grams) / len(grams)


def quotes_row(quote: str, row: Sequence[str], cells: str) -> bool:
    """Whether a quote is a row of a table: its key, then the value, and little else.

    Args:
        quote: The words of a citation.
        row: The key and the value.
        cells: The whole row.
    """
    if len(words_of(quote)) > len(words_of(cells)) + _ROW_SLACK:
        return False
    said, key = f" {' '.join(words_of(quote))} ", f" {' '.join(words_of(row[0]))} "
    return key in said and f" {' '.join(words_of(row[1]))} " in said[said.index(key) :]


class Law:
    """A law's articles, paragraphs and points, cut from its text.

    Args:
        text: The whole text.
        structure: Its articles with the spans of their paragraphs and points.
    """

    def __init__(self, text: str, structure: Iterable[Mapping[str, Any]]) -> None:
        self._text = text
        self._found: dict[tuple[str, ...], Provision] = {}
        articles = list(structure)
        opening = text[: min((article["start"] for article in articles), default=0)]
        self._reasons = [Provision(line) for line in filter(str.strip, opening.splitlines())]
        for article in articles:
            name = (str(article["article"]),)
            points = [p for paragraph in article["paragraphs"] for p in paragraph["points"]]
            self._add(name, article, points)
            for paragraph in article["paragraphs"]:
                self._add((*name, paragraph["n"]), paragraph, paragraph["points"])
                for point in paragraph["points"]:
                    lead = text[paragraph["start"] : paragraph["points"][0]["start"]]
                    self._add((*name, paragraph["n"], point["p"]), point, (), lead)

    def _add(
        self,
        name: tuple[str, ...],
        span: Mapping[str, Any],
        points: Iterable[Mapping[str, Any]],
        lead: str = "",
    ) -> None:
        within = tuple(self._text[point["start"] : point["end"]] for point in points)
        provision = Provision(self._text[span["start"] : span["end"]], lead, within)
        self._found.setdefault(name, provision)

    def provision(self, article: str, paragraph: str = "", point: str = "") -> Provision:
        """What an article, a paragraph or a point says.

        Raises:
            KeyError: There is none such.
        """
        return self._found[self._name(article, paragraph, point)]

    def beside(self, article: str, paragraph: str = "", point: str = "") -> list[Provision]:
        """The provisions of the same depth but the one named, and the recitals."""
        name = self._name(article, paragraph, point)
        same = [p for n, p in self._found.items() if len(n) == len(name) and n != name]
        return [*same, *self._reasons]

    def _name(self, article: str, paragraph: str, point: str) -> tuple[str, ...]:
        """The key of a provision; a paragraph without a number has an empty one."""
        if point:
            return (article, paragraph, point)
        return (article, paragraph) if paragraph else (article,)


def scored(probe: Mapping[str, Any], answer: Mapping[str, Any], law: Law) -> dict[str, float]:
    """The figures of one answer: ``right``, and for lists ``items``, for others ``found``.

    Args:
        probe: ``kind``, ``article``, ``paragraph`` and perhaps ``point`` and ``also``.
        answer: ``answer``, ``abstained`` and ``citations`` with their quotes.
        law: What the probe asks about.
    """
    kind, silent = probe["kind"], answer["abstained"]
    if kind == "not_there":
        return {"right": float(silent)}
    extra = "items" if kind == "list" else "found"
    if silent:
        return {"right": 0.0, extra: 0.0}
    places = [(probe["article"], probe["paragraph"], probe.get("point", ""))]
    places += [(*also, "") for also in probe.get("also", [])]
    if kind == "article":
        places = [(probe["article"], "", "")]
    gold = [(law.provision(*place), law.beside(*place)) for place in places]
    held = [
        any(provision.holds(citation["quote"], others) for provision, others in gold)
        for citation in answer["citations"]
    ]
    found = float(any(held))
    if kind == "article":
        return {"right": float(bool(held) and all(held)), "found": found}
    if kind in ("definition", "typo"):
        term = re.search(r"[‘“'\"]([^’”'\"]+)[’”'\"] means", gold[0][0].text)
        quoted = term is not None and follows(f"{term[1]} means", answer["answer"])
        whole = (gold[0][0].lies_in(citation["quote"]) for citation in answer["citations"])
        cited = bool(found) or any(whole)
        return {"right": float(cited and quoted), "found": float(cited)}
    if kind == "list":
        said = gold[0][0].points_said(answer["answer"])
        return {"right": float(all(said)), "items": sum(said) / max(1, len(said))}
    return {"right": float(held[:1] == [True]), "found": found}


def spans_of(structure: Iterable[Mapping[str, Any]]) -> dict[tuple[str, ...], Span]:
    """The span of each provision: by article, paragraph and point, or by its label alone."""
    spans: dict[tuple[str, ...], Span] = {}
    for unit in structure:
        if "label" in unit:
            spans[unit["label"],] = unit["start"], unit["end"]
            continue
        spans[unit["article"],] = unit["start"], unit["end"]
        for paragraph in unit["paragraphs"]:
            name = unit["article"], paragraph["n"]
            spans[name] = paragraph["start"], paragraph["end"]
            spans |= {(*name, p["p"]): (p["start"], p["end"]) for p in paragraph["points"]}
    return spans


def gold_of(probe: Mapping[str, Any], spans: Mapping[tuple[str, ...], Span]) -> list[Span]:
    """Where the answer stands; nothing where the law does not give it."""
    if "gold" in probe:
        return [spans[label,] for label in probe["gold"]]
    if not probe["article"]:
        return []
    name = (probe["article"], probe["paragraph"], probe.get("point", ""))
    while not name[-1]:  # an article alone, or a paragraph of it
        name = name[:-1]
    return [spans[name], *(spans[*also,] for also in probe.get("also", []))]
