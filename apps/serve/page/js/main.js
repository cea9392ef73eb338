// The page: who is there, what they may see, and its parts put in place.

import { button, icon } from "./dom.js";
import { openDocuments } from "./documents.js";
import { openCompare } from "./compare.js";
import { openSource } from "./source.js";
import { openTree } from "./tree.js";
import { listenForEscape } from "./side.js";

for (const place of document.querySelectorAll("[data-icon]")) place.prepend(icon(place.dataset.icon));
const aside = document.getElementById("side");
listenForEscape(aside);
document.getElementById("documents-open").addEventListener("click", () => openDocuments(aside, "sample"));
export { button, openCompare, openSource, openTree };
