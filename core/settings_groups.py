"""The groups of settings. If a group has methods, each method has only the fields it uses."""

import re
from collections.abc import Mapping
from datetime import date
from typing import Annotated, Any, Literal, NamedTuple, Self

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    ValidationInfo,
    field_validator,
    model_validator,
)

Share = Annotated[float, Field(ge=0.0, le=1.0)]
Offset = Annotated[int, Field(ge=0)]
Tag = Annotated[str, Field(min_length=1, max_length=200)]
ReasoningEffort = Literal["none", "minimal", "low", "medium", "high", "xhigh", "max"]


class Group(BaseModel):
    """Settings that belong together."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Price(Group):
    """The prices of a model, in US dollars for a million tokens."""

    input: float = Field(ge=0.0, allow_inf_nan=False, description="Of prompts.")
    output: float = Field(ge=0.0, allow_inf_nan=False, description="Of replies.")
    cached: float | None = Field(
        default=None,
        ge=0.0,
        allow_inf_nan=False,
        description="Of what a prompt begins with like one before. Unset: as other prompts.",
    )


class IndexSettings(Group):
    """Contents of an index beside the text."""

    embedder: str = Field(
        default="embedded",
        description="embedded (the MiniLM that ships trained), minilm (as it was before), "
        "`trained:FOLDER` (by `lexloop finetune embedder`), `sentence-transformers:NAME` (a "
        "folder, of PyLate too, or a hub id), or `openai:NAME`.",
        pattern=r"^(embedded|minilm|trained:.+|sentence-transformers:.+|openai:.+|object:.+)$",
    )
    windows: Literal["statements", "whole"] = Field(
        default="statements",
        description="What of a chunk has a vector: the whole and each of its statements, or the "
        "whole alone, which takes a third of the space.",
    )
    token_vectors: bool = Field(
        default=True,
        description="Whether the embedded embedder's vectors of every token are stored, 128 bytes "
        "each, for the reranker to compare with those of the question; without them it goes by "
        "statements alone.",
    )
    dense: Literal["auto", "flat", "hnsw"] = Field(
        default="auto",
        description="How vectors are searched: exactly or by HNSW; auto decides by their number.",
    )
    triplets: Literal["embedded", "model"] = Field(
        default="embedded", description="Who extracts triplets when a corpus is indexed."
    )


class _Overlapping(Group):
    """Chunks of a size, of which neighbours share a part."""

    @model_validator(mode="after")
    def _shares_less_than_a_chunk(self) -> Self:
        size, overlap = list(type(self).model_fields)[1:]
        if getattr(self, overlap) >= getattr(self, size):
            raise ValueError(
                f"{overlap} is {getattr(self, overlap)} and {size} {getattr(self, size)}, but "
                "neighbours must share less than a chunk"
            )
        return self


class BySentences(_Overlapping):
    """Whole sentences up to a size; with auto the provisions of a law, where there are some."""

    method: Literal["auto", "sentence"] = Field(
        default="auto",
        description="auto takes the paragraphs of numbered provisions where there are some, and "
        "sentences otherwise.",
    )
    tokens: int = Field(default=512, ge=16, le=8192, description="The most tokens of a chunk.")
    overlap: int = Field(default=200, ge=0, le=4096, description="The tokens neighbours share.")


class ByProvisions(Group):
    """The paragraphs of numbered provisions."""

    method: Literal["provisions"] = Field(default="provisions", description="By provisions.")


class ByMeaning(Group):
    """Sentences that are near each other."""

    method: Literal["semantic"] = Field(default="semantic", description="By likeness.")
    dissimilarity: Share = Field(
        default=0.9,
        description="The share of sentence-to-sentence distances below which a pair stays "
        "together.",
    )
    buffer: int = Field(
        default=1, ge=0, le=10, description="Neighbours that are read with each sentence."
    )


class ByPattern(Group):
    """Chunks that begin where a pattern matches."""

    method: Literal["pattern"] = Field(
        default="pattern", description="A chunk begins where a pattern matches."
    )
    pattern: str = Field(
        default=r"^§", min_length=1, max_length=500, description=r"For example `^Article \d+$`."
    )


class ByCharacters(_Overlapping):
    """Chunks of so many characters."""

    method: Literal["characters"] = Field(
        default="characters", description="Chunks of so many characters (Sultania et al. table 1)."
    )
    chars: int = Field(default=1000, ge=50, le=100_000, description="Characters of a chunk.")
    chars_overlap: int = Field(
        default=100, ge=0, le=50_000, description="The characters neighbours share."
    )


Chunking = BySentences | ByProvisions | ByMeaning | ByPattern | ByCharacters


class AccessSettings(Group):
    """The asker's access, and filters on documents."""

    tags: tuple[Tag, ...] = Field(
        default=(),
        description="Access tags of whoever asks; documents with other tags are never searched, "
        "documents without tags are public.",
    )
    as_of: str = Field(
        default="today",
        pattern=r"^(any|today|\d{4}-\d{2}-\d{2})$",
        description="Answer from the law in force on this day (YYYY-MM-DD), today, or any day.",
    )
    jurisdictions: tuple[Tag, ...] = Field(
        default=(), description="Only documents of these jurisdictions; none for all."
    )
    kinds: tuple[Literal["statute", "rule", "guidance", "case"], ...] = Field(
        default=(), description="Only these kinds of sources; none for all."
    )
    hosts: tuple[Tag, ...] = Field(
        default=(), description="Only documents of these publishers' hosts; none for all."
    )
    without: tuple[str, ...] = Field(
        default=(), description="Source files whose documents are left out, by their names."
    )
    only: tuple[str, ...] = Field(
        default=(),
        description="Only these documents, by their names or the ends of them; none for all.",
    )
    passage: tuple[Offset, Offset] | None = Field(
        default=None,
        description="Only this passage of the one document in `only`: where it begins and ends in "
        "code points of its text, as START-END.",
    )

    @field_validator("passage", mode="before")
    @classmethod
    def _is_a_span(cls, passage: Any) -> Any:
        if isinstance(passage, str):
            if not re.fullmatch(r"\d{1,12}-\d{1,12}", passage.strip()):
                raise ValueError("it is no START-END, as 1200-1350")
            return passage.split("-")
        return passage

    @field_validator("passage")
    @classmethod
    def _is_of_one_document(
        cls, passage: tuple[int, int] | None, info: ValidationInfo
    ) -> tuple[int, int] | None:
        if passage is not None:
            if len(info.data.get("only", ())) != 1:
                raise ValueError("it needs the one document that it is of (access.only)")
            if passage[0] >= passage[1]:
                raise ValueError("it has to end behind its beginning")
        return passage

    @field_validator("as_of")
    @classmethod
    def _is_a_day(cls, as_of: str) -> str:
        if as_of not in ("any", "today"):
            date.fromisoformat(as_of)
        return as_of


