"""Chat and embedding models behind small protocols, those of this machine among them.

``request`` says what a chat model is asked and replies, ``chat.ChatModel`` asks one;
``embedding`` is what makes vectors; ``embedders.load_embedder`` finds the one a setting names.
"""
