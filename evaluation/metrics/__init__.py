"""What a metric is worth by itself: pure functions, each with its formula and its source.

``retrieval`` and ``spans`` judge what was found; ``hypa``, ``triad`` and ``tenths`` what judges
said of an answer; ``correctness``, ``text``, ``bleu`` and ``similarity`` the answer against the
reference; ``cost`` and ``loop`` what it took. What cannot be computed is ``Unresolved`` with the reason, never NaN.
"""
