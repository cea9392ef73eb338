"""The complexity of a question, and the plan of retrieval that follows from it.

``linear`` ships; ``transformers`` are the paper's; ``plan`` has the tables from class to plan.
"""
