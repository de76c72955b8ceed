import { describe, expect, test } from "bun:test";
import { FaultSwitches, type Limit } from "../../lib/simulator/fault_switches.ts";

interface Scope extends Limit {
  readonly path?: string;
}

class Switches extends FaultSwitches<string, Scope> {
  take(path: string): string | undefined {
    return this.takeLast(({ scope }) => scope.path === undefined || scope.path === path);
  }
}

describe("FaultSwitches", () => {
  test("of those that fit, the one set last counts", () => {
    const switches = new Switches();
    switches.set("all");
    const end = switches.set("one", { path: "/one" });
    expect([switches.take("/one"), switches.take("/two")]).toEqual(["one", "all"]);
    end();
    expect(switches.take("/one")).toBe("all");
  });

  test("a fault ends after as many requests as it was set for, which only fitting ones use up", () => {
    const switches = new Switches();
    switches.set("twice", { path: "/one", times: 2 });
    const taken = ["/two", "/one", "/one", "/one"].map((path) => switches.take(path));
    expect(taken).toEqual([undefined, "twice", "twice", undefined]);
  });

  test("a fault may let requests pass first, so that it hits the k-th of those that fit", () => {
    const switches = new Switches();
    const hits: string[] = [];
    const onHit = (): void => void hits.push("second");
    switches.set("second", { path: "/one", skip: 1, times: 1, onHit });
    switches.set("third of all", { skip: 2, times: 1 });
    const taken = ["/one", "/one", "/two", "/two", "/one"].map((path) => switches.take(path));
    expect(taken).toEqual([undefined, "second", "third of all", undefined, undefined]);
    expect([switches.taken, hits]).toEqual([2, ["second"]]);
  });

  test("clear() switches everything off", () => {
    const switches = new Switches();
    switches.set("a");
    switches.set("b", { path: "/one" });
    switches.clear();
    expect(switches.take("/one")).toBeUndefined();
  });
});
