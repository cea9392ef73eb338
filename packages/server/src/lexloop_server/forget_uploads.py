"""Forgetting of files: an uploaded copy, and a person's own."""

import os
from pathlib import Path

from lexloop.core.configuration import data_folder
from lexloop.store.forgetting import Forgotten, Removal
from lexloop_server.forgetting import UPLOADS
from lexloop_server.uploads import GONE, STAGED, Uploaded, UploadStore

FORGETS = 40
_OWN = (
    "It is your own file: --delete-file deletes it. A question on its folder reads it again "
    "otherwise."
)
_RESTS = "It was being uploaded or deleted: the server removes it when it starts."


def delete(removal: Removal, done: Forgotten) -> None:
    """Delete an uploaded copy, and a person's own file only if the order says so."""
    uploads = Path(os.path.realpath(data_folder() / UPLOADS))
    for file in removal.target.files():
        with done.trying(file):
            if str(file) not in removal.target.places:
                done.leave(file, "It has the document among others: take it out of this file.")
            elif file.is_relative_to(uploads):
                owner, name, _, *own = file.relative_to(uploads).parts
                UploadStore(uploads).remove(Uploaded(name, uploads / owner / name), "/".join(own))
                done.touch("upload", file, "deleted")
            elif removal.delete_file:
                file.unlink()
                done.touch("file", file, "deleted")
            else:
                done.leave(file, _OWN)


def settle(removal: Removal, done: Forgotten) -> None:
    """Record what a killed server left half uploaded or half deleted."""
    uploads = Path(os.path.realpath(data_folder() / UPLOADS))
    for place in map(Path, sorted(removal.target.places)):
        if place.is_relative_to(uploads) and place != uploads:
            owner, name, *_ = place.relative_to(uploads).parts
            home = uploads / owner
            for rest in (*home.glob(f"{GONE}*"), *(home / name).glob(f"{STAGED}*")):
                done.leave(rest, _RESTS)
