"""Indexes of chunks, in memory and on disk.

``writer`` makes and updates an index, ``reader`` opens it as a ``collection``, and whoever asks
reads through its ``view``. Only maintenance may use ``contents``; ``verify`` checks it.
"""
