/**
 * What a management controller may do with a machine, and the boot orders behind it.
 * @module
 */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import {
  type PowerAction,
  type PowerRefusal,
  RefusedPowerError,
} from "../../../../lib/cloud/capabilities/machine_power.ts";
import { Rig, ROLE, USER } from "./rig.ts";
import { CloudError } from "../../../../lib/cloud/errors.ts";
import type { Finding } from "../../../../lib/cloud/inspection.ts";
import { inspectBootOrders } from "../../../../lib/providers/xenorchestra/machines/power/power.ts";
import { RpcError } from "../../../../lib/providers/xenorchestra/session/rpc.ts";
import { systemClock } from "../../../../lib/core/clock.ts";
import { ALONE, Fence } from "../../../../lib/core/fence.ts";
import { JsonRpcChanges } from "../../../../lib/providers/xenorchestra/machines/power/rpc_changes.ts";
import { Session } from "../../../../lib/providers/xenorchestra/session/session.ts";
import {
  createMachineSite,
  startXenOrchestraSimulator,
  type XenOrchestraSimulator,
} from "../../../../lib/simulator/xenorchestra/mod.ts";
import { Work } from "../../../../lib/simulator/xenorchestra/writes/backend.ts";
import { createVm } from "../../../../lib/simulator/xenorchestra/writes/create.ts";
import { toDeps, toSettings } from "../fake_server.ts";
import { ChangeRefusal } from "../../../../lib/providers/xenorchestra/machines/wire/changes.ts";
import { toPowerRefusal } from "../../../../lib/providers/xenorchestra/machines/power/actions.ts";

let rig: Rig;
let id: string;

const act = (action: PowerAction): Promise<void> =>
  rig.machines.power.act(id, action, rig.fence, rig.signal);
const state = (): unknown => rig.simulator.state.read("vms", id)?.["power_state"];

