/**
 * Boot overrides of a user that lacks the right to set boot orders, or loses it.
 * @module
 */
import { expect, test } from "bun:test";
import {
  isRefusedForGood,
  RefusedOrderError,
  startsNothing,
} from "../../../../lib/controllers/vino/redfish/order_refusal.ts";
import type { VinoManagement } from "../../../../lib/controllers/vino/redfish/management.ts";
import { RefusedPowerError } from "../../../../lib/cloud/capabilities/machine_power.ts";
import { CloudError } from "../../../../lib/cloud/errors.ts";
import { ManagementRig } from "../../../support/vino/management_rig.ts";

const { signal } = new AbortController();
const ONCE = { device: "network", duration: "once" } as const;
const MINUTE_MS = 60_000;
const DONE = { kind: "done" };
const DENIED = { kind: "refused", refusal: "denied" };

/** From now on the cloud refuses all orders. */
function deny(rig: ManagementRig, refusal: "denied" | "busy" = "denied"): void {
  rig.power.onCall = (call, when) => {
    if (!call.startsWith("order") || when === "after") return;
    throw new RefusedPowerError(refusal, "Xen Orchestra refuses: give the user the old ACL");
  };
}

async function settled<T>(rig: ManagementRig, work: Promise<T>): Promise<T> {
  await rig.clock.advance(5_000);
  return await work;
}

function set(rig: ManagementRig, management: VinoManagement, change: object): Promise<unknown> {
  return settled(rig, management.setBoot("a", change, signal));
}

test("isRefusedForGood() is about what only a person can change", () => {
  const toError = (refusal: "denied" | "unsupported" | "busy"): RefusedOrderError =>
    new RefusedOrderError(new RefusedPowerError(refusal, "no"), {
      override: { ...ONCE, before: ["disk"] },
      seen: { bootOrder: ["disk"], power: "stopped" },
      isFirst: true,
    });
  expect(isRefusedForGood(toError("denied"))).toBe(true);
  expect(isRefusedForGood(toError("unsupported"))).toBe(true);
  expect(isRefusedForGood(toError("busy"))).toBe(false);
  expect(isRefusedForGood(new RefusedPowerError("denied", "no"))).toBe(false);
});

test("startsNothing() is about actions after which no machine begins with its boot order", () => {
  const quiet = ["off", "gracefulOff", "pause", "resume"] as const;
  const others = ["on", "restart", "gracefulRestart", "cycle"] as const;
  expect(quiet.every(startsNothing)).toBe(true);
  expect(others.some(startsNothing)).toBe(false);
});

for (const refusal of ["denied", "busy"] as const) {
  test(`VinoManagement leaves nothing behind of an override that the cloud refuses as ${refusal}`, async () => {
    const rig = new ManagementRig();
    const process = rig.createProcess();
    process.lead();
    deny(rig, refusal);
    expect(await set(rig, process.management, ONCE)).toMatchObject({ kind: "refused", refusal });
    expect(rig.secrets.override("a")).toBeUndefined();
    for (const action of ["on", "restart", "off", "on", "cycle"] as const) {
      const done = await settled(rig, process.management.reset("a", action, signal));
      expect([action, done]).toMatchObject([action, DONE]);
    }
    expect(rig.power.starts.every((start) => start === "a disk")).toBe(true);
    const asked = rig.power.calls.length;
    await rig.clock.advance(60 * MINUTE_MS);
    expect(rig.power.calls).toHaveLength(asked);
    process.kill();
  });
}

test("VinoManagement keeps the override that was there before one that the cloud refuses", async () => {
  const rig = new ManagementRig();
  const { management } = rig.createProcess();
  await set(rig, management, { ...ONCE, duration: "always" });
  const before = rig.secrets.override("a");
  deny(rig);
  expect(await set(rig, management, { device: "cd" })).toMatchObject(DENIED);
  expect(rig.secrets.override("a")).toBe(before);
  rig.power.onCall = () => {};
  expect(await set(rig, management, { device: "none" })).toMatchObject(DONE);
  expect(rig.power.get("a").bootOrder).toEqual(["disk", "cd"]);
});

test("VinoManagement keeps the record of a refused order if the machine has another one than before", async () => {
  const rig = new ManagementRig();
  const { management } = rig.createProcess();
  rig.power.onCall = (call, when) => {
    if (!call.startsWith("order") || when === "before") return;
    throw new RefusedPowerError("denied", "It was carried out all the same");
  };
  expect(await set(rig, management, ONCE)).toMatchObject(DENIED);
  expect(rig.secrets.override("a")).toContain("network");
});

test("VinoManagement keeps the record of an order whose fate is not known, and undoes it", async () => {
  const rig = new ManagementRig();
  const process = rig.createProcess();
  rig.power.onCall = (call, when) => {
    if (call.startsWith("order") && when === "after") throw new CloudError("unreachable", "lost");
  };
  expect(await set(rig, process.management, ONCE)).toMatchObject({ kind: "silent" });
  expect(rig.secrets.override("a")).toContain("network");
  rig.power.onCall = () => {};
  process.lead();
  rig.power.start("a");
  await rig.clock.advance(MINUTE_MS);
  rig.power.start("a");
  await rig.clock.advance(5 * MINUTE_MS);
  expect(rig.power.get("a").bootOrder).toEqual(["disk", "cd"]);
  expect(rig.secrets.override("a")).toBeUndefined();
  process.kill();
});

