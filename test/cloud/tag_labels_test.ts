import { describe, expect, test } from "bun:test";
import {
  explainTagPrefix,
  NO_TAG_LABELS,
  TAG_LABELS_MAX,
  type TagLabels,
  toTagLabels,
} from "../../lib/cloud/tag_labels.ts";
import { isLabelKey, isLabelValue, isReservedLabelKey } from "../../lib/core/text/label.ts";
import { Random } from "../support/random.ts";
import { tries } from "../support/extent.ts";

const PREFIXES = ["example.com/", "team-", "node.kubernetes.io/"];

/** @param tags Each as `key=value` */
function read(...tags: readonly string[]): TagLabels {
  const pairs = tags.map((tag) => {
    const [key = "", ...rest] = tag.split("=");
    return { key, value: rest.join("=") };
  });
  return toTagLabels(pairs, { prefixes: PREFIXES, isOwnKey: () => false });
}

describe("toTagLabels() makes labels of", () => {
  test.each<[string, string, Record<string, string>]>([
    ["a key below a prefix", "example.com/rack=12", { "example.com/rack": "12" }],
    ["a key that begins with a prefix without a slash", "team-owner=a", { "team-owner": "a" }],
    ["a value with blanks", "team-owner=blue sky ", { "team-owner": "blue-sky" }],
    [
      "a value in another script, as far as it goes",
      "team-owner=Grün 7",
      { "team-owner": "Gr-n-7" },
    ],
    ["a key with blanks", "example.com/top of rack=a", { "example.com/top-of-rack": "a" }],
    ["a second slash", "example.com/a/b=c", { "example.com/a-b": "c" }],
    ["a value with equals signs", "team-a=b=c=", { "team-a": "b-c" }],
    ["no value", "team-a=", { "team-a": "" }],
    ["a blank value", "team-a=  ", { "team-a": "" }],
    ["a long value, cut", `team-a=${"x".repeat(70)}`, { "team-a": "x".repeat(63) }],
    ["a long key, cut", `team-${"k".repeat(70)}=v`, { [`team-${"k".repeat(58)}`]: "v" }],
    ["what a kubelet may set", "node.kubernetes.io/x=1", { "node.kubernetes.io/x": "1" }],
  ])("%s", (_title, tag, labels) => {
    expect(read(tag)).toEqual({ labels, unclear: [], refused: [] });
  });

  test("nothing but what a prefix allows", () => {
    expect(read("other.com/rack=1", "teams=2", "Example.com/rack=3", "k8s=4")).toBe(NO_TAG_LABELS);
    expect(read()).toBe(NO_TAG_LABELS);
  });

  test("the same tags in any order", () => {
    const tags = ["team-b=1", "team-a=2", "team-a=3", "team-c=日本", "example.com/z=1"];
    const first = read(...tags);
    expect(Object.keys(first.labels)).toEqual(["example.com/z", "team-b"]);
    const backwards = read(...tags.toReversed());
    expect(JSON.stringify(backwards)).toBe(JSON.stringify(first));
  });
});

describe("toTagLabels() refuses", () => {
  test.each([
    ["a value of which nothing is left", "team-a=日本", 'Value "日本" of tag "team-a" has no'],
    [
      "a key of which nothing is left",
      "example.com/日=1",
      'Tag key "example.com/日" cannot become',
    ],
    ["a key that loses its prefix", "team-日=1", 'Tag key "team-日" cannot become'],
    ["the instance type", "node.kubernetes.io/instance-type=x", "is reserved"],
    ["what cannot be seen", "team-a\u202eb=\u202e", "\\u202e"],
  ])("%s", (_title, tag, sentence) => {
    const { labels, refused } = read(tag);
    expect(labels).toEqual({});
    expect(refused).toEqual([expect.stringContaining(sentence)]);
  });

  test("keys of Kubernetes, of the cloud and of Landfall, whatever the prefixes", () => {
    const keys = ["kubernetes.io/hostname", "topology.kubernetes.io/zone", "landfall.dev/a"];
    const prefixes = ["kubernetes", "topology", "landfall", "own.cloud/"];
    const tags = [...keys, "own.cloud/x"].map((key) => ({ key, value: "1" }));
    const { labels, refused } = toTagLabels(tags, {
      prefixes,
      isOwnKey: (key) => key.startsWith("own.cloud/"),
    });
    expect(labels).toEqual({});
    expect(refused).toHaveLength(4);
  });
});

