"""LoRA adapters for domain questions and for instructions, merged into one model of text.

Every file is JSON Lines: UTF-8, one JSON object a line; further fields are left alone.
To train on::

    {"question": "...", "context": "...", "answer": "..."}

``context`` (what the answer is to be taken from) and ``system`` (instructions) may be left out.
``instruction``, ``input`` and ``output`` are read as ``question``, ``context`` and ``answer``.
To be measured on, each file of one kind::

    {"question": "...", "choices": ["...", "..."], "answer": "..."}   multiple choice
    {"question": "...", "context": "...", "label": "..."}             classification
    {"question": "...", "context": "...", "answer": "..."}            question answering

The answer to a multiple choice is the text of the choice or its number from 0; the classes are all
labels of the file; ``question`` may be left out of a classification. A row to train on whose
question and context are also in a file to be measured on is left out.
"""