/** The order of an earlier process was lost, and the right with it. */
async function loseOrder(): Promise<ManagementRig> {
  const rig = new ManagementRig();
  const { management } = rig.createProcess();
  rig.power.onCall = (call) => {
    if (call.startsWith("order")) throw new CloudError("unreachable", "lost");
  };
  await set(rig, management, ONCE);
  expect(rig.secrets.override("a")).toContain("network");
  deny(rig);
  return rig;
}

test("VinoManagement switches a machine on that has its old order, although an order of its is refused", async () => {
  const rig = await loseOrder();
  const { management } = rig.createProcess();
  expect(await settled(rig, management.reset("a", "on", signal))).toMatchObject(DONE);
  expect(rig.power.starts).toEqual(["a disk"]);
  expect(rig.secrets.override("a")).toContain("network");
});

test("VinoManagement ends an override at once that a client takes back, and that never had an effect", async () => {
  const rig = await loseOrder();
  const { management } = rig.createProcess();
  expect(await set(rig, management, ONCE)).toMatchObject(DENIED);
  expect(rig.secrets.override("a")).toContain("network");
  expect(await set(rig, management, { duration: "never" })).toMatchObject(DONE);
  expect(rig.secrets.override("a")).toBeUndefined();
});

test("VinoManagement forgets a refused order that had no effect for two minutes, and not earlier", async () => {
  const rig = await loseOrder();
  const process = rig.createProcess();
  process.lead();
  await rig.clock.advance(1.9 * MINUTE_MS);
  expect(rig.secrets.override("a")).toContain("network");
  await rig.clock.advance(3 * MINUTE_MS);
  expect(rig.secrets.override("a")).toBeUndefined();
  const records = rig.logged.filter((message) => message.startsWith("Cannot finish"));
  expect(records).toHaveLength(1);
  expect(rig.warnings).toEqual([]);
  process.kill();
});

/** An override was used up, and the right is lost. */
async function loseRight(): Promise<ManagementRig> {
  const rig = new ManagementRig();
  const { management } = rig.createProcess();
  await set(rig, management, ONCE);
  rig.power.start("a");
  deny(rig);
  return rig;
}

test("VinoManagement does not start a machine from the wrong device without a word", async () => {
  const rig = await loseRight();
  const process = rig.createProcess();
  process.lead();
  await rig.clock.advance(120 * MINUTE_MS);
  expect(rig.logged).toHaveLength(1);
  expect(rig.warnings).toHaveLength(1);
  expect(rig.warnings[0]).toContain("would start from its network, and not from its disk");
  const { management } = process;
  // It runs already.
  expect(await settled(rig, management.reset("a", "on", signal))).toMatchObject(DONE);
  expect(await settled(rig, management.reset("a", "restart", signal))).toMatchObject(DENIED);
  expect(await settled(rig, management.reset("a", "off", signal))).toMatchObject(DONE);
  const answer = await settled(rig, management.reset("a", "on", signal));
  expect(answer).toMatchObject({ ...DENIED, message: rig.warnings[0] });
  expect(rig.power.starts).toHaveLength(1);
  rig.power.onCall = () => {};
  expect(await settled(rig, management.reset("a", "on", signal))).toMatchObject(DONE);
  expect(rig.power.starts).toEqual(["a network", "a disk"]);
  process.kill();
});

test("VinoManagement remembers that an override was used up when the cloud was silent", async () => {
  const rig = await loseRight();
  const { management } = rig.createProcess();
  rig.power.onCall = (call) => {
    if (call.startsWith("order")) throw new CloudError("unreachable", "silent");
  };
  expect(await settled(rig, management.reset("a", "off", signal))).toMatchObject(DONE);
  rig.power.onCall = () => {};
  expect(await settled(rig, management.reset("a", "on", signal))).toMatchObject(DONE);
  expect(rig.power.starts).toEqual(["a network", "a disk"]);
});

test("VinoManagement starts a machine again after a person set its boot order by hand", async () => {
  const rig = await loseRight();
  const { management } = rig.createProcess();
  expect(await settled(rig, management.reset("a", "off", signal))).toMatchObject(DONE);
  expect(await settled(rig, management.reset("a", "on", signal))).toMatchObject(DENIED);
  rig.power.machines.set("a", { ...rig.power.get("a"), bootOrder: ["disk", "cd"] });
  expect(await settled(rig, management.reset("a", "on", signal))).toMatchObject(DONE);
  expect(rig.secrets.override("a")).toBeUndefined();
});

test("VinoManagement sets a device again that a machine is stuck with", async () => {
  const rig = await loseRight();
  const { management } = rig.createProcess();
  rig.power.stop("a");
  expect(await set(rig, management, ONCE)).toMatchObject(DONE);
  expect(await settled(rig, management.reset("a", "on", signal))).toMatchObject(DONE);
  expect(rig.power.starts).toEqual(["a network", "a network"]);
  expect(await set(rig, management, { duration: "never" })).toMatchObject(DENIED);
  rig.power.onCall = () => {};
  const process = rig.createProcess();
  process.lead();
  await rig.clock.advance(5 * MINUTE_MS);
  expect(rig.power.get("a").bootOrder).toEqual(["disk", "cd"]);
  process.kill();
});
