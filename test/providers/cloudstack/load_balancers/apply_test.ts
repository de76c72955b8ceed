/**
 * Steps: jobs that take long, answers that are lost, refusals, and what each kind of step does.
 * @module
 */
import { beforeEach, describe, expect, test } from "bun:test";
import { parseRecord } from "../../../../lib/providers/cloudstack/load_balancers/record.ts";
import type {
  Change,
  ChangeOf,
} from "../../../../lib/providers/cloudstack/load_balancers/steps.ts";
import { OWNER, useApply } from "./apply_rig.ts";
import { SIGNER } from "./objects.ts";
import { RecordWriter } from "../../../../lib/providers/cloudstack/load_balancers/acting.ts";
import type {
  AclItem,
  StickinessPolicy,
} from "../../../../lib/providers/cloudstack/load_balancers/observation.ts";
import { LoadBalancingApi } from "../../../../lib/providers/cloudstack/wire/load_balancing_api.ts";
import { ACL_ITEMS } from "../../../../lib/providers/cloudstack/wire/objects.ts";
import type { Fault } from "../../../../lib/simulator/cloudstack/faults.ts";
import { addTier, makeRule, type Tier } from "../../../support/cloud/cloudstack_networks.ts";

const rig = useApply();

async function toOpening(): Promise<ChangeOf<"createFirewallRule">> {
  const done = await rig.change("associateIpAddress", { networkid: rig.networkId });
  await rig.look();
  const cidrs = ["10.0.0.0/8"];
  return { kind: "createFirewallRule", addressId: done.id, protocol: "tcp", port: 80, cidrs };
}

/** Starts a change whose job is not over soon, until the record says so. */
async function start(change: ChangeOf<"createFirewallRule">): Promise<{ done: Promise<unknown> }> {
  rig.simulator.faults.set({ kind: "endlessJob" }, { times: 1 });
  const done = rig.apply(change);
  while (rig.record.text === undefined) await Bun.sleep(1);
  return { done };
}

/** Ends the process while it waits for a job, and starts another one. */
async function restartDuring(change: ChangeOf<"createFirewallRule">): Promise<void> {
  const { done } = await start(change);
  rig.restart();
  await done;
  await rig.look();
}

function toWait(): ChangeOf<"awaitJob"> {
  const job = parseRecord(rig.record.text, OWNER.uid, SIGNER)?.job;
  return { kind: "awaitJob", jobId: job?.id ?? "", command: job?.command ?? "" };
}

describe("a job that takes long", () => {
  test("is recorded while it runs, with what it makes; its end costs no write", async () => {
    const opening = await toOpening();
    rig.simulator.settings.jobMs = 3_000;
    expect(await rig.apply(opening)).toBeUndefined();
    const [kept, ...more] = rig.record.saved.map((text) => parseRecord(text, OWNER.uid, SIGNER));
    const [rule] = [...rig.simulator.state.firewallRules.values()];
    expect(kept).toEqual({
      job: { id: expect.any(String), command: "createFirewallRule", objectId: rule?.id ?? "" },
    });
    expect(more).toEqual([]);
    expect(rig.store.observation?.endedJobs).toEqual(new Set([kept?.job?.id ?? ""]));
  });

  test("a job that is over soon costs no write", async () => {
    await rig.apply(await toOpening());
    expect(rig.record.saved).toEqual([]);
  });

  test("is waited for by the next process, which does not start it again", async () => {
    const opening = await toOpening();
    rig.simulator.settings.jobMs = 5_000;
    const dying = rig.apply(opening);
    while (rig.record.text === undefined) await Bun.sleep(1);
    rig.restart();
    await dying;
    await rig.look();
    expect(await rig.apply(toWait())).toBeUndefined();
    expect(isWaitOver()).toBe(true);
    expect(rig.store.isValid).toBe(false);
    const [rule, ...more] = (await rig.look()).firewallRules.values();
    expect([rule?.state, more]).toEqual(["Active", []]);
    expect(rig.simulator.requests.count("createFirewallRule")).toBe(1);
  });

  test("stays recorded when it outlives the deadline, and is waited for again", async () => {
    const opening = await toOpening();
    const { done } = await start(opening);
    await rig.clock.advance(300_000);
    expect(String(await done)).toContain("has not finished");
    expect(toWait()).toMatchObject({ command: "createFirewallRule" });
    expect(isWaitOver()).toBe(false);
    expect(rig.store.isValid).toBe(false);
    answerJob({ jobstatus: 1, jobresult: { success: true } });
    expect(await rig.apply(toWait())).toBeUndefined();
    expect(isWaitOver()).toBe(true);
    expect(rig.simulator.requests.count("createFirewallRule")).toBe(1);
  });

  test("one that the server does not know any more is over", async () => {
    await restartDuring(await toOpening());
    const unknown = { kind: "error", code: 431, text: "no such job" } as const;
    rig.simulator.faults.set(unknown, { command: "queryAsyncJobResult" });
    expect(await rig.apply(toWait())).toBeUndefined();
    expect(isWaitOver()).toBe(true);
    expect(rig.store.isValid).toBe(false);
  });

  test("one that failed meanwhile is over, too, and CloudStack's words go up", async () => {
    await restartDuring(await toOpening());
    answerJob({ jobstatus: 2, jobresult: { errorcode: 534, errortext: "no router" } });
    expect(String(await rig.apply(toWait()))).toContain("no router");
    expect(isWaitOver()).toBe(true);
    expect(rig.store.isValid).toBe(false);
  });

  test("one that cannot be asked about stays recorded", async () => {
    await restartDuring(await toOpening());
    rig.simulator.faults.set({ kind: "html", status: 403 }, { command: "queryAsyncJobResult" });
    expect(await rig.apply(toWait())).toMatchObject({ kind: "denied" });
    expect(isWaitOver()).toBe(false);
  });
});

