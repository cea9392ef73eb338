// Files on their way to the server: from a picker or from what is dropped, some at a time.

import { address, ApiError, failure } from "./api.js";
import { language, say } from "./language.js";

const AT_ONCE = 50;
const BYTES_AT_ONCE = 32 * 2 ** 20;

/** What a file is sent as: its path within the folder that was chosen, else its name. */
export const pathOf = (file) => file.path ?? (file.webkitRelativePath || file.name);

/** Cut files into lists that are sent one after the other; a large one is alone. */
export function batches(files) {
	const found = [];
	let bytes = 0;
	for (const file of files) {
		if (!found.length || found.at(-1).length >= AT_ONCE || bytes + file.size > BYTES_AT_ONCE) {
			found.push([]);
			bytes = 0;
		}
		found.at(-1).push(file);
		bytes += file.size;
	}
	return found;
}

/** The files that were dropped, those of folders with their paths. */
export async function dropped(transfer) {
	const entries = [...transfer.items].map((item) => item.webkitGetAsEntry()).filter(Boolean);
	if (!entries.length) return [...transfer.files]; // from another program
	return (await Promise.all(entries.map(filesOf))).flat();
}

async function filesOf(entry) {
	if (entry.isFile) {
		const file = await new Promise((resolve, reject) => entry.file(resolve, reject));
		return Object.assign(file, { path: entry.fullPath.slice(1) });
	}
	const reader = entry.createReader();
	const found = [];
	for (;;) {
		// a reader gives a hundred or so at a time, and none at the end
		const some = await new Promise((resolve, reject) => reader.readEntries(resolve, reject));
		if (!some.length) return found;
		found.push(...(await Promise.all(some.map(filesOf))).flat());
	}
}

/**
 * Send files to a collection, and return {added, refused} as the server tells it; throws ApiError.
 * `told` hears how many bytes are on their way, which `fetch` could not say.
 */
export function send(collection, files, { replace, told, signal }) {
	const form = new FormData();
	for (const file of files) form.append("files", file, pathOf(file));
	const sending = new XMLHttpRequest();
	sending.open("POST", address(["collections", collection, "documents"], { replace }));
	sending.responseType = "json";
	sending.setRequestHeader("Accept-Language", language);
	return new Promise((resolve, reject) => {
		const cut = (hint) => () => reject(new ApiError({ kind: "Unreachable", what: say("files.cut"), hint }));
		sending.upload.onprogress = (event) => told(event.loaded);
		sending.onerror = cut(say("server.check"));
		sending.onabort = cut(say("files.stopped"));
		sending.onload = () =>
			sending.status < 400 ? resolve(sending.response) : reject(failure(sending.response, sending.status));
		signal.addEventListener("abort", () => sending.abort());
		sending.send(form);
	});
}

/**
 * Send lists of files, which `sent` does one by one, and yield {added, refused} of each.
 * What is too much at once goes file by file; of every file that the server refuses it says why.
 * Throws what may pass, and has in `lists` what is left.
 */
export async function* sendAll(lists, sent) {
	for (; lists.length; lists.shift()) {
		const [files] = lists;
		try {
			yield await sent(files);
		} catch (error) {
			const { status, what: reason, refused } = error;
			if (![400, 409, 413].includes(status)) throw error;
			if (status === 413 && files.length > 1) lists.push(...files.map((file) => [file]));
			else yield { added: [], refused: refused.length ? refused : files.map((file) => ({ name: pathOf(file), reason })) };
		}
	}
}
