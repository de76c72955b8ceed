/**
 * Orders of a user of Redfish: refused, for want of a right too, and done.
 * @module
 */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { RefusedPowerError } from "../../../../lib/cloud/capabilities/machine_power.ts";
import { CloudError } from "../../../../lib/cloud/errors.ts";
import { KubeError } from "../../../../lib/kube/api/errors.ts";
import {
  INTERFACES,
  MachinePowerDouble,
  makeMachine,
} from "../../../support/cloud/machine_power_double.ts";
import { loginOf, ManagementRig, SecretsDouble } from "../../../support/vino/management_rig.ts";
import {
  isRefusedForGood,
  RefusedOrderError,
  startsNothing,
} from "../../../../lib/controllers/vino/redfish/order_refusal.ts";
import { VinoManagement } from "../../../../lib/controllers/vino/redfish/management.ts";
import { listManagedMachines } from "../../../../lib/controllers/vino/redfish/redfish.ts";
import type { Vino } from "../../../../lib/controllers/vino/resource/vino.ts";
import type { MachineEntry } from "../../../../lib/controllers/vino/resource/vino_machine.ts";
import type { ManagedMachine } from "../../../../lib/controllers/vino/redfish/credentials.ts";
import { silentLogger } from "../../../../lib/core/log.ts";
import { MetricsRegistry } from "../../../../lib/core/metrics.ts";
import { createRedfishMetrics } from "../../../../lib/http/redfish/metrics.ts";
import { createRedfishService } from "../../../../lib/http/redfish/service.ts";
import { Rig } from "../../../providers/xenorchestra/machines/rig.ts";

const { signal } = new AbortController();
const ONCE = { device: "network", duration: "once" } as const;

function createRig(power?: MachinePowerDouble): { rig: ManagementRig; management: VinoManagement } {
  const rig = new ManagementRig(power);
  return { rig, management: rig.createProcess().management };
}

async function settled<T>(rig: ManagementRig, work: Promise<T>): Promise<T> {
  await rig.clock.advance(5_000);
  return await work;
}

test("VinoManagement shows a machine with what it starts from", async () => {
  const { rig, management } = createRig();
  expect(await management.read("a", signal)).toMatchObject({
    kind: "done",
    value: { id: "a", power: "stopped", boot: { duration: "never" } },
  });
  await settled(rig, management.setBoot("a", ONCE, signal));
  expect(await management.read("a", signal)).toMatchObject({ value: { boot: ONCE } });
});

test("VinoManagement shows the interfaces of a machine", async () => {
  const { management } = createRig();
  const value = INTERFACES;
  expect(await management.readInterfaces("a", signal)).toEqual({ kind: "done", value });
});

test("VinoManagement shows no machine that has another name than its Vino gave it, or is gone", async () => {
  const { rig, management } = createRig(
    new MachinePowerDouble([makeMachine("a"), makeMachine("b")]),
  );
  rig.power.machines.set("a", makeMachine("a", { name: "database" }));
  rig.power.machines.delete("b");
  for (const id of ["a", "b", "c"]) {
    const none = { kind: "done", value: undefined } as const;
    expect(await management.read(id, signal)).toEqual(none);
    expect(await management.readInterfaces(id, signal)).toEqual(none);
  }
  const refused = { kind: "refused", refusal: "notOurs" };
  expect(await management.setBoot("a", ONCE, signal)).toMatchObject(refused);
  expect(await management.reset("a", "off", signal)).toMatchObject(refused);
  expect(await management.reset("c", "off", signal)).toMatchObject(refused);
  expect(rig.power.calls).toEqual([]);
});

test("VinoManagement gives the old order back when a client ends the override", async () => {
  const { rig, management } = createRig();
  await settled(rig, management.setBoot("a", { ...ONCE, duration: "always" }, signal));
  expect(rig.power.get("a").bootOrder).toEqual(["network", "disk", "cd"]);
  await settled(rig, management.setBoot("a", { device: "cd" }, signal));
  expect(rig.power.get("a").bootOrder).toEqual(["cd", "disk"]);
  await settled(rig, management.setBoot("a", { duration: "never" }, signal));
  expect(rig.power.get("a").bootOrder).toEqual(["disk", "cd"]);
  expect(rig.secrets.override("a")).toBeUndefined();
});

