import { describe, expect, test } from "bun:test";
import type { ApiObject } from "../../../lib/simulator/kubernetes/patches/json.ts";
import { Collection, VersionCounter } from "../../../lib/simulator/kubernetes/store.ts";

function make(name: string, label: string = ""): (version: string) => ApiObject {
  return (resourceVersion) => ({
    metadata: { name, uid: name, resourceVersion, creationTimestamp: "" },
    label,
  });
}

describe("Collection", () => {
  test("entriesAt() shows objects as they were", () => {
    const versions = new VersionCounter(10);
    const collection = new Collection(versions, 100);
    collection.put("b", make("b", "old"));
    const then = versions.last;
    collection.put("b", make("b", "new"));
    collection.put("a", make("a"));
    collection.remove("b");
    expect(collection.entriesAt(then)?.map(([, one]) => one.object["label"])).toEqual(["old"]);
    expect(collection.entries().map(([key]) => key)).toEqual(["a"]);
  });

  test("changesSince() knows no more after compact()", () => {
    const versions = new VersionCounter(10);
    const collection = new Collection(versions, 100);
    collection.put("a", make("a"));
    expect(collection.changesSince(10)).toHaveLength(1);
    collection.compact();
    expect(collection.changesSince(10)).toBeUndefined();
    expect(collection.changesSince(11)).toEqual([]);
  });

  test("keeps a window of changes and forgets what is older", () => {
    const versions = new VersionCounter(0);
    const collection = new Collection(versions, 5);
    for (let index = 0; index < 40; index += 1) collection.put("a", make("a", String(index)));
    expect(collection.changesSince(0)).toBeUndefined();
    expect(collection.changesSince(35)).toHaveLength(5);
  });
});
