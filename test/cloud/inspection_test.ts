import { describe, expect, test } from "bun:test";
import { CloudError } from "../../lib/cloud/errors.ts";
import { inspectInventory, inspectPlainly, isNothingSeen } from "../../lib/cloud/inspection.ts";
import { toInstance, toInventory } from "../support/cloud/instances.ts";

const WORDS = {
  instances: "vms",
  part: "pool",
  noneAdvice: "look at the rights",
  incompleteAdvice: "mend it",
};

describe("inspectInventory()", () => {
  test("counts in the words of the cloud and finds nothing wrong with a whole inventory", () => {
    const inventory = toInventory([toInstance("a"), toInstance("b")]);
    const { counts, parts, findings, endpoint } = inspectInventory("here:1", inventory, WORDS);
    expect({ endpoint, counts }).toEqual({ endpoint: "here:1", counts: { pools: 1, vms: 2 } });
    expect(parts).toEqual([{ kind: "pool", id: "cloud", complete: true }]);
    expect(findings.map(({ level, message }) => [level, message])).toEqual([
      ["ok", "pool cloud is complete"],
      ["ok", "2 vms are visible"],
    ]);
  });

  test("warns of a part that is not complete, with its reason and what to do", () => {
    const coverage = new Map([["p1", { complete: false, name: "paris", reason: "no master" }]]);
    const inventory = { ...toInventory([toInstance("a")]), coverage };
    expect(inspectInventory("here", inventory, WORDS).findings[0]).toEqual({
      level: "warning",
      code: "partIncomplete",
      message: "pool paris (p1) is not complete: no master",
      advice: "mend it",
    });
  });

  test("fails when nothing at all is seen, and says once what to do", () => {
    const inventory = { ...toInventory([]), coverage: new Map() };
    const { findings } = inspectInventory("here", inventory, WORDS);
    expect(findings).toEqual([
      {
        level: "failure",
        code: "noInstances",
        message: "no pool and no vms are visible",
        advice: "look at the rights",
      },
    ]);
  });

  test("warns when there is no instance in a part that is seen, or no part around an instance", () => {
    expect(isNothingSeen(toInventory([]))).toBe(false);
    expect(inspectInventory("here", toInventory([]), WORDS).findings.at(-1)).toMatchObject({
      level: "warning",
      code: "noInstances",
      advice: "look at the rights",
    });
    const inventory = { ...toInventory([toInstance("a")]), coverage: new Map() };
    expect(isNothingSeen(inventory)).toBe(false);
    expect(inspectInventory("here", inventory, WORDS).findings[0]).toMatchObject({
      level: "warning",
      code: "noParts",
      advice: "look at the rights",
    });
  });

  test("warns of instances that cannot be read", () => {
    const inventory = { ...toInventory([]), undecodable: new Map([["x", "$pool: must be text"]]) };
    const found = inspectInventory("here", inventory).findings.at(-1);
    expect(found).toMatchObject({ level: "warning", code: "undecodable" });
    expect(found?.message).toBe(
      "1 of the instances cannot be read, for example x: $pool: must be text",
    );
  });
});

describe("inspectPlainly()", () => {
  const { signal } = new AbortController();

  test("says what the inventory shows", async () => {
    const inventory = toInventory([toInstance("a")]);
    const look = { endpoint: "here", listInventory: () => Promise.resolve(inventory) };
    expect(await inspectPlainly(look, signal)).toEqual(inspectInventory("here", inventory));
    const found = await inspectPlainly({ ...look, words: WORDS }, signal);
    expect(found).toEqual(inspectInventory("here", inventory, WORDS));
  });

  test.each([
    [{}, "denied"],
    [{ code: "unreadable" }, "unreadable"],
  ])("makes a finding of a cloud that does not answer, with %j", async (over, code) => {
    const listInventory = (): Promise<never> => Promise.reject(new CloudError("denied", "no"));
    expect(await inspectPlainly({ endpoint: "here", listInventory, ...over }, signal)).toEqual({
      endpoint: "here",
      counts: {},
      parts: [],
      findings: [{ level: "failure", code, message: "no" }],
    });
  });

  test("rejects with the reason of a signal that aborts, and with what is a bug", async () => {
    const aborted = AbortSignal.abort(new Error("stop"));
    const fail = (): Promise<never> => Promise.reject(new TypeError("bug"));
    const look = { endpoint: "f", listInventory: fail };
    await expect(inspectPlainly(look, aborted)).rejects.toThrow("stop");
    await expect(inspectPlainly(look, signal)).rejects.toThrow("bug");
  });
});
