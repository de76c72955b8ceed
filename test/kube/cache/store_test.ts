import { expect, test } from "bun:test";
import { createLogger, silentLogger } from "../../../lib/core/log.ts";
import { NODES, type Node } from "../../../lib/kube/kinds/node.ts";
import { settle } from "../../support/manual_clock.ts";
import { Store, toKey } from "../../../lib/kube/cache/store.ts";

type Told = [key: string, before: string | undefined, after: string | undefined];

/** A Node `name` whose state is known by its resourceVersion. */
function toNode(name: string, resourceVersion: string, uid = `uid-${name}`): Node {
  return { metadata: { name, uid, resourceVersion } };
}

function setUp(): { store: Store<Node>; told: Told[] } {
  const store = new Store<Node>({ resource: NODES, log: silentLogger });
  const told: Told[] = [];
  store.subscribe((key, before, after) => {
    told.push([key, before?.metadata.resourceVersion, after?.metadata.resourceVersion]);
  });
  return { store, told };
}

test.each([
  [{ name: "a" }, "a"],
  [{ name: "a", namespace: "" }, "a"],
  [{ name: "a", namespace: "n" }, "n/a"],
])("toKey() of %j is %p", (metadata, key) => {
  expect(toKey({ metadata })).toBe(key);
});

test("Store.replace() tells what is new, changed and gone, and nothing of what is the same", () => {
  const { store, told } = setUp();
  store.replace([toNode("same", "1"), toNode("changed", "2"), toNode("gone", "3")], "3");
  told.length = 0;
  store.replace([toNode("same", "1"), toNode("changed", "4"), toNode("new", "5")], "5");
  expect(told).toEqual([
    ["gone", "3", undefined],
    ["changed", "2", "4"],
    ["new", undefined, "5"],
  ]);
  expect([...store.keys()].sort()).toEqual(["changed", "new", "same"]);
  expect(store.size).toBe(3);
});

test("Store.replace() is whole before the first listener hears of it", () => {
  const store = new Store<Node>({ resource: NODES, log: silentLogger });
  store.replace([toNode("a", "1"), toNode("b", "1")], "1");
  const sizes: number[] = [];
  store.subscribe((_key, before) => before && sizes.push(store.size));
  store.replace([toNode("b", "2")], "2");
  expect(sizes).toEqual([1, 1]);
});

test("I-07: Store.replace() reports the deletion of an object that was made again", () => {
  const { store, told } = setUp();
  store.replace([toNode("a", "1", "old")], "1");
  store.replace([toNode("a", "9", "new")], "9");
  expect(told.slice(1)).toEqual([
    ["a", "1", undefined],
    ["a", undefined, "9"],
  ]);
});

test("Store.apply() tells a new object and a change, and no repetition", () => {
  const { store, told } = setUp();
  for (const version of ["1", "1", "2"]) store.apply(toNode("a", version));
  expect(told).toEqual([
    ["a", undefined, "1"],
    ["a", "1", "2"],
  ]);
});

test("Store.remove() tells the state at the deletion, once", () => {
  const { store, told } = setUp();
  store.apply(toNode("a", "1"));
  store.remove(toNode("a", "5"));
  store.remove(toNode("a", "5"));
  expect(told.slice(1)).toEqual([["a", "5", undefined]]);
  expect(store.get("a")).toBeUndefined();
});

test("Store.subscribe() starts with what is there and ends when asked to", () => {
  const { store } = setUp();
  store.replace([toNode("a", "1"), toNode("b", "1")], "1");
  const told: string[] = [];
  const unsubscribe = store.subscribe((key) => told.push(key));
  store.apply(toNode("c", "2"));
  unsubscribe();
  store.apply(toNode("d", "3"));
  expect(told).toEqual(["a", "b", "c"]);
});

test("I-09: a listener that throws is logged, and the others still hear of everything", () => {
  const lines: string[] = [];
  const log = createLogger({ format: "text", write: (line) => lines.push(line), now: () => 0 });
  const store = new Store<Node>({ resource: NODES, log });
  store.subscribe(() => {
    throw new Error("broken listener");
  });
  const told: string[] = [];
  store.subscribe((key) => told.push(key));
  store.replace([toNode("a", "1")], "1");
  store.apply(toNode("b", "2"));
  expect(told).toEqual(["a", "b"]);
  expect(lines.length).toBe(2);
  expect(lines[0]).toContain(' node=a error="broken listener"');
});

