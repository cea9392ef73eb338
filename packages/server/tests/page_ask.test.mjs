// The parts of asking that need no browser. Run by test_page_files.py.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

const js = new URL("../src/lexloop_server/page/js/", import.meta.url);
const { EventParser } = await import(new URL("api.js", js));
const { blocks, markerNumbers, parted, pieces, withoutMarkers } = await import(new URL("prose.js", js));
const { differing, valueOf } = await import(new URL("settings.js", js));
const { layout, wrapped } = await import(new URL("graph.js", js));
const { counted, say } = await import(new URL("language.js", js));
const { bandOf, day, following, lawAsOf, placeOf, titleBeside } = await import(new URL("words.js", js));

const fed = (text, size) => {
  const parser = new EventParser();
  const found = [];
  for (let at = 0; at < text.length; at += size) found.push(...parser.feed(text.slice(at, at + size)));
  return found;
};

test("events are the same wherever the pieces end", () => {
  const text = ': ping\r\n\r\nevent: step\r\ndata: {"node": "classify"}\r\n\r\nevent: answer\ndata: {"a":\ndata:  1}\n\n';
  const wanted = [
    { event: "step", data: { node: "classify" } },
    { event: "answer", data: { a: 1 } },
  ];
  for (let size = 1; size <= text.length; size += 1) assert.deepEqual(fed(text, size), wanted, `pieces of ${size}`);
});

test("an event that is cut off is none, and one without data is none", () => {
  assert.deepEqual(fed('event: answer\ndata: {"a": 1}\n', 7), []);
  assert.deepEqual(fed("event: begin\n\n", 3), []);
  assert.deepEqual(fed("data: no json\n\n", 3), [{ event: "message", data: "no json" }]);
});

test("markers name passages, in ranges and lists, and nothing of four digits", () => {
  assert.deepEqual(markerNumbers("1, 3-5;7"), [1, 3, 4, 5, 7]);
  assert.deepEqual(markerNumbers("5-3"), [5, 3]);
  assert.deepEqual(markerNumbers("1-999"), [1, 999]);
  assert.deepEqual(pieces("It must [1][2]. In [2021] it did."), [
    { text: "It must\u00a0" },
    { numbers: [1, 2] },
    { text: ". In [2021] it did." },
  ]);
  assert.deepEqual(pieces("a [1] [3] b"), [{ text: "a\u00a0" }, { numbers: [1, 3] }, { text: " b" }]);
  assert.deepEqual(pieces("**Ten** days <b>x</b> [4]"), [
    { strong: "Ten" },
    { text: " days <b>x</b>\u00a0" },
    { numbers: [4] },
  ]);
  assert.deepEqual(pieces(""), []);
  assert.equal(withoutMarkers("Ten days [1], at least [2]."), "Ten days, at least.");
});

test("lists in lists have their depth by the style of their marks", () => {
  const depths = (text) => blocks(text).map(({ kind, mark, depth }) => (kind === "item" ? `${mark} ${depth}` : kind));
  assert.deepEqual(depths("In law.txt: § 1 — Duties: [1]\nb. Notices.\n1. First\n2. Second\nc. More\n\nThat is all."), [
    "place", "b. 0", "1. 1", "2. 1", "c. 0", "p",
  ]);
  assert.deepEqual(depths("(a) one\n(1) two\ni. three\nii. four\n(2) five\n(b) six"), [
    "(a) 0", "(1) 1", "i. 2", "ii. 2", "(2) 1", "(b) 0",
  ]);
  // i after h is a letter, i on its own the first of the Roman numbers
  assert.deepEqual(depths("h. eight\ni. nine"), ["h. 0", "i. 0"]);
  assert.deepEqual(depths("- a\n* b\n## Head\n1) c"), ["- 0", "* 0", "heading", "1) 0"]);
  assert.deepEqual(blocks(" \n\n"), []);
});

test("what limits an answer stands apart in each language of the server", () => {
  const german = JSON.parse(readFileSync(new URL("../src/lexloop_server/translations/de.json", import.meta.url), "utf8")).lines;
  const lines = {
    except: ["Except:"],
    otherwise: ["{part} says otherwise: {quote} [{n}]", "{part} said otherwise: {quote} [{n}]"],
    nearer: ["{main}, which is far longer, has nothing nearer to this than: {quote} [{n}]"],
    omitted: ["Left out: {part}.", "Left out: {number} more, {first} to {last}.", "The rest is left out."],
  };
  for (const [part, some] of Object.entries(lines)) {
    for (const line of some) {
      for (const told of [line, german[line]]) {
        const text = `Dogs. [1]\n${told.replace("[{n}]", "[2]")}\nCats. [3]`;
        assert.ok(parted(blocks(text)).map(({ part: found }) => found).includes(part), told);
      }
    }
  }
});