test("what a job did after its caller left is no outcome of the same change later on", async () => {
  const opening = await toOpening();
  rig.record.onSave = () => Promise.reject(new Error("no API server"));
  rig.simulator.settings.jobMs = 3_000;
  expect(String(await rig.apply(opening))).toContain("no API server");
  rig.record.onSave = () => undefined;
  await rig.clock.advance(60_000);
  const [first] = (await rig.look()).firewallRules.values();
  await rig.change("deleteFirewallRule", { id: first?.id ?? "" });
  expect((await rig.look()).firewallRules.size).toBe(0);
  // The look may have been right, or the job was not over yet: so it looks once more.
  expect(await rig.apply(opening)).toBeUndefined();
  expect([rig.store.isValid, rig.store.observation?.firewallRules.size]).toEqual([false, 0]);
  expect(await rig.apply(opening)).toBeUndefined();
  const [rule, ...more] = rig.simulator.state.firewallRules.values();
  expect([rule?.startPort, more]).toEqual([80, []]);
});

/** Whether this process knows that the job in the record is over. */
function isWaitOver(): boolean {
  return rig.store.observation?.endedJobs?.has(toWait().jobId) ?? false;
}

function answerJob(body: object): void {
  const answer = { kind: "json", body: { queryasyncjobresultresponse: body } } as const;
  rig.simulator.faults.set(answer, { command: "queryAsyncJobResult" });
}