describe("XenOrchestraPower", () => {
  beforeEach(async () => {
    rig = await Rig.start();
    // Its disks do not matter here, and would be made for each test.
    const spec = rig.spec({ template: "vino-diskless", disks: [], isStarted: false });
    await rig.make(spec);
    id = rig.vm(spec).id;
  });
  afterEach(() => rig.stop());

  test("reads a machine", async () => {
    expect(await rig.machines.power.read(id, rig.signal)).toEqual({
      id,
      name: "vino-1b4e28ba-worker-0",
      power: "stopped",
      isGraceful: false,
      bootOrder: ["disk", "cd"],
      firmware: "bios",
      cpus: 4,
      memoryBytes: 4 * 1024 ** 3,
    });
  });

  test("gives a machine another firmware while it is off, and shows it at once", async () => {
    const { power } = rig.machines;
    await power.setFirmware(id, "uefi", rig.fence, rig.signal);
    expect(await power.read(id, rig.signal)).toMatchObject({ firmware: "uefi" });
    await act("on");
    await expect(power.setFirmware(id, "bios", rig.fence, rig.signal)).rejects.toMatchObject({
      refusal: "state",
    });
  });

  test("reads the interfaces of a machine, whether the last inventory has it or not", async () => {
    const { networkIds } = rig.site;
    const wanted = {
      name: "vino-1b4e28ba-worker-0",
      interfaces: [
        { mac: "02:00:00:00:00:01", network: networkIds.oam },
        { mac: "02:00:00:00:00:02", network: networkIds.provisioning },
      ],
    };
    expect(await rig.machines.power.readInterfaces(id, rig.signal)).toEqual(wanted);
    await rig.refresh();
    expect(await rig.machines.power.readInterfaces(id, rig.signal)).toEqual(wanted);
  });

  test.each<[PowerAction, string, string]>([
    ["on", "Halted", "Running"],
    ["on", "Running", "Running"],
    ["on", "Suspended", "Running"],
    ["on", "Paused", "Running"],
    ["off", "Running", "Halted"],
    ["off", "Halted", "Halted"],
    ["off", "Paused", "Halted"],
    ["off", "Suspended", "Halted"],
    ["restart", "Running", "Running"],
    ["restart", "Halted", "Running"],
    ["gracefulOff", "Running", "Halted"],
    ["gracefulOff", "Halted", "Halted"],
    ["gracefulRestart", "Running", "Running"],
    ["cycle", "Running", "Running"],
    ["cycle", "Halted", "Running"],
    ["pause", "Running", "Paused"],
    ["resume", "Paused", "Running"],
    ["resume", "Running", "Running"],
  ])("%s of a VM that is %s leaves it %s", async (action, before, after) => {
    rig.simulator.state.setPower(id, before as "Halted", rig.site.hostIds["xcp-par-1"]);
    await act(action);
    await rig.clock.advance(0);
    expect(state()).toBe(after);
  });

  test.each<[PowerAction, string, string]>([
    ["pause", "Halted", "state"],
    ["gracefulRestart", "Halted", "state"],
    ["gracefulOff", "Paused", "state"],
  ])("%s of a VM that is %s is refused: %s", async (action, before, refusal) => {
    rig.simulator.state.setPower(id, before as "Halted", rig.site.hostIds["xcp-par-1"]);
    await expect(act(action)).rejects.toMatchObject({ refusal });
    expect(state()).toBe(before);
  });

  test("asks no guest without tools", async () => {
    rig.simulator.state.toolless.add(id);
    rig.simulator.state.setPower(id, "Running", rig.site.hostIds["xcp-par-1"]);
    const vm = rig.simulator.state.read("vms", id);
    rig.simulator.state.setVm(id, { ...vm, xenTools: false, pvDriversDetected: false });
    await expect(act("gracefulOff")).rejects.toMatchObject({ refusal: "notGraceful" });
    expect(state()).toBe("Running");
  });

  test("touches no VM of others, and none that is not complete", async () => {
    const { vmId } = rig.site.foreign;
    const { power } = rig.machines;
    expect(await power.read(vmId, rig.signal)).toBeUndefined();
    await rig.refresh();
    expect(await power.readInterfaces(vmId, rig.signal)).toBeUndefined();
    const off = power.act(vmId, "off", rig.fence, rig.signal);
    await expect(off).rejects.toMatchObject({ refusal: "notOurs" });
    rig.simulator.state.setVm(id, { tags: ["vino"] });
    expect(await power.read(id, rig.signal)).toBeUndefined();
    await rig.refresh();
    expect(await power.readInterfaces(id, rig.signal)).toBeUndefined();
    await expect(act("on")).rejects.toMatchObject({ refusal: "notOurs" });
  });
});

const { signal } = new AbortController();
const LACK = 'it lacks the old ACL "operator" there';
const POOLS = [
  { id: "p1", name_label: "paris" },
  { id: "p2", name_label: "" },
];

async function inspect(callRpc: () => unknown): Promise<readonly Finding[]> {
  const api = { list: async () => ({ objects: POOLS, undecodable: new Map() }) } as never;
  return await inspectBootOrders({ api, session: { callRpc: async () => callRpc() } }, signal);
}

async function check(isManaged = true): Promise<readonly Finding[]> {
  const all = (await rig.machines.inspect?.({ isManaged }, signal)) ?? [];
  return all.filter(({ code }) => code === "machines.bootOrder");
}

