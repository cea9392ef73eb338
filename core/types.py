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
AUTHORITY = "authority"
"""The signal of a candidate with what the authority of its source adds to its score."""
KEPT = "kept"
"""The signal of a passage that the attempt before was written from."""
LIMITING = "limiting"
"""The signal of a passage that is there for an exception or condition of another one."""
QUOTED = "quoted"
"""The signal of a passage that was not found but is quoted in the answer."""

Complexity = Literal[0, 1, 2]
Strategy = Literal["reread", "whole", "operative", "broaden"]
"""What a retry does that no attempt before it did: read the question otherwise, take the whole
provisions of the passages, no recitals, or more candidates and passages."""


class Turn(TypedDict):
    """One earlier message of the conversation.

    ``about`` and ``at`` are the heading and the label of the provision that an answer comes from,
    if they were looked up.
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
    """Where a person finds words in the file itself, if no page or label says it.

    Args:
        line: The line of a text file, from 1, as editors count.
        paragraph: The paragraph below the nearest heading, from 1, as word processors show it: rows
            of tables, footnotes and empty paragraphs are not counted.
        table: The table below that heading, from 1.
        row: The row of that table, from 1, or of a sheet, by the number that its program shows.
        header: The name of a message's header.
    """

    line: int
    paragraph: int
    table: int
    row: int
    header: str


class Chunk(TypedDict):
    """A span of a document: ``document_text[start:end] == text``.

    ``section`` is the label of the provision that holds all of it. ``context`` has the headings
    above it and the lead-in that it completes; they are searched but not quoted. ``supporting`` is
    set if the text is not operative: recitals, notes, contents. ``page`` is the page on which the
    chunk begins, and ``page_breaks`` are the offsets inside it at which further pages begin.
    ``version`` says when the document is in force, if it names days. ``identifier``, ``kind`` and
    ``jurisdiction`` come from its metadata. ``at`` is set for the passages of an answer.
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
        score: The signal's own score, before fusion.
        supporting: Whether the chunk's text is not operative.
    """

    chunk_id: str
    document: str
    score: float
    supporting: bool = False


class Scored(TypedDict):
    """A chunk that retrieval brought up, by its id, with its score per signal.

    ``by`` is the chunk that hands on to it. A view reads its text and its place.
    """

    id: str
    score: float
    signals: dict[str, float]
    by: NotRequired[str]
    collection: NotRequired[str]


class Candidate(Chunk):
    """A chunk that retrieval brought up, with its text, its place and its score per signal."""

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


class Span(TypedDict):
    """A source of an answer by its number and its place."""

    n: int
    document: str
    start: int
    end: int


class Citation(Span):
    """A source of an answer: ``document_text[start:end] == quote``.

    Sources are numbered from 1 in the order in which the answer uses them. ``section`` is the exact
    label of the provision. ``lead`` has the words that a point completes, if the quote does not
    contain them, and ``lead_spans`` the start and end of each piece. ``version`` says when the
    document is in force, if it names days. ``identifier`` is the law's ELI, CELEX number or the
    like. ``collection`` names the document's collection, if there are several. ``at`` is where a
    person finds the quote in a file without pages; offsets are for programs. ``in_file`` is the
    quote's start and end in a text file itself, in code points, since Markdown is quoted as it is
    shown. ``read_from_picture`` is the confidence, from 0 to 1, of words recognised in a picture.
    """

    section: str
    page: int | None
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


class Piece(TypedDict):
    """A text that a retriever of the caller's found: its source, its page from 1 or 0, and more."""

    source: str
    page: int
    text: str
    metadata: dict[str, str]


class Clarified(TypedDict, total=False):
    """What was asked back, the reply, and the documents that it chose; empty if nothing was."""

    question: str
    reply: str
    documents: list[str]


class OpenTurn(TypedDict, total=False):
    """What is known of a turn besides its question.

    Args:
        id: The turn's name: the id of the message with its question.
        snapshot: The day and the state of the corpus that are asked.
        allowed_tags: The access tags of the thread's askers; missing if they have none.
        seconds_left: The remaining seconds of the question's time.
        typed: The question as it was typed; missing if it is read as it was.
        probabilities: The probability of each class of complexity.
        untranslated: What is said of a question in another language; empty if it is read.
        clarified: What was asked back; None while something may be asked back.
        edited: Whether a person chose the passages.
    """

    id: str
    snapshot: str
    allowed_tags: list[str]
    seconds_left: float
    typed: str
    probabilities: list[float]
    untranslated: str
    clarified: Clarified | None
    edited: bool


class Part(TypedDict):
    """One thing that a question asks, in words that can be understood on their own.

    ``kind`` is the kind of fact that it asks for, ``counted`` has the search terms of what it wants
    counted, and ``term`` is the term it wants defined. ``several`` says whether a list may answer
    it, and ``duties`` whether it asks what somebody must do. ``named`` has the names and numbers of
    provisions in it; a document that answers it has every word of them. ``earlier`` has the words
    from earlier turns; if no document has them, that is not reported again.
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

    ``steps`` and, for a range, ``last`` have the keyword and the number of each step down a tree.
    ``word`` is what the question calls the provision: ``section`` for "§ 5", "" for a number.
    ``documents`` are those that may contain it, by the act named with it, or None for any.
    ``coded`` means that it names a code, as "15 U.S.C. 6501" does, which may be another document.
    ``unnumbered`` means that it counts subparagraphs without numbers.
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

    ``word`` names the units asked for, such as ``chapter``, or is "" for the whole structure.
    ``counted`` says whether it asks how many there are. ``end`` is 0 for the first, -1 for the last
    and None for all. ``saying`` says whether it asks for that unit's words.
    """

    word: str
    counted: bool
    end: int | None
    saying: bool


