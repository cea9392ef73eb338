"""The complexity of a question, and in ``node`` the plan of retrieval that follows from it.

``linear`` ships; ``transformers`` are the paper's.
"""