test("what limits an answer stands apart from what it limits", () => {
  const parts = (text) => parted(blocks(text)).map(({ part, blocks: some }) => [part, some.map((one) => one.text)]);
  assert.deepEqual(parts("Dogs need a licence. [1]\nExcept:\nGuide dogs need none. [2]\nA licence costs 40 euros. [3]"), [
    ["", ["Dogs need a licence. [1]"]],
    ["except", ["Guide dogs need none. [2]"]],
    ["", ["A licence costs 40 euros. [3]"]],
  ]);
  // a list that limits is whole
  assert.deepEqual(parts("Dogs. [1]\nExcept:\nIn § 2: [2]\n(a) guide dogs; [2]\n(b) puppies. [2]\nCats. [3]"), [
    ["", ["Dogs. [1]"]],
    ["except", ["In § 2: [2]", "guide dogs; [2]", "puppies. [2]"]],
    ["", ["Cats. [3]"]],
  ]);
  const main = "act.txt, which is far longer, has nothing nearer to this than: Six days. [2]";
  assert.deepEqual(parts(`Ten days. [1]\n${main}`), [["", ["Ten days. [1]"]], ["nearer", [main]]]);
  assert.deepEqual(parts("Ten days. [1]\nold.txt (rule) says otherwise: Five days. [2]\nLeft out: § 3."), [
    ["", ["Ten days. [1]"]],
    ["otherwise", ["old.txt (rule) says otherwise: Five days. [2]"]],
    ["omitted", ["Left out: § 3."]],
  ]);
  assert.deepEqual(parts("Except:"), []);
  assert.deepEqual(parts(""), []);
});

test("words have their values in place, elements too, and a key without words shows its end", () => {
  assert.equal(say("day.between", { from: "1 May", to: "2 May" }), "in force from 1 May to 2 May");
  const name = {};
  assert.deepEqual(say("answer.inside", { name }), ["Asked in ", name, ""]);
  assert.equal(say("doing.dance"), "dance");
  // what is put in is no template
  assert.equal(say("answer.inside", { name: "{name} $& {n}" }), "Asked in {name} $& {n}");
});

test("how likely an answer answers is said in four words", () => {
  assert.deepEqual([0, 0.39, 0.4, 0.52, 0.65, 0.84, 0.85, 1].map(bandOf), ["unlikely", "unlikely", "maybe", "maybe", "likely", "likely", "surely", "surely"]);
});

test("a title is told where it says more than the file's name", () => {
  for (const title of ["(anonymous)", "Untitled", "rule.pdf", "rule", "Microsoft Word - rule_final.docx", "  ", undefined, "laws/rule.pdf"]) {
    assert.equal(titleBeside("laws/rule.pdf", title), "");
  }
  assert.equal(titleBeside("laws/rule.pdf", " Dog ordinance "), "Dog ordinance");
});

test("settings keep what differs from the defaults", () => {
  const schema = {
    "plan.k": { anyOf: [{ const: "class" }, { type: "integer", minimum: 1 }], default: "class" },
    "loop.max_retries": { type: "integer", default: 2 },
    "access.kinds": { type: "array", default: [] },
  };
  assert.deepEqual(differing({ "loop.max_retries": 2, "plan.k": 5, "access.kinds": [], gone: 1 }, schema), { "plan.k": 5 });
  assert.equal(valueOf(schema["plan.k"], " 5 "), 5);
  assert.equal(valueOf(schema["plan.k"], "class"), "class");
  assert.equal(valueOf(schema["loop.max_retries"], " "), undefined);
  assert.deepEqual(valueOf(schema["access.kinds"], "rule, , statute "), ["rule", "statute"]);
});

const triplet = (subject, object) => ({ subject, predicate: "defines", object });

test("relations are drawn in columns, a circle of them too", () => {
  const { nodes, edges, width, height } = layout([triplet("Tool", "a program"), triplet("A program", "code"), triplet("code", "tool")]);
  assert.deepEqual(nodes.map((node) => node.text), ["Tool", "a program", "code"]);
  assert.deepEqual(edges.map(({ from, to }) => [nodes.indexOf(from), nodes.indexOf(to)]), [[0, 1], [1, 2], [2, 0]]);
  assert.equal(new Set(nodes.map((node) => node.x)).size, 3);
  assert.ok(nodes.every((node) => node.x + 225 <= width && node.y >= 0 && node.y + node.height <= height));
});

test("terms of one column do not lie over one another", () => {
  const many = Array.from({ length: 40 }, (_, nth) => triplet(`s${nth % 7}`, `o${nth}`));
  const { nodes } = layout(many);
  for (const one of nodes)
    for (const other of nodes)
      if (one !== other && one.x === other.x) assert.ok(one.y + one.height <= other.y || other.y + other.height <= one.y);
});

test("texts are wrapped, words longer than a line too", () => {
  assert.deepEqual(wrapped("one two three", 7, 3), ["one two", "three"]);
  assert.deepEqual(wrapped("abcdefghij", 4, 3), ["abcd", "efgh", "ij"]);
  assert.deepEqual(wrapped("one two three four", 5, 2), ["one", "two…"]);
});

test("days, places and steps in words", () => {
  assert.equal(day("2026-07-05"), "5 July 2026");
  assert.equal(day("any"), "any");
  assert.equal(lawAsOf(""), "Law as of today");
  assert.equal(lawAsOf("2020-02-29"), "Law as of 29 February 2020");
  assert.equal(counted(1, "page"), "1 page");
  assert.equal(counted(1200, "page"), "1,200 pages");
  assert.deepEqual(placeOf({ section: "§ 1", page: 0, version: "" }), ["§ 1", "page 0"]);
  const law = { section: "Article 4", page: null, version: "in force from 2020-01-01", identifier: "32020R0007" };
  assert.deepEqual(placeOf(law), ["Article 4", "in force from 1 January 2020", "32020R0007"]);
  assert.equal(following("rerank"), "generate");
  assert.equal(following("evaluate"), null);
});