describe("toTagLabels() of a key that stands there twice", () => {
  test("with one value takes it", () => {
    expect(read("team-a=1", "team-a=1").labels).toEqual({ "team-a": "1" });
    // The same once it is a label.
    expect(read("team-a b=x y", "team-a-b=x-y").labels).toEqual({ "team-a-b": "x-y" });
  });

  test("with two values takes neither, and says so", () => {
    expect(read("team-a=2", "team-a=1", "team-b=1")).toEqual({
      labels: { "team-b": "1" },
      unclear: ["team-a"],
      refused: ['Several tags give label "team-a" different values: "1", "2"'],
    });
  });
});

test("toTagLabels() takes so many labels, the first by key, and few sentences of hundreds of tags", () => {
  const many = Array.from({ length: 300 }, (_, at) => `team-${String(at).padStart(3, "0")}=1`);
  const { labels, refused } = read(...many);
  expect(Object.keys(labels)).toHaveLength(TAG_LABELS_MAX);
  expect(Object.keys(labels).at(-1)).toBe("team-063");
  expect(refused).toEqual(["Landfall sets at most 64 labels from tags and ignores 236 more"]);
  const bad = read(...many.map((tag) => `${tag.slice(0, -1)}日`)).refused;
  expect(bad).toHaveLength(6);
  expect(bad.at(-1)).toBe("Landfall ignores 295 more tags for such reasons");
});

test("toTagLabels() gives only legal labels below a prefix, whatever people write", () => {
  const random = new Random(7);
  const pieces = ["a", "B", "7", "-", ".", "_", "/", "=", " ", "ü", "日", "\u202e", "\n", ""];
  for (let round = 0; round < tries(2_000).numRuns; round += 1) {
    const draw = (): string =>
      Array.from({ length: random.between(0, 70) }, () => random.pick(pieces)).join("");
    const tags = Array.from({ length: random.between(1, 4) }, () => ({
      key: random.pick([...PREFIXES, "kubernetes.io/", ""]) + draw(),
      value: draw(),
    }));
    const { labels } = toTagLabels(tags, { prefixes: PREFIXES, isOwnKey: () => false });
    for (const [key, value] of Object.entries(labels)) {
      expect([isLabelKey(key), isLabelValue(value)]).toEqual([true, true]);
      expect(PREFIXES.some((prefix) => key.startsWith(prefix))).toBe(true);
      expect(isReservedLabelKey(key)).toBe(false);
    }
  }
});

describe("explainTagPrefix()", () => {
  test.each(["example.com/", "example.com/team-", "team", "team.", "a", "node.kubernetes.io/"])(
    "takes %p",
    (prefix) => expect(explainTagPrefix(prefix)).toBeUndefined(),
  );

  test.each([
    ["", "beginning of a label key"],
    ["-a", "beginning of a label key"],
    ["Example.com/", "beginning of a label key"],
    ["a b", "beginning of a label key"],
    ["a/b/", "beginning of a label key"],
    ["ü", "beginning of a label key"],
    ["kubernetes.io/", "reserved"],
    ["topology.kubernetes.io/", "reserved"],
    ["node-restriction.kubernetes.io/x", "reserved"],
    ["landfall.dev/", "reserved"],
  ])("refuses %p", (prefix, problem) => expect(explainTagPrefix(prefix)).toContain(problem));
});
