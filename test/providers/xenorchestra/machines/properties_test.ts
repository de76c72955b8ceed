/**
 * Any machine comes to rest, also after a change of what is wanted, and leaves nothing behind when it goes.
 * @module
 */
import { expect, test } from "bun:test";
import fc from "fast-check";
import type { MachineSpec } from "../../../../lib/cloud/capabilities/machines.ts";
import { Rig } from "./rig.ts";

const GIB = 1024 ** 3;
const COLLECTIONS = ["vms", "vm-templates", "vdis", "vbds", "vifs"] as const;

const disk = fc.record({
  sizeBytes: fc.integer({ min: 10, max: 20 }).map((size) => size * GIB),
  storage: fc.constantFrom("fast", "Local storage", undefined),
});
const wish = fc.record({
  template: fc.constantFrom("vino-debian", "vino-blank", "vino-diskless"),
  cpus: fc.integer({ min: 1, max: 8 }),
  memoryBytes: fc.integer({ min: 4, max: 8 }).map((size) => size * GIB),
  disks: fc.array(disk, { maxLength: 3 }),
  networks: fc.array(fc.constantFrom("oam", "provisioning"), { maxLength: 3 }),
  boot: fc.constantFrom("disk", "network" as const),
  isStarted: fc.boolean(),
  hasSeed: fc.boolean(),
  more: fc.record({
    cpus: fc.integer({ min: 1, max: 8 }),
    growth: fc.integer({ min: 0, max: 5 }),
    networks: fc.array(fc.constantFrom("oam", "provisioning"), { maxLength: 2 }),
  }),
});

function toInterfaces(networks: readonly string[]): MachineSpec["interfaces"] {
  return networks.map((network, at) => ({
    name: `if${at}`,
    network,
    mac: `02:00:00:00:00:0${at}`,
  }));
}

test("a machine comes to rest, also after a change, and leaves nothing behind", async () => {
  const check = async (wanted: typeof wish extends fc.Arbitrary<infer W> ? W : never) => {
    const rig = await Rig.start();
    try {
      const count = (): number[] => COLLECTIONS.map((one) => rig.list(one).length);
      const before = count();
      const { disks, networks, more, hasSeed, ...rest } = wanted;
      const { seed, ...base } = rig.spec();
      const toDisks = (growth: number): MachineSpec["disks"] =>
        disks.map(({ sizeBytes, storage }, at) => ({
          name: `d${at}`,
          sizeBytes: sizeBytes + growth * GIB,
          ...(storage !== undefined && { storage }),
        }));
      const spec: MachineSpec = {
        ...base,
        ...rest,
        disks: toDisks(0),
        interfaces: toInterfaces(networks),
        ...(hasSeed && seed && { seed }),
      };
      expect(await rig.make(spec)).toMatchObject({ state: "Ready", steps: [], problems: [] });
      expect(rig.vm(spec)["power_state"]).toBe(spec.isStarted ? "Running" : "Halted");
      rig.simulator.state.setPower(rig.vm(spec).id, "Halted");
      const changed = {
        ...spec,
        cpus: more.cpus,
        disks: toDisks(more.growth),
        interfaces: toInterfaces([...networks, ...more.networks]),
      };
      expect(await rig.make(changed)).toMatchObject({ state: "Ready", steps: [], problems: [] });
      expect(rig.vm(spec)).toMatchObject({ CPUs: { number: more.cpus }, power_state: "Halted" });
      expect(await rig.remove(spec)).toMatchObject({ state: "Absent", problems: [] });
      expect(count()).toEqual(before);
      expect(rig.errors).toEqual([]);
    } finally {
      await rig.stop();
    }
  };
  await fc.assert(fc.asyncProperty(wish, check), { numRuns: 15 });
}, 60_000);
