// What is shown before there is anything to read: examples to click, or a form for a key.

import { post } from "./api.js";
import { el, field, fill, form, link, said } from "./dom.js";
import { asked, collectionNamed, state } from "./state.js";
import { openTree } from "./tree.js";
import { counted } from "./words.js";

const PROMISE = "Each sentence of an answer cites the words that it rests on, and every citation is checked.";

/** Show what may be asked, with examples of the chosen collections; `ask` is given an example's questions. */
export function welcome(room, ask) {
	const chosen = asked().map(collectionNamed);
	const examples = chosen.flatMap((one) => one.examples ?? []).map(({ type, question, before = [] }) => {
		const asked = [...before, question];
		const words = el("span.serif", said(asked.join(" … ")));
		const inside = [el("span.kind", said(type.replaceAll("_", " "))), words];
		return el("li", el("button", { type: "button", data: { type }, on: { click: () => ask(asked) } }, inside));
	});
	const list = el("ul.examples", { "data-testid": "examples" }, examples);
	const shown = examples.length > 0 && [el("h3", "Try one of these"), list];
	const head = el("h2", { id: "welcome-title" }, "What does the law say?");
	const [one, ...others] = chosen;
	const titles = one && !others.length && el("ul.titles", one.titles.map(({ document, title }) => el("li", link(title, () => openTree(one.name, document)))));
	fill(room, el("section.welcome", { "aria-labelledby": "welcome-title" }, head, el("p.lede", about(chosen)), titles, shown));
}

function about(chosen) {
	if (!chosen.length) return "There are no documents yet. Add some under Documents, then ask.";
	if (chosen.length > 1) return `Answers come from ${chosen.length} collections of documents. ${PROMISE}`;
	const [{ title, name, documents, trouble, titles }] = chosen;
	if (trouble) return [said(title || name), ": ", said(trouble)];
	const some = documents > titles.length ? ", of which these are the first" : "";
	return [`Answers come from ${counted(documents, "document")} in `, said(title || name), `${some}. ${PROMISE}`];
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
		el("h2", { id: "welcome-title" }, "Sign in"),
		el("p.lede", "This server asks for a key. Whoever runs it has given you one."),
		field("Key", key, problem),
		el("button.solid", "Sign in"),
	);
	fill(room, made);
	key.focus();
}

/** The line at the foot of the page: no legal advice, and where text goes. */
export function terms() {
	const { model, hosts } = state.me ?? {};
	let goes = "No model is used: nothing leaves this server.";
	if (model) goes = `The model ${model} runs on this server: nothing leaves it.`;
	if (hosts?.length) goes = `Questions and passages go to ${hosts.join(" and ")}, nowhere else.`;
	return `Lexloop informs and gives no legal advice. ${state.me ? goes : ""}`;
}
