// The tree of provisions of a document.

import { openSide } from "./side.js";

/** Show a document's provisions, at the one of this label where one is named. */
export function openTree(aside, collection, document, label = null) {
  openSide(aside, { title: document, detail: label ?? collection });
}
