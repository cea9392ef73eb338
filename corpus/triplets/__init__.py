"""The relations that statements state: who must do what, what a term means, what refers to what.

``rules`` extracts them, or ``model``; ``predicates`` names them and says how each reads;
``phrases`` gives the keys under which two mentions of a thing are one.
"""
