/**
 * The session against the simulated CloudStack, which checks signatures, roles, time and pages by itself.
 * @module
 */
import { describe, expect, test } from "bun:test";
import { CloudStackSession } from "../../../lib/providers/cloudstack/session/session.ts";
import { SCHEMAS } from "../../../lib/providers/cloudstack/wire/schema.ts";
import { useCloudStack } from "../../support/cloud/cloudstack_rig.ts";
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
