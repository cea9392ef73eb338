"""The relations that statements state: duties, definitions, references and the like.

``rules`` extracts them, or ``model``; ``predicates`` names them and says how each reads;
``phrases`` gives the keys under which two mentions of a thing are one.
"""
