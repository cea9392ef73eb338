// What a document consists of, as nested items, and how items are found by what is typed.

/**
 * Nest the units of a document by their depth. Returns items, {unit, children, parent}; units
 * without a name of their own are left out, and what lies in them goes up to what they lie in.
 */
export function nested(units) {
  const roots = [];
  const above = [];
  for (const unit of units) {
    while (above.length && above.at(-1).unit.depth >= unit.depth) above.pop();
    const parent = above.at(-1) ?? null;
    if (!unit.label || unit.label === parent?.unit.label) continue;
    const item = { unit, children: [], parent };
    (parent ? parent.children : roots).push(item);
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

/**
 * Return the items whose label or heading holds what was typed: those that are numbered so first,
 * then those whose label begins so, else in their order.
 */
export function matching(items, typed) {
  const wanted = plain(typed);
  const ranked = [[], [], [], []];
  for (const item of items) {
    const label = plain(item.unit.label);
    const rank = [
      plain(item.unit.number ?? "") === wanted || label === wanted,
      label.startsWith(wanted),
      label.includes(wanted),
      plain(item.unit.heading ?? "").includes(wanted),
    ].indexOf(true);
    if (rank >= 0) ranked[rank].push(item);
  }
  return ranked.flat();
}