describe("release() of a machine whose host is gone", () => {
  test("ends what was set for the next start, and lets no client in", async () => {
    const { rig, management } = createRig();
    const [machine] = rig.machines;
    if (machine === undefined) throw new Error("Cannot test: there is no machine");
    await settled(rig, management.setBoot("a", ONCE, signal));
    expect(await management.findSystems(loginOf("a"), signal)).toMatchObject({ value: ["a"] });
    const late = management.setBoot("a", { device: "cd" }, signal);
    const ended = management.release(machine, signal);
    expect(await settled(rig, ended)).toBeUndefined();
    expect(await late).toMatchObject({ kind: "refused", refusal: "notOurs" });
    expect(rig.secrets.override("a")).toBeUndefined();
    expect(rig.power.get("a").bootOrder).toEqual(["disk", "cd"]);
    expect(await management.findSystems(loginOf("a"), signal)).toMatchObject({ value: [] });
    expect(await management.read("a", signal)).toMatchObject({ value: undefined });
    management.expect(machine, loginOf("a"));
    expect(await management.findSystems(loginOf("a"), signal)).toMatchObject({ value: ["a"] });
  });

  test("leaves what was set for good, and changes nothing if nothing was set", async () => {
    const { rig, management } = createRig();
    const [machine] = rig.machines;
    if (machine === undefined) throw new Error("Cannot test: there is no machine");
    expect(await management.release(machine, signal)).toBeUndefined();
    expect(rig.power.calls).toEqual([]);
    management.expect(machine, loginOf("a"));
    await settled(rig, management.setBoot("a", { ...ONCE, duration: "always" }, signal));
    expect(await settled(rig, management.release(machine, signal))).toBeUndefined();
    expect(rig.power.get("a").bootOrder[0]).toBe("network");
    expect(rig.secrets.override("a")).toBeDefined();
  });

  test("says why another try is needed, and goes on without what the cloud refuses", async () => {
    const { rig, management } = createRig();
    const [machine] = rig.machines;
    if (machine === undefined) throw new Error("Cannot test: there is no machine");
    await settled(rig, management.setBoot("a", ONCE, signal));
    rig.power.onCall = () => {
      throw new CloudError("unreachable", "no answer");
    };
    const message = "Cannot undo yet what its management controller set: no answer";
    expect(await settled(rig, management.release(machine, signal))).toBe(message);
    rig.power.onCall = () => {
      throw new RefusedPowerError("busy", "another task runs");
    };
    expect(await settled(rig, management.release(machine, signal))).toContain("another task runs");
    rig.power.onCall = () => {
      throw new RefusedPowerError("denied", "no right");
    };
    expect(await settled(rig, management.release(machine, signal))).toBeUndefined();
    expect(rig.logged).toEqual(["Cannot undo what a management controller set"]);
  });
});

test("VinoManagement changes nothing if the override is as it is asked for", async () => {
  const { rig, management } = createRig();
  await settled(rig, management.setBoot("a", { device: "none" }, signal));
  await settled(rig, management.setBoot("a", { firmware: "uefi" }, signal));
  expect(rig.power.calls).toEqual([]);
  await settled(rig, management.setBoot("a", ONCE, signal));
  await settled(rig, management.setBoot("a", ONCE, signal));
  expect(rig.power.calls).toEqual(["order a network,disk,cd"]);
});

