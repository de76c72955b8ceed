/**
 * Whatever Xen Orchestra, or something in between, answers: an inventory of what was said well, or a reason.
 * @module
 */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { CloudError } from "../../../lib/cloud/errors.ts";
import type { Inventory } from "../../../lib/cloud/inventory/inventory.ts";
import type { Instance, NodeIdentity } from "../../../lib/cloud/instance.ts";
import { parseIp } from "../../../lib/core/net/ip.ts";
import { isLabelValue } from "../../../lib/core/text/label.ts";
import { parseUuid } from "../../../lib/core/text/values.ts";
import { HOST_PARIS_2, POOL_PARIS, WORKER_1 } from "../../providers/xenorchestra/fake_server.ts";
import { CAPTURE_NAMES, readCaptureText } from "../../support/cloud/captures.ts";
import { tries } from "../../support/extent.ts";
import { applyDamage, type Damage, damage } from "../damage.ts";
import { bendReply, toMishaps, withText } from "../mishap.ts";
import { checkWords, TOKEN, toNode, XoStage } from "./stage.ts";
import { longTest } from "../../support/long_tests.ts";

const never = new AbortController().signal;
const LISTS = ["vms", "hosts", "pools", "networks", "vifs"] as const;
const SETTINGS = { addresses: { network: "k8s-nodes" } };

/** Nothing on it that Kubernetes refuses, or that nobody said. */
function checkSound(instance: Instance, id: string, said: string): void {
  const { providerId, region = "", zone = "", instanceType = "1vCPU-1GB", labels } = instance;
  expect(providerId).toBe(`xenorchestra://${parseUuid(region)}/${parseUuid(id)}`);
  for (const value of [region, zone, ...Object.values(labels)])
    expect(isLabelValue(value)).toBe(true);
  if (zone !== "") expect(parseUuid(zone)).toBe(zone);
  expect(instanceType).toMatch(/^[1-9]\d*vCPU-\d+GB$/);
  for (const { address } of instance.addresses) {
    expect(parseIp(address)?.text).toBe(address);
    expect(said).toContain(address);
  }
  const { memory = "0 GiB", ...others } = instance.details;
  // It is shown in another unit.
  expect(memory).toMatch(/^\d+(\.\d+)? GiB$/);
  for (const value of Object.values(others)) {
    expect(said).toContain(JSON.stringify(value).slice(1, -1));
  }
}

/** Names of the collection and the ID of the record that was damaged; what stands around it may still be whole. */
function findHit(collection: string, before: unknown, path: readonly string[]): Set<string> {
  const record: unknown = Array.isArray(before) ? before[Number(path[0])] : undefined;
  const { id, $VM } = Object(record);
  return new Set([String(collection === "vifs" ? $VM : id)]);
}

async function takeDamaged(
  stage: XoStage,
  collection: string,
  damages: readonly Damage[],
): Promise<{ result: Inventory | CloudError; hit: Set<string>; said: string }> {
  const hit = new Set<string>();
  let said = "";
  stage.bend = (path, reply, text) => {
    if (path.split("?")[0] !== `/${collection}`) {
      said += text;
      return reply;
    }
    let value: unknown = JSON.parse(text);
    for (const one of damages) {
      const before = value;
      const after = applyDamage(value, one);
      for (const id of findHit(collection, before, after.path)) hit.add(id);
      ({ value } = after);
    }
    const bent = JSON.stringify(value);
    said += bent;
    return withText(reply, bent);
  };
  return { result: await stage.list(), hit, said };
}

