// The documents of a collection: listed, added, removed.

import { openSide } from "./side.js";

/** Show what a collection holds. */
export function openDocuments(aside, collection) {
  openSide(aside, { title: "Documents", detail: collection });
}
