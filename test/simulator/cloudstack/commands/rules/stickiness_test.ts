import { describe, expect, test } from "bun:test";
import { listEntries, type Fields } from "../../../../support/cloud/cloudstack_asks.ts";
import { makeRule, networkOf, takeAddress } from "../../../../support/cloud/cloudstack_networks.ts";
import { useCloudStack } from "../../../../support/cloud/cloudstack_rig.ts";

describe("commands about stickiness policies", () => {
  const rig = useCloudStack();
  const makeLbRule = async (fields: Fields = {}): Promise<string> =>
    makeRule(rig, await takeAddress(rig, networkOf(rig, "k8s-paris")), fields);
  const toFields = (lbruleid: string, fields: Fields = {}): Fields => ({
    lbruleid,
    name: "keep",
    methodname: "SourceBased",
    ...fields,
  });
  const create = (lbruleid: string, fields: Fields = {}) =>
    rig.change("createLBStickinessPolicy", toFields(lbruleid, fields));
  const list = async (fields: Fields) =>
    listEntries(await rig.ask("listLBStickinessPolicies", fields), "stickinesspolicies");

  test("createLBStickinessPolicy makes a policy, which is listed inside its rule", async () => {
    const lbruleid = await makeLbRule();
    const empty = { lbruleid, account: "acme", stickinesspolicy: [] };
    expect(await list({ lbruleid })).toMatchObject([empty]);
    const parameters = {
      "param[0].name": "cookie-name",
      "param[0].value": "lb",
      "param[1].name": "nocache",
    };
    const more = { methodname: "LbCookie", description: "why", ...parameters };
    const done = await create(lbruleid, more);
    const policy = {
      id: done.id,
      name: "keep",
      methodname: "LbCookie",
      description: "why",
      params: { "cookie-name": "lb", nocache: "null" },
      fordisplay: true,
    };
    expect(done.result).toMatchObject({
      stickinesspolicies: { lbruleid, stickinesspolicy: [policy] },
    });
    const [shown] = await list({ lbruleid });
    expect(shown?.["stickinesspolicy"]).toEqual([policy]);
    expect(await list({ id: done.id })).toEqual([shown ?? {}]);
  });

  test("answers have keys that do not follow from the commands", async () => {
    const lbruleid = await makeLbRule();
    const made = await rig.ask("createLBStickinessPolicy", toFields(lbruleid));
    expect(made).toMatchObject({ key: "createLBStickinessPolicy", status: 200 });
    const id = String(made.body["id"]);
    const { key } = await rig.ask("deleteLBStickinessPolicy", { id });
    expect(key).toBe("deleteLBstickinessrruleresponse");
    const refused = await rig.ask("createLBStickinessPolicy", { lbruleid });
    expect(refused).toMatchObject({ key: "createLBStickinessPolicy", status: 431 });
  });

  test("a new policy replaces the old one when its job ends, and not if it fails", async () => {
    const lbruleid = await makeLbRule();
    const first = await create(lbruleid);
    const idsOf = async (): Promise<unknown[]> => {
      const [rule] = await list({ lbruleid });
      return listEntries({ body: rule ?? {} }, "stickinesspolicy").map(({ id, state }) => [
        id,
        state,
      ]);
    };
    rig.simulator.faults.set({ kind: "failedJob", code: 530, text: "no" }, { times: 1 });
    expect(await create(lbruleid)).toMatchObject({ code: 530 });
    expect(await idsOf()).toEqual([[first.id, undefined]]);
    const { body } = await rig.ask("createLBStickinessPolicy", toFields(lbruleid));
    await rig.clock.advance(1);
    expect(await idsOf()).toEqual([
      [first.id, "Revoked"],
      [body["id"], undefined],
    ]);
    await rig.clock.advance(rig.simulator.settings.jobMs);
    expect(await idsOf()).toEqual([[body["id"], undefined]]);
  });

  test("after a job that fails at its end the old policy is revoked, and goes with the next one", async () => {
    const lbruleid = await makeLbRule();
    const { id } = await create(lbruleid);
    const fault = { kind: "failedJob", code: 530, text: "no router", isLate: true } as const;
    rig.simulator.faults.set(fault, { times: 1 });
    expect(await create(lbruleid)).toMatchObject({ code: 530 });
    expect(await list({ lbruleid })).toMatchObject([
      { stickinesspolicy: [{ id, state: "Revoked" }] },
    ]);
    const next = await create(lbruleid);
    expect(await list({ lbruleid })).toMatchObject([{ stickinesspolicy: [{ id: next.id }] }]);
  });

  test("the job sends the whole rule to the router, a change that was only stored, too", async () => {
    const id = await makeLbRule();
    const rule = rig.simulator.state.loadBalancerRules.get(id);
    await rig.change("updateLoadBalancerRule", { id, protocol: "tcp-proxy" });
    expect(rule?.applied?.protocol).not.toBe("tcp-proxy");
    await create(id, { "param[0].name": "expire", "param[0].value": "30m" });
    expect(rule?.applied).toMatchObject({
      protocol: "tcp-proxy",
      stickiness: "SourceBased expire=30m&",
    });
  });

  test("deleteLBStickinessPolicy deletes; a second job for it fails", async () => {
    const lbruleid = await makeLbRule();
    const { id } = await create(lbruleid);
    const [first, second] = [
      await rig.ask("deleteLBStickinessPolicy", { id }),
      await rig.ask("deleteLBStickinessPolicy", { id }),
    ];
    await rig.clock.advance(1_000);
    const statusOf = async (jobid: unknown): Promise<unknown> =>
      (await rig.ask("queryAsyncJobResult", { jobid: String(jobid) })).body["jobresultcode"];
    expect(await statusOf(first.body["jobid"])).toBe(0);
    expect(await statusOf(second.body["jobid"])).toBe(431);
    expect(await list({ lbruleid })).toMatchObject([{ stickinesspolicy: [] }]);
  });

  test("a deletion that fails at its end leaves the policy in force", async () => {
    const lbruleid = await makeLbRule();
    const { id } = await create(lbruleid);
    const fault = { kind: "failedJob", code: 530, text: "no router", isLate: true } as const;
    rig.simulator.faults.set(fault, { times: 1 });
    expect(await rig.change("deleteLBStickinessPolicy", { id })).toMatchObject({ code: 530 });
    const [rule] = await list({ lbruleid });
    const [policy] = listEntries({ body: rule ?? {} }, "stickinesspolicy");
    expect([policy?.["id"], policy?.["state"]]).toEqual([id, undefined]);
  });

  test("a policy goes with its rule", async () => {
    const id = await makeLbRule();
    await create(id);
    await rig.change("deleteLoadBalancerRule", { id });
    expect(rig.simulator.state.stickinessPolicies.size).toBe(0);
    expect((await rig.ask("listLBStickinessPolicies", { lbruleid: id })).status).toBe(431);
  });

  test("commands refuse what is missing, unknown, unfitting or another account's", async () => {
    const lbruleid = await makeLbRule();
    const { id } = await create(lbruleid);
    const refused: Fields[] = [{ name: "" }, { methodname: "" }, { methodname: "Pin" }];
    for (const fields of [...refused, { lbruleid: "none" }]) {
      expect(await create(lbruleid, fields)).toMatchObject({ code: 431 });
    }
    const options = { username: "ops" };
    const foreign = await rig.change("createLBStickinessPolicy", toFields(lbruleid), options);
    expect(foreign.code).toBe(531);
    expect(await rig.change("deleteLBStickinessPolicy", { id }, options)).toMatchObject({
      code: 530,
    });
    const statusOf = async (fields: Fields, username = "kubeadmin"): Promise<number> =>
      (await rig.ask("listLBStickinessPolicies", fields, { username })).status;
    expect(await statusOf({})).toBe(431);
    expect(await statusOf({ lbruleid }, "ops")).toBe(531);
    const other = await makeLbRule({ publicport: "443" });
    expect(await statusOf({ lbruleid: other, id })).toBe(431);
    expect(rig.simulator.state.stickinessPolicies.size).toBe(1);
  });
});
