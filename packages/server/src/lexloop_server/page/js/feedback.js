// Thumbs for an answer, with a comment.

import { post } from "./api.js";
import { announce, button, el, field, fill, form, tried } from "./dom.js";
import { say } from "./language.js";

let forms = 0;

/** Two thumbs; a vote is sent at once, and again with its comment where one is written. */
export function opinion(answer) {
	let vote = answer.feedback?.vote;
	const place = el("div.opinion-more");
	const send = (comment) => post(["answers", answer.id, "feedback"], { vote, comment });
	const thumb = (way, label) =>
		button(label, () => choose(way), { alone: "thumb", "aria-pressed": vote === way, "data-testid": `thumb-${way}` });
	const thumbs = { up: thumb("up", say("thumb.up")), down: thumb("down", say("thumb.down")) };

	async function choose(way) {
		vote = way;
		for (const [name, one] of Object.entries(thumbs)) one.ariaPressed = name === way;
		if (await tried(() => send(""))) fill(place, commentForm());
	}
	function commentForm() {
		const text = el("textarea", { id: `comment-${(forms += 1)}`, rows: 2, maxlength: 10000 });
		const submitted = async () => {
			if (!(await tried(() => send(text.value.trim())))) return; // what was written stays
			const thanks = say("thumb.thanks");
			fill(place, el("p.hint", thanks));
			announce(thanks);
		};
		const asked = say(`thumb.why.${vote}`);
		const ways = el("div", el("button.outlined", { type: "submit" }, say("send")), button(say("thumb.no"), () => fill(place)));
		return form("form.comment", submitted, field(asked, text, ways));
	}
	return [el("div.opinion", { role: "group", "aria-label": say("thumb.asked") }, Object.values(thumbs)), place];
}
