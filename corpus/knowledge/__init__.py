"""The graph of entities and the triplets that join them.

``graph`` is what others use: ``KnowledgeGraph`` is built from triplets, stored, narrowed to what
an asker may see, matched with keywords and searched.
"""
