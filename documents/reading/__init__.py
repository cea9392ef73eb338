"""Source files read into documents, each format by a reader of its own in a worker process.

``folder`` lists and reads what lies below a folder, ``reading`` reads given files, ``formats``
chooses the reader, ``sidecar`` and ``metadata`` read the documents' metadata.
"""
