"""The complexity of a question, and the plan of retrieval that follows from it.

``node`` holds the linear classifier that ships; ``transformers`` are the paper's.
"""
