import { expect, test } from "bun:test";
import { RefusedPowerError } from "../../../../lib/cloud/capabilities/machine_power.ts";
import { CloudError } from "../../../../lib/cloud/errors.ts";
import { KubeError } from "../../../../lib/kube/api/errors.ts";
import {
  INTERFACES,
  MachinePowerDouble,
  makeMachine,
} from "../../../support/cloud/machine_power_double.ts";
import { loginOf, ManagementRig } from "../../../support/vino/management_rig.ts";

const { signal } = new AbortController();
const ONCE = { device: "network", duration: "once" } as const;

function createRig(power?: MachinePowerDouble): ManagementRig {
  return new ManagementRig(power);
}

async function settled<T>(rig: ManagementRig, work: Promise<T>): Promise<T> {
  await rig.clock.advance(5_000);
  return await work;
}

test("VinoManagement shows a machine with what it starts from", async () => {
  const rig = createRig();
  const { management } = rig.createProcess();
  expect(await management.read("a", signal)).toMatchObject({
    kind: "done",
    value: { id: "a", power: "stopped", boot: { duration: "never" } },
  });
  await settled(rig, management.setBoot("a", ONCE, signal));
  expect(await management.read("a", signal)).toMatchObject({ value: { boot: ONCE } });
});

test("VinoManagement shows the interfaces of a machine", async () => {
  const { management } = createRig().createProcess();
  const value = INTERFACES;
  expect(await management.readInterfaces("a", signal)).toEqual({ kind: "done", value });
});

test("VinoManagement shows no machine that has another name than its Vino gave it, or is gone", async () => {
  const rig = createRig(new MachinePowerDouble([makeMachine("a"), makeMachine("b")]));
  const { management } = rig.createProcess();
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
  const rig = createRig();
  const { management } = rig.createProcess();
  await settled(rig, management.setBoot("a", { ...ONCE, duration: "always" }, signal));
  expect(rig.power.get("a").bootOrder).toEqual(["network", "disk", "cd"]);
  await settled(rig, management.setBoot("a", { device: "cd" }, signal));
  expect(rig.power.get("a").bootOrder).toEqual(["cd", "disk"]);
  await settled(rig, management.setBoot("a", { duration: "never" }, signal));
  expect(rig.power.get("a").bootOrder).toEqual(["disk", "cd"]);
  expect(rig.secrets.override("a")).toBeUndefined();
});

test("VinoManagement changes nothing if the override is as it is asked for", async () => {
  const rig = createRig();
  const { management } = rig.createProcess();
  await settled(rig, management.setBoot("a", { device: "none" }, signal));
  await settled(rig, management.setBoot("a", { firmware: "uefi" }, signal));
  expect(rig.power.calls).toEqual([]);
  await settled(rig, management.setBoot("a", ONCE, signal));
  await settled(rig, management.setBoot("a", ONCE, signal));
  expect(rig.power.calls).toEqual(["order a network,disk,cd"]);
});

test("VinoManagement refuses what a machine cannot have", async () => {
  const rig = createRig(new MachinePowerDouble([makeMachine("a", { bootOrder: [] })]));
  const { management } = rig.createProcess();
  const other = await management.setBoot("a", { ...ONCE, firmware: "bios" }, signal);
  expect(other).toMatchObject({ kind: "refused", refusal: "firmware" });
  const half = await management.setBoot("a", { duration: "once" }, signal);
  expect(half).toMatchObject({ kind: "refused", refusal: "unsupported" });
  const unknown = await management.setBoot("a", ONCE, signal);
  expect(unknown).toMatchObject({ kind: "refused", refusal: "unsupported" });
  expect(rig.secrets.override("a")).toBeUndefined();
});

test("VinoManagement keeps an order that someone set by hand during the override", async () => {
  const rig = createRig();
  const { management } = rig.createProcess();
  await settled(rig, management.setBoot("a", { ...ONCE, duration: "always" }, signal));
  rig.power.machines.set("a", { ...rig.power.get("a"), bootOrder: ["cd", "network"] });
  await settled(rig, management.setBoot("a", ONCE, signal));
  expect(rig.power.get("a").bootOrder).toEqual(["network", "cd"]);
  await settled(rig, management.setBoot("a", { device: "none" }, signal));
  expect(rig.power.get("a").bootOrder).toEqual(["cd", "network"]);
});

test("VinoManagement switches a machine off and on for a restart that must use the device", async () => {
  const rig = createRig();
  rig.power.start("a");
  const { management } = rig.createProcess();
  await management.reset("a", "restart", signal);
  await settled(rig, management.setBoot("a", ONCE, signal));
  await management.reset("a", "restart", signal);
  expect(rig.power.calls).toEqual(["restart a", "order a network,disk,cd", "cycle a"]);
});

test("VinoManagement undoes an override that was used up before it switches the machine off", async () => {
  const rig = createRig();
  const { management } = rig.createProcess();
  await settled(rig, management.setBoot("a", ONCE, signal));
  rig.power.start("a");
  await settled(rig, management.reset("a", "off", signal));
  await settled(rig, management.reset("a", "on", signal));
  expect(rig.power.starts).toEqual(["a network", "a disk"]);
});

test("VinoManagement switches a machine off even if its order cannot be set back now", async () => {
  const rig = createRig();
  const { management } = rig.createProcess();
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
  const rig = createRig();
  const { management } = rig.createProcess();
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
  const rig = createRig();
  const { management } = rig.createProcess();
  rig.power.onCall = () => {
    throw error;
  };
  expect(await management.read("a", signal)).toEqual({ kind: "silent", message });
});

test("VinoManagement breaks on an error that it does not know", async () => {
  const rig = createRig();
  const { management } = rig.createProcess();
  rig.power.onCall = () => {
    throw new TypeError("a bug");
  };
  await expect(management.read("a", signal)).rejects.toThrow("a bug");
});

test("VinoManagement writes nothing once it does not lead", async () => {
  const rig = createRig();
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
  const rig = createRig();
  const { management } = rig.createProcess();
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
  const rig = createRig();
  const { management } = rig.createProcess();
  const late = new AbortController();
  const first = management.setBoot("a", ONCE, late.signal);
  const second = management.reset("a", "on", signal);
  late.abort(new CloudError("unreachable", "late"));
  expect(await settled(rig, first)).toMatchObject({ kind: "silent" });
  expect(await settled(rig, second)).toMatchObject({ kind: "done" });
});

test("VinoManagement refuses machines without this capability with their reason", async () => {
  const rig = createRig();
  const { management } = rig.createProcess();
  const message = "The user of Xen Orchestra needs the old ACL operator on VM a";
  rig.power.onCall = (call) => {
    if (call.startsWith("order")) throw new RefusedPowerError("denied", message);
  };
  const answer = await settled(rig, management.setBoot("a", ONCE, signal));
  expect(answer).toEqual({ kind: "refused", refusal: "denied", message });
});

test("VinoManagement finds the machines of a user and password", async () => {
  const rig = createRig(new MachinePowerDouble([makeMachine("a"), makeMachine("b")]));
  const { management } = rig.createProcess();
  const found = await management.findSystems(loginOf("b"), signal);
  expect(found).toEqual({ kind: "done", value: ["b"] });
});