test("VinoManagement refuses what a machine cannot have", async () => {
  const { rig, management } = createRig(
    new MachinePowerDouble([makeMachine("a", { bootOrder: [] })]),
  );
  rig.machines = rig.machines.map((one) => ({ ...one, isInstalled: false }));
  const other = await management.setBoot("a", { ...ONCE, firmware: "bios" }, signal);
  expect(other).toMatchObject({ kind: "refused", refusal: "firmware" });
  const half = await management.setBoot("a", { duration: "once" }, signal);
  expect(half).toMatchObject({ kind: "refused", refusal: "incomplete" });
  const lost = await management.setBoot("a", { device: "network" }, signal);
  expect(lost).toMatchObject({ kind: "refused", refusal: "incomplete" });
  const unknown = await management.setBoot("a", ONCE, signal);
  expect(unknown).toMatchObject({ kind: "refused", refusal: "unsupported" });
  expect(rig.secrets.override("a")).toBeUndefined();
});

test("VinoManagement gives a machine that metal3 installs another firmware while it is off", async () => {
  const { rig, management } = createRig();
  expect(await management.read("a", signal)).toMatchObject({
    value: { firmware: "uefi", firmwares: ["bios", "uefi"] },
  });
  rig.power.start("a");
  const running = await management.setBoot("a", { firmware: "bios" }, signal);
  expect(running).toMatchObject({ kind: "refused", refusal: "state" });
  rig.power.stop("a");
  await settled(rig, management.setBoot("a", { ...ONCE, firmware: "bios" }, signal));
  expect(rig.power.calls).toEqual([
    "firmware a bios",
    "firmware a bios",
    "order a network,disk,cd",
  ]);
  expect(await management.read("a", signal)).toMatchObject({
    value: { firmware: "bios", boot: ONCE },
  });
});

test("VinoManagement keeps an order that someone set by hand during the override", async () => {
  const { rig, management } = createRig();
  await settled(rig, management.setBoot("a", { ...ONCE, duration: "always" }, signal));
  rig.power.machines.set("a", { ...rig.power.get("a"), bootOrder: ["cd", "network"] });
  await settled(rig, management.setBoot("a", ONCE, signal));
  expect(rig.power.get("a").bootOrder).toEqual(["network", "cd"]);
  await settled(rig, management.setBoot("a", { device: "none" }, signal));
  expect(rig.power.get("a").bootOrder).toEqual(["cd", "network"]);
});

test("VinoManagement switches a machine off and on for a restart that must use the device", async () => {
  const { rig, management } = createRig();
  rig.power.start("a");
  await management.reset("a", "restart", signal);
  await settled(rig, management.setBoot("a", ONCE, signal));
  await management.reset("a", "restart", signal);
  expect(rig.power.calls).toEqual(["restart a", "order a network,disk,cd", "cycle a"]);
});

test("VinoManagement undoes an override that was used up before it switches the machine off", async () => {
  const { rig, management } = createRig();
  await settled(rig, management.setBoot("a", ONCE, signal));
  rig.power.start("a");
  await settled(rig, management.reset("a", "off", signal));
  await settled(rig, management.reset("a", "on", signal));
  expect(rig.power.starts).toEqual(["a network", "a disk"]);
});

test("VinoManagement switches a machine off even if its order cannot be set back now", async () => {
  const { rig, management } = createRig();
  await settled(rig, management.setBoot("a", ONCE, signal));
  rig.power.start("a");
  rig.power.onCall = (call) => {
    if (call.startsWith("order")) throw new CloudError("unreachable", "Xen Orchestra is silent");
  };
  expect(await settled(rig, management.reset("a", "restart", signal))).toEqual({
    kind: "silent",
    message: "Xen Orchestra is silent",
  });
  expect(await settled(rig, management.reset("a", "off", signal))).toMatchObject({ kind: "done" });
  expect(rig.power.get("a").power).toBe("stopped");
});

test("VinoManagement passes on the reason of a refusal, and repeats what is so already", async () => {
  const { management } = createRig();
  expect(await management.reset("a", "gracefulOff", signal)).toEqual({
    kind: "refused",
    refusal: "notGraceful",
    message: "The guest has no tools; use ForceOff",
  });
  for (let at = 0; at < 2; at += 1) {
    expect(await management.reset("a", "off", signal)).toMatchObject({ kind: "done" });
  }
});