class Pointing(TypedDict):
    """What a question points to by number and name.

    ``named`` are the documents that it singles out, if any. ``foreign`` says whether a reference
    leads to an act that is not among the documents, and ``only`` whether the question asks for
    nothing but the text of its provisions. ``topic`` has the words that say what else it is about,
    and ``titled`` its words if they may include a heading.
    """

    pointers: list[Pointer]
    named: list[str]
    foreign: bool
    only: bool
    topic: list[str]
    structure: StructureQuestion | None
    titled: str


class ParsedQuestion(TypedDict):
    """A question as it was understood. It is parsed once, for all later steps.

    Args:
        text: The standalone question.
        parts: Each thing that it asks, in order.
        bare: Only the sentences that ask, without introduction or courtesy, or the whole text if
            they cannot be understood alone.
        pointing: The provisions that it names, or None if it names none.
        documents: The documents that it describes before it asks. It is asked of these alone; empty
            if it describes none.
        called: The documents that it names, even if other documents use the name.
        absent: The numbers and files that it names and no document has.
        inside: The question as it is asked inside the documents that it describes or names.
        queries: At most Q sub-queries, without duplicates.
        keywords: At most K phrases to look up in the knowledge graph.
        reworded: Whether a model wrote the queries: the question in words of such documents.
        pointed: What ``pointing`` is in the documents; missing until they are searched.
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
    reworded: NotRequired[bool]
    pointed: NotRequired["Pointed"]


class Draft(TypedDict):
    """An answer before it is judged; an abstention has no citations.

    ``told`` has the lines that code wrote from a document's structure: quotes of whole provisions,
    and what is missing. ``quoted`` has the ids of the chunks of provisions that it quotes whole;
    they become passages of the answer. ``answers`` is the probability that it answers the question,
    or None if unknown. ``unanswered`` has the parts of the question that it does not answer,
    ``lacks`` sentences on what was not found, and ``near`` the passages nearest to an answer.
    ``conflicts`` has sentences on where documents disagree, or why the draft is about something
    else; a draft with conflicts does not pass.
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
    """A provision that a question points to. ``place`` is its index in the document's tree."""

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

    ``chunks`` are the chunks of the units, in the order of the text; if there are many, the first
    ones. ``told`` has what code says of missing numbers and of the structure; its citations have
    the number 0. ``only`` says whether nothing else is asked. ``others`` are sections about things
    other than those the question ``names``; they never answer it.
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
"""The outcome of a question. ``near`` and ``absent`` are abstentions: the documents have something
near the question, or nothing. A greeting gets a ``reply``."""


class Source(TypedDict):
    """A source of an answer, as another agent is told it."""

    n: int
    document: str
    section: str
    page: int | None
    quote: str


class StructuredAnswer(TypedDict):
    """An answer as another agent is told it. Without an answer, the sources are the nearest."""

    answer: str
    finding: Finding
    warning: str
    sources: list[Source]


class Evaluation(TypedDict):
    """The verdict on one attempt. A score is None if it could not be resolved.

    ``answers`` is the probability that the answer answers the question, if its generator gave one.
    ``by_model`` is true if a chat model gave the scores.
    """

    answer_relevance: float | None
    context_relevance: float | None
    groundedness: float | None
    citations_verified: bool
    passed: bool
    reasons: list[str]
    answers: NotRequired[float]
    by_model: NotRequired[bool]


class Place(TypedDict):
    """A place in a document; ``section`` is "" for the whole document."""

    document: str
    section: str


class Looked(TypedDict):
    """A look of a model into the documents before a retry, and the places that it found."""

    tool: str
    words: str
    found: list[Place]


class Advice(TypedDict):
    """The prompt engineer's advice for the next attempt.

    ``strategy`` says what it changes. ``looked`` lists the looks into the documents, and ``opened``
    has the passages that these found for the answer.
    """

    question: str
    queries: list[str]
    guidance: str
    strategy: Strategy
    looked: NotRequired[list[Looked]]
    opened: NotRequired[list[Scored]]


class Usage(TypedDict):
    """The cost of a question so far. ``seconds`` is the time of its steps.

    ``tokens_cached`` is the part of ``tokens_in`` that the host reports as cached. ``cost_usd`` is
    set if the model's prices are known.
    """

    model_calls: int
    tokens_in: int
    tokens_out: int
    seconds: float
    tokens_cached: NotRequired[int]
    cost_usd: NotRequired[float]


class Chosen(Scored):
    """A passage of an attempt, by its id. ``supporting`` is set if it is no operative text."""

    n: int
    supporting: NotRequired[bool]


class Attempt(TypedDict):
    """One pass through the loop, its sources by id and place.

    ``told`` has the lines of its answer that code wrote from a document's structure. ``usage`` is
    the question's cost when this answer was written, before judging. Its seconds are 0.
    """

    number: int
    question: str
    queries: list[str]
    keywords: list[str]
    passages: list[Chosen]
    answer: str
    abstained: bool
    citations: list[Span]
    evaluation: Evaluation
    usage: Usage
    advice: NotRequired[Advice]
    near: NotRequired[list[Span]]
    told: NotRequired[list[str]]
    collection: NotRequired[str]


class Best(TypedDict):
    """The best attempt so far: what it wrote, and what from."""

    draft: Draft
    passages: list[Passage]
    triplets: list[Triplet]


class Degradation(TypedDict):
    """A step that ran with less than the settings asked for."""

    node: str
    wanted: str
    used: str
    reason: str
    collection: NotRequired[str]


class Reasoning(TypedDict):
    """A model's reasoning before a reply. ``attempt`` is the attempt it belongs to, from 1."""

    attempt: int
    node: str
    text: str
