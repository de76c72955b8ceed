/**
 * The session against the simulated CloudStack, which checks signatures, roles, time and pages by itself.
 * @module
 */
import { describe, expect, test } from "bun:test";
import { describeError } from "../../../lib/core/errors.ts";
import { CloudStackSession } from "../../../lib/providers/cloudstack/session/session.ts";
import { SCHEMAS } from "../../../lib/providers/cloudstack/wire/schema.ts";
import { createFleet, startCloudStackSimulator } from "../../../lib/simulator/cloudstack/mod.ts";
import { useCloudStack } from "../../support/cloud/cloudstack_rig.ts";
import { ManualClock } from "../../support/manual_clock.ts";
import { toDeps, toSettings } from "./fake_server.ts";

const signal = new AbortController().signal;
const rig = useCloudStack();

const VMS = {
  command: "listVirtualMachines",
  key: "virtualmachine",
  params: { listall: "true", details: "min,nics,servoff" },
  schema: SCHEMAS.vm,
};
const ABOUT = { command: "listCapabilities", key: "capability", schema: SCHEMAS.capabilities };

function open(): CloudStackSession {
  const { url, apiKey, secretKey } = rig.simulator;
  return new CloudStackSession(toSettings(url, { apiKey, secretKey }), {
    ...toDeps(),
    clock: rig.clock,
  });
}

async function failure(promise: Promise<unknown>): Promise<unknown> {
  return await promise.then(
    () => undefined,
    (error: unknown) => error,
  );
}

/** Lets time go on, and real requests with it, until something is over. */
async function advanceUntil<T>(done: Promise<T>): Promise<T> {
  while (Bun.peek.status(done) === "pending") {
    await Bun.sleep(1);
    await rig.clock.advance(50);
  }
  return await done;
}