ClassCount = Literal[2, 3, 4, 5]
_COUNTS: Mapping[int, ClassCount] = {2: 2, 3: 3, 4: 4, 5: 5}


class UserSettings(Group):
    """Who asks: which documents concern them."""

    jurisdiction: str = Field(
        default="",
        max_length=200,
        description="Documents that name another jurisdiction are left out, if others remain.",
    )
    role: str = Field(
        default="", max_length=200, description="Documents for this audience are put first."
    )
    documents: tuple[Tag, ...] = Field(
        default=(),
        description="These documents are put first, by their names or the ends of them.",
    )


class ClassPlan(Group):
    """The retrieval plan of one complexity class."""

    k: int = Field(ge=1, le=50, description="Passages for the answer.")
    Q: int = Field(ge=0, le=20, description="Sub-queries.")
    K: int = Field(ge=0, le=20, description="Knowledge-graph keywords.")
    S: int = Field(ge=0, le=5, description="Knowledge-graph path length.")


class ByScores(Group):
    """Parameters of a k that depends on how the reranked candidates' scores fall."""

    min_share: float = Field(
        default=0.05,
        gt=0.0,
        le=1.0,
        description="A passage is taken while it holds this share of all candidates' weight.",
    )
    most: int = Field(default=10, ge=1, le=50, description="The most passages taken.")

    @model_validator(mode="before")
    @classmethod
    def _from_name(cls, given: Any) -> Any:
        if given == "scores" or isinstance(given, (dict, cls)):
            return {} if given == "scores" else given
        raise ValueError("Input should be `scores` or a mapping of `min_share` and `most`")


