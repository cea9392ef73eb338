// Server-sent events out of pieces of text that end anywhere.

/** A parser: give it pieces as they come, and get the events that they complete. */
export class EventParser {
	#held = "";

	/** Return the events that this piece completes, as {event, data} with data parsed as JSON. */
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