test("I-10: objects in the store cannot be changed, whichever way they came", () => {
  const { store } = setUp();
  store.replace([toNode("a", "1")], "1");
  store.apply(toNode("b", "2"));
  for (const node of store.values()) {
    expect(() => Object.assign(node.metadata, { name: "x" })).toThrow(TypeError);
  }
});

test("Store.untilSynced() resolves with the first list, at once from then on, and ends with its signal", async () => {
  const { store } = setUp();
  const stop = new AbortController();
  const waiting = store.untilSynced(stop.signal).then(() => store.size);
  const given = new AbortController();
  const ended = store.untilSynced(given.signal).catch((error: unknown) => error);
  given.abort("enough");
  expect(await ended).toBe("enough");
  store.replace([toNode("a", "1")], "1");
  expect(await waiting).toBe(1);
  await store.untilSynced(stop.signal);
});

test("Store.clear() takes out all, tells so, and knows nothing until the next list", async () => {
  const { store, told } = setUp();
  store.replace([toNode("a", "1")], "3");
  told.length = 0;
  store.clear();
  expect([store.size, store.synced]).toEqual([0, false]);
  expect(told).toEqual([["a", "1", undefined]]);
  const waiting = store.untilSynced(new AbortController().signal).then(() => store.size);
  await settle();
  store.replace([toNode("b", "1"), toNode("c", "1")], "4");
  store.remove(toNode("b", "1"));
  expect(await waiting).toBe(1);
});

test("Store.replace() by an older list takes each object anew: a version may say something else now", () => {
  const { store, told } = setUp();
  store.replace([toNode("a", "9")], "10");
  const other: Node = { ...toNode("a", "9"), spec: { providerID: "other" } };
  store.replace([other], "9");
  expect([store.get("a")?.spec?.providerID, told.at(-1)]).toEqual(["other", ["a", "9", "9"]]);
});

test.each([
  ["longer", "1000", "999"],
  ["greater in the same length", "18446744073709551617", "18446744073709551616"],
])(
  "Store.learn() takes a version that is %s, and the watch puts no older one back",
  (_, newer, older) => {
    const { store } = setUp();
    store.replace([toNode("a", older)], older);
    const askedMs = performance.now();
    store.learn(toNode("a", newer), undefined);
    store.apply(toNode("a", older));
    store.remove(toNode("a", older));
    store.replace([toNode("a", older)], older, askedMs);
    expect(store.get("a")?.metadata.resourceVersion).toBe(newer);
    store.learn(toNode("a", older), undefined);
    expect(store.get("a")?.metadata.resourceVersion).toBe(newer);
  },
);

test("Store.learn() of an answer that is older than what its request began with asks for a list by quorum", () => {
  const { store } = setUp();
  store.replace([toNode("a", "9")], "10");
  store.learn(toNode("a", "7"), toNode("a", "8"));
  expect(store.outdated.aborted).toBe(false);
  store.learn(toNode("a", "7"), store.get("a"));
  expect([store.outdated.aborted, store.get("a")?.metadata.resourceVersion]).toEqual([true, "9"]);
  store.replace([toNode("a", "7")], "8", performance.now());
  expect([store.outdated.aborted, store.get("a")?.metadata.resourceVersion]).toEqual([false, "7"]);
});

test("Store.learnGone() hides an object from lists that were asked for before, and from no later one", () => {
  const { store } = setUp();
  store.replace([toNode("a", "1")], "1");
  const askedMs = performance.now();
  store.learnGone(toNode("a", "1"));
  store.replace([toNode("a", "1")], "1", askedMs);
  expect(store.size).toBe(0);
  store.replace([toNode("a", "1")], "1", performance.now() + 1);
  expect(store.size).toBe(1);
});

test("Store.catchUp() ends with a list that was asked for later, whatever its version", async () => {
  const readVersion = (): Promise<string> => Promise.resolve("100");
  const store = new Store<Node>({ resource: NODES, log: silentLogger, readVersion });
  store.replace([], "9");
  const caughtUp = store.catchUp(new AbortController().signal);
  await settle();
  expect(store.outdated.aborted).toBe(true);
  // The API server was restored from a backup meanwhile.
  store.replace([], "8");
  await caughtUp;
});
