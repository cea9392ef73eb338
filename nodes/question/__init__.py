"""A question, read before anything is searched for.

Read the modules in this order: ``small_talk`` replies to greetings, ``parts`` takes a question
apart, ``followups`` writes out what a turn leaves to the turns before it, ``pointing`` reads the
provisions it names, ``naming`` and ``describing`` find the documents it is about, and ``rewrite``
is the LangGraph node. ``provisions`` and ``lookups`` find what a question names in the documents.
"""
