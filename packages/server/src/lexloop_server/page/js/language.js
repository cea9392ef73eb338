// The words of the interface, from a file for each language.

export const LANGUAGES = { en: "English", de: "Deutsch" };
export const language = globalThis.document?.documentElement.lang || "en";

const { default: words } = await import(`../words/${language}.json`, { with: { type: "json" } });

/**
 * What a key says, with values in the place of {names}: a text, or a list to put into an element
 * where a value is an element.
 */
export function say(key, values = {}) {
	const pieces = (words[key] ?? key.split(".").at(-1)).split(/\{(\w+)\}/);
	const filled = pieces.map((piece, at) => (at % 2 ? values[piece] : piece));
	return filled.some((one) => one instanceof Object) ? filled : filled.join("");
}

export const isSaid = (key) => key in words;

const NUMBER = new Intl.NumberFormat(language === "en" ? "en-GB" : language);

export const whole = (value) => NUMBER.format(value);

/** Return "1 page" or "2 pages": of what the words have under "count". */
export function counted(number, thing) {
	const [one, many] = say(`count.${thing}`).split("|");
	return `${whole(number)} ${number === 1 ? one : many}`;
}