Budget = Annotated[int, Field(ge=100, le=100_000)]


class ByTokens(Group):
    """How many tokens the passages may have, by the complexity class of the question.

    A chunk is a paragraph of 100 to 250 tokens, where the papers' k counts chunks of 512.
    """

    budgets: tuple[Budget, Budget, Budget] = Field(
        default=(1500, 2000, 2500),
        description="Tokens of passages for each of three complexity classes, simplest first; of "
        "two the last two count, and of four or five those between.",
    )

    @model_validator(mode="before")
    @classmethod
    def _from_name(cls, given: Any) -> Any:
        if given == "tokens" or isinstance(given, (dict, cls)):
            return {} if given == "tokens" else given
        raise ValueError("Input should be `tokens` or a mapping of `budgets`")


class PlanSettings(Group):
    """The retrieval plan of a question, and the classifier that chooses it."""

    classes: ClassCount | Annotated[tuple[ClassPlan, ...], Field(min_length=2, max_length=5)] = (
        Field(
            default=3,
            description="Complexity classes: 2 or 3, with HyPA-RAG's tables 6 and 7, 4 or 5, with "
            "numbers between, or k, Q, K and S of each class, simplest first.",
        )
    )
    k: Literal["auto", "class"] | Annotated[int, Field(ge=1, le=50)] | ByTokens | ByScores = Field(
        default="auto",
        description="Passages for the answer: by the question's class, a number, `tokens`, which "
        "gives each class a budget of tokens, or `scores`, which goes by the scores of the "
        "reranked candidates. auto is `tokens` if a model writes the answer, and `class` if not.",
    )
    beside: int | None = Field(
        default=None,
        ge=0,
        le=50,
        description="The most passages beside the k, such as those that they refer to; the "
        "embedded generator then quotes nothing outside its passages. Unset: 0 if k is a number, "
        "and otherwise as many as the question needs.",
    )
    Q: int | None = Field(default=None, ge=0, le=20, description="Fix Q, the sub-queries.")
    K: int | None = Field(
        default=None, ge=0, le=20, description="Fix K, the knowledge-graph keywords."
    )
    S: int | None = Field(
        default=None, ge=0, le=5, description="Fix S, the knowledge-graph path length."
    )
    classifier: str = Field(
        default="embedded",
        pattern=r"^(embedded(:.+)?|transformer:.+|zero_shot:.+)$",
        description="Which complexity classifier: embedded, `embedded:FOLDER` of one trained on "
        "other questions, `transformer:NAME` or `zero_shot:NAME` by folder or hub id.",
    )
    min_class_probability: Share = Field(
        default=0.5, description="Below this probability the classifier takes the middle class."
    )

    @property
    def most_beside(self) -> int | None:
        """The most passages beside the k, or None for as many as the question needs."""
        return 0 if self.beside is None and isinstance(self.k, int) else self.beside

    @property
    def count(self) -> ClassCount:
        """The number of complexity classes."""
        if isinstance(self.classes, int):
            return self.classes
        return _COUNTS[len(self.classes)]


Walk = Literal["paths", "pagerank"]


