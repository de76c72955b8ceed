import { expect, test } from "bun:test";
import {
  findVino,
  listManagedMachines,
} from "../../../../lib/controllers/vino/redfish/managed_machines.ts";
import type { Vino } from "../../../../lib/controllers/vino/resource/vino.ts";

const UID = "1b4e28ba-2fa1-4d2e-883f-0016d3cca427";

test("listManagedMachines() lists the machines of each Vino that exist, with their Secrets", () => {
  const machine = { role: "worker", state: "Ready" } as const;
  const vino: Vino = {
    metadata: { name: "tenant", namespace: "metal", uid: UID },
    status: {
      machines: [
        { ...machine, name: "vino-1b4e28ba-worker-0", index: 0, machineId: "a" },
        { ...machine, name: "vino-1b4e28ba-worker-1", index: 1 },
        { ...machine, name: "vino-99999999-worker-2", index: 2, machineId: "c" },
      ],
    },
  };
  const { uid: _none, ...unknown } = vino.metadata;
  expect(listManagedMachines([vino, { ...vino, metadata: unknown }])).toEqual([
    {
      id: "a",
      name: "vino-1b4e28ba-worker-0",
      namespace: "metal",
      secretName: "tenant-worker-0-bmc-credentials",
      overrideName: "tenant-worker-0-boot-override",
      vino: { name: "tenant", uid: UID },
    },
  ]);
});

test("findVino() finds the Vino of a machine, in the namespace of the machine", () => {
  const toVino = (name: string, namespace: string, machine: string): Vino => ({
    metadata: { name, namespace, uid: UID },
    status: { machines: [{ name: machine, role: "worker", index: 0, state: "Ready" }] },
  });
  const vinos = [toVino("a", "other", "m"), toVino("b", "metal", "n"), toVino("c", "metal", "m")];
  const found = (name: string): string | undefined =>
    findVino(vinos, { name, namespace: "metal" })?.metadata.name;
  expect([found("m"), found("n"), found("none")]).toEqual(["c", "b", undefined]);
});
