import { expect, test } from "bun:test";
import { toVinoSource } from "../../../lib/app/serving/vino_views.ts";
import { type Machine, toMachineName } from "../../../lib/cloud/capabilities/machines.ts";
import { VINOES } from "../../../lib/controllers/vino/resource/vino.ts";
import { toUuid } from "../../../lib/simulator/uuid.ts";
import { toServedParts } from "../../support/page/served_parts.ts";

const OURS = { namespace: "y", name: "a", uid: toUuid("y/a") };
const GONE = { namespace: "y", name: "gone", uid: toUuid("y/gone") };
const { signal } = new AbortController();

function toMachine(owner: typeof OURS, fields: Partial<Machine> = {}): Machine {
  const name = toMachineName({ owner, role: "worker", index: 0 });
  const shown = { isComplete: true, power: "running", firmware: "uefi", poolId: "p" } as const;
  return { name, id: `id-${name}`, ...shown, ...fields };
}

function choose(machines: readonly Machine[], described: readonly object[] = []) {
  const host = { id: "h", name: "xcp-1", poolId: "p", tags: ["a"], isEnabled: true };
  return toServedParts(VINOES, ["z/b", "y/a"], {
    describe: ({ metadata: { name } }) => ({
      state: "ready",
      wanted: 1,
      ...(described.length > 0 && { machines: name === OURS.name ? described : [] }),
    }),
    listPools: () => [{ pool: "a", family: "IPv4", used: 1, total: 2 }],
    observeMachines: async () => ({
      observedAtMs: 0,
      isForChange: false,
      pools: [{ id: "p", name: "paris", isComplete: true }],
      hosts: [host],
      machines: Map.groupBy(machines, ({ name }) => name),
    }),
  });
}

test("toVinoSource() lists Vinos in order, with the pools of addresses", () => {
  const source = toVinoSource(choose([]));
  expect(source?.readServing()).toEqual({ missing: [] });
  expect([...(source?.list() ?? [])]).toMatchObject([
    { namespace: "y", name: "a", state: "ready", wanted: 1, machines: [], lastReconcile: null },
    { namespace: "z", name: "b" },
  ]);
  expect(source?.find("z/none")).toBeUndefined();
  expect(source?.listPools()).toEqual([{ pool: "a", family: "IPv4", used: 1, total: 2 }]);
});

test("toVinoSource() knows which Vino has a machine, and where the machine is", async () => {
  const machines = [
    toMachine(GONE, { firstHostId: "h" }),
    toMachine(OURS, { hostId: "h", firstHostId: "other" }),
    toMachine(OURS, { id: "twin" }),
  ];
  const cloud = await toVinoSource(choose(machines))?.readCloud(signal);
  expect(cloud?.hosts).toEqual([{ id: "h", name: "xcp-1", poolId: "p", isEnabled: true }]);
  const base = { poolId: "p", power: "running", isComplete: true };
  const [name, gone] = [OURS, GONE].map((owner) => toMachine(owner).name);
  expect(cloud?.machines).toEqual([
    { ...base, name, id: `id-${name}`, hostId: "h", vino: "y/a" },
    { ...base, name, id: "twin", vino: "y/a" },
    { ...base, name: gone, id: `id-${gone}`, hostId: "h" },
  ] as NonNullable<typeof cloud>["machines"]);
});

test("toVinoSource() shows machines that the last inventory does not have yet", async () => {
  const seen = { name: "new", machineId: "vm", host: "h", power: "running", state: "Ready" };
  const { power: _gone, ...vanished } = seen;
  const listed = toMachine(OURS, { hostId: "h" });
  const described = [
    seen,
    { ...seen, name: listed.name, power: "stopped" },
    { ...vanished, name: "vanished" },
    { ...seen, name: "elsewhere", host: "h-9" },
  ];
  const cloud = await toVinoSource(choose([listed], described))?.readCloud(signal);
  expect(cloud?.machines.map(({ name, power }) => [name, power])).toEqual([
    ["new", "running"],
    [listed.name, "running"],
  ]);
  expect(cloud?.machines[0]).toMatchObject({ id: "vm", hostId: "h", poolId: "p", vino: "y/a" });
});

test("toVinoSource() has nothing without a controller that makes machines", () => {
  expect(toVinoSource({ ...choose([]), groups: [] })).toBeUndefined();
});
