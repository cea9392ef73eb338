"""The tree of provisions of a document, which chunks, quotes, citations and relations build on.

``parse`` makes it; ``tree`` finds units in it; ``references`` reads references in any text;
``statements`` gives what can be quoted; ``asking`` finds the units that a question names.
"""
