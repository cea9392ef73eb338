// The parts of the source pane that need no browser. Run by test_page_files.py.

import assert from "node:assert/strict";
import { test } from "node:test";

const js = new URL("../src/lexloop_server/page/js/", import.meta.url);
const { joined, linesOf } = await import(new URL("reading.js", js));
const { days, inForce, place, placeOf, quoted } = await import(new URL("words.js", js));
const { matching, nested, every } = await import(new URL("outline.js", js));
const { sides } = await import(new URL("compare.js", js));
const { batches, sendAll } = await import(new URL("upload.js", js));

const marked = (lines, kind) =>
  lines.flatMap((line) => line.pieces.filter((p) => p.kinds.includes(kind)).map((p) => p.text));

test("offsets count code points", () => {
  // 😀 is one code point and two UTF-16 units: "fine" is 4 to 8 for the server
  const excerpt = { text: "a😀𝕏 fine", start: 0, end: 8, length: 8, units: [] };
  const lines = linesOf(excerpt, [{ start: 4, end: 8, kind: "quote" }]);
  assert.deepEqual(marked(lines, "quote"), ["fine"]);
  assert.deepEqual(lines[0].pieces.map((p) => p.text), ["a😀𝕏 ", "fine"]);
});

test("a span in astral characters takes whole ones, and half a pair is kept as it is", () => {
  const lines = linesOf({ text: "😀😀\ud800x", start: 10, end: 14, length: 20, units: [] }, [
    { start: 11, end: 13, kind: "quote" },
  ]);
  assert.deepEqual(marked(lines, "quote"), ["😀\ud800"]);
  assert.equal(lines[0].pieces.map((p) => p.text).join(""), "😀😀\ud800x");
});

test("a span over lines is marked in each of them, blank lines are left out", () => {
  const text = "one two\n\nthree\nfour";
  const lines = linesOf({ text, start: 100, end: 119, length: 300, units: [] }, [
    { start: 104, end: 117, kind: "quote" },
  ]);
  assert.deepEqual(lines.map((line) => [line.start, line.end]), [[100, 107], [109, 114], [115, 119]]);
  assert.deepEqual(marked(lines, "quote"), ["two", "three", "fo"]);
});

test("spans that overlap are told apart", () => {
  const lines = linesOf({ text: "abcdef", start: 0, end: 6, length: 6, units: [] }, [
    { start: 0, end: 4, kind: "lead" },
    { start: 2, end: 6, kind: "quote" },
  ]);
  assert.deepEqual(lines[0].pieces, [
    { text: "ab", kinds: ["lead"] },
    { text: "cd", kinds: ["lead", "quote"] },
    { text: "ef", kinds: ["quote"] },
  ]);
});

test("spans outside, empty or turned around mark nothing", () => {
  const spans = [[50, 60], [3, 3], [5, 2], [-9, 0]].map(([start, end]) => ({ start, end, kind: "quote" }));
  assert.deepEqual(marked(linesOf({ text: "abcdef", start: 0, end: 6, length: 6, units: [] }, spans), "quote"), []);
  assert.deepEqual(linesOf({ text: "", start: 0, end: 0, length: 0, units: [] }, spans), []);
});

test("headings come from the units, points are set in", () => {
  const text = "Article 5\nFees\n1. Pay:\n(a) now; or\n(b) later.";
  const unit = (kind, start, end, more = {}) => ({ kind, start, end, label: "", heading: "", ...more });
  const units = [
    unit("provision", 0, 46, { heading: "Fees", body: 15 }),
    unit("paragraph", 15, 46),
    unit("point", 23, 34),
    unit("point", 35, 46),
  ];
  const lines = linesOf({ text, start: 0, end: 46, length: 46, units });
  assert.deepEqual(lines.map((line) => line.heading), [true, true, false, false, false]);
  assert.deepEqual(lines.map((line) => line.level), [0, 0, 0, 1, 1]);
});

test("a heading that its own words follow on the line is a part of it", () => {
  const units = [{ kind: "provision", label: "1", heading: "Title", start: 0, end: 20, body: 9 }];
  const [line] = linesOf({ text: "1. Title. This is it", start: 0, end: 20, length: 20, units });
  assert.equal(line.heading, false);
  assert.deepEqual(line.pieces.map((p) => [p.text, p.kinds]), [["1. Title.", ["heading"]], [" This is it", []]]);
});

test("excerpts that overlap or touch are joined, in code points", () => {
  const one = { text: "😀bc", start: 0, end: 3, length: 9, units: [{ start: 0, end: 9, kind: "provision" }] };
  const two = { text: "c𝕏e", start: 2, end: 5, length: 9, units: [{ start: 0, end: 9, kind: "provision" }, { start: 4, end: 5, kind: "point" }] };
  for (const both of [joined(one, two), joined(two, one)]) {
    assert.equal(both.text, "😀bc𝕏e");
    assert.deepEqual([both.start, both.end, both.units.length], [0, 5, 2]);
  }
  const far = { ...two, start: 7, end: 9 };
  assert.equal(joined(one, far), far);
  assert.equal(joined(one, { ...one, text: "b", start: 1, end: 2 }).text, "😀bc");
});

test("days and places in words", () => {
  assert.equal(inForce("in force from 2020-01-01 to 2023-12-31", "2021-05-03"), "In force from 1 January 2020 to 31 December 2023; answered for 3 May 2021");
  assert.equal(inForce("in force until 2023-12-31", "any"), "In force until 31 December 2023; answered for any day");
  assert.equal(days({ in_force_from: null, in_force_to: null }), "");
  assert.equal(place({ section: "Section 1", document: "a.pdf", page: 3 }, "Act", ""), "a.pdf, Section 1, Act, page 3");
  assert.equal(quoted(" a\n b "), "“a b”");
});

