// What is shown before there is anything to read: one's documents, questions on them; or a form for a key.

import { post } from "./api.js";
import { openDocuments } from "./documents.js";
import { button, el, field, fill, form, link, said } from "./dom.js";
import { dropPlace, mayAdd, ownCollection } from "./files.js";
import { counted, say } from "./language.js";
import { asked, collectionNamed, state, titleOf } from "./state.js";
import { openTree } from "./tree.js";
import { fileOf, titleBeside } from "./words.js";

const MOST_ASKED = 6;
const MOST_NAMED = 6;

/**
 * Show the opening screen around the composer, and return {show}, which fills in the documents that
 * are chosen; `ask` is given an example.
 */
export function welcome(room, composer, ask) {
	const lede = el("p.lede");
	const more = el("div.opening");
	const head = el("h2", { id: "welcome-title" }, say("welcome.head"));
	fill(room, el("section.welcome", { "aria-labelledby": "welcome-title" }, head, lede, composer, more));
	return {
		show() {
			const chosen = asked().map(collectionNamed);
			fill(lede, about(chosen));
			fill(more, questions(chosen, ask), documents(chosen));
		},
	};
}

function about(chosen) {
	if (!chosen.length) return say(mayAdd() ? "welcome.empty" : "welcome.nothing");
	return say("welcome.promise");
}

/** Examples of the chosen collections, taken from each in turn. */
function questions(chosen, ask) {
	const lists = chosen.map((one) => one.examples ?? []);
	const longest = Math.max(0, ...lists.map((list) => list.length));
	const turns = Array.from({ length: longest }, (_, at) => lists.map((list) => list[at]).filter(Boolean)).flat();
	if (!turns.length) return null;
	const rows = turns.slice(0, MOST_ASKED).map(({ question }) =>
		el("li", el("button", { type: "button", dir: "auto", on: { click: () => ask(question) } }, said(question))),
	);
	return el("section", el("h3", say("welcome.examples")), el("ul.examples", { "data-testid": "examples" }, rows));
}

function documents(chosen) {
	const several = chosen.length > 1;
	const lists = chosen.map((one) => {
		const { name, titles, documents: count, trouble } = one;
		const rows = titles.slice(0, several ? 3 : MOST_NAMED).map(({ document, title }) =>
			el("li", link(fileOf(document), () => openTree(name, document)), el("span.detail", said(titleBeside(document, title)))),
		);
		const left = count - rows.length;
		return [
			(several || trouble) && el("h4", said(titleOf(name))),
			trouble && el("p.hint", said(trouble)),
			el("ul.titles", rows),
			left > 0 && button(say("welcome.more", { documents: counted(left, "document") }), () => openDocuments(name), { class: "link hint" }),
		];
	});
	const drop = mayAdd() && dropPlace(ownCollection);
	return el("section", el("h3", say("welcome.documents")), lists, drop);
}

/** Show the form for a key; `entered` is called once the server took it. */
export function signIn(room, entered) {
	const props = { type: "password", id: "key", autocomplete: "current-password", required: true };
	const key = el("input", { ...props, "aria-describedby": "key-problem" });
	const problem = el("p.hint", { id: "key-problem", role: "alert" });
	const submitted = async () => {
		try {
			await post("session", { key: key.value });
			entered();
		} catch (error) {
			problem.textContent = error.message;
			key.ariaInvalid = "true";
			key.select();
		}
	};
	const made = form(
		"form.welcome.signin",
		submitted,
		{ id: "signin", "aria-labelledby": "welcome-title" },
		el("h2", { id: "welcome-title" }, say("signin")),
		el("p.lede", say("signin.why")),
		field(say("signin.key"), key, problem),
		el("button.solid", say("signin")),
	);
	fill(room, made);
	key.focus();
}

/** The line at the foot of the page: no legal advice, and where text goes. */
export function terms() {
	const { model, hosts } = state.me ?? {};
	let goes = say("terms.nomodel");
	if (model) goes = say("terms.model", { model });
	if (hosts?.length) goes = say("terms.hosts", { hosts: hosts.join(", ") });
	return `${say("terms.advice")} ${state.me ? goes : ""}`;
}
