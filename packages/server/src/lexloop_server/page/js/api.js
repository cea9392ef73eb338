// The server's API: JSON with typed errors, and events while something runs.

import { language, say } from "./language.js";

const WAIT_MS = 30_000;
// the server sends a comment every 15 seconds, so silence this long is a lost connection
const SILENCE_MS = 90_000;

/**
 * What went wrong, as the server tells it: `kind`, `what`, `hint`, files `refused`, and `settings`
 * with which it can do without the model that failed; and the HTTP `status`.
 */
export class ApiError extends Error {
	constructor(told) {
		super(`${told.what} ${told.hint}`);
		Object.assign(this, { refused: [] }, told);
	}
}

/** The address of an endpoint, a word or a list of them, beside the page wherever a proxy has put it. */
export function address(path, query = {}) {
	const url = new URL(["api", ...[path].flat().map(encodeURIComponent)].join("/"), document.baseURI);
	for (const [name, value] of Object.entries(query)) {
		for (const one of [value].flat()) if ((one ?? "") !== "") url.searchParams.append(name, one);
	}
	return url.href;
}

/** Ask the server, and return its JSON, null where it says nothing. Throws ApiError. */
async function request(method, path, sent) {
	const response = await send(method, path, { ...sent, signal: AbortSignal.timeout(WAIT_MS) });
	try {
		return JSON.parse((await response.text()) || "null");
	} catch (error) {
		throw error instanceof SyntaxError ? failure(null, response.status, response) : unreachable(error, true);
	}
}

export const get = (path, query) => request("GET", path, { query });
export const post = (path, body) => request("POST", path, { body });
export const put = (path, body) => request("PUT", path, { body });
export const patch = (path, body) => request("PATCH", path, { body });
export const remove = (path, query) => request("DELETE", path, { query });

/**
 * Yield the server's events, {event, data}, until it ends.
 * Throws ApiError where it refuses, falls silent, or sends the event `error`.
 */
export async function* events(method, path, { signal, ...rest } = {}) {
	const silence = new AbortController();
	const wait = () => setTimeout(() => silence.abort(), SILENCE_MS);
	let timer = wait();
	let heard = false;
	try {
		const both = AbortSignal.any([signal, silence.signal].filter(Boolean));
		const response = await send(method, path, { ...rest, signal: both, accept: "text/event-stream" });
		const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
		const parser = new EventParser();
		for (;;) {
			const { value, done } = await reader.read();
			if (done) return;
			heard = true;
			clearTimeout(timer);
			timer = wait();
			for (const { event, data } of parser.feed(value)) {
				if (event === "error") throw failure(data, 0);
				yield { event, data };
			}
		}
	} catch (error) {
		throw error instanceof ApiError || signal?.aborted ? error : unreachable(error, heard);
	} finally {
		clearTimeout(timer);
		silence.abort();
	}
}

async function send(method, path, { query, body, signal, accept = "application/json" }) {
	const headers = { Accept: accept, "Accept-Language": language };
	if (body) headers["Content-Type"] = "application/json";
	const sent = { method, headers, signal, body: body && JSON.stringify(body), cache: "no-store" };
	let response;
	try {
		response = await fetch(address(path, query), sent);
	} catch (error) {
		throw error.name === "AbortError" ? error : unreachable(error);
	}
	if (response.ok) return response;
	throw failure(await response.json().catch(() => null), response.status, response);
}

function unreachable(error, heard = false) {
	const why = error?.name === "TimeoutError" ? "late" : heard ? "lost" : "unreached";
	return new ApiError({ kind: "Unreachable", what: say(`server.${why}`), hint: say("server.check") });
}

/** What the server said went wrong as an error. */
export function failure(told, status, response) {
	const unsaid = { kind: "ServerError", what: say("server.refused", { status }), hint: say("again.hint") };
	const after = Number(response?.headers.get("Retry-After"));
	return new ApiError({ ...unsaid, ...told?.error, status, retryAfter: after });
}

/** A parser: give it pieces as they come, and get the events that they complete. */
export class EventParser {
	#held = "";

	/** The events that this piece completes, as {event, data} with data parsed as JSON. */
	feed(piece) {
		// a \r at the very end may be half of \r\n
		const blocks = (this.#held + piece).replace(/\r\n|\r(?!$)/g, "\n").split("\n\n");
		this.#held = blocks.pop();
		return blocks.map(eventOf).filter(Boolean);
	}
}

function eventOf(block) {
	const fields = { event: [], data: [] };
	for (const line of block.split("\n")) {
		const [, name, value] = /^(\w*):? ?(.*)$/.exec(line) ?? [];
		fields[name]?.push(value);
	}
	if (!fields.data.length) return null;
	const event = fields.event.at(-1) || "message";
	const raw = fields.data.join("\n");
	try {
		return { event, data: JSON.parse(raw) };
	} catch {
		return { event, data: raw };
	}
}
