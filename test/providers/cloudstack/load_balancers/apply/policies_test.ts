/**
 * Stickiness policies: what a step does in CloudStack, and what the store then shows.
 * @module
 */
import { beforeEach, describe, expect, test } from "bun:test";
import type { Change } from "../../../../../lib/providers/cloudstack/load_balancers/steps.ts";
import type { StickinessPolicy } from "../../../../../lib/providers/cloudstack/load_balancers/view.ts";
import { LoadBalancingApi } from "../../../../../lib/providers/cloudstack/wire/load_balancing_api.ts";
import { makeRule } from "../../../../support/cloud/cloudstack_networks.ts";
import { useApply } from "./apply_rig.ts";

const rig = useApply();
const { signal } = new AbortController();

let ruleId: string;
beforeEach(async () => {
  const done = await rig.change("associateIpAddress", { networkid: rig.networkId });
  ruleId = await makeRule(rig, done.id);
  await rig.look();
});

function toPolicy(name: string, params: Readonly<Record<string, string>>): Change {
  const kept = new Map(Object.entries(params));
  return { kind: "createPolicy", ruleId, name, method: "LbCookie", params: kept };
}

function known(): readonly StickinessPolicy[] {
  return rig.store.view?.policies.get(ruleId) ?? [];
}

async function shown(): Promise<readonly StickinessPolicy[] | undefined> {
  return await rig.finish(new LoadBalancingApi(rig.session).listPolicies(ruleId, signal));
}

describe("stickiness policies", () => {
  test("a policy is made as asked, flags included, and says who made it", async () => {
    const params = { "cookie-name": "session", nocache: "" };
    expect(await rig.apply(toPolicy("one", params))).toBeUndefined();
    expect(known()).toMatchObject([
      { name: "one", method: "LbCookie", description: "Managed by Landfall" },
    ]);
    expect(known()[0]?.params.get("cookie-name")).toBe("session");
    expect(known()[0]?.params.has("nocache")).toBe(true);
    expect(known()).toEqual((await shown()) ?? []);
    expect(rig.store.isValid).toBe(true);
  });

  test("CloudStack puts a new policy in the place of the old one", async () => {
    await rig.apply(toPolicy("one", { "cookie-name": "a" }));
    await rig.apply(toPolicy("two", { "cookie-name": "b" }));
    expect(known().map(({ name }) => name)).toEqual(["two"]);
    expect(known()).toEqual((await shown()) ?? []);
  });

  test("a policy goes, and one that is gone already asks for a new look at most", async () => {
    await rig.apply(toPolicy("one", {}));
    const change: Change = { kind: "deletePolicy", ruleId, policyId: known()[0]?.id ?? "" };
    expect([await rig.apply(change), known(), await shown()]).toEqual([undefined, [], []]);
    expect(await rig.apply(change)).toBeUndefined();
  });

  test("a policy that is not as asked for asks for a new look", async () => {
    const policy = { id: ruleId, name: "one", methodname: "SourceBased" };
    const body = {
      createlbstickinesspolicy: {
        stickinesspolicies: { lbruleid: ruleId, stickinesspolicy: [policy] },
      },
    };
    rig.simulator.faults.set({ kind: "json", body }, { command: "createLBStickinessPolicy" });
    expect(await rig.apply(toPolicy("one", {}))).toBeUndefined();
    expect(rig.store.isValid).toBe(false);
  });
});