describe("a step that fails", () => {
  test.each(["reset", "resetAfter", "halfBody"] as const)(
    "a lost answer (%s) asks for a new look, and the change is not sent again",
    async (kind) => {
      const opening = await toOpening();
      rig.simulator.faults.set({ kind }, { command: "createFirewallRule", times: 1 });
      expect(String(await rig.apply(opening))).toContain("may have carried out");
      expect(rig.store.isValid).toBe(false);
      expect(rig.simulator.requests.count("createFirewallRule")).toBe(1);
    },
  );

  test.each<[string, Fault, string]>([
    ["failed", { kind: "failedJob", code: 530, text: "no router" }, "no router"],
    ["was cut off by a restart", { kind: "cutOffJob" }, "CloudStack answered 530 to "],
  ])("a job that %s asks for a new look, and CloudStack's words go up", async (_, fault, words) => {
    const opening = await toOpening();
    rig.simulator.faults.set(fault, { times: 1 });
    expect(String(await rig.apply(opening))).toContain(words);
    expect(rig.store.isValid).toBe(false);
  });

  test("a role that lacks the command changes nothing, so the look is as good as before", async () => {
    const opening = await toOpening();
    rig.simulator.faults.set({ kind: "error", code: 432, text: "no" }, { times: 1 });
    expect(await rig.apply(opening)).toMatchObject({ kind: "denied" });
    expect(rig.store.isValid).toBe(true);
  });

  test("an answer without success is a failure", async () => {
    const opening = await toOpening();
    await rig.apply(opening);
    const [rule] = [...rig.simulator.state.firewallRules.values()];
    const body = { deletefirewallruleresponse: { success: false } };
    rig.simulator.faults.set({ kind: "json", body }, { command: "deleteFirewallRule" });
    const change = { kind: "delete", what: "firewallRule", id: rule?.id ?? "" } as const;
    expect(String(await rig.apply(change))).toContain("had no success");
    expect(rig.store.isValid).toBe(false);
    expect(rig.store.observation?.firewallRules.size).toBe(1);
  });

  test("an object that is not as asked for is kept as it is, and asks for a new look", async () => {
    const opening = await toOpening();
    rig.simulator.faults.set(
      {
        kind: "json",
        body: {
          createfirewallruleresponse: {
            firewallrule: {
              id: "eeeeeeee-2222-4333-8444-555555555555",
              ipaddressid: opening.addressId,
              protocol: "tcp",
              startport: 80,
              endport: 80,
              state: "Active",
            },
          },
        },
      },
      { command: "createFirewallRule" },
    );
    expect(await rig.apply(opening)).toBeUndefined();
    expect(rig.store.isValid).toBe(false);
    const [rule] = rig.store.observation?.firewallRules.values() ?? [];
    expect(rule?.cidrs).toEqual([]);
  });
});

test("a Service with three ports costs 23 requests, if each job is over at the first look", async () => {
  await rig.look();
  rig.simulator.requests.reset();
  await rig.apply({ kind: "takeAddress", place: { networkId: rig.networkId } });
  const addressId = rig.ipId("192.0.2.12");
  const { networkId } = rig;
  const rule = { addressId, networkId, protocol: "tcp", algorithm: "roundrobin" } as const;
  for (const publicPort of [80, 443, 8443]) {
    const name = `a1-tcp-${publicPort}`;
    const made = { ...rule, name, description: "", publicPort, privatePort: publicPort + 30_000 };
    await rig.apply({ kind: "createRule", ...made });
    const cidrs = ["10.0.0.0/8"];
    const port = publicPort;
    await rig.apply({ kind: "createFirewallRule", addressId, protocol: "tcp", port, cidrs });
    const ruleId = [...(rig.store.observation?.rules.keys() ?? [])].at(-1) ?? "";
    const vmIds = [rig.idOf("worker-1"), rig.idOf("worker-2")];
    await rig.apply({ kind: "addBackends", ruleId, vmIds });
  }
  expect(Object.fromEntries(rig.simulator.requests.byCommand)).toEqual({
    listPublicIpAddresses: 1,
    associateIpAddress: 1,
    createTags: 1,
    createLoadBalancerRule: 3,
    createFirewallRule: 3,
    assignToLoadBalancerRule: 3,
    queryAsyncJobResult: 11,
  });
  expect(rig.simulator.requests.total).toBe(23);
  expect(rig.store.isValid).toBe(true);
  expect(rig.record.saved).toHaveLength(2);
});

test("forgetRecord removes the record", async () => {
  rig.record.text = `{"v":1,"uid":"${OWNER.uid}","job":{"id":"${OWNER.uid}","command":"x"}}`;
  await rig.look();
  expect(await rig.apply({ kind: "forgetRecord" })).toBeUndefined();
  expect(rig.record.saved).toEqual([undefined]);
});

const { signal } = new AbortController();

