// A source at its cited words.

import { el, fill } from "./dom.js";
import { openSide } from "./side.js";

/** Show a citation beside the answer: its document at the cited words. */
export function openSource(aside, citation) {
  const body = openSide(aside, { title: citation.section || citation.document, detail: citation.document });
  fill(body, el("blockquote", {}, citation.quote));
}
