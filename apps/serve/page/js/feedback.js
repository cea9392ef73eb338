// Thumbs for an answer, with a comment.

import { post } from "./api.js";
import { announce, button, el, field, fill, form, said } from "./dom.js";

let forms = 0;

/** Return two thumbs; a vote is sent at once, and again with its comment where one is written. */
export function opinion(answer) {
	let vote = answer.feedback?.vote;
	const place = el("div.opinion-more");
	const send = (comment) => post(["answers", answer.id, "feedback"], { vote, comment });
	const failed = (error) => fill(place, el("p.hint", { role: "alert" }, said(error.message)));
	const thumb = (way, label) =>
		button(label, () => choose(way), { icon: way, hideLabel: true, "aria-pressed": String(vote === way), data: { testid: `thumb-${way}` } });
	const thumbs = { up: thumb("up", "Helpful"), down: thumb("down", "Not helpful") };

	async function choose(way) {
		vote = way;
		for (const [name, one] of Object.entries(thumbs)) one.setAttribute("aria-pressed", String(name === way));
		try {
			await send("");
			fill(place, commentForm());
		} catch (error) {
			failed(error);
		}
	}
	function commentForm() {
		const text = el("textarea", { id: `comment-${(forms += 1)}`, rows: 2, maxlength: 10000 });
		const wrong = el("p.hint", { role: "alert" });
		const submitted = async () => {
			try {
				await send(text.value.trim());
				fill(place, el("p.hint", "Thank you. It is kept with the answer."));
				announce("Thank you. The comment is kept with the answer.");
			} catch (error) {
				wrong.textContent = error.message; // what was written stays
			}
		};
		const asked = vote === "up" ? "What was helpful? (if you like)" : "What was wrong or missing? (if you like)";
		const ways = el("div", el("button.outlined", { type: "submit" }, "Send"), button("No comment", () => fill(place)));
		return form("form.comment", submitted, field(asked, text, wrong, ways));
	}
	return [el("div.opinion", { role: "group", "aria-label": "Was this helpful?" }, Object.values(thumbs)), place];
}