describe("RecordWriter", () => {
  const address = { place: { networkId: OWNER.uid }, atMs: 0, wasFree: true };
  const job = { id: OWNER.uid, command: "x" };

  test("saves in the order of the calls, and nothing that Kubernetes has", async () => {
    const writer = new RecordWriter(rig.record, { owner: OWNER }, SIGNER, signal);
    rig.record.onSave = () => Bun.sleep(1);
    await Promise.all([writer.keep({ address }), writer.keepJob(job), writer.keep({ address })]);
    await writer.keep({ address });
    const saved = rig.record.saved.map((text) => Object.keys(JSON.parse(text ?? "{}")));
    expect(saved).toEqual([
      ["v", "uid", "address", "signature"],
      ["v", "uid", "address", "job", "signature"],
      ["v", "uid", "address", "signature"],
    ]);
  });

  test("keeps what each call is not about", async () => {
    const shared = "192.0.2.7";
    const record = { address: { ...address, id: OWNER.uid }, shared };
    const writer = new RecordWriter(rig.record, { owner: OWNER, record }, SIGNER, signal);
    await writer.keepJob(job);
    expect(writer.kept).toEqual({ ...record, job });
    await writer.keepAddress(address);
    expect(writer.kept).toEqual({ address, shared });
    await writer.keepShared("192.0.2.8");
    expect(writer.kept).toEqual({ address, shared: "192.0.2.8" });
    await writer.forgetAddress({ id: "other", ip: shared });
    expect(writer.kept).toEqual({ address, shared: "192.0.2.8" });
    await writer.forgetAddress({ id: "other", ip: "192.0.2.8" });
    expect(writer.kept).toEqual({ address });
    await writer.keepAddress();
    expect(rig.record.text).toBeUndefined();
  });

  test("a save that failed is tried again by the next one", async () => {
    const writer = new RecordWriter(rig.record, { owner: OWNER }, SIGNER, signal);
    rig.record.onSave = () => Promise.reject(new Error("no"));
    expect(await writer.keep({ job }).catch(String)).toBe("Error: no");
    rig.record.onSave = () => {};
    await writer.keep({ job });
    expect(rig.record.text).toBeDefined();
  });

  test("clears a record that nothing was known of", async () => {
    const writer = new RecordWriter(rig.record, { owner: OWNER }, SIGNER, signal);
    await writer.clear();
    expect(rig.record.saved).toEqual([undefined]);
  });
});

let ruleId: string;

function toPolicy(name: string, params: Readonly<Record<string, string>>): Change {
  const kept = new Map(Object.entries(params));
  return { kind: "createPolicy", ruleId, name, method: "LbCookie", params: kept };
}

function knownPolicies(): readonly StickinessPolicy[] {
  return rig.store.observation?.policies.get(ruleId) ?? [];
}

async function shownPolicies(): Promise<readonly StickinessPolicy[] | undefined> {
  return await rig.finish(new LoadBalancingApi(rig.session).listPolicies(ruleId, signal));
}

