"""Three scores by one of the ``judges``, the ``checks`` of citations, and the verdict.

``evidence`` is what claims are held against, and ``calculations`` are done again. ``approve`` lets
a person decide about the answer.
"""
