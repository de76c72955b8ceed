/**
 * Taking an address: which one is asked for, what is recorded when, and that no end of the process at any point loses
 * one or takes one twice.
 * @module
 */
import { describe, expect, test } from "bun:test";
import { parseCidr } from "../../../../lib/core/net/ip.ts";
import {
  formatRecord,
  type KeptRecord,
  parseRecord,
} from "../../../../lib/providers/cloudstack/load_balancers/record.ts";
import type {
  Change,
  ChangeOf,
} from "../../../../lib/providers/cloudstack/load_balancers/steps.ts";
import { readAllocatedBy } from "../../../../lib/providers/cloudstack/load_balancers/allocated_by.ts";
import type { Observation } from "../../../../lib/providers/cloudstack/load_balancers/observation.ts";
import { isTaggedFor, toTags } from "../../../../lib/providers/cloudstack/load_balancers/words.ts";
import { toUser } from "../../../../lib/simulator/cloudstack/access/accounts.ts";
import { sample } from "../../../support/extent.ts";
import { addTier } from "../../../support/cloud/cloudstack_networks.ts";
import { CLUSTER_ID, OWNER, useApply } from "./apply_rig.ts";
import { SIGNER } from "./objects.ts";

const rig = useApply();

const TAGS = Object.fromEntries(toTags(CLUSTER_ID, OWNER));

function toTake(ip?: string): ChangeOf<"takeAddress"> {
  const place = { networkId: rig.networkId };
  return { kind: "takeAddress", place, ...(ip !== undefined && { ip }) };
}

/** Addresses of the account that have tags, or that nobody can tell whose they are. */
function listTaken(): string[] {
  const ips = [...rig.simulator.state.publicIps.values()];
  return ips.filter(({ state }) => state !== "Free").map(({ address }) => address);
}

/** The addresses of the world, before anything was taken. */
const BEFORE = ["192.0.2.10", "192.0.2.11"];

/** Another account takes an address. */
function giveAway(address: string): void {
  const ip = rig.ip(address);
  if (ip === undefined) throw new RangeError(`Cannot find ${address}`);
  Object.assign(ip, { state: "Allocated", accountId: rig.story.accountIds.ops, allocatedMs: 0 });
}

/** What a plan does for a Service that only needs an address. */
function plan(observation: Observation, record: KeptRecord | undefined): Change | undefined {
  const tagged = [...observation.addresses.values()].some(({ tags }) =>
    isTaggedFor(tags, [CLUSTER_ID], OWNER.uid),
  );
  if (record?.job !== undefined) {
    return { kind: "awaitJob", jobId: record.job.id, command: record.job.command };
  }
  if (tagged) return record && { kind: "forgetRecord" };
  const asked = observation.addresses.get(record?.address?.id ?? "");
  const isOurs = record?.address?.wasFree && asked !== undefined && asked.tags.size === 0;
  return isOurs
    ? { kind: "tagAddress", addressId: asked.id, tags: toTags(CLUSTER_ID, OWNER) }
    : toTake();
}

/** Looks, plans and applies until there is nothing to do. Returns the number of steps. */
async function converge(): Promise<number> {
  for (let steps = 0; steps < 10; steps += 1) {
    const change = plan(await rig.look(), parseRecord(rig.record.text, OWNER.uid, SIGNER));
    if (change === undefined) return steps;
    await rig.apply(change);
  }
  throw new Error("It does not come to rest");
}