describe("XenOrchestraProvider.listInventory()", () => {
  test("keeps what is well formed, and shows nothing of what is not", async () => {
    await using good = new XoStage(SETTINGS);
    const nodes = good.listNodes();
    const whole = await good.list();
    if (whole instanceof CloudError) throw whole;
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...LISTS),
        fc.array(damage, { minLength: 1, maxLength: 12 }),
        async (collection, damages) => {
          await using stage = new XoStage(SETTINGS);
          const { result, hit, said } = await takeDamaged(stage, collection, damages);
          if (result instanceof CloudError) return;
          for (const [id, instance] of result.instances) checkSound(instance, id, said);
          for (const node of nodes) {
            const id = node.providerId?.split("/").at(-1) ?? "";
            const presence = stage.provider.findInstance(result, node);
            expect(presence.kind).not.toBe("absent");
            if (presence.kind === "unknown") checkWords(new Error(presence.message));
            const addresses = presence.kind === "present" ? presence.instance.addresses : [];
            if (collection === "vifs") {
              expect(whole.instances.get(id)?.addresses).toEqual(
                expect.arrayContaining([...addresses]),
              );
            }
            // Its own record, and those of its interfaces, are as they were.
            if (hit.has(id) || ["hosts", "pools", "networks"].includes(collection)) continue;
            expect(presence).toMatchObject({ kind: "present", instance: whole.instances.get(id) });
          }
          if (collection === "vms" || collection === "vifs") return;
          // What surrounds a machine is damaged: it is there all the same, and knows less of where.
          expect([...result.instances.keys()].sort()).toEqual([...whole.instances.keys()].sort());
        },
      ),
      tries(60),
    );
  });

  test("believes no reply that is cut off, wherever, nor one in which a byte is no UTF-8", async () => {
    await using stage = new XoStage();
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom("/vms", "/hosts", "/pools"),
        fc.nat(),
        fc.boolean(),
        async (which, place, isCut) => {
          stage.bend = (path, reply, text) => {
            if (!path.startsWith(which)) return reply;
            const bytes = new TextEncoder().encode(text);
            const at = place % bytes.length;
            if (isCut) return withText(reply, bytes.slice(0, at));
            bytes[at] = 0xff;
            return withText(reply, bytes);
          };
          expect(await stage.list()).toMatchObject({ name: "CloudError", kind: "protocol" });
        },
      ),
      tries(60),
    );
  });

  longTest("takes any capture for any list, and none of them by surprise", async () => {
    await using stage = new XoStage(SETTINGS);
    for (const capture of CAPTURE_NAMES) {
      const { response } = JSON.parse(readCaptureText(capture));
      const { status, headers, body, text } = response;
      for (const collection of ["/vms", "/pools"]) {
        stage.bend = (path, reply) =>
          path.startsWith(collection)
            ? new Response([204, 304].includes(status) ? null : (text ?? JSON.stringify(body)), {
                status,
                headers: { "content-type": headers["content-type"] ?? "" },
              })
            : reply;
        const result = await stage.list();
        if (result instanceof CloudError) expect(result.message).not.toBe("");
        else for (const id of result.instances.keys()) expect(parseUuid(id)).toBe(id);
      }
    }
  });

  test("a record that is named twice, or in two pools, is unknown, and hides no other", async () => {
    await using stage = new XoStage();
    const [vm, other] = stage.fake.list("vms").filter(({ $pool }) => $pool === POOL_PARIS);
    if (vm === undefined || other === undefined) throw new Error("no VMs");
    const pool = stage.fake.list("pools").find(({ id }) => id !== POOL_PARIS)?.id;
    stage.fake.list("vms").push({ ...vm, $pool: pool });
    const inventory = await stage.list();
    if (inventory instanceof CloudError) throw inventory;
    expect(stage.provider.findInstance(inventory, toNode(vm))).toMatchObject({
      kind: "unknown",
      reason: "undecodable",
      message: expect.stringContaining("it is listed twice"),
    });
    expect(stage.provider.findInstance(inventory, toNode(other)).kind).toBe("present");
  });

  test("of a key that stands twice in a record one counts, and nothing else", async () => {
    await using stage = new XoStage();
    stage.bend = (path, reply, text) =>
      path.startsWith("/vms")
        ? withText(reply, text.replaceAll('{"id":', '{"id":"x","__proto__":{"$pool":"y"},"id":'))
        : reply;
    const inventory = await stage.list();
    if (inventory instanceof CloudError) throw inventory;
    expect(inventory.instances.size).toBe(stage.fake.list("vms").length);
    for (const instance of inventory.instances.values())
      expect(parseUuid(instance.region ?? "")).toBeDefined();
  });
});