describe("boot order inspection", () => {
  beforeEach(async () => {
    rig = await Rig.start(ROLE);
  });
  afterEach(() => rig.stop());

  test("inspectBootOrders() names each pool where the user with only the role lacks the ACL", async () => {
    const found = await check();
    const { paris, lyon } = rig.site.poolIds;
    expect(found.map(({ level, message }) => `${level} ${message}`).toSorted()).toEqual(
      [`lyon (${lyon})`, `paris (${paris})`].map(
        (pool) =>
          `warning Machines: the user has no right to set the boot order of VMs in pool ${pool}: ${LACK}`,
      ),
    );
    expect(found[0]?.advice).toContain("machines with boot: Network still try the network first");
    expect(await check(false)).toEqual([]);
  });

  test("inspectBootOrders() finds what was right after the ACL was given, and changes nothing", async () => {
    const { paris, lyon } = rig.site.poolIds;
    rig.simulator.auth.setPrivileges(USER.username, ROLE, [paris]);
    expect((await check()).map(({ message }) => message.includes(`lyon (${lyon})`))).toEqual([
      true,
    ]);
    rig.simulator.auth.setPrivileges(USER.username, ROLE, [paris, lyon]);
    expect((await check()).map(({ level }) => level)).toEqual(["ok"]);
  });

  test("inspectBootOrders() is content with an ACL for more than an operator, and not with one for less", async () => {
    const found = await inspect(() => ({
      p1: { cloud: 1, operate: 1, administrate: 1 },
      p2: { cloud: 1 },
    }));
    expect(found.map(({ message }) => message)).toEqual([
      `Machines: the user has no right to set the boot order of VMs in pool p2: ${LACK}`,
    ]);
  });

  test.each<[string, () => unknown, string]>([
    [
      "of a version without that method",
      () => {
        throw new RpcError(-32_601, "method not found", undefined);
      },
      "method not found",
    ],
    [
      "behind a proxy without WebSockets",
      () => {
        throw new CloudError("unreachable", "no WebSocket");
      },
      "no WebSocket",
    ],
    ["that answers otherwise", () => ["p1"], "it answers in another form"],
  ])(
    "inspectBootOrders() says that it cannot find out, of a cloud %s",
    async (_what, callRpc, why) => {
      const [found, ...more] = await inspect(callRpc);
      expect(more).toEqual([]);
      expect(found).toMatchObject({ level: "warning", code: "machines.bootOrder" });
      expect(found?.message).toEndWith(`may set the boot order of VMs: ${why}`);
      expect(found?.advice).toContain('the old ACL "operator" on the pool');
    },
  );

  test("inspectBootOrders() does not hide an error of the program", async () => {
    const asked = inspect(() => {
      throw new TypeError("bug");
    });
    await expect(asked).rejects.toThrow("bug");
  });
});

const leading = new Fence(ALONE);
const site = createMachineSite();
const ADMIN = "admin@admin.net";

let xo: XenOrchestraSimulator;
let orders: JsonRpcChanges;

function readOrder(): unknown {
  return Object(xo.state.read("vms", id)?.["boot"]).order;
}

describe("boot orders", () => {
  beforeEach(async () => {
    xo = await startXenOrchestraSimulator({ clock: systemClock, world: createMachineSite().world });
    orders = new JsonRpcChanges(new Session(toSettings(xo.url, { token: xo.token }), toDeps()));
    const body = { template: site.templateIds.debian, name_label: "vino-1b4e28ba-worker-0" };
    ({ id } = await createVm(new Work(xo.cloud.backend, "user"), site.poolIds.paris, body));
  });
  afterEach(() => xo.stop());

  test("JsonRpcChanges sets the order of a VM, and sets it again", async () => {
    for (const order of ["ncd", "ncd", "cd"]) {
      await orders.setBootOrder(id, order, leading, signal);
      expect(readOrder()).toBe(order);
    }
  });

  test("JsonRpcChanges names the old ACL if the user has only a role", async () => {
    xo.auth.setPrivileges(ADMIN, [{ resource: "vm", action: "update" }]);
    const before = readOrder();
    const failed = orders.setBootOrder(id, "ncd", leading, signal);
    await expect(failed).rejects.toMatchObject({ refusal: "denied" });
    await expect(failed).rejects.toThrow('the old ACL "operator" on the pool');
    expect(readOrder()).toBe(before);
    xo.auth.setPrivileges(ADMIN, [], [site.poolIds.paris]);
    await orders.setBootOrder(id, "ncd", leading, signal);
    expect(readOrder()).toBe("ncd");
  });

  test("JsonRpcChanges says that a VM does not exist", async () => {
    const failed = orders.setBootOrder(
      "cf910379-9c51-46ef-af3f-4a51129ecb9e",
      "ncd",
      leading,
      signal,
    );
    await expect(failed).rejects.toMatchObject({ refusal: "notOurs" });
  });

  test("JsonRpcChanges writes nothing unless this process leads", async () => {
    const before = readOrder();
    await expect(orders.setBootOrder(id, "ncd", new Fence(), signal)).rejects.toThrow(
      "does not lead",
    );
    expect(readOrder()).toBe(before);
  });

  test("JsonRpcChanges says that Xen Orchestra is silent", async () => {
    await xo.refuse();
    await expect(orders.setBootOrder(id, "ncd", leading, signal)).rejects.toMatchObject({
      kind: "unreachable",
    });
  });

  test.each([
    [-32_000, "OTHER_OPERATION_IN_PROGRESS", "busy"],
    [-32_000, "OPERATION_BLOCKED", "blocked"],
    [5, undefined, "blocked"],
    [14, undefined, "unsupported"],
    [-32_601, undefined, "unsupported"],
    [10, undefined, undefined],
    [-32_000, "SOMETHING_ELSE", undefined],
  ])("JsonRpcChanges takes code %d with %s for %s", async (code, reason, refusal) => {
    const session = { callRpc: () => Promise.reject(new RpcError(code, "no", reason)) };
    const failed = new JsonRpcChanges(session).setBootOrder(id, "ncd", leading, signal);
    const error: unknown = await failed.catch((thrown: unknown) => thrown);
    expect(Object(error).refusal).toBe(refusal);
    expect(Object(error).kind).toBe("protocol");
  });
});

