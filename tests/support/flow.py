"""The nodes of the graph."""

NODES = (
    "classify",
    "rewrite",
    "hybrid_retrieve",
    "kg_retrieve",
    "rerank",
    "generate",
    "evaluate",
    "engineer_prompt",
)
"""Their names in the order in which a question passes them."""
