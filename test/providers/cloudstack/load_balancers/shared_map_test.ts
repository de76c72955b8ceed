import { expect, test } from "bun:test";
import { array, assert, constantFrom, oneof, property, record } from "fast-check";
import { SharedMap } from "../../../../lib/providers/cloudstack/load_balancers/shared_map.ts";

test("SharedMap never changes what it shared, or got", () => {
  const key = constantFrom("a", "b", "c");
  const action = oneof(
    record({ kind: constantFrom("set"), key, value: constantFrom(1, 2) }),
    record({ kind: constantFrom("delete", "share"), key, value: constantFrom(0) }),
  );
  assert(
    property(array(action), (actions) => {
      const first = new Map([["a", 0]]);
      const map = new SharedMap(first);
      const expected = new Map(first);
      const shared: [ReadonlyMap<string, number>, string][] = [[first, JSON.stringify([["a", 0]])]];
      for (const { kind, key, value } of actions) {
        if (kind === "set") {
          map.set(key, value);
          expected.set(key, value);
        }
        if (kind === "delete") {
          map.delete(key);
          expected.delete(key);
        }
        if (kind === "share") shared.push([map.share(), JSON.stringify([...expected])]);
        expect(map.get(key)).toBe(expected.get(key));
        expect(map.has(key)).toBe(expected.has(key));
      }
      expect([...map.values()]).toEqual([...expected.values()]);
      for (const [one, text] of shared) expect(JSON.stringify([...one])).toBe(text);
    }),
  );
});

test("SharedMap shares the same map while nothing changes", () => {
  const map = new SharedMap(new Map([["a", 1]]));
  const before = map.share();
  map.delete("b");
  expect(map.share()).toBe(before);
  map.set("b", 2);
  expect(map.share()).not.toBe(before);
});