describe("boot device", () => {
  beforeEach(async () => {
    rig = await Rig.start();
    const spec = rig.spec({ boot: "disk", isStarted: false });
    await rig.make(spec);
    ({ id } = rig.vm(spec));
  });
  afterEach(() => rig.stop());

  test("XenOrchestraPower.setBootOrder() sets the order of a VM, which read() shows", async () => {
    const { power } = rig.machines;
    expect(await power.read(id, rig.signal)).toMatchObject({ bootOrder: ["disk", "cd"] });
    await power.setBootOrder(id, ["network", "disk", "cd"], rig.fence, rig.signal);
    expect(await power.read(id, rig.signal)).toMatchObject({
      bootOrder: ["network", "disk", "cd"],
    });
  });

  test("XenOrchestraPower.read() tells each start and restart from the one before", async () => {
    const { power } = rig.machines;
    const act = async (action: PowerAction): Promise<number | undefined> => {
      await power.act(id, action, rig.fence, rig.signal);
      await rig.clock.advance(250);
      return (await power.read(id, rig.signal))?.startedAtMs;
    };
    await act("on");
    rig.simulator.state.setVm(id, { startTime: 5 });
    expect(await act("pause")).toBe(5_000);
    expect(await act("resume")).toBe(5_000);
    expect(await act("restart")).toBeGreaterThan(5_000);
    expect(await act("off")).toBeUndefined();
  });
});

test.each<[PowerRefusal, ConstructorParameters<typeof ChangeRefusal>[2]]>([
  ["state", { code: "VM_BAD_POWER_STATE" }],
  ["notGraceful", { code: "VM_LACKS_FEATURE" }],
  ["busy", { code: "OTHER_OPERATION_IN_PROGRESS" }],
  ["noRoom", { code: "HOST_NOT_ENOUGH_FREE_MEMORY" }],
  ["blocked", { isBlocked: true }],
  ["denied", { missing: ["vm start"] }],
  ["notOurs", { isMissing: true }],
])("toPowerRefusal() says %s of %o", (refusal, why) => {
  const error = toPowerRefusal(new ChangeRefusal("protocol", "no", why), "on");
  expect(error).toBeInstanceOf(RefusedPowerError);
  expect(error).toMatchObject({ refusal });
});

test("toPowerRefusal() leaves other errors as they are", () => {
  const unknown = new ChangeRefusal("protocol", "no", { code: "ODD" });
  const other = new Error("x");
  expect(toPowerRefusal(unknown, "on")).toBe(unknown);
  expect(toPowerRefusal(other, "on")).toBe(other);
});
