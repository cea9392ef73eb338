"""The tree of provisions of a document, the basis of chunks, quotes, citations and relations.

``parse`` makes it, of the lines and headings that ``outline`` finds and the numbers that
``markers`` reads; ``tree`` finds units in it; ``references`` reads references in any text.
"""
