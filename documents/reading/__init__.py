"""Reading of source files into documents: one reader for each format, in worker processes.

``folder`` lists and reads the files below a folder, ``workers`` reads given files, ``formats``
chooses the reader, ``metadata`` reads the metadata of documents.
"""
