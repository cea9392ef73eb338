// What a document consists of, as nested items, and how items are found by what is typed.

/**
 * Nest units by their depth, as {unit, children, parent}. Those without a name of their own, or with
 * the document's, are left out, and what lies in them goes up to what they lie in.
 */
export function nested(units, title) {
	const roots = [];
	const above = [];
	for (const unit of units) {
		while (above.at(-1)?.unit.depth >= unit.depth) above.pop();
		const parent = above.at(-1);
		if (!unit.label || unit.label === (parent?.unit.label ?? title)) continue;
		const item = { unit, children: [], parent };
		(parent?.children ?? roots).push(item);
		above.push(item);
	}
	return roots;
}

/** Yield items and all that lies in them, in order. */
export function* every(items) {
	for (const item of items) {
		yield item;
		yield* every(item.children);
	}
}

const plain = (text) => text.normalize("NFKC").toLowerCase().replace(/\s+/g, " ").trim();

/** The items whose label or heading holds what was typed, those that it names best first. */
export function matching(items, typed) {
	const wanted = plain(typed);
	const ranked = [[], [], [], []];
	for (const item of items) {
		const [label, number, heading] = [item.unit.label, item.unit.number, item.unit.heading].map(plain);
		const fits = [label === wanted || number === wanted, label.startsWith(wanted), label.includes(wanted), heading.includes(wanted)];
		ranked[fits.indexOf(true)]?.push(item);
	}
	return ranked.flat();
}
