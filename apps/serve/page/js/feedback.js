// Thumbs for an answer, with a comment.

import { part, post } from "./api.js";
import { announce, button, el, fill, said } from "./dom.js";

let forms = 0;

/** Return two thumbs; a vote is sent at once, and again with its comment where one is written. */
export function opinion(answer) {
  let vote = answer.feedback?.vote ?? null;
  const place = el("div", { class: "opinion-more" });
  const thumbs = ["up", "down"].map((way) =>
    button(way === "up" ? "Helpful" : "Not helpful", () => choose(way), {
      icon: way,
      hideLabel: true,
      "aria-pressed": String(vote === way),
      data: { testid: `thumb-${way}` },
    }),
  );

  async function send(comment) {
    await post(`answers/${part(answer.id)}/feedback`, { vote, comment });
  }
  async function choose(way) {
    vote = way;
    thumbs.forEach((thumb, at) => thumb.setAttribute("aria-pressed", String(at === (way === "up" ? 0 : 1))));
    try {
      await send("");
      fill(place, commentForm());
    } catch (error) {
      fill(place, el("p", { class: "hint", role: "alert" }, said(error.message)));
    }
  }
  function commentForm() {
    forms += 1;
    const field = el("textarea", { id: `comment-${forms}`, rows: 2, maxlength: 10000 });
    const failed = el("p", { class: "hint", role: "alert" });
    const submitted = async (event) => {
      event.preventDefault();
      try {
        await send(field.value.trim());
        fill(place, el("p", { class: "hint" }, "Thank you. It is kept with the answer."));
        announce("Thank you. The comment is kept with the answer.");
      } catch (error) {
        failed.textContent = error.message;
      }
    };
    const asked = vote === "up" ? "What was helpful? (if you like)" : "What was wrong or missing? (if you like)";
    return el(
      "form",
      { class: "field comment", on: { submit: submitted } },
      el("label", { for: field.id }, asked),
      field,
      failed,
      el("div", {}, el("button", { type: "submit", class: "outlined" }, "Send"), button("No comment", () => fill(place))),
    );
  }
  return [el("div", { class: "opinion", role: "group", "aria-label": "Was this helpful?" }, thumbs), place];
}