describe("takeAddress", () => {
  test("takes a free address and tags it; the record says it before it is asked for, and nothing after", async () => {
    await rig.look();
    const asked: number[] = [];
    rig.record.onSave = () => void asked.push(rig.simulator.requests.count("associateIpAddress"));
    expect(await rig.apply(toTake())).toBeUndefined();
    expect(listTaken()).toEqual([...BEFORE, "192.0.2.12"]);
    const id = rig.ipId("192.0.2.12");
    expect(rig.tagsOf(id)).toEqual(TAGS);
    expect(asked.slice(0, 2)).toEqual([0, 0]);
    const [first] = rig.record.saved;
    expect(parseRecord(first, OWNER.uid, SIGNER)).toEqual({
      address: {
        id,
        ip: "192.0.2.12",
        place: { networkId: rig.networkId },
        atMs: expect.any(Number),
        wasFree: true,
      },
    });
    const atMs = parseRecord(first, OWNER.uid, SIGNER)?.address?.atMs ?? 0;
    expect(Math.abs(rig.clock.now() - atMs)).toBeLessThan(60_000);
    expect(rig.record.saved.slice(1)).toEqual([undefined]);
    expect(rig.commands()).toEqual([
      "associateIpAddress",
      "queryAsyncJobResult",
      "createTags",
      "queryAsyncJobResult",
    ]);
  });

  test("the store then shows what a look shows", async () => {
    await rig.look();
    await rig.apply(toTake());
    expect(rig.store.isValid).toBe(true);
    const known = rig.store.observation?.addresses;
    expect(known).toEqual((await rig.look()).addresses);
  });

  test("the choice is random, among what CloudStack shows as free", async () => {
    await rig.look();
    rig.random = () => 0.999;
    await rig.apply(toTake());
    expect(listTaken()).toEqual([...BEFORE, "192.0.2.17"]);
  });

  describe("of addresses that an operator gives only to other namespaces", () => {
    const reserve = (...texts: readonly string[]): void => {
      const addresses = texts.flatMap((one) => parseCidr(one) ?? []);
      rig.store.setServices({ listSharingRules: () => [{ addresses, namespaces: ["bank"] }] });
    };

    test("none is chosen", async () => {
      await rig.look();
      reserve("192.0.2.12/30", "192.0.2.17");
      rig.random = () => 0.999;
      expect(await rig.apply(toTake())).toBeUndefined();
      expect(listTaken()).toEqual([...BEFORE, "192.0.2.16"]);
    });

    test("none is asked for if there are no others", async () => {
      await rig.look();
      reserve("192.0.2.0/24");
      expect(await rig.apply(toTake())).toMatchObject({
        problem: {
          reason: "AddressNotUsable",
          message:
            "the settings give 192.0.2.12 to other namespaces than shop: ask an operator to add it to " +
            "loadBalancers.sharing, or use another address",
        },
      });
      expect(rig.commands()).toEqual([]);
    });

    test("one that CloudStack chooses goes back", async () => {
      await rig.look();
      reserve("192.0.2.0/24");
      rig.simulator.settings.showsFreeIps = false;
      expect(await rig.apply(toTake())).toMatchObject({ problem: { reason: "AddressNotUsable" } });
      expect([listTaken(), rig.record.text]).toEqual([BEFORE, undefined]);
    });
  });

  test("the address that the Service names is taken", async () => {
    await rig.look();
    await rig.apply(toTake("192.0.2.15"));
    expect(rig.tagsOf(rig.ipId("192.0.2.15"))).toEqual(TAGS);
    expect(listTaken()).toEqual([...BEFORE, "192.0.2.15"]);
  });

  test("an address that somebody else takes first is left alone, and another one is asked for", async () => {
    await rig.look();
    let saves = 0;
    rig.record.onSave = (when) => {
      saves += 1;
      if (when === "after" && saves === 2) giveAway("192.0.2.12");
    };
    expect(await rig.apply(toTake())).toBeUndefined();
    expect(rig.tagsOf(rig.ipId("192.0.2.12"))).toEqual({});
    expect(rig.tagsOf(rig.ipId("192.0.2.13"))).toEqual(TAGS);
    expect(listTaken()).toEqual([...BEFORE, "192.0.2.12", "192.0.2.13"]);
  });

  test("gives up after some tries, and forgets an address that is somebody else's", async () => {
    await rig.look();
    rig.simulator.faults.set(
      { kind: "error", code: 533, text: "Insufficient address capacity" },
      { command: "associateIpAddress" },
    );
    expect(String(await rig.apply(toTake()))).toContain("Insufficient address capacity");
    expect(rig.simulator.requests.count("associateIpAddress")).toBe(4);
    expect(rig.record.text).toBeUndefined();
    expect(listTaken()).toEqual(BEFORE);
  });

  test("says what to do if CloudStack has no such address, or does not give it", async () => {
    await rig.look();
    const error = await rig.apply(toTake("0.0.0.0"));
    const message =
      "CloudStack has no free public IP 0.0.0.0 for this account (error 533): " +
      "the Service must name an address that the account has or that is free, or none";
    const problem = { reason: "AddressNotUsable", message, isWaiting: true };
    expect(error).toMatchObject({ name: "CloudError", status: 533, message, problem });
    expect(rig.record.text).toBeUndefined();
    const refusal = { kind: "error", code: 431, text: "not here" } as const;
    rig.simulator.faults.set(refusal, { command: "associateIpAddress" });
    const other = await rig.apply(toTake("192.0.2.15"));
    expect(other).toMatchObject({ problem: { reason: "AddressNotUsable" } });
    expect(String(other)).toContain(
      "public IP 192.0.2.15 cannot be taken: CloudStack answered 431",
    );
    expect(listTaken()).toEqual(BEFORE);
  });

  test("a limit of the account is said at once", async () => {
    await rig.look();
    rig.simulator.settings.publicIpsMax = 2;
    expect(String(await rig.apply(toTake()))).toContain("has reached a limit");
    expect(rig.simulator.requests.count("associateIpAddress")).toBe(1);
    // A user may take the address that was refused.
    expect(rig.record.text).toBeUndefined();
  });

  test.each(["the server", "the role"])(
    "where %s shows no free address, CloudStack chooses, and the record says which as soon as it is known",
    async (who) => {
      await rig.look();
      if (who === "the server") rig.simulator.settings.showsFreeIps = false;
      else {
        const refusal = { kind: "error", code: 531, text: "no" } as const;
        rig.simulator.faults.set(refusal, { command: "listPublicIpAddresses", times: 1 });
      }
      expect(await rig.apply(toTake())).toBeUndefined();
      const id = rig.ipId("192.0.2.12");
      const records = rig.record.saved.map((text) => parseRecord(text, OWNER.uid, SIGNER)?.address);
      expect(records.map((one) => [one?.id, one?.wasFree])).toEqual([
        [undefined, false],
        [id, false],
        [undefined, undefined],
      ]);
      expect(rig.tagsOf(id)).toEqual(TAGS);
    },
  );

  test("where CloudStack chooses and answers with an error, the record then says nothing", async () => {
    rig.simulator.settings.showsFreeIps = false;
    await rig.look();
    const refusal = { kind: "error", code: 530, text: "no database" } as const;
    rig.simulator.faults.set(refusal, { command: "associateIpAddress", times: 1 });
    expect(String(await rig.apply(toTake()))).toContain("no database");
    expect(rig.record.text).toBeUndefined();
  });

  test("a server that gives another address than the one that was asked for has its choice recorded", async () => {
    await rig.look();
    const place = { networkid: rig.networkId, ipaddress: "192.0.2.14" };
    const { body } = await rig.ask("associateIpAddress", place, { method: "POST" });
    rig.simulator.faults.set(
      { kind: "json", body: { associateipaddressresponse: body } },
      { command: "associateIpAddress", times: 1 },
    );
    expect(await rig.apply(toTake())).toBeUndefined();
    const id = rig.ipId("192.0.2.14");
    const [asked, given] = rig.record.saved.map(
      (text) => parseRecord(text, OWNER.uid, SIGNER)?.address,
    );
    expect([asked?.ip, given]).toEqual([
      "192.0.2.12",
      { id, place: { networkId: rig.networkId }, atMs: expect.any(Number), wasFree: false },
    ]);
    expect(rig.tagsOf(id)).toEqual(TAGS);
  });

  test("a refusal that says nothing about the address keeps what an earlier process recorded", async () => {
    rig.record.text = toRecord("192.0.2.16");
    await rig.look();
    rig.simulator.settings.publicIpsMax = 2;
    expect(String(await rig.apply(toTake()))).toContain("has reached a limit");
    expect(parseRecord(rig.record.text, OWNER.uid, SIGNER)?.address?.ip).toBe("192.0.2.16");
  });

  test("an address for a project belongs to the project", async () => {
    const { projects } = rig.simulator.state;
    const accountId = projects.get(rig.story.projectId)?.accountId;
    const network = rig.simulator.state.networks.get(rig.networkId);
    Object.assign(network ?? {}, { accountId });
    rig.projectId = rig.story.projectId;
    await rig.look();
    expect(await rig.apply(toTake())).toBeUndefined();
    expect(rig.ip("192.0.2.12")).toMatchObject({ accountId, networkId: rig.networkId });
    const sent = rig.simulator.requests.entries;
    const asked = sent.find(({ command }) => command === "associateIpAddress");
    expect(asked?.parameters.get("projectid")).toBe(rig.story.projectId);
    expect(rig.store.observation?.addresses.size).toBe(1);
  });

  test("an address for a VPC belongs to no tier yet, and the record says which VPC", async () => {
    const { vpcId } = addTier(rig, "tier");
    await rig.look();
    expect(await rig.apply({ kind: "takeAddress", place: { vpcId } })).toBeUndefined();
    const [first] = rig.record.saved;
    expect(parseRecord(first, OWNER.uid, SIGNER)?.address?.place).toEqual({ vpcId });
    expect(rig.ip("192.0.2.12")).toMatchObject({ vpcId });
    expect(rig.tagsOf(rig.ipId("192.0.2.12"))).toEqual(TAGS);
    expect(rig.store.isValid).toBe(true);
    expect(rig.store.observation?.addresses).toEqual((await rig.look()).addresses);
  });

  test("nothing is asked for when the record cannot be kept", async () => {
    await rig.look();
    rig.record.onSave = () => Promise.reject(new Error("no API server"));
    expect(String(await rig.apply(toTake()))).toContain("no API server");
    expect(rig.commands()).toEqual([]);
  });

  test("asks again for a recorded address that is still free: its request may be carried out late", async () => {
    rig.record.text = toRecord("192.0.2.16");
    await rig.look();
    await rig.apply(toTake());
    expect(listTaken()).toEqual([...BEFORE, "192.0.2.16"]);
  });

  test("a recorded address that the last look did not show yet asks for a new look", async () => {
    rig.record.text = toRecord("192.0.2.16");
    await rig.look();
    await rig.change("associateIpAddress", { networkid: rig.networkId, ipaddress: "192.0.2.16" });
    expect(await rig.apply(toTake())).toBeUndefined();
    expect(rig.store.isValid).toBe(false);
    await converge();
    expect(listTaken()).toEqual([...BEFORE, "192.0.2.16"]);
  });

  test("a recorded address that is shown as free and refused all the same is no dead end", async () => {
    rig.record.text = toRecord("192.0.2.16");
    await rig.look();
    rig.simulator.faults.set({ kind: "error", code: 533, text: "no" }, { value: "192.0.2.16" });
    expect(await rig.apply(toTake())).toBeUndefined();
    expect(listTaken()).toEqual([...BEFORE, "192.0.2.12"]);
    expect(rig.record.text).toBeUndefined();
  });

  test.each([0, 200])(
    "a recorded address that an old request takes in between is not lost (%d ms later)",
    async (ms) => {
      rig.record.text = toRecord("192.0.2.16", rig.clock.now() - 5_000);
      await rig.look();
      const place = { networkid: rig.networkId, ipaddress: "192.0.2.16" };
      rig.record.onSave = async () => {
        await rig.ask("associateIpAddress", place, { method: "POST" });
        await rig.clock.advance(ms);
        rig.record.onSave = () => {};
      };
      expect(await rig.apply(toTake())).toBeUndefined();
      expect(rig.store.isValid).toBe(false);
      await converge();
      expect(listTaken()).toEqual([...BEFORE, "192.0.2.16"]);
    },
  );

  test("no other address is taken while the job of a recorded one runs", async () => {
    rig.record.text = toRecord("192.0.2.16");
    const place = { networkid: rig.networkId, ipaddress: "192.0.2.16" };
    rig.simulator.settings.jobMs = 60_000;
    await rig.ask("associateIpAddress", place, { method: "POST" });
    await rig.look();
    expect(rig.store.observation?.addresses.get(rig.ipId("192.0.2.16"))?.state).toBe("Allocating");
    expect(await rig.apply(toTake())).toBeUndefined();
    expect([rig.store.isValid, listTaken()]).toEqual([false, [...BEFORE, "192.0.2.16"]]);
  });

  test("a refused address that the Service names is not recorded any more", async () => {
    giveAway("192.0.2.15");
    await rig.look();
    expect(String(await rig.apply(toTake("192.0.2.15")))).toContain("no free public IP 192.0.2.15");
    expect(rig.record.text).toBeUndefined();
  });

  test.each([
    ["another account has", () => giveAway("192.0.2.16"), "192.0.2.16"],
    ["the account uses elsewhere", () => moveElsewhere("192.0.2.16"), "192.0.2.16"],
  ])("a recorded address that %s is left alone", async (_title, prepare, address) => {
    rig.record.text = toRecord(address);
    prepare();
    await rig.look();
    await rig.apply(toTake());
    expect(rig.tagsOf(rig.ipId(address))).toEqual({});
    expect(rig.tagsOf(rig.ipId("192.0.2.12"))).toEqual(TAGS);
  });
});