class RetrievalSettings(Group):
    """The sources of passages, and their order in the answer."""

    source: Literal["corpus", "none"] = Field(
        default="corpus",
        description="none lets the model answer alone, without passages and citations.",
    )
    rewriter: Literal["auto", "embedded", "model", "none"] = Field(
        default="auto", description="Query rewriting; auto uses the model where one is configured."
    )
    knowledge_graph: Literal["embedded", "none"] = Field(
        default="embedded", description="Whether the knowledge graph is searched."
    )
    walk: Walk = Field(
        default="paths",
        description="How the knowledge graph is walked from the keywords: along the best paths, or "
        "by personalised PageRank, in graphs of up to 5,000 relations.",
    )
    triplets: int = Field(
        default=12, ge=0, le=200, description="Relations that go on to the generator."
    )
    lexical: Literal["index", "okapi"] = Field(
        default="index",
        description="Who searches for words: the index, or rank-bm25's BM25Okapi in memory, whose "
        "statistics are those of the documents that the asker may see; for small collections.",
    )
    reranker: str = Field(
        default="embedded",
        pattern=r"^(embedded|none|cross_encoder(:.+)?)$",
        description="How candidates are reordered before the k passages are taken: embedded, none, "
        "or `cross_encoder:NAME`, by default BAAI/bge-reranker-large (HyPA-RAG section 8.4).",
    )
    authority: float = Field(
        default=0.1,
        ge=0.0,
        le=10.0,
        description="What the authority of a source adds in reranking and in the choice of "
        "statements, on the scale of a cosine; 0 for nothing. fusion.host_boost counts if it is "
        "more.",
    )
    host_scores: dict[str, Share] = Field(
        default={"statute": 1.0, "rule": 0.75, "case": 0.5, "guidance": 0.25},
        description="The authority of a kind of source or of a publisher's host, from 0 to 1.",
    )
    candidates: int = Field(
        default=30, ge=1, le=500, description="Fused chunks that go to the reranker; k come out."
    )
    tools: bool = Field(
        default=True,
        description="Whether a model may search, open and list the documents before a retry whose "
        "answer lacks evidence.",
        json_schema_extra={"langgraph_nodes": ["engineer_prompt"]},
    )


class _Fused(Group):
    documents: int | None = Field(
        default=None, ge=1, le=100, description="Take chunks of so many best documents alone."
    )


class Standardised(_Fused):
    """The sum of the signals, each in its own standard deviations."""

    method: Literal["standardised"] = Field(
        default="standardised",
        description="The sum of BM25, cosine and token vectors, each standardised.",
    )
    bm25_weight: float = Field(default=0.9, ge=0.0, le=10.0, description="Weight of BM25.")
    cosine_weight: float = Field(default=0.6, ge=0.0, le=10.0, description="Weight of the cosine.")
    token_weight: float = Field(
        default=1.0,
        ge=0.0,
        le=10.0,
        description="Weight of the token vectors, where there are any.",
    )


class Linear(_Fused):
    """Cosine plus weighted BM25 (Sultania et al. equation 1)."""

    method: Literal["linear"] = Field(default="linear", description="Cosine plus weighted BM25.")
    bm25_boost: float = Field(default=0.4, ge=0.0, le=10.0, description="Weight of BM25.")
    normalisation: Literal["max", "minmax", "none"] = Field(
        default="max", description="How BM25 is scaled; none is the paper's raw score."
    )
    host_boost: float = Field(
        default=0.0, ge=0.0, le=10.0, description="Weight of a source's authority."
    )


class ReciprocalRank(_Fused):
    """Reciprocal rank fusion."""

    method: Literal["rrf"] = Field(default="rrf", description="Reciprocal rank fusion.")
    k: int = Field(default=60, ge=1, le=1000, description="The constant added to every rank.")
    lexical_weight: Share = Field(
        default=0.5, description="BM25's weight; the vectors have the rest."
    )


Fusion = Standardised | Linear | ReciprocalRank


Sources = Literal["annotations", "text"]


