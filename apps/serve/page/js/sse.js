// Server-sent events out of pieces of text that end anywhere.

/** A parser: give it pieces as they come, and get the events that they complete. */
export class EventParser {
	#held = "";
	#event = "";
	#data = [];

	/** Return the events that this piece completes, as {event, data} with data parsed as JSON. */
	feed(piece) {
		const found = [];
		this.#held += piece;
		// a \r at the very end may be half of \r\n
		const lines = this.#held.split(/\r\n|\n|\r(?!$)/);
		this.#held = lines.pop();
		for (const line of lines) {
			const event = this.#line(line);
			if (event) found.push(event);
		}
		return found;
	}

	#line(line) {
		if (line === "") return this.#finished();
		if (line.startsWith(":")) return null;
		const cut = line.indexOf(":");
		const field = cut < 0 ? line : line.slice(0, cut);
		const value = cut < 0 ? "" : line.slice(cut + 1).replace(/^ /, "");
		if (field === "event") this.#event = value;
		if (field === "data") this.#data.push(value);
		return null;
	}

	#finished() {
		const event = this.#event || "message";
		const lines = this.#data;
		this.#event = "";
		this.#data = [];
		if (!lines.length) return null;
		const raw = lines.join("\n");
		try {
			return { event, data: JSON.parse(raw) };
		} catch {
			return { event, data: raw };
		}
	}
}
