import { describe, expect, test } from "bun:test";
import { applyEdit } from "./apply.ts";
import { edit } from "./break.ts";

function apply(text: string, from: string, to: string, ...given: readonly string[]): string {
  const [one] = edit("lib/x.ts", from, to, ...given);
  return applyEdit(text, one);
}

describe("applyEdit()", () => {
  const FROM = "if (!known.has(key)) return key;";
  const TO = "return key;";

  test.each([
    ["as it is written", "a(); if (!known.has(key)) return key; b();", "a(); return key; b();"],
    ["with other names", "if (!seen.owns(uid)) return uid;", "return uid;"],
    [
      "laid out in another way",
      "if (\n  !known.has(key) // why\n)\n  return key;\n",
      "return key;\n",
    ],
    ["with a comma that a formatter adds", "if (!known.has(key,)) return key;", "return key;"],
    ["with names swapped", "if (!key.has(known)) return known;", "return known;"],
  ])("finds a piece %s", (_how, text, broken) => {
    expect(apply(text, FROM, TO)).toBe(broken);
  });

  test("finds what a formatter put into brackets, because it takes more than one line", () => {
    const text =
      "return (\n  // why\n  seenAtMs < nowMs &&\n  (isNew || list.some(() => { return (1); }))\n);\n";
    expect(apply(text, "return a < b && (c || d.e(", "return a > b && (c || d.e(")).toBe(
      "return seenAtMs > nowMs && (isNew || list.some(() => { return 1; }));\n",
    );
    expect(apply(text, "&& (c || d.e(() => { return 1; }));", ";")).toBe(
      "return seenAtMs < nowMs ;\n",
    );
    expect(apply("return (a + b).c; f(1);", "f(1);", "")).toBe("return (a + b).c; ");
  });

  test.each([
    ["another literal", "f(1)", "f(2)"],
    ["another operator", "a < b", "a > b"],
    ["another word of the language", "return a", "throw a"],
    ["one name in the place of two", "a === b", "x === x"],
    ["two names in the place of one", "a === a", "x === y"],
    ["a variable in the place of a member", "a.b", "a[b]"],
    ["the same twice", "f(1)", "f(1); g(1)"],
  ])("refuses a text with %s", (_what, from, text) => {
    expect(() => apply(text, from, "")).toThrow(
      /^lib\/x\.ts has this shape [02] times, not once: /,
    );
  });

  test("tells a member from a variable of the same name", () => {
    expect(apply("f(vm.id, uid)", "f(one.id, id)", "f(id, one.id)")).toBe("f(uid, vm.id)");
  });

  test("finds the short form of a member of an object in its long form, and the other way round", () => {
    expect(apply("f({ name: title, uid })", "f({ name, uid: id })", "f({ uid: id, name })")).toBe(
      "f({ uid: uid, name: title })",
    );
    expect(apply("f({ name: title })", "{ name }", "{ name: name + name }")).toBe(
      "f({ name: title + title })",
    );
  });

  test("finds a piece that begins or ends within an object", () => {
    expect(apply("f({ a, b: 1, c: d })", "b: 1, c: d", "c: d")).toBe("f({ a, c: d })");
    expect(apply("a ? b : c", "b : c", "c : b")).toBe("a ? c : b");
  });

  test("refuses a name that the text may call something else", () => {
    expect(() => apply("f(a);", "f(a);", "f(b);")).toThrow(
      'lib/x.ts may call "b" something else: widen f(a);',
    );
    expect(() => apply("f(a);", "f(a);", "f(a.f);")).toThrow('"f"');
  });

  test("takes names from pieces elsewhere, whatever they are called there", () => {
    const text = "const bound = 3; const other = 4; f(vms); g(vms, other);";
    const given = ["g(all, max)", "const max = 4"];
    expect(apply(text, "f(all);", "if (max) f(all);", ...given)).toBe(
      "const bound = 3; const other = 4; if (other) f(vms); g(vms, other);",
    );
    expect(() => apply(text, "f(all);", "max", "const max")).toThrow(
      "2 times, not once: const max",
    );
  });

  test("lets a break bring the language along, and names of its own", () => {
    expect(apply("f(xs);", "f(all);", "for (const _one of all.slice(1)) f(_one as never);")).toBe(
      "for (const _one of xs.slice(1)) f(_one as never);",
    );
  });
});
