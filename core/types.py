"""The words of the field as plain, serialisable records.

Everything that enters the graph's state is a ``TypedDict`` of strings, integers and built-in
floats: numpy scalars and pydantic objects do not survive strict checkpoint serialisation.
Offsets are code points into a document's extracted text, half-open.

``TypedDict`` comes from typing_extensions: below Python 3.12 pydantic makes no schema of the
standard library's, and Studio would show neither the input nor the output of the graph.
"""

from typing import Literal, NamedTuple, NotRequired

from typing_extensions import TypedDict

ABSTENTION = "The documents provided do not answer this question."
"""The one sentence that stands for "no answer"; generator, evaluator and tests share it."""

POINTED = "pointed"
"""The signal of a candidate that the question points to by the number of its provision."""
DEFINING = "defining"
"""The signal of a candidate that defines a term that the question asks the meaning of."""
MOST_POINTED = 12
"""The most chunks that a question points to."""

FOLLOWED = "followed"
"""The signal of a candidate that a retry goes to from the passages of the attempt before."""
BESIDE = "beside"
"""The signal of a passage that is there for what it may add, not as one of the k best."""
QUOTED = "quoted"
"""The signal of a passage that was not found but is quoted in the answer."""

Complexity = Literal[0, 1, 2]
Strategy = Literal["reread", "whole", "operative", "broaden"]
"""What a retry does that no attempt before it did: read the question otherwise, take the whole
provisions of the passages, no recitals, or more candidates and passages."""


class Turn(TypedDict):
    """One earlier message of the conversation.

    ``about`` and ``at`` are the heading and the label of the provision that an answer comes from,
    where they were looked up.
    """

    role: Literal["user", "assistant"]
    content: str
    about: NotRequired[str]
    at: NotRequired[str]


class Reading(TypedDict):
    """A correction: a word of a question that the documents lack, and the one it was read as."""

    written: str
    read: str


class At(TypedDict, total=False):
    """Where a person finds words in the file itself, as far as no page and no label says it.

    Args:
        line: Of a file of text, from 1, as an editor counts.
        paragraph: Below the heading that the words stand under, from 1, as a word processor shows
            them: rows of tables, footnotes and empty paragraphs are not counted.
        table: Below that heading, from 1.
        row: Of that table, from 1; of a sheet, by the number that its program shows.
        header: The name of a message's header.
    """

    line: int
    paragraph: int
    table: int
    row: int
    header: str


class Chunk(TypedDict):
    """A span of a document: ``document_text[start:end] == text``.

    ``section`` is the label of the provision that holds it all, ``context`` the headings above it
    and the lead-in that it completes: words that place it and are no part of what is quoted.
    ``supporting`` stands where it is no operative text: recitals, notes, contents. ``page`` is the
    page on which the chunk begins, and ``page_breaks`` are the offsets at which further pages begin
    inside it. ``version`` says when the document is in force, where it names days, and
    ``identifier`` what the law is known by; ``kind`` and ``jurisdiction`` are its metadata's.
    ``at`` is known of the passages of an answer.
    """

    id: str
    document: str
    title: str
    section: str
    context: NotRequired[str]
    page: int | None
    start: int
    end: int
    text: str
    supporting: NotRequired[bool]
    page_breaks: NotRequired[list[int]]
    at: NotRequired[At]
    version: NotRequired[str]
    identifier: NotRequired[str]
    kind: NotRequired[str]
    jurisdiction: NotRequired[str]
    collection: NotRequired[str]


class Hit(NamedTuple):
    """A chunk that one retrieval signal found.

    Args:
        chunk_id: The chunk.
        document: The document that it is cut from.
        score: The signal's own, unfused.
        supporting: Whether the chunk is no operative text.
    """

    chunk_id: str
    document: str
    score: float
    supporting: bool = False


class Candidate(Chunk):
    """A chunk that retrieval brought up, with its score per signal."""

    score: float
    signals: dict[str, float]


class Passage(Candidate):
    """A candidate chosen for the answer; ``n`` is the number that a model is shown, from 1."""

    n: int


class Triplet(TypedDict):
    """A relation of the knowledge graph and the source span that states it."""

    subject: str
    predicate: str
    object: str
    chunk_id: str
    document: str
    section: str
    page: int | None
    start: int
    end: int
    quote: str
    collection: NotRequired[str]