describe("XenOrchestraProvider.readInstance()", () => {
  /** Each is a world in which it is not proven that the VM is gone. */
  const WORLDS: Readonly<Record<string, (stage: XoStage) => void>> = {
    "the VM is there": () => {},
    "its pool is lost": ({ fake }) => fake.dropPool(POOL_PARIS),
    "its pool is lost, and looks connected": ({ fake }) => {
      fake.dropPool(POOL_PARIS);
      fake.change("servers", () => true, { status: "connected" });
    },
    "its pool shows no VMs": ({ fake }) => {
      fake.collections["vms"] = [];
      fake.collections["vm-controllers"] = [];
    },
    "its pool has no master": ({ fake }) => {
      fake.remove("vms", WORKER_1);
      fake.change("pools", POOL_PARIS, { master: HOST_PARIS_2 });
      fake.remove("hosts", HOST_PARIS_2);
    },
    "another pool is lost": ({ fake }) => {
      fake.remove("vms", WORKER_1);
      const other = fake.list("pools").find(({ id }) => id !== POOL_PARIS);
      fake.dropPool(other?.id ?? "");
    },
    "there is a template of it": ({ fake }) => {
      fake.remove("vms", WORKER_1);
      fake.collections["vm-templates"] = [{ id: WORKER_1, $pool: POOL_PARIS }];
    },
  };
  const NODE: NodeIdentity = { name: "w", providerId: `xenorchestra://${POOL_PARIS}/${WORKER_1}` };

  /** A 404 about something else, or by somebody else. */
  const OTHERS: readonly unknown[] = [
    "<html>",
    null,
    [],
    { error: "not found" },
    { error: `no such VM ${WORKER_1}` },
    { error: `no such VM ${WORKER_1}`, data: null },
    { error: "no such VM x", data: { id: HOST_PARIS_2, type: "VM" } },
    { error: "no such host", data: { id: WORKER_1, type: "host" } },
    { error: "no such VM", data: { id: WORKER_1.toUpperCase(), type: "VM" } },
    { error: "no such VM", data: { type: "VM" } },
    { error: "no such VM", data: [WORKER_1, "VM"] },
  ];

  const mishap = toMishaps({
    statuses: [201, 202, 206, 302, 400, 402, 405, 409, 410, 418, 422, 429, 451, 500, 503, 599],
    pageStatuses: [200, 401, 403, 500, 502],
    others: OTHERS,
  });

  /** Taken from such a list, a record is as if it might not be seen, which is allowed for; so is what is a switch. */
  function isSilence(path: string, before: string, after: string, status: number): boolean {
    // A server may be too old to have these.
    if (/^\/(servers|vm-templates)/.test(path) && status === 404) return true;
    if (!path.startsWith("/servers")) return false;
    if (!after.startsWith("[")) return false;
    try {
      const [servers, bent] = [JSON.parse(before), JSON.parse(after)];
      return bent.length !== servers.length;
    } catch {
      return false;
    }
  }

  test.each(Object.keys(WORLDS))("never says absent by a damaged reply while %s", async (world) => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(fc.nat(14), mishap), { minLength: 1, maxLength: 3 }),
        async (mishaps) => {
          await using stage = new XoStage();
          await stage.list([NODE]);
          WORLDS[world]?.(stage);
          let count = 0;
          stage.bend = async (path, reply, text) => {
            const one = mishaps.find(([at]) => at === count)?.[1];
            count += 1;
            if (one === undefined) return reply;
            const bent = bendReply(one, { reply, text, otherStatus: 404 });
            const after = await bent.clone().text();
            return isSilence(path, text, after, bent.status) ? reply : bent;
          };
          const inventory = await stage.list([NODE]);
          const known = inventory instanceof CloudError ? await relist(stage) : inventory;
          const presence = await stage.provider.readInstance(known, NODE, never);
          expect(presence.kind).not.toBe("absent");
          if (presence.kind === "unknown") checkWords(new Error(presence.message));
        },
      ),
      tries(15),
    );
  });

  test("never says absent by a 404 that is about something else, or says too little", async () => {
    await using stage = new XoStage();
    const inventory = await stage.list([NODE]);
    if (inventory instanceof CloudError) throw inventory;
    stage.fake.remove("vms", WORKER_1);
    const without = await stage.list([NODE]);
    if (without instanceof CloudError) throw without;
    for (const said of OTHERS) {
      stage.bend = (path, reply) =>
        path.startsWith("/vms/") ? Response.json(said, { status: 404 }) : reply;
      expect(await stage.provider.readInstance(without, NODE, never)).toMatchObject({
        kind: "unknown",
        reason: "protocol",
      });
    }
  });

  async function relist(stage: XoStage): Promise<Inventory> {
    for (let tries = 0; tries < 10; tries += 1) {
      const inventory = await stage.list([NODE]);
      if (!(inventory instanceof CloudError)) return inventory;
      await stage.clock.advance(60_000);
    }
    throw new Error("it does not recover");
  }

  test("says absent when nothing is damaged, so that the others prove something", async () => {
    await using stage = new XoStage();
    await stage.list([NODE]);
    stage.fake.remove("vms", WORKER_1);
    const inventory = await stage.list([NODE]);
    if (inventory instanceof CloudError) throw inventory;
    expect(await stage.provider.readInstance(inventory, NODE, never)).toMatchObject({
      kind: "absent",
    });
  });

  test("shows nothing secret, whatever repeats the request", async () => {
    await using stage = new XoStage();
    const page = { error: `bad cookie authenticationToken=${TOKEN}`, data: { [TOKEN]: 1 } };
    for (const status of [400, 401, 403, 404, 409, 422, 429, 500, 503]) {
      stage.bend = () => Response.json(page, { status });
      const error = await stage.list();
      expect(error).toBeInstanceOf(CloudError);
      await stage.clock.advance(120_000);
    }
  });
});
