"""The peers of latency.py, each wired as its own documentation shows; `pip install .[bench]`.

All of them get the same vectors and the same embedder, and BM25 with our tokenizer where it can
be given one. The texts lie in memory.
"""

from collections import defaultdict
from collections.abc import Callable
from typing import Any

import numpy as np
from _contest import DEPTH, RRF_K, TOP, Found, QuestionEmbedder, chunk_ids
from _mixture import Chunks
from numpy.typing import NDArray

from lexloop.documents.text.tokens import tokenize
from lexloop.models.embedding import Vectors
from lexloop.store.folder.dense import tune

_NEIGHBOURS = 32
_AT_ONCE = 10_000


class LangChain:
    """EnsembleRetriever over rank-bm25 and FAISS's exact index, LangChain's defaults."""

    def __init__(self, chunks: Chunks, embedder: QuestionEmbedder) -> None:
        from langchain_classic.retrievers import EnsembleRetriever
        from langchain_community.retrievers import BM25Retriever
        from langchain_community.vectorstores import FAISS
        from langchain_core.embeddings import Embeddings

        class Given(Embeddings):
            def embed_documents(self, texts: list[str]) -> list[list[float]]:
                return embedder.embed(texts).tolist()

            def embed_query(self, text: str) -> list[float]:
                vector: list[float] = embedder.embed([text])[0].tolist()
                return vector

        ids = chunk_ids(chunks.texts)
        metadatas = [{"id": chunk_id} for chunk_id in ids]
        lexical = BM25Retriever.from_texts(
            chunks.texts, metadatas=metadatas, preprocess_func=tokenize, k=DEPTH
        )
        vectors = np.asarray(chunks.vectors, dtype=np.float32)
        pairs = zip(chunks.texts, vectors, strict=True)
        store = FAISS.from_embeddings(pairs, Given(), metadatas=metadatas, ids=ids)
        self._retriever = EnsembleRetriever(
            retrievers=[lexical, store.as_retriever(search_kwargs={"k": DEPTH})],
            weights=[0.5, 0.5],
            id_key="id",
        )

    def search(self, question: str) -> Found:
        """The best ten of the fused documents."""
        documents = self._retriever.invoke(question)[:TOP]
        return [(document.metadata["id"], document.page_content) for document in documents]


class LlamaIndex:
    """QueryFusionRetriever over its BM25Retriever and a VectorStoreIndex on FAISS."""

    def __init__(self, chunks: Chunks, embedder: QuestionEmbedder) -> None:
        import faiss
        from llama_index.core import StorageContext, VectorStoreIndex
        from llama_index.core.embeddings import BaseEmbedding
        from llama_index.core.llms import MockLLM
        from llama_index.core.retrievers import QueryFusionRetriever
        from llama_index.core.retrievers.fusion_retriever import FUSION_MODES
        from llama_index.core.schema import TextNode
        from llama_index.retrievers.bm25 import BM25Retriever
        from llama_index.vector_stores.faiss import FaissVectorStore

        class Given(BaseEmbedding):
            def _get_text_embedding(self, text: str) -> list[float]:
                vector: list[float] = embedder.embed([text])[0].tolist()
                return vector

            _get_query_embedding = _get_text_embedding

            async def _aget_query_embedding(self, query: str) -> list[float]:
                return self._get_text_embedding(query)

        store = FaissVectorStore(faiss_index=faiss.IndexFlatIP(embedder.dimension))
        index = VectorStoreIndex(
            nodes=[],
            storage_context=StorageContext.from_defaults(vector_store=store),
            embed_model=Given(),
        )
        ids = chunk_ids(chunks.texts)
        for first in range(0, len(ids), _AT_ONCE):
            part = slice(first, first + _AT_ONCE)
            rows = zip(ids[part], chunks.texts[part], chunks.vectors[part], strict=True)
            index.insert_nodes([TextNode(id_=i, text=t, embedding=v.tolist()) for i, t, v in rows])
        lexical = BM25Retriever.from_defaults(
            nodes=list(index.docstore.docs.values()), similarity_top_k=DEPTH
        )
        self._retriever = QueryFusionRetriever(
            [lexical, index.as_retriever(similarity_top_k=DEPTH)],
            llm=MockLLM(),
            mode=FUSION_MODES.RECIPROCAL_RANK,
            similarity_top_k=TOP,
            num_queries=1,
            use_async=False,
        )

    def search(self, question: str) -> Found:
        """The best ten nodes."""
        return [
            (hit.node.node_id, hit.node.get_content()) for hit in self._retriever.retrieve(question)
        ]


class Bare:
    """bm25s with numba, FAISS's HNSW, and reciprocal ranks written by hand; nothing else.

    Its graph is searched as far as its recall demands, found the way it is found for ours.
    """

    def __init__(self, chunks: Chunks, embedder: QuestionEmbedder) -> None:
        import bm25s
        import faiss

        self._texts, self._ids, self._embedder = chunks.texts, chunk_ids(chunks.texts), embedder
        self._bm25: Any = bm25s.BM25(backend="numba")
        self._bm25.index([tokenize(text) for text in chunks.texts], show_progress=False)
        self._vectors = faiss.IndexHNSWFlat(
            embedder.dimension, _NEIGHBOURS, faiss.METRIC_INNER_PRODUCT
        )
        self._vectors.add(np.asarray(chunks.vectors, dtype=np.float32))
        effort, _ = tune(np.asarray(chunks.vectors), self._walk)
        self._vectors.hnsw.efSearch = max(effort, DEPTH)

    def _walk(self, queries: Vectors, effort: int) -> tuple[Vectors, NDArray[np.int64]]:
        self._vectors.hnsw.efSearch = effort
        scores, found = self._vectors.search(queries, TOP)
        return scores, found

    def search(self, question: str) -> Found:
        """The best ten by the sum of 1 / (60 + rank)."""
        terms = tokenize(question)
        lexical, _ = self._bm25.retrieve([terms], k=DEPTH, show_progress=False)
        _, vector = self._vectors.search(self._embedder.embed([question]), DEPTH)
        fused: dict[int, float] = defaultdict(float)
        for ranking in (lexical[0].tolist(), vector[0].tolist()):
            for rank, position in enumerate(ranking, 1):
                fused[position] += 0.5 / (RRF_K + rank)
        best = sorted(fused, key=lambda position: -fused[position])[:TOP]
        return [(self._ids[position], self._texts[position]) for position in best]


PEERS: dict[str, Callable[[Chunks, QuestionEmbedder], Any]] = {
    "langchain": LangChain,
    "llamaindex": LlamaIndex,
    "bm25s_faiss": Bare,
}