test.each([
  [new CloudError("unreachable", "Xen Orchestra is silent"), "Xen Orchestra is silent"],
  [
    new KubeError("unavailable", "GET https://10.0.0.1/api/v1/namespaces/metal/secrets"),
    "The API server of Kubernetes does not answer, or refuses",
  ],
])("VinoManagement says that nothing is known after %s", async (error, message) => {
  const { rig, management } = createRig();
  rig.power.onCall = () => {
    throw error;
  };
  expect(await management.read("a", signal)).toEqual({ kind: "silent", message });
});

test("VinoManagement breaks on an error that it does not know", async () => {
  const { rig, management } = createRig();
  rig.power.onCall = () => {
    throw new TypeError("a bug");
  };
  await expect(management.read("a", signal)).rejects.toThrow("a bug");
});

test("VinoManagement writes nothing once it does not lead", async () => {
  const rig = new ManagementRig();
  const process = rig.createProcess();
  const { management } = process;
  expect(management.isLeading()).toBe(true);
  process.kill();
  expect(management.isLeading()).toBe(false);
  const answer = settled(rig, management.setBoot("a", ONCE, signal));
  expect(await answer).toMatchObject({ kind: "silent" });
  expect(await management.reset("a", "on", signal)).toMatchObject({ kind: "silent" });
  expect([rig.power.calls, rig.secrets.override("a")]).toEqual([[], undefined]);
});

test("VinoManagement does one thing at a time with a machine", async () => {
  const { rig, management } = createRig();
  const both = Promise.all([
    management.setBoot("a", ONCE, signal),
    management.setBoot("a", { ...ONCE, device: "cd" }, signal),
    management.reset("a", "on", signal),
  ]);
  await rig.clock.advance(5_000);
  expect((await both).map(({ kind }) => kind)).toEqual(["done", "done", "done"]);
  expect(rig.power.starts).toEqual(["a cd"]);
});

test("VinoManagement gives up its turn when a request ends", async () => {
  const { rig, management } = createRig();
  const late = new AbortController();
  const first = management.setBoot("a", ONCE, late.signal);
  const second = management.reset("a", "on", signal);
  late.abort(new CloudError("unreachable", "late"));
  expect(await settled(rig, first)).toMatchObject({ kind: "silent" });
  expect(await settled(rig, second)).toMatchObject({ kind: "done" });
});

test("VinoManagement refuses machines without this capability with their reason", async () => {
  const { rig, management } = createRig();
  const message = "The user of Xen Orchestra needs the old ACL operator on VM a";
  rig.power.onCall = (call) => {
    if (call.startsWith("order")) throw new RefusedPowerError("denied", message);
  };
  const answer = await settled(rig, management.setBoot("a", ONCE, signal));
  expect(answer).toEqual({ kind: "refused", refusal: "denied", message });
});

test("VinoManagement finds the machines of a user and password", async () => {
  const { management } = createRig(new MachinePowerDouble([makeMachine("a"), makeMachine("b")]));
  const found = await management.findSystems(loginOf("b"), signal);
  expect(found).toEqual({ kind: "done", value: ["b"] });
});

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

const UID = "1b4e28ba-2fa1-4d2e-883f-0016d3cca427";

test("listManagedMachines() lists the machines of each Vino that exist, with their Secrets", () => {
  const machine = { role: "worker", state: "Ready" } as const;
  const vino: Vino = {
    metadata: { name: "tenant", namespace: "metal", uid: UID },
    spec: {
      xenOrchestra: { boot: "Template" },
      nodes: [{ name: "worker", xenOrchestra: { boot: "Network" } }],
    },
  };
  const listEntries = (): MachineEntry[] => [
    { ...machine, name: "vino-1b4e28ba-worker-0", index: 0, machineId: "a" },
    { ...machine, name: "vino-1b4e28ba-worker-1", index: 1 },
    { ...machine, name: "vino-99999999-worker-2", index: 2, machineId: "c" },
  ];
  const { uid: _none, ...unknown } = vino.metadata;
  expect(listManagedMachines([vino, { ...vino, metadata: unknown }], { listEntries })).toEqual([
    {
      id: "a",
      name: "vino-1b4e28ba-worker-0",
      namespace: "metal",
      secretName: "tenant-worker-0-bmc-credentials",
      overrideName: "tenant-worker-0-boot-override",
      vino: { name: "tenant", uid: UID },
      isInstalled: true,
    },
  ]);
});