function toRecord(ip: string, atMs = rig.clock.now()): string | undefined {
  const place = { networkId: rig.networkId };
  const address = { id: rig.ipId(ip), ip, place, atMs, wasFree: true };
  return formatRecord({ address }, OWNER.uid, SIGNER);
}

function moveElsewhere(address: string): void {
  const ip = rig.ip(address);
  const networkId = "99999999-2222-4333-8444-555555555555";
  Object.assign(ip ?? {}, { state: "Allocated", accountId: rig.story.accountIds.acme, networkId });
}

/** Everything that must be so in the end. */
function expectRest(): void {
  expect(listTaken()).toHaveLength(BEFORE.length + 1);
  const [taken] = listTaken().slice(BEFORE.length);
  expect(rig.tagsOf(rig.ipId(taken ?? ""))).toEqual(TAGS);
  expect(rig.record.text).toBeUndefined();
}

describe("the process ends while it takes an address", () => {
  const kinds = ["reset", "resetAfter", "hang", "hangAfter"] as const;
  const COMMANDS = [
    "listPublicIpAddresses",
    "associateIpAddress",
    "queryAsyncJobResult",
    "queryAsyncJobResult",
    "createTags",
    "queryAsyncJobResult",
    "queryAsyncJobResult",
  ];
  const cuts = kinds.flatMap((kind) =>
    COMMANDS.map((command, at) => [kind, at + 1, command] as const),
  );

  test.each(sample(cuts))(
    "%s of its request %d, %s, and the next one completes it",
    async (kind, at) => {
      rig.simulator.settings.jobMs = 500;
      await rig.look();
      rig.simulator.faults.set({ kind }, { skip: at - 1, times: 1 });
      const dying = rig.apply(toTake());
      const isRunning = (): boolean => Bun.peek.status(dying) === "pending";
      while (rig.simulator.faults.taken === 0 && isRunning()) await advance();
      rig.restart();
      await dying;
      rig.simulator.faults.clear();
      expect(await converge()).toBeLessThanOrEqual(2);
      expectRest();
    },
  );

  test.each(["before", "after"] as const)("%s Kubernetes has each record", async (when) => {
    for (const at of [1, 2]) {
      await rig.look();
      let saves = 0;
      rig.record.onSave = (now) => {
        if (now !== when) return undefined;
        saves += 1;
        if (saves < at) return undefined;
        rig.restart();
        return Promise.reject(new Error("killed"));
      };
      expect(String(await rig.apply(toTake()))).toContain("killed");
      rig.record.onSave = () => {};
      await converge();
      expectRest();
      const [taken] = listTaken().slice(BEFORE.length);
      await rig.change("disassociateIpAddress", { id: rig.ipId(taken ?? "") });
    }
  });

  test("without a restart: a lost answer, and the same process goes on", async () => {
    for (const command of ["associateIpAddress", "createTags"]) {
      await rig.look();
      rig.simulator.faults.set({ kind: "resetAfter" }, { command, times: 1 });
      expect(String(await rig.apply(toTake()))).toContain("may have carried out");
      expect(rig.store.isValid).toBe(false);
      await converge();
      expectRest();
      const [taken] = listTaken().slice(BEFORE.length);
      await rig.change("disassociateIpAddress", { id: rig.ipId(taken ?? "") });
    }
  });
});

