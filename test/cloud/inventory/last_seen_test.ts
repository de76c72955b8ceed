import { beforeEach, describe, expect, test } from "bun:test";
import { LastSeen, type Listed } from "../../../lib/cloud/inventory/last_seen.ts";
import { toInstance } from "../../support/cloud/instances.ts";

/** A list that was asked for VMs and shows some of them, by ID: their pools. */
function toListed(
  lookedFor: readonly string[],
  shown: Readonly<Record<string, string>>,
  copies: readonly string[] = [],
): Listed {
  const instances = Object.entries(shown).map(
    ([id, region]) => [id, toInstance(id, { region })] as const,
  );
  return {
    instances: new Map(instances),
    lookedFor: new Set(lookedFor),
    copies: new Set(copies),
  };
}

describe("LastSeen", () => {
  let seen: LastSeen;
  beforeEach(() => {
    seen = new LastSeen(10, ({ region }) => region);
  });

  test("knows where a VM was that vanished, from whatever list it was in last", () => {
    expect(seen.findPlace("vm")).toBeUndefined();
    seen.noteList(toListed(["vm"], { vm: "a" }));
    expect(seen.findPlace("vm")).toBe("a");
    seen.noteList(toListed(["vm"], { vm: "b" }));
    for (let times = 0; times < 3; times += 1) {
      seen.noteList(toListed(["vm"], {}));
      expect(seen.findPlace("vm")).toBe("b");
    }
    seen.noteList(toListed(["vm"], { vm: "a" }));
    expect(seen.findPlace("vm")).toBe("a");
  });

  test("forgets a VM that vanished once no Node asks for it", () => {
    seen.noteList(toListed(["vm"], { vm: "a" }));
    seen.noteList(toListed(["vm"], {}));
    expect(seen.findPlace("vm")).toBe("a");
    seen.noteList(toListed([], {}));
    seen.noteList(toListed([], {}));
    seen.noteList(toListed(["vm"], {}));
    expect(seen.findPlace("vm")).toBeUndefined();
  });

  const BETWEEN: [string, Readonly<Record<string, string>>][] = [
    ["shows it", { vm: "a" }],
    ["lacks it", {}],
  ];
  test.each(BETWEEN)(
    "knows a VM whose Node registers again: the list between %s",
    (_title, shown) => {
      seen.noteList(toListed(["vm"], { vm: "a" }));
      seen.noteList(toListed([], shown));
      expect(seen.findPlace("vm")).toBe("a");
      seen.noteList(toListed(["vm"], { vm: "b" }, ["vm"]));
      expect(seen.findPlace("vm")).toBe("a");
    },
  );

  test("knows a VM whose Node registers again, when nothing else changed between", () => {
    const listed = toListed(["vm"], { vm: "a" });
    seen.noteList(listed);
    seen.noteList({ ...listed, lookedFor: new Set() });
    seen.noteList({ ...listed, copies: new Set(["vm"]) });
    expect(seen.findPlace("vm")).toBe("a");
  });

  test("knows nothing of a VM that no list ever showed, or that no Node asked for", () => {
    seen.noteList(toListed([], { vm: "a" }));
    expect(seen.findPlace("vm")).toBeUndefined();
    seen.noteList(toListed(["vm", "other"], {}));
    expect(seen.findPlace("vm")).toBeUndefined();
    expect(seen.findPlace("other")).toBeUndefined();
  });

  test("takes a VM that was read by itself as seen, until a list shows it", () => {
    seen.noteList(toListed(["vm"], { vm: "a" }));
    seen.note("vm", "b");
    expect(seen.findPlace("vm")).toBe("b");
    seen.noteList(toListed(["vm"], {}));
    expect(seen.findPlace("vm")).toBe("b");
    const listed = toListed(["vm"], { vm: "c" });
    seen.noteList(listed);
    seen.note("vm", "d");
    // The list after shows the very same.
    seen.noteList({ ...listed, lookedFor: new Set(["vm"]) });
    expect(seen.findPlace("vm")).toBe("c");
  });

  test("counts a VM as seen in a list that did not change, once a Node asks for it", () => {
    const listed = toListed([], { vm: "a" });
    seen.noteList(listed);
    seen.noteList({ ...listed, lookedFor: new Set(["vm"]) });
    seen.noteList(toListed(["vm"], {}));
    expect(seen.findPlace("vm")).toBe("a");
  });

  test("does not count a copy as seen, and knows where the VM itself was", () => {
    seen.noteList(toListed(["vm", "new"], { vm: "a" }));
    for (let times = 0; times < 2; times += 1) {
      seen.noteList(toListed(["vm", "new"], { vm: "b", new: "b" }, ["vm", "new"]));
      expect(seen.findPlace("vm")).toBe("a");
      expect(seen.findPlace("new")).toBeUndefined();
    }
    seen.noteList(toListed(["vm", "new"], {}));
    expect(seen.findPlace("vm")).toBe("a");
    expect(seen.findPlace("new")).toBeUndefined();
    seen.noteList(toListed(["vm"], { vm: "b" }));
    expect(seen.findPlace("vm")).toBe("b");
  });

  test("forgets the longest gone when there are too many: then nothing is proven of them", () => {
    seen = new LastSeen(2, ({ region }) => region);
    const ids = ["1", "2", "3"];
    seen.noteList(toListed(ids, { "1": "a", "2": "a", "3": "a" }));
    seen.noteList(toListed(ids, { "2": "a", "3": "a" }));
    seen.noteList(toListed(ids, {}));
    expect(ids.map((id) => seen.findPlace(id))).toEqual([undefined, "a", "a"]);
  });
});
