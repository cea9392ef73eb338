// What the page knows, and what the browser keeps of it.

/**
 * What the parts share. `chosen` are collections' names, null for all; `only` is the one document, or
 * the passage of it, that is asked: {collection, document, passage, label}; `asOf` "" is today.
 */
export const state = { me: null, collections: [], chosen: null, only: null, asOf: "", settings: {}, thread: null };

/** Whether the server has the workbench: exact search, versions, registers, tables, next questions. */
export const hasWorkbench = () => state.me?.plugins.includes("workbench") ?? false;

/** What the parts tell the page of, for which main.js has what is done. */
export const hooks = {};

/** What the browser kept under a name, `otherwise` where it kept nothing usable. */
export function kept(name, otherwise) {
	try {
		return JSON.parse(localStorage.getItem(`lexloop.${name}`)) ?? otherwise;
	} catch {
		return otherwise;
	}
}

/** Keep a value, or forget it where it is null. */
export function keep(name, value) {
	try {
		if (value === null) localStorage.removeItem(`lexloop.${name}`);
		else localStorage.setItem(`lexloop.${name}`, JSON.stringify(value));
	} catch {
		// full or forbidden: it holds until the page is closed
	}
}

export const collectionNamed = (name) => state.collections.find((one) => one.name === name);

export const titleOf = (name) => collectionNamed(name)?.title || name;

/** The names of the collections that are asked. */
export function asked() {
	const all = state.collections.map((one) => one.name);
	const chosen = all.filter((name) => state.chosen?.includes(name));
	return chosen.length ? chosen : all;
}