async function advance(): Promise<void> {
  await Bun.sleep(1);
  await rig.clock.advance(50);
}

/** Another user of the account asks for an address. */
async function askAsOther(address: string): Promise<void> {
  const { state, user } = rig.simulator;
  const account = state.accounts.get(user.accountId);
  if (account === undefined) throw new Error("The user has no account");
  const other = toUser({ username: "deployer", account });
  state.users.set(other.id, other);
  const fields = { networkid: rig.networkId, ipaddress: address };
  await rig.ask("associateIpAddress", fields, { method: "POST", username: other.username });
}

describe("who took the address", () => {
  test.each([
    ["us", "runs", "pending jobs"],
    ["others", "runs", "pending jobs"],
    [undefined, "has ended", "pending jobs"],
    ["us", "has ended", "ended jobs"],
    ["others", "has ended", "ended jobs"],
    ["us", "has ended", "events"],
    ["others", "has ended", "events"],
  ] as const)("CloudStack says: %p, when the job %s, by %s", async (by, state, source) => {
    Object.assign(rig.simulator.settings, {
      listsEndedJobs: source === "ended jobs",
      jobMs: 60_000,
    });
    const refusal = { kind: "error", code: 432, text: "not available" } as const;
    if (source !== "events") rig.simulator.faults.set(refusal, { command: "listEvents" });
    await rig.look();
    if (by === "others") await askAsOther("192.0.2.12");
    else {
      rig.simulator.faults.set({ kind: "resetAfter" }, { command: "associateIpAddress", times: 1 });
      await rig.apply(toTake());
    }
    if (state === "has ended") await rig.clock.advance(60_000);
    const id = rig.ipId("192.0.2.12");
    const asked = new Map([[id, rig.clock.now()]]);
    const { signal } = new AbortController();
    const { session } = rig;
    const reading = readAllocatedBy({ session, asked, projectId: undefined }, signal);
    expect(await rig.finish(reading)).toEqual(new Map(by && [[id, by]]));
  });
});
