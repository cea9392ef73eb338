// What is shown before there is anything to read: examples to click, or a form for a key.

import { post } from "./api.js";
import { el, fill, said } from "./dom.js";
import { asked, collectionNamed, state } from "./state.js";
import { counted } from "./words.js";

/** Show what may be asked, with examples of the chosen collections; `ask` is given one. */
export function welcome(room, ask) {
  const names = asked();
  const examples = names.flatMap((name) => (collectionNamed(name)?.examples ?? []).map((one) => ({ ...one, name })));
  const only = names.length === 1 ? collectionNamed(names[0]) : null;
  fill(
    room,
    el(
      "section",
      { class: "welcome", "aria-labelledby": "welcome-title" },
      el("h2", { id: "welcome-title" }, "What does the law say?"),
      el("p", { class: "lede" }, about(only, names)),
      examples.length > 0 && [
        el("h3", {}, "Try one of these"),
        el(
          "ul",
          { class: "examples", data: { testid: "examples" } },
          examples.map((example) =>
            el("li", {}, el("button", { type: "button", data: { type: example.type }, on: { click: () => ask(example.question) } },
              el("span", { class: "kind" }, said(example.type.replaceAll("_", " "))), el("span", { class: "serif" }, said(example.question)))),
          ),
        ),
      ],
    ),
  );
}

function about(only, names) {
  const promise = "Each sentence of an answer cites the words that it rests on, and every citation is checked.";
  if (!names.length) return "There are no documents yet. Add some under Documents, then ask.";
  if (!only) return `Answers come from ${counted(names.length, "collection")} of documents. ${promise}`;
  return [said(only.title || only.name), ": ", said(only.description || counted(only.documents, "document")), " ", promise];
}

/** Show the form for a key; `entered` is called once the server took it. */
export function signIn(room, entered) {
  const field = el("input", { type: "password", id: "key", autocomplete: "current-password", required: true });
  const problem = el("p", { class: "hint", id: "key-problem", role: "alert" });
  const submitted = async (event) => {
    event.preventDefault();
    problem.textContent = "";
    try {
      await post("session", { key: field.value });
      entered();
    } catch (error) {
      problem.textContent = error.status === 401 || error.status === 403 ? `${error.what} ${error.hint}` : error.message;
      field.setAttribute("aria-invalid", "true");
      field.setAttribute("aria-describedby", "key-problem");
      field.select();
    }
  };
  fill(
    room,
    el(
      "form",
      { class: "welcome signin", id: "signin", "aria-labelledby": "welcome-title", on: { submit: submitted } },
      el("h2", { id: "welcome-title" }, "Sign in"),
      el("p", { class: "lede" }, "This server asks for a key. Whoever runs it has given you one."),
      el("div", { class: "field" }, el("label", { for: "key" }, "Key"), field, problem),
      el("button", { type: "submit", class: "solid" }, "Sign in"),
    ),
  );
  field.focus();
}

/** Return the line at the foot of the page: no legal advice, and where text goes. */
export function terms() {
  const { model, hosts = [] } = state.me ?? {};
  const goes = hosts.length
    ? `Questions and passages go to ${hosts.join(" and ")}, nowhere else.`
    : model ? `The model ${model} runs on this server: nothing leaves it.` : "No model is used: nothing leaves this server.";
  return `Lexloop informs and gives no legal advice. ${state.me ? goes : ""}`;
}
