"""The settings that shape an index; two corpora made with different ones are different."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

SAMPLE_CORPUS = "sample"


class IndexSettings(BaseModel):
    """Which documents, how they are cut, embedded and related."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    corpus: str = Field(
        default=SAMPLE_CORPUS,
        min_length=1,
        description="A folder of documents, one document, an index made by `lexloop index`, or "
        "`sample` for the bundled digest of NYC Local Law 144.",
    )
    chunker: Literal["auto", "provisions", "sentence", "semantic", "pattern", "characters"] = Field(
        default="auto",
        description="How documents are cut: auto takes the paragraphs of numbered provisions "
        "where there are some, and sentences otherwise.",
    )
    chunk_tokens: int = Field(
        default=512, ge=16, le=8192, description="sentence: the most tokens of a chunk."
    )
    chunk_overlap: int = Field(
        default=200, ge=0, le=4096, description="sentence: the tokens two neighbours share."
    )
    chunk_chars: int = Field(
        default=1000, ge=50, le=100_000, description="characters: the most characters of a chunk."
    )
    chunk_chars_overlap: int = Field(
        default=100, ge=0, le=50_000, description="characters: what two neighbours share."
    )
    chunk_pattern: str = Field(
        default=r"^§",
        min_length=1,
        max_length=500,
        description=r"pattern: a chunk begins where this matches, e.g. `^Article \d+$`.",
    )
    chunk_dissimilarity: float = Field(
        default=0.9,
        ge=0.0,
        le=1.0,
        description="semantic: the share of sentence-to-sentence distances below which a pair "
        "stays together.",
    )
    chunk_buffer: int = Field(
        default=1, ge=0, le=10, description="semantic: neighbours read with each sentence."
    )
    embedder: str = Field(
        default="embedded",
        description="embedded (the MiniLM that ships trained), minilm (as it was before), "
        "`trained:FOLDER` (by `lexloop finetune embedder`), `sentence-transformers:NAME`, or "
        "`openai:NAME`.",
        pattern=r"^(embedded|minilm|trained:.+|sentence-transformers:.+|openai:.+)$",
    )
    windows: Literal["statements", "whole"] = Field(
        default="statements",
        description="What of a chunk is embedded: the whole and each of its statements, or the "
        "whole alone, which takes a third of the space and of the time.",
    )
    token_vectors: bool = Field(
        default=True,
        description="Whether the embedded embedder's vectors of every token are stored, 128 bytes "
        "each, for the reranker to compare with those of the question; without them it goes by "
        "statements alone.",
    )
    dense_index: Literal["auto", "flat", "hnsw", "ivf"] = Field(
        default="auto",
        description="How vectors are searched: exactly, by HNSW, or by IVF with 8-bit codes; "
        "auto decides by their number.",
    )
    triplet_extractor: Literal["embedded", "model"] = Field(
        default="embedded", description="Who extracts triplets when a corpus is indexed."
    )