class AnswerSettings(Group):
    """The writer of the answer, and its length."""

    generator: Literal["auto", "embedded", "model"] = Field(
        default="auto",
        description="Who writes the answer: extracted sentences or the model. auto takes the model "
        "if there is one.",
    )
    statements: int = Field(
        default=4, ge=1, le=50, description="How many statements the embedded generator quotes."
    )
    statement_words: int = Field(
        default=300,
        ge=1,
        le=20_000,
        description="How many words those statements may have together; the first is quoted whole.",
    )
    words: int = Field(
        default=800,
        ge=20,
        le=20_000,
        description="How many words of provisions the embedded generator quotes whole; what it "
        "leaves out it names.",
    )
    max_prompt_similarity: Share = Field(
        default=0.8,
        description="An answer more similar to the system prompt than this is withheld.",
    )
    sources: Sources = Field(
        default="annotations",
        description="How the answer's message carries its sources: as annotations of its content, "
        "or `text` for below the answer, too, for a parent graph that reads plain text.",
    )
    ask_back: bool | None = Field(
        default=None,
        description="Whether a question that fits several documents or parties is asked back, once "
        "a turn. Unset: in `lexloop chat` and in Studio alone.",
        json_schema_extra={"langgraph_nodes": ["ask_back"]},
    )


Care = Literal["low", "normal", "high"]


class Least(NamedTuple):
    """The least probabilities: that there is an answer, and that the best is it, to give it."""

    there: float
    given: float
    passed: float  # that it is, to pass it


LEAST: Mapping[Care, Least] = {
    "low": Least(0.2, 0.03, 0.35),
    "normal": Least(0.35, 0.08, 0.5),
    "high": Least(0.6, 0.2, 0.65),
}
"""What is refused below p says that a wrong answer costs p / (1 - p) of what one that is missed
does: a quarter, a good half, half as much again."""


class Marks(NamedTuple):
    """The least scores with which an answer passes."""

    answer_relevance: float
    context_relevance: float
    groundedness: float


EMBEDDED_MARKS = Marks(0.22, 0.25, 0.7)
"""Where the embedded judge was calibrated, one in twenty answers that belong to their question and
one in twenty sets of passages with the evidence scored lower than the first two; the third is the
strict end of the marks that told grounded answers from others about equally well."""
MODEL_MARKS = Marks(0.6, 0.4, 0.7)
"""On the scale of ``evaluate.md``, where 0.5 is an answer in part, and passages with about half."""


Rubrics = Literal["hardened", "reworded", "verbatim"]


class LoopSettings(Group):
    """The judge of an answer, the pass marks, and the number of retries."""

    evaluator: Literal["auto", "embedded", "model", "none"] = Field(
        default="auto", description="Who judges the answer; none takes the first attempt unjudged."
    )
    rubrics: Rubrics = Field(
        default="hardened",
        description="What a model judges by, here and in `lexloop eval` and `lexloop judge`: our "
        "rubrics, those of the papers in our words, without our caps and checks, or the papers' "
        "own text, word for word, from the files in the folder that LEXLOOP_PAPERS names.",
    )
    prompt_engineer: Literal["auto", "embedded", "model"] = Field(
        default="auto", description="Who rewords the question after a low score."
    )
    max_retries: int = Field(
        default=2, ge=0, le=5, description="How often a low-scoring answer is tried again."
    )
    care: Care = Field(
        default="normal",
        description="What a wrong answer costs beside none: the higher, the more questions are "
        "refused, and the likelier an extracted answer must be to pass. The marks for relevance "
        "are for answers of which nobody says how likely they are.",
    )
    min_answer_relevance: Share | None = Field(
        default=None, description="Pass mark for answer relevance; by default the judge's own."
    )
    min_context_relevance: Share | None = Field(
        default=None, description="Pass mark for context relevance; by default the judge's own."
    )
    min_groundedness: Share | None = Field(
        default=None, description="Pass mark for groundedness; by default the judge's own."
    )

    def marks(self, *, by_model: bool) -> Marks:
        """Return the pass marks of a judge: those set here, and its own for the others."""
        own = MODEL_MARKS if by_model else EMBEDDED_MARKS
        given = (self.min_answer_relevance, self.min_context_relevance, self.min_groundedness)
        return Marks(*(mark if m is None else m for m, mark in zip(given, own, strict=True)))


