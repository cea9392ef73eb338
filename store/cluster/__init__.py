"""Ingestion over a Ray cluster: workers prepare source files, the driver writes the index.

``session`` joins a cluster, ``sources`` lists folders, globs and object stores, ``worker`` is what
runs there, and ``preparer`` hands out the files, and keeps in ``staging`` what came back, by
``packing``.

Tasks of Ray Core and not Ray Data: there the unit that fails is a block, so that a file which kills
its worker again and again would take others along; results come in no order and are not kept apart,
by which a driver goes on after a kill; and Ray Data does not run through ``ray://``.
"""