describe("CloudStackSession", () => {
  test("lists the VMs, and reads each", async () => {
    const { objects, undecodable, gap } = await open().list(VMS, signal);
    expect([undecodable.size, gap]).toEqual([0, undefined]);
    const ids = objects.map(({ id }) => id);
    for (const { vmId } of rig.story.machines.values()) expect(ids).toContain(vmId);
    expect(objects[0]?.nic?.length).toBeGreaterThan(0);
  });

  test("signs every value so that the server finds the same signature", async () => {
    const params = { ...VMS.params, name: "a b+c~d!e'f(g)h*i/j:k@ü;=&%" };
    expect((await open().list({ ...VMS, params }, signal)).objects).toEqual([]);
  });

  test("reads, and changes a VM, also where the server enforces POST and the time", async () => {
    rig.simulator.settings.enforcesPostAndTimestamps = true;
    const session = open();
    expect(await session.read(ABOUT, signal)).toEqual({ cloudstackversion: "4.22.0.0" });
    const [id = ""] = [...rig.story.machines.values()].map(({ vmId }) => vmId);
    const stop = { command: "stopVirtualMachine", params: { id }, key: "virtualmachine" };
    const vm = await advanceUntil(session.call({ ...stop, schema: SCHEMAS.vm }, signal));
    expect(vm).toMatchObject({ id, state: "Stopped" });
    expect(rig.simulator.requests.count("stopVirtualMachine")).toBe(1);
  });

  test.each([401, 432] as const)("a role without a command is denied by %i", async (refusesBy) => {
    rig.simulator.settings.refusesBy = refusesBy;
    const user = [...rig.simulator.state.users.values()].find(
      ({ apiKey }) => apiKey === rig.simulator.apiKey,
    );
    if (user === undefined) throw new Error("the simulator has no first user");
    user.role = { ...user.role, commands: ["listZones"] };
    const error = await failure(open().list(VMS, signal));
    expect(error).toMatchObject({ kind: "denied", code: refusesBy });
    expect(describeError(error)).toContain("the role of the account has no listVirtualMachines");
  });

  test("a clock that is wrong is named", async () => {
    Object.assign(rig.simulator.settings, { clockSkewMs: 20 * 60_000, sendsDate: true });
    const error = await failure(open().read(ABOUT, signal));
    expect(error).toMatchObject({ kind: "denied", code: 401 });
    expect(describeError(error)).toContain("its clock is 20m0s ahead of this machine's");
  });

  test("a wrong key is denied, and not blamed on a clock that is right", async () => {
    rig.simulator.settings.sendsDate = true;
    const session = new CloudStackSession(toSettings(rig.simulator.url), {
      ...toDeps(),
      clock: rig.clock,
    });
    expect(describeError(await failure(session.read(ABOUT, signal)))).toContain(
      "the keys or the signature are wrong; check",
    );
  });

  test("an ID that the server never had is named by its refusal", async () => {
    const id = "0badc0de-1111-4111-8111-000000000000";
    const error = await failure(open().list({ ...VMS, params: { id } }, signal));
    expect(error).toMatchObject({ kind: "protocol", code: 431, unknownId: id });
  });

  test("a server that allows smaller pages only gets them", async () => {
    rig.simulator.settings.defaultPageSize = 50;
    const { objects, gap } = await open().list(VMS, signal);
    expect([objects.length > 0, gap]).toEqual([true, undefined]);
    expect(rig.simulator.requests.count("listVirtualMachines")).toBe(4);
  });

  test("waits as long as a throttled account must", async () => {
    rig.simulator.settings.throttling = { max: 1, intervalMs: 1_000 };
    const session = open();
    await session.read(ABOUT, signal);
    expect(await advanceUntil(session.read(ABOUT, signal))).toBeDefined();
  });

  test.each([
    [{ kind: "html", status: 502 }, "unreachable"],
    [{ kind: "error", code: 530 }, "unreachable"],
    [{ kind: "error", code: 531 }, "denied"],
    [{ kind: "halfBody" }, "unreachable"],
    [{ kind: "reset" }, "unreachable"],
  ] as const)("with the fault %j a list is %s, and never empty", async (fault, kind) => {
    rig.simulator.faults.set(fault, { command: "listVirtualMachines" });
    expect(await failure(open().list(VMS, signal))).toMatchObject({ kind });
  });

  test("a read is sent again after one reset", async () => {
    rig.simulator.faults.set({ kind: "reset" }, { command: "listVirtualMachines", times: 1 });
    expect((await open().list(VMS, signal)).objects.length).toBeGreaterThan(0);
  });

  test("a change whose answer is lost is not sent again", async () => {
    const [id = ""] = [...rig.story.machines.values()].map(({ vmId }) => vmId);
    rig.simulator.faults.set({ kind: "resetAfter" }, { command: "stopVirtualMachine" });
    const stop = { command: "stopVirtualMachine", params: { id }, key: "virtualmachine" };
    const error = await failure(open().call({ ...stop, schema: SCHEMAS.vm }, signal));
    expect(error).toMatchObject({ kind: "unreachable" });
    expect(rig.simulator.requests.count("stopVirtualMachine")).toBe(1);
  });

  test("a job that never ends is asked about again, and never started twice", async () => {
    const [id = ""] = [...rig.story.machines.values()].map(({ vmId }) => vmId);
    rig.simulator.faults.set({ kind: "endlessJob" }, { command: "stopVirtualMachine" });
    const stop = { command: "stopVirtualMachine", params: { id }, schema: SCHEMAS.vm };
    const session = open();
    for (let tries = 0; tries < 2; tries += 1) {
      const late = failure(session.call({ ...stop, timeoutMs: 5_000 }, signal));
      expect(await advanceUntil(late)).toMatchObject({ kind: "unreachable" });
    }
    expect(rig.simulator.requests.count("stopVirtualMachine")).toBe(1);
    expect(rig.simulator.requests.count("queryAsyncJobResult")).toBeGreaterThan(2);
  });
});

describe("a fleet of 1,200 VMs", () => {
  async function list(fault?: { kind: "missingPage"; page: number } | { kind: "shrinkingList" }) {
    const clock = new ManualClock();
    const { world } = createFleet(1_200);
    const simulator = await startCloudStackSimulator({ clock, world });
    try {
      if (fault) simulator.faults.set(fault);
      const { url, apiKey, secretKey } = simulator;
      const settings = toSettings(url, { apiKey, secretKey });
      const session = new CloudStackSession(settings, { ...toDeps(), clock });
      const listed = await session.list(VMS, signal);
      return { listed, requests: simulator.requests.count("listVirtualMachines") };
    } finally {
      await simulator.stop();
    }
  }

  test("takes three pages", async () => {
    const { listed, requests } = await list();
    expect([listed.objects.length, listed.gap, requests]).toEqual([1_200, undefined, 3]);
  });

  test.each([[{ kind: "missingPage", page: 2 }], [{ kind: "shrinkingList" }]] as const)(
    "is not whole with %j",
    async (fault) => {
      expect((await list(fault)).listed.gap).toBeDefined();
    },
  );
});
