"""The tree of provisions of a document: what all that cuts, quotes, cites or relates reads.

``parse`` makes it; ``tree`` finds units in it; ``references`` reads references off any text;
``statements`` gives what can be quoted; ``asking`` says what a question points to.
"""