const SYSTEMS = "/redfish/v1/Systems";
const COUNT = 3;

let rig: Rig;
let ids: readonly string[];
let service: ReturnType<typeof createRedfishService>;

async function get(path: string, id = ids[0] ?? ""): Promise<Readonly<Record<string, unknown>>> {
  const { username, password } = loginOf(id);
  const basic = Buffer.from(`${username}:${password}`).toString("base64");
  const request = new Request(`https://bmc${path}`, {
    headers: { authorization: `Basic ${basic}` },
  });
  const response = await service.fetch(request, { address: "192.0.2.1" });
  expect(response.status).toBe(200);
  return (await response.json()) as Readonly<Record<string, unknown>>;
}

describe("requests to Xen Orchestra", () => {
  beforeEach(async () => {
    rig = await Rig.start();
    const { clock, fence } = rig;
    const secrets = new SecretsDouble();
    const machines: ManagedMachine[] = [];
    const vino = { name: "edge", uid: "1b4e28ba-2fa1-41d2-883f-0016d3cca427" };
    for (let index = 0; index < COUNT; index += 1) {
      const interfaces = [
        { name: "oam", network: "oam", mac: `02:00:00:00:01:0${index}` },
        { name: "pxe", network: "provisioning", mac: `02:00:00:00:02:0${index}` },
      ];
      const spec = rig.spec({ index, isStarted: false, interfaces });
      await rig.make(spec);
      const { id } = rig.vm(spec);
      secrets.set(id, loginOf(id));
      const name = `vino-1b4e28ba-worker-${index}`;
      machines.push({
        id,
        name,
        namespace: "metal",
        secretName: id,
        overrideName: `${id}-o`,
        vino,
        isInstalled: true,
      });
    }
    ids = machines.map(({ id }) => id);
    await rig.refresh();
    const management = new VinoManagement({
      listMachines: () => machines,
      power: rig.machines.power,
      client: secrets,
      fence,
      clock,
      log: silentLogger,
      warn: () => {},
    });
    const metrics = createRedfishMetrics(new MetricsRegistry());
    service = createRedfishService({
      management,
      metrics,
      clock,
      log: silentLogger,
      version: "1",
      signal,
    });
    rig.simulator.requests.reset();
  });
  afterEach(() => rig.stop());

  test("are as many as the machines for a poll of all, and each tells the power of now", async () => {
    const poll = async (): Promise<unknown[]> =>
      await Promise.all(ids.map(async (id) => (await get(`${SYSTEMS}/${id}`, id))["PowerState"]));
    expect(await poll()).toEqual(["Off", "Off", "Off"]);
    expect(rig.simulator.requests.total).toBe(COUNT);
    // No inventory was taken meanwhile.
    rig.simulator.state.setPower(ids[1] ?? "", "Running", rig.site.hostIds["xcp-par-1"]);
    expect(await poll()).toEqual(["Off", "On", "Off"]);
    expect(rig.simulator.requests.total).toBe(2 * COUNT);
  });

  test.each<[string, string, Readonly<Record<string, number>>]>([
    ["all systems", "", {}],
    ["a system", "/ID", { "GET /vms/{id}": 1 }],
    ["the list of its processors", "/ID/Processors", {}],
    ["its processor", "/ID/Processors/CPU", { "GET /vms/{id}": 1 }],
    ["the list of its interfaces", "/ID/EthernetInterfaces", { "GET /vifs": 1 }],
    ["one of its interfaces", "/ID/EthernetInterfaces/1", { "GET /vifs": 1 }],
  ])("are at most one for %s", async (_what, path, wanted) => {
    await get(`${SYSTEMS}${path.replace("ID", ids[0] ?? "")}`);
    expect(Object.fromEntries(rig.simulator.requests.byRoute)).toEqual({ ...wanted });
  });
});
