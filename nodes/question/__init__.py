"""Reading a question before the search.

Read the modules in this order: ``small_talk`` replies to greetings, ``parts`` parses a question,
``followups`` rewrites a turn that needs earlier ones, ``pointing`` finds the provisions that it
names, ``naming`` and ``describing`` find the documents that it is about, ``same_question`` says
whether a model's rewriting still asks the same, and ``rewrite`` is the LangGraph node.
``provisions`` and ``lookups`` find what a question names in the documents.
"""
