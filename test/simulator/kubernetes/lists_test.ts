import { describe, expect, test } from "bun:test";
import { ApiError } from "../../../lib/simulator/kubernetes/api_error.ts";
import { listObjects, toSelector, toVersion } from "../../../lib/simulator/kubernetes/lists.ts";
import type { List } from "../../../lib/simulator/kubernetes/lists.ts";
import { Registry } from "../../../lib/simulator/kubernetes/registry.ts";
import { ManualClock } from "../../support/manual_clock.ts";
import { kindOf } from "../../support/kube/kinds/simulator_kinds.ts";

const NODES = { kind: kindOf("nodes"), namespace: "", name: "" };

/** A registry with nodes `a` to `d`, of which `b` and `c` are labelled `x=y`. */
function makeRegistry(): Registry {
  const registry = new Registry(new ManualClock(), 100);
  for (const name of ["c", "a", "d", "b"]) create(registry, name);
  return registry;
}

function create(registry: Registry, name: string): void {
  const labels = name === "b" || name === "c" ? { x: "y" } : {};
  registry.create({ ...NODES, name: "", subresource: "" }, { metadata: { name, labels } });
}

function list(registry: Registry, query: Record<string, string>): List {
  return listObjects(registry, NODES, new URLSearchParams(query));
}

function namesOf(found: List): string {
  return found.items.map((item) => item.object.metadata.name).join("");
}

interface Refusal {
  readonly code: number;
  readonly reason: string;
  /** The Status as JSON. */
  readonly text: string;
}

function catchRefusal(act: () => unknown): Refusal {
  try {
    act();
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return { code: error.code, reason: error.reason, text: JSON.stringify(error.toStatus()) };
  }
  throw new TypeError("nothing was refused");
}

describe("toSelector()", () => {
  const metadata = { name: "e", uid: "u", resourceVersion: "1", creationTimestamp: "" };
  const event = { metadata: { ...metadata, namespace: "ns", labels: { a: "b" } }, type: "Normal" };

  test.each([
    ["", "", {}, true],
    ["ns", "e", {}, true],
    ["other", "", {}, false],
    ["ns", "f", {}, false],
    ["ns", "e", { labelSelector: "a=b", fieldSelector: "type=Normal" }, true],
    ["ns", "e", { labelSelector: "a=c" }, false],
    ["ns", "e", { fieldSelector: "type=Warning" }, false],
  ])("of namespace %p, name %p and %j selects: %p", (namespace, name, query, expected) => {
    const scope = { kind: kindOf("events"), namespace, name };
    expect(toSelector(scope, new URLSearchParams(query))(event)).toBe(expected);
  });
});

describe("listObjects()", () => {
  test.each([
    [{}, "abcd"],
    [{ resourceVersion: "0" }, "abcd"],
    [{ labelSelector: "x=y" }, "bc"],
    [{ fieldSelector: "metadata.name=d" }, "d"],
    [{ limit: "0" }, "abcd"],
    [{ limit: "4" }, "abcd"],
    // As the watch cache of the real server: version 0 comes whole.
    [{ limit: "2", resourceVersion: "0" }, "abcd"],
  ])("with %j gives %s on one page", (query, expected) => {
    const registry = makeRegistry();
    const found = list(registry, query);
    expect(namesOf(found)).toBe(expected);
    expect(found.resourceVersion).toBe(String(registry.versions.last));
    expect(found).not.toHaveProperty("continue");
  });

  test("with a limit goes on where the page before ended, at the version of the first page", () => {
    const registry = makeRegistry();
    const first = list(registry, { limit: "3" });
    create(registry, "ca");
    create(registry, "e");
    registry.delete({ ...NODES, name: "d", subresource: "" });
    const second = list(registry, { limit: "3", continue: first.continue ?? "" });
    expect([namesOf(first), first.remainingItemCount]).toEqual(["abc", 1]);
    expect([namesOf(second), second.continue]).toEqual(["d", undefined]);
    expect(second.resourceVersion).toBe(first.resourceVersion);
  });

  test("with a selector and a limit does not say how many are left", () => {
    const found = list(makeRegistry(), { limit: "1", labelSelector: "x=y" });
    expect(namesOf(found)).toBe("b");
    expect(found.continue).toBeString();
    expect(found).not.toHaveProperty("remainingItemCount");
  });

  test("shows an exact version, and the newest for one that is merely old", () => {
    const registry = makeRegistry();
    const resourceVersion = String(registry.versions.last);
    create(registry, "e");
    const exact = list(registry, { resourceVersion, resourceVersionMatch: "Exact" });
    expect([namesOf(exact), exact.resourceVersion]).toEqual(["abcd", resourceVersion]);
    expect(namesOf(list(registry, { resourceVersion }))).toBe("abcde");
  });

  test("gives a token with 410 to go on from an expired page at the newest version", () => {
    const registry = makeRegistry();
    const first = list(registry, { limit: "2" });
    create(registry, "e");
    registry.compact();
    const refusal = catchRefusal(() => list(registry, { continue: first.continue ?? "" }));
    expect(refusal).toMatchObject({ code: 410, reason: "Expired" });
    const status: { metadata?: { continue?: string } } = JSON.parse(refusal.text);
    const rest = list(registry, { continue: status.metadata?.continue ?? "" });
    expect([namesOf(rest), rest.resourceVersion]).toEqual(["cde", String(registry.versions.last)]);
  });

  test("refuses an exact version that is gone, and has no token for it", () => {
    const registry = makeRegistry();
    const resourceVersion = String(registry.versions.last);
    create(registry, "e");
    registry.compact();
    const query = { resourceVersion, resourceVersionMatch: "Exact" };
    const refusal = catchRefusal(() => list(registry, query));
    expect(refusal.code).toBe(410);
    expect(refusal.text).not.toContain("continue");
  });

  test.each([
    [{ continue: "x" }, 400, "continue key is not valid"],
    [{ continue: "e30" }, 400, "continue key is not valid"],
    [{ continue: "e30", resourceVersion: "5" }, 400, "not allowed when using continue"],
    [{ limit: "-1" }, 400, 'Invalid value: \\"-1\\"'],
    [{ fieldSelector: "spec.x=y" }, 400, "not supported: spec.x"],
    [{ resourceVersion: "999999" }, 504, "Too large resource version: 999999"],
  ])("refuses %j with %p: %s", (query, code, message) => {
    const refusal = catchRefusal(() => list(makeRegistry(), query));
    expect(refusal.code).toBe(code);
    expect(refusal.text).toContain(message);
  });

  test("asks to retry for a version that is yet to come", () => {
    const refusal = catchRefusal(() => list(makeRegistry(), { resourceVersion: "999999" }));
    expect(JSON.parse(refusal.text)).toMatchObject({
      reason: "Timeout",
      details: { causes: [{ reason: "ResourceVersionTooLarge" }], retryAfterSeconds: 1 },
    });
  });
});

test.each([
  [null, 0],
  ["", 0],
  ["0", 0],
  ["1234", 1234],
])("toVersion() of %p is %p", (text, expected) => {
  expect(toVersion(text)).toBe(expected);
});

test.each(["-1", "1.5", "x", " 1", "1".repeat(16)])("toVersion() refuses %p", (text) => {
  expect(() => toVersion(text)).toThrow(`Invalid value: "${text}"`);
});