def _own(step: str) -> Any:
    """Return the field of a prompt, which Studio shows as one at its node."""
    return Field(
        default="",
        max_length=50_000,
        description=f"A prompt of your own for {step}, in the form of `prompts/{step}.md` and with "
        "its placeholders; empty for that one.",
        json_schema_extra={"langgraph_nodes": [step], "langgraph_type": "prompt"},
    )


class PromptSettings(Group):
    """Prompts of a user's own, by the step."""

    rewrite: str = _own("rewrite")
    generate: str = _own("generate")
    evaluate: str = _own("evaluate")
    engineer_prompt: str = _own("engineer_prompt")


def _other(step: str) -> Any:
    return Field(
        default=None,
        description=f"Another chat model for {step}, as `provider:name`.",
        json_schema_extra={"langgraph_nodes": [step]},
    )


class ModelSettings(Group):
    """The chat model and its parameters; unset, sampling is left to its provider.

    A parameter that the provider has no place for is an error; one that its host refuses is left
    out of every further call to that model and listed in `degraded`.
    """

    name: str | None = Field(
        default=None,
        description="Chat model as `provider:name`, for example `openai:gpt-4o-mini`, or one of "
        "this machine as `local:FOLDER`. Without one, every step runs embedded.",
    )
    rewrite: str | None = _other("rewrite")
    generate: str | None = _other("generate")
    evaluate: str | None = _other("evaluate")
    engineer_prompt: str | None = _other("engineer_prompt")
    fallback: bool = Field(
        default=False,
        description="When the model or the embedder fails, let the embedded implementation answer "
        "instead; what it stood in for is listed in `degraded`. Where there is no "
        "answer yet, a reply in no form that can be used is always made up for so.",
    )
    attempts: int = Field(
        default=3,
        ge=1,
        le=10,
        description="How often one model call may be tried, the first included.",
    )
    temperature: float | None = Field(
        default=None,
        ge=0.0,
        le=2.0,
        description="Sampling temperature. Unset: 0, and the provider's own where top_p is set or "
        "the model takes no other, as OpenAI's reasoning models.",
    )
    top_p: float | None = Field(
        default=None, gt=0.0, le=1.0, description="Share of the likeliest tokens to sample from."
    )
    seed: int | None = Field(
        default=None, ge=0, lt=2**31, description="Seed of the sampling, where the host keeps one."
    )
    max_tokens: int | None = Field(
        default=None, ge=1, description="The most tokens of one reply, its reasoning included."
    )
    num_ctx: int | None = Field(
        default=None, ge=1, description="Context window in tokens, for the provider ollama."
    )
    reasoning_effort: ReasoningEffort | None = Field(
        default=None, description="How long a reasoning model thinks; models know some of these."
    )

    @property
    def asked_with(self) -> dict[str, Any]:
        """The parameters of a reply that are set, by name."""
        others = {"name", *self.steps, "fallback", "attempts"}
        return self.model_dump(exclude=others, exclude_none=True)

    @property
    def steps(self) -> dict[str, str | None]:
        """The model of each step, or None if the step uses ``name``."""
        return {
            "rewrite": self.rewrite,
            "generate": self.generate,
            "evaluate": self.evaluate,
            "engineer_prompt": self.engineer_prompt,
        }

    @property
    def names(self) -> set[str]:
        """Every model that is named."""
        return {name for name in (self.name, *self.steps.values()) if name}


class RetentionSettings(Group):
    """How long conversations and feedback are kept; 0 is for ever."""

    threads_days: int = Field(
        default=0,
        ge=0,
        le=36_500,
        description="Days after its last answer that a conversation is deleted; 0: never.",
    )
    feedback_days: int = Field(
        default=0,
        ge=0,
        le=36_500,
        description="Days after which an opinion on an answer is deleted; 0: never.",
    )
