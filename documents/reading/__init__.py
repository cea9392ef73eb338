"""Source files read into documents, each format by a reader of its own in a worker process.

``folder`` lists and reads what lies below a folder, ``workers`` reads given files, ``formats``
chooses the reader, ``metadata`` reads what is said of the documents.
"""
