"""The graph of entities and the triplets that join them.

``graph.KnowledgeGraph`` is what others use: it is built from triplets, stored, restricted to what
an asker may see, matched with keywords and searched.
"""