test("units are nested by depth, and those without a name of their own left out", () => {
  const unit = (label, depth, more = {}) => ({ label, depth, heading: "", number: "", ...more });
  const roots = nested([
    unit("Part I", 0),
    unit("Section 1", 1, { heading: "Definitions", number: "1" }),
    unit("Section 1", 2),
    unit("Section 1 “keeper”", 3),
    unit("", 2),
    unit("Section 2", 1, { heading: "Section 1 applies", number: "2" }),
    unit("Annex", 0),
  ]);
  const labels = (items) => items.map((item) => [item.unit.label, labels(item.children)]);
  assert.deepEqual(labels(roots), [
    ["Part I", [["Section 1", [["Section 1 “keeper”", []]]], ["Section 2", []]]],
    ["Annex", []],
  ]);
  const found = (typed) => matching([...every(roots)], typed).map((item) => item.unit.label);
  assert.deepEqual(found("2"), ["Section 2"]);
  assert.deepEqual(found("  section  1 "), ["Section 1", "Section 1 “keeper”", "Section 2"]);
  assert.deepEqual(found("DEFIN"), ["Section 1"]);
  assert.deepEqual(found("(.*"), []);
  assert.deepEqual(nested([]), []);
  const titled = [{ label: "Dog act", depth: 0 }, { label: "§ 1", depth: 1 }];
  assert.deepEqual(nested(titled, "Dog act").map(({ unit }) => unit.label), ["§ 1"]);
});

test("each side of a comparison has what both have and what it alone has", () => {
  const parts = [
    { op: "same", text: "within " },
    { op: "removed", text: "30" },
    { op: "added", text: "10" },
    { op: "same", text: " days; and" },
    { op: "added", text: " more" },
  ];
  assert.deepEqual(sides(parts), [
    [{ op: "same", text: "within " }, { op: "removed", text: "30" }, { op: "same", text: " days; and" }],
    [{ op: "same", text: "within " }, { op: "added", text: "10" }, { op: "same", text: " days; and" }, { op: "added", text: " more" }],
  ]);
  assert.deepEqual(sides([]), [[], []]);
});

test("files are sent fifty at a time, or 32 MB; a larger one alone", () => {
  const sizes = (files) => batches(files).map((batch) => batch.map((file) => file.size));
  const mb = 2 ** 20;
  assert.deepEqual(sizes([{ size: 30 * mb }, { size: 2 * mb }, { size: 1 }, { size: 90 * mb }]), [[30 * mb, 2 * mb], [1], [90 * mb]]);
  assert.deepEqual(batches(Array(120).fill({ size: 1 })).map((batch) => batch.length), [50, 50, 20]);
  assert.deepEqual(batches([]), []);
});

test("what is too much at once is sent one by one, and what the server refuses is told", async () => {
  const files = ["a", "big", "there", "bad", "b"].map((name) => ({ name, size: 1 }));
  const refused = [{ name: "there", reason: "There.", exists: true }, { name: "bad", reason: "Bad.", exists: false }];
  const sent = async (some) => {
    const names = some.map((file) => file.name);
    if (names.includes("big")) throw { status: 413, what: "Too large.", refused: [] };
    if (names.includes("there")) throw { status: 409, what: "Nothing was added.", refused };
    return { added: names, refused: [] };
  };
  const lists = [files.slice(0, 2), files.slice(2, 4), files.slice(4)];
  const told = [];
  for await (const answer of sendAll(lists, sent)) told.push(answer);
  assert.deepEqual(told.flatMap((one) => one.added).sort(), ["a", "b"]);
  assert.deepEqual(told.flatMap((one) => one.refused), [...refused, { name: "big", reason: "Too large." }]);
  assert.deepEqual(lists, []);
});

test("what may pass is thrown, and the files that are left can be sent again", async () => {
  const lists = [[{ name: "a", size: 1 }], [{ name: "b", size: 1 }]];
  const sent = async () => {
    if (lists.length < 2) throw { status: 503, what: "Full." };
    return { added: ["a"], refused: [] };
  };
  await assert.rejects(async () => {
    for await (const answer of sendAll(lists, sent)) assert.deepEqual(answer.added, ["a"]);
  });
  assert.deepEqual(lists.map(([file]) => file.name), ["b"]);
});

test("of files that are refused without a reason for each all have that of the whole", async () => {
  const sent = async () => {
    throw { status: 409, what: "It is being deleted.", refused: [] };
  };
  const told = [];
  for await (const answer of sendAll([[{ name: "a" }, { name: "b" }]], sent)) told.push(...answer.refused);
  assert.deepEqual(told, [{ name: "a", reason: "It is being deleted." }, { name: "b", reason: "It is being deleted." }]);
});

test("what was read from a picture is cited as such", () => {
  const cited = { section: "§ 5", document: "scan.pdf", page: 2, read_from_picture: 0.934 };
  assert.deepEqual(placeOf(cited), ["§ 5", "page 2", "read from a picture, 93% sure"]);
  assert.equal(place(cited, "", ""), "scan.pdf, § 5, page 2, read from a picture, 93% sure");
  assert.deepEqual(placeOf({ ...cited, read_from_picture: undefined }), ["§ 5", "page 2"]);
});
