import fc from "fast-check";
import { describe, expect, test } from "bun:test";
import {
  OWN_PREFIX,
  appendHash,
  hashContent,
  isLabelKey,
  isLabelValue,
  isNamespaceOrAll,
  isReservedLabelKey,
  isSubdomain,
  isWithin,
  shortenName,
  toLabelValue,
} from "../../../lib/core/text/label.ts";
import { anyCharacter } from "../../support/net/hostile.ts";

describe("isLabelKey()", () => {
  test.each(["a", "a.b/c", "x_y-z.1", `a.b/${"n".repeat(63)}`])("takes %s", (key) => {
    expect(isLabelKey(key)).toBe(true);
  });
  test.each([
    "",
    "/a",
    "a/",
    "a/b/c",
    "A.b/c",
    "-a",
    "a-",
    "ä",
    `a.b/${"n".repeat(64)}`,
    `${"p".repeat(254)}/a`,
  ])("refuses %s", (key) => {
    expect(isLabelKey(key)).toBe(false);
  });
});

describe("isLabelValue()", () => {
  test.each(["", "a", "A-b_c.1", "v".repeat(63)])("takes %p", (value) => {
    expect(isLabelValue(value)).toBe(true);
  });
  test.each(["-a", "a.", "a b", "é", "v".repeat(64)])("refuses %p", (value) => {
    expect(isLabelValue(value)).toBe(false);
  });
});

describe("C-06 toLabelValue()", () => {
  const cases: readonly (readonly [string, string])[] = [
    ["k8s-worker-1", "k8s-worker-1"],
    ["nœud 1", "n-ud-1"],
    ["--a--", "a"],
    ["日本", ""],
    [`${"a".repeat(62)}-b`, "a".repeat(62)],
    [`${"a".repeat(62)}😀b`, "a".repeat(62)],
    ["", ""],
  ];
  test.each(cases)("%p becomes %p", (text, wanted) => {
    expect(toLabelValue(text)).toBe(wanted);
  });
  test("gives a legal value for any text, and leaves legal values alone", () => {
    fc.assert(
      fc.property(fc.string({ unit: anyCharacter }), (text) => {
        const value = toLabelValue(text);
        expect(isLabelValue(value)).toBe(true);
        expect(toLabelValue(value)).toBe(value);
      }),
    );
  });
});

test("the prefix of every word of Landfall's own stays what stands in clusters", () => {
  expect(OWN_PREFIX).toBe("landfall.dev/");
});

describe("isReservedLabelKey()", () => {
  test.each([
    "kubernetes.io/hostname",
    "kubernetes.io/arch",
    "beta.kubernetes.io/os",
    "topology.kubernetes.io/zone",
    "topology.kubernetes.io/region",
    "failure-domain.beta.kubernetes.io/zone",
    "node.kubernetes.io/instance-type",
    "beta.kubernetes.io/instance-type",
    "node-role.kubernetes.io/control-plane",
    "node-restriction.kubernetes.io/tenant",
    "example.node-restriction.kubernetes.io/tenant",
    "k8s.io/x",
    "cluster.x-k8s.io.k8s.io/x",
    "landfall.dev/x",
    "sub.landfall.dev/x",
  ])("keeps %s", (key) => expect(isReservedLabelKey(key)).toBe(true));

  test.each([
    "rack",
    "kubernetes.io",
    "example.com/rack",
    "mykubernetes.io/x",
    "kubernetes.io.example.com/x",
    "node.cluster.x-k8s.io/x",
    "notlandfall.dev/x",
    // Those that a kubelet may set, too.
    "node.kubernetes.io/exclude-from-external-load-balancers",
    "kubelet.kubernetes.io/x",
    "team.node.kubernetes.io/x",
  ])("gives %s away", (key) => expect(isReservedLabelKey(key)).toBe(false));
});

test("isWithin() goes by whole labels of a domain", () => {
  expect(isWithin("a.example.com", ["example.com"])).toBe(true);
  expect(isWithin("example.com", ["other.com", "example.com"])).toBe(true);
  expect(isWithin("anexample.com", ["example.com"])).toBe(false);
});

describe("isSubdomain()", () => {
  test.each(["a", "0", "a-b", "a.b", "node-1.example.com", "n".repeat(253)])("takes %s", (text) => {
    expect(isSubdomain(text)).toBe(true);
  });
  test.each([
    "",
    "A",
    "a_b",
    "-a",
    "a-",
    ".a",
    "a.",
    "a..b",
    "a.-b",
    "a b",
    "a\n",
    "ä",
    "n".repeat(254),
  ])("refuses %p", (text) => {
    expect(isSubdomain(text)).toBe(false);
  });
});

test("hashContent() differs if the content differs", () => {
  expect(hashContent("a")).toBe("ca978112ca1bbdca");
  expect(hashContent("b")).not.toBe(hashContent("a"));
});

test("shortenName() keeps a name of 63 characters, and ends a longer one in a hash", () => {
  const longest = "a".repeat(63);
  expect(shortenName(longest)).toBe(longest);
  expect(shortenName(`${longest}b`)).toBe(`${"a".repeat(54)}-97aa7c54`);
  expect(shortenName(`${longest}c`)).not.toBe(shortenName(`${longest}b`));
});

test("appendHash() cuts a text where a name may end", () => {
  expect(appendHash(`${"a".repeat(53)}-b`, "n")).toMatch(/^a{53}-[0-9a-f]{8}$/);
});

test.each([
  ["shop-1", true],
  ["*", true],
  ["a".repeat(63), true],
  ["a".repeat(64), false],
  ["a.b", false],
  ["Team_A", false],
  ["", false],
])("isNamespaceOrAll(%j) is %p", (text, expected) => {
  expect(isNamespaceOrAll(text)).toBe(expected);
});
