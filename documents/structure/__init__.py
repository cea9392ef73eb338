"""The tree of provisions of a document, which chunks, quotes, citations and relations build on.

``parse`` makes it, of the lines and headings that ``outline`` finds and the numbers that
``markers`` reads; ``tree`` finds units in it; ``references`` reads references in any text.
"""