describe("stickiness policies", () => {
  beforeEach(async () => {
    const done = await rig.change("associateIpAddress", { networkid: rig.networkId });
    ruleId = await makeRule(rig, done.id);
    await rig.look();
  });

  test("a policy is made as asked, flags included, and says who made it", async () => {
    const params = { "cookie-name": "session", nocache: "" };
    expect(await rig.apply(toPolicy("one", params))).toBeUndefined();
    expect(knownPolicies()).toMatchObject([
      { name: "one", method: "LbCookie", description: "Managed by Landfall" },
    ]);
    expect(knownPolicies()[0]?.params.get("cookie-name")).toBe("session");
    expect(knownPolicies()[0]?.params.has("nocache")).toBe(true);
    expect(knownPolicies()).toEqual((await shownPolicies()) ?? []);
    expect(rig.store.isValid).toBe(true);
  });

  test("CloudStack puts a new policy in the place of the old one", async () => {
    await rig.apply(toPolicy("one", { "cookie-name": "a" }));
    await rig.apply(toPolicy("two", { "cookie-name": "b" }));
    expect(knownPolicies().map(({ name }) => name)).toEqual(["two"]);
    expect(knownPolicies()).toEqual((await shownPolicies()) ?? []);
  });

  test("a policy goes, and one that is gone already asks for a new look at most", async () => {
    await rig.apply(toPolicy("one", {}));
    const id = knownPolicies()[0]?.id ?? "";
    const change: Change = { kind: "delete", what: "policy", id };
    expect([await rig.apply(change), knownPolicies(), await shownPolicies()]).toEqual([
      undefined,
      [],
      [],
    ]);
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

const CIDRS = ["192.0.2.0/24", "10.0.0.0/8"];

let tier: Tier;

function toItem(more: { readonly number?: number } = {}): Parameters<typeof rig.apply>[0] {
  const place = { listId: tier.aclId, networkId: tier.id };
  const traffic = { protocol: "tcp", port: 443, cidrs: CIDRS } as const;
  return {
    kind: "createAclItem",
    ...place,
    ...traffic,
    reason: "Managed by Landfall for a1",
    ...more,
  };
}

function knownItems(): readonly AclItem[] {
  return rig.store.observation?.aclItems.get(tier.aclId) ?? [];
}

async function shownItems(): Promise<readonly AclItem[]> {
  const api = new LoadBalancingApi(rig.session);
  const list = api.listAll(ACL_ITEMS, undefined, signal, { aclid: tier.aclId });
  return (await rig.finish(list)).objects;
}

describe("items of ACL lists", () => {
  beforeEach(async () => {
    tier = addTier(rig, "tier");
    await rig.look({ aclListIds: [tier.aclId] });
  });

  test("an item lets its clients in, at its place, and says why", async () => {
    expect(await rig.apply(toItem({ number: 7 }))).toBeUndefined();
    const item = { isIngress: true, isAllow: true, number: 7, startPort: 443, endPort: 443 };
    expect(knownItems()).toMatchObject([{ ...item, cidrs: CIDRS.toSorted() }]);
    expect(knownItems()[0]?.reason).toBe("Managed by Landfall for a1");
    expect(knownItems()).toEqual(await shownItems());
    expect(rig.store.isValid).toBe(true);
  });

  test("only what is given of an item changes", async () => {
    await rig.apply(toItem());
    const [{ id: itemId } = { id: "" }] = knownItems();
    const item = { kind: "updateAclItem", itemId, listId: tier.aclId } as const;
    await rig.apply({ ...item, cidrs: ["10.1.0.0/16"] });
    await rig.apply({ ...item, reason: "other" });
    expect(knownItems()).toMatchObject([
      { cidrs: ["10.1.0.0/16"], reason: "other", startPort: 443 },
    ]);
    expect(knownItems()).toEqual(await shownItems());
  });

  test("an item goes, and one that is gone already is no failure", async () => {
    await rig.apply(toItem());
    const [{ id: itemId } = { id: "" }] = knownItems();
    const change = { kind: "delete", what: "aclItem", id: itemId } as const;
    expect([await rig.apply(change), knownItems(), await shownItems()]).toEqual([
      undefined,
      [],
      [],
    ]);
    expect(await rig.apply(change)).toBeUndefined();
  });
});

describe("firewall rules", () => {
  test("a firewall rule opens one port for its clients, and goes again", async () => {
    const done = await rig.change("associateIpAddress", { networkid: rig.networkId });
    const addressId = done.id;
    await rig.look();
    const cidrs = ["192.0.2.0/24", "10.0.0.0/8"];
    await rig.apply({ kind: "createFirewallRule", addressId, protocol: "tcp", port: 80, cidrs });
    const known = rig.store.observation?.firewallRules;
    expect(known).toEqual((await rig.look()).firewallRules);
    const [rule] = [...(rig.store.observation?.firewallRules.values() ?? [])];
    expect(rule).toMatchObject({ startPort: 80, endPort: 80, cidrs: cidrs.toSorted() });
    expect(rig.store.isValid).toBe(true);
    const gone = { kind: "delete", what: "firewallRule", id: rule?.id ?? "" } as const;
    await rig.apply(gone);
    expect(rig.store.observation?.firewallRules.size).toBe(0);
    expect(rig.simulator.state.firewallRules.size).toBe(0);
  });

  test("a refusal that names another object does not say that a firewall rule is gone", async () => {
    const opening = await toOpening();
    await rig.apply(opening);
    const [id = ""] = rig.store.observation?.firewallRules.keys() ?? [];
    const text =
      `Invalid parameter id value=${opening.addressId} due to incorrect long value format, ` +
      "or entity does not exist";
    rig.simulator.faults.set({ kind: "error", code: 431, text }, { command: "deleteFirewallRule" });
    await rig.apply({ kind: "delete", what: "firewallRule", id });
    expect([rig.store.isValid, rig.store.observation?.firewallRules.size]).toEqual([false, 1]);
  });

  test("one that is gone already is no failure", async () => {
    await rig.look();
    const id = "eeeeeeee-2222-4333-8444-555555555555";
    expect(await rig.apply({ kind: "delete", what: "firewallRule", id })).toBeUndefined();
    expect(rig.store.isValid).toBe(true);
  });
});