class Citation(TypedDict):
    """A source of an answer: ``document_text[start:end] == quote``.

    Sources are numbered from 1 in the order in which the answer uses them. ``section`` is the exact
    label of the provision. ``lead`` are the words that a point completes, where they are no part of
    the quote, and ``lead_spans`` where they stand: start and end of each piece. ``version`` says
    when the cited document is in force, where it names days, and ``identifier`` what the law is
    known by: an ELI, a CELEX number. ``collection`` names the collection
    of the document where several were offered. ``at`` is where a person finds the quote in a file
    without pages; offsets are for programs. ``in_file`` is where the quote begins and ends in
    the file itself, in code points, where that is text: Markdown is quoted as it is shown.
    ``read_from_picture`` is how surely, from 0 to 1, words were recognised that a page shows as a
    picture.
    """

    n: int
    document: str
    section: str
    page: int | None
    start: int
    end: int
    quote: str
    lead: NotRequired[str]
    lead_spans: NotRequired[list[list[int]]]
    version: NotRequired[str]
    identifier: NotRequired[str]
    collection: NotRequired[str]
    at: NotRequired[At]
    in_file: NotRequired[list[int]]
    read_from_picture: NotRequired[float]


Kind = Literal["duration", "money", "percentage", "measure", "number", "contact", "name"]
"""A kind of fact that a question may ask for by its words."""


class Part(TypedDict):
    """One thing that a question asks, in words that can be understood without the rest of it.

    ``kind`` is the kind of fact that it asks for, ``counted`` are the search terms of what is to be
    counted, and ``term`` is the one whose definition it asks for. ``several`` says whether a list
    may answer it, and ``duties`` whether it asks what somebody must do. ``named`` are names and
    numbers of provisions in it: documents that answer it know every word of them. ``earlier`` are
    words that come from what was said before: that no document has them is not told again.
    """

    text: str
    kind: Kind | None
    counted: list[str]
    term: str | None
    several: bool
    duties: bool
    named: list[str]
    earlier: NotRequired[list[str]]


class Pointer(TypedDict):
    """A reference in a question.

    ``steps`` and, for a range, ``last`` are the keyword and the number of each step down a tree.
    ``word`` is what the question calls the provision: ``section`` for "§ 5", "" for a number.
    ``documents`` are those in which it may lie, by the act that is named with it; None for any.
    ``coded`` is one that names a code, as "15 U.S.C. 6501" does, which may be another; an
    ``unnumbered`` one counts subparagraphs, which have no numbers of their own.
    """

    written: str
    steps: list[list[str]]
    last: list[list[str]]
    word: str
    documents: list[str] | None
    coded: bool
    unnumbered: bool


class StructureQuestion(TypedDict):
    """A question about a document's structure.

    ``word`` is that of the units asked for, such as ``chapter``; "" for the structure as a whole.
    ``counted`` says whether their number is asked, ``end`` is 0 for the first of them, -1 for the
    last, None for all; ``saying`` whether the words of that one are asked for.
    """

    word: str
    counted: bool
    end: int | None
    saying: bool


class Pointing(TypedDict):
    """What a question points to by number and name.

    ``named`` are the documents that it singles out, none where it does not. ``foreign`` says
    whether a reference leads into an act that is none of the documents, and ``only`` whether the
    question asks what its provisions say and nothing else. ``topic`` are the words that say what
    else it is about, and ``titled`` its words if a heading may be among them.
    """

    pointers: list[Pointer]
    named: list[str]
    foreign: bool
    only: bool
    topic: list[str]
    structure: StructureQuestion | None
    titled: str


class ParsedQuestion(TypedDict):
    """A question as it was understood, once, for all that is done with it.

    Args:
        text: The question standing alone.
        parts: Each thing that it asks, in order.
        bare: Only the sentences that ask, without who asks and how politely; the text where they
            need the rest to be understood.
        pointing: The provisions that it names; None where it names none.
        documents: Those that it describes before it asks, in which alone it is asked; none where
            it describes none.
        called: Those whose name it has, whoever else says it.
        absent: The numbers and files that it asks for by name and that no document has.
        inside: It as it is asked inside the documents that it describes or calls by name.
        queries: At most Q sub-queries, without duplicates.
        keywords: At most K phrases to look up in the knowledge graph.
    """

    text: str
    parts: list[Part]
    bare: str
    pointing: Pointing | None
    documents: list[str]
    called: list[str]
    absent: NotRequired[list[str]]
    inside: str
    queries: list[str]
    keywords: list[str]


