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
  const url = new URL(`api/${path}`, document.baseURI.replace(/[?#].*$/, ""));
  for (const [name, value] of Object.entries(query)) {
    if (value !== null && value !== undefined && value !== "") url.searchParams.set(name, value);
  }
  return url.href;
}

/** Part of a path: an id or a collection's name. */
export const part = (name) => encodeURIComponent(name);

/**
 * Ask the server, and return what it says as JSON, null where it says nothing.
 * `body` is sent as JSON, `form` as it is. Throws ApiError; an abort throws its own error.
 */
export async function request(method, path, { query, body, form, signal, waitMs = WAIT_MS } = {}) {
  const limits = [signal, waitMs && AbortSignal.timeout(waitMs)].filter(Boolean);
  const response = await send(method, path, { query, body, form, signal: AbortSignal.any(limits) });
  const text = await response.text();
  if (!text) return null;
  try {
    return JSON.parse(text);
  } catch {
    throw new ApiError({
      kind: "ReplyError",
      what: "The server's reply cannot be read.",
      hint: "Reload the page.",
      status: response.status,
    });
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
export async function* events(method, path, { query, body, signal } = {}) {
  const silence = new AbortController();
  const limits = AbortSignal.any([signal, silence.signal].filter(Boolean));
  let timer = setTimeout(() => silence.abort(), SILENCE_MS);
  let heard = false;
  try {
    const accept = "text/event-stream";
    const response = await send(method, path, { query, body, signal: limits, accept });
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    const parser = new EventParser();
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      heard = true;
      clearTimeout(timer);
      timer = setTimeout(() => silence.abort(), SILENCE_MS);
      for (const { event, data } of parser.feed(value)) {
        if (event === "error") throw failure(data, 0);
        yield { event, data };
      }
    }
  } catch (error) {
    if (error instanceof ApiError || signal?.aborted) throw error;
    throw unreachable(error, heard);
  } finally {
    clearTimeout(timer);
    silence.abort();
  }
}

async function send(method, path, { query, body, form, signal, accept = "application/json" }) {
  const headers = { Accept: accept };
  if (body !== undefined) headers["Content-Type"] = "application/json";
  let response;
  try {
    response = await fetch(address(path, query), {
      method,
      headers,
      signal,
      body: form ?? (body === undefined ? undefined : JSON.stringify(body)),
      credentials: "same-origin",
      cache: "no-store",
    });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw unreachable(error);
  }
  if (response.ok) return response;
  throw failure(await response.json().catch(() => null), response.status, response);
}

function unreachable(error, heard = false) {
  const late = error?.name === "TimeoutError";
  const lost = heard ? "The connection to the server was lost." : "The server cannot be reached.";
  return new ApiError({
    kind: "Unreachable",
    what: late ? "The server did not answer in time." : lost,
    hint: "See whether lexloop serve still runs, then try again.",
  });
}

/** The error that the server told. */
export function failure(said, status, response) {
  const told = said?.error ?? {};
  const after = Number(response?.headers.get("Retry-After"));
  return new ApiError({
    kind: told.kind ?? "ServerError",
    what: told.what ?? `The server refused this (${status}).`,
    hint: told.hint ?? "Try again.",
    status,
    retryAfter: after > 0 ? after : null,
  });
}
