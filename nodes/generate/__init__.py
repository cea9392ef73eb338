"""An answer whose every statement is cited, or the abstention.

``node`` is the LangGraph node, and ``guard`` decides what it refuses and withholds. ``extractive``
answers in quotes, in four steps: ``score``, ``answerable``, ``select``, ``write``. ``quoting``
quotes whole provisions. ``model`` lets a chat model write. ``conflicts`` and ``main_document`` add
what other documents say. ``ask_back`` asks which of several is meant.
"""
