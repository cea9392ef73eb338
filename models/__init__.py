"""Chat and embedding models behind small protocols, those of this machine among them.

``request`` defines what a chat model is asked and replies, ``chat.ChatModel`` asks one;
``embedding`` defines embedding models, ``embedders.load_embedder`` loads the one of a setting.
"""
