"""How complex a question is, and so how much it may retrieve.

``linear`` ships; ``transformers`` are the paper's; ``plan`` has the tables from class to plan.
"""