class Draft(TypedDict):
    """An answer before it is judged; an abstention has no citations.

    ``told`` are its lines that only code writes, off a document's structure: quotes of whole
    provisions, and what is not there. ``quoted`` are the ids of the chunks of what it quotes
    whole, which are passages of the answer, found or not. ``answers`` is how likely it answers the
    question, None where nobody says; ``unanswered`` are the parts of the question that it does not
    answer, ``lacks`` says in sentences what was asked for and not found, and ``near`` is what comes
    nearest to an answer. ``conflicts`` says in sentences where the documents disagree, or
    why what it says is not of what was asked: with one it does not pass.
    """

    answer: str
    abstained: bool
    citations: list[Citation]
    told: list[str]
    quoted: list[str]
    answers: float | None
    unanswered: list[str]
    lacks: list[str]
    near: list[Citation]
    conflicts: NotRequired[list[str]]


class PointedUnit(TypedDict):
    """A provision that a question points to; ``place`` is its place in the document's tree."""

    document: str
    place: int
    label: str
    start: int
    end: int


class StructureLine(TypedDict):
    """A statement that code derived from a document's structure, with its sources."""

    line: str
    citations: list[Citation]


class Pointed(TypedDict):
    """The provisions that a question names, and statements about the documents' structure.

    ``chunks`` are those that hold the units, in the order of the text, some first where there are
    many. ``told`` is what code says of numbers that are not there and of the structure itself; the
    numbers of its citations are 0. ``only`` says whether nothing else is asked. ``others`` are
    sections about others than the question ``names``, of which nothing is an answer.
    """

    units: list[PointedUnit]
    chunks: list[str]
    told: list[StructureLine]
    only: bool
    others: NotRequired[list[PointedUnit]]
    names: NotRequired[list[str]]


class Plan(TypedDict):
    """The retrieval limits of one question (HyPA-RAG tables 6 and 7)."""

    k: int
    Q: int
    K: int
    S: int


Finding = Literal["answers", "in part", "near", "absent", "reply"]
"""What came of a question: an answer; perhaps part of one; none, though the documents have
something near it; nothing. Those two are abstentions. A greeting gets a reply."""


class Evaluation(TypedDict):
    """The verdict on one attempt. A score is None where it could not be resolved.

    ``answers`` is how likely it is that the answer answers the question, where its generator says.
    """

    answer_relevance: float | None
    context_relevance: float | None
    groundedness: float | None
    citations_verified: bool
    passed: bool
    reasons: list[str]
    answers: NotRequired[float]


class Advice(TypedDict):
    """The prompt engineer's advice for the next attempt, of which ``strategy`` is the change."""

    question: str
    queries: list[str]
    guidance: str
    strategy: Strategy


class Usage(TypedDict):
    """The cost of a question so far; ``seconds`` are those of its steps.

    ``tokens_cached`` are those of ``tokens_in`` that the host says it had cached; ``cost_usd`` is
    there where the model's prices are known.
    """

    model_calls: int
    tokens_in: int
    tokens_out: int
    seconds: float
    tokens_cached: NotRequired[int]
    cost_usd: NotRequired[float]


class Attempt(TypedDict):
    """One pass through the loop.

    ``usage`` is what the question had cost when this answer was written, before it was judged; its
    seconds are 0.
    """

    number: int
    question: str
    queries: list[str]
    keywords: list[str]
    passages: list[Passage]
    triplets: list[Triplet]
    answer: str
    abstained: bool
    citations: list[Citation]
    evaluation: Evaluation
    usage: Usage
    advice: NotRequired[Advice]
    near: NotRequired[list[Citation]]
    collection: NotRequired[str]


class Degradation(TypedDict):
    """A step that ran with less than was asked for."""

    node: str
    wanted: str
    used: str
    reason: str
    collection: NotRequired[str]


class Reasoning(TypedDict):
    """A model's reasoning before a reply; ``attempt`` is the one it worked on, from 1."""

    attempt: int
    node: str
    text: str
