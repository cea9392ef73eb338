// The server's API: JSON with typed errors, and events while something runs.

import { EventParser } from "./sse.js";

const WAIT_MS = 30_000;
// the server sends a comment every 15 seconds, so silence this long is a lost connection
const SILENCE_MS = 90_000;

/** What went wrong, in the server's words: `kind`, `what`, `hint`, and the HTTP `status`. */
export class ApiError extends Error {
	constructor({ kind, what, hint = "", status = 0, retryAfter = null }) {
		super(hint ? `${what} ${hint}` : what);
		Object.assign(this, { kind, what, hint, status, retryAfter });
	}

	/** Whether the model failed, so that the embedded mode can still answer. */
	get ofModel() {
		return /^(Model|Deadline)/.test(this.kind);
	}
}

/** The address of an endpoint, beside the page wherever a proxy has put it. */
export function address(path, query = {}) {
	const url = new URL(`api/${path}`, document.baseURI);
	for (const [name, value] of Object.entries(query)) if ((value ?? "") !== "") url.searchParams.set(name, value);
	return url.href;
}

/** Part of a path: an id or a collection's name. */
export const part = (name) => encodeURIComponent(name);

/**
 * Ask the server, and return its JSON, null where it says nothing. `body` is sent as JSON, `form` as
 * it is. Throws ApiError; an abort throws its own error.
 */
async function request(method, path, { signal, waitMs = WAIT_MS, ...rest } = {}) {
	const limits = [signal, waitMs && AbortSignal.timeout(waitMs)].filter(Boolean);
	const response = await send(method, path, { ...rest, signal: AbortSignal.any(limits) });
	try {
		return JSON.parse((await response.text()) || "null");
	} catch (error) {
		throw error instanceof SyntaxError ? failure(null, response.status, response) : unreachable(error, true);
	}
}

export const get = (path, options) => request("GET", path, options);
export const post = (path, body, options) => request("POST", path, { body, ...options });
export const patch = (path, body, options) => request("PATCH", path, { body, ...options });
export const remove = (path, options) => request("DELETE", path, options);

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

async function send(method, path, { query, body, form, signal, accept = "application/json" }) {
	const headers = { Accept: accept };
	if (body !== undefined) headers["Content-Type"] = "application/json";
	const sent = form ?? (body === undefined ? body : JSON.stringify(body));
	const rest = { credentials: "same-origin", cache: "no-store" };
	let response;
	try {
		response = await fetch(address(path, query), { method, headers, signal, body: sent, ...rest });
	} catch (error) {
		throw error.name === "AbortError" ? error : unreachable(error);
	}
	if (response.ok) return response;
	throw failure(await response.json().catch(() => null), response.status, response);
}

function unreachable(error, heard = false) {
	const lost = heard ? "The connection to the server was lost." : "The server cannot be reached.";
	const what = error?.name === "TimeoutError" ? "The server did not answer in time." : lost;
	return new ApiError({ kind: "Unreachable", what, hint: "See whether lexloop serve still runs, then try again." });
}

/** Return what the server said went wrong as an error. */
export function failure(told, status, response) {
	const { kind = "ServerError", what = `The server refused this (${status}).`, hint = "Try again." } = told?.error ?? {};
	const after = Number(response?.headers.get("Retry-After"));
	return new ApiError({ kind, what, hint, status, retryAfter: after > 0 ? after : null });
}
