// Two versions of a provision side by side.

import { openSide } from "./side.js";

/** Compare the versions of a provision; `a` and `b` are documents, chosen there where not given. */
export function openCompare(aside, { collection, document, label, a = null, b = null }) {
  openSide(aside, { title: label, detail: [collection, document, a, b].filter(Boolean).join(" · ") });
}
