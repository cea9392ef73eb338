"""What searches the chunks, in memory and on disk.

``writer`` makes and updates an index, ``reader`` opens it as a ``collection``, and whoever asks
reads through its ``view``. Only maintenance may use ``everything``; ``verify`` checks it.
"""
