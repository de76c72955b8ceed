import { expect, test } from "bun:test";
import {
  findShown,
  isComplete,
  toHost,
  toMachine,
  toVmsView,
} from "../../../../../lib/providers/xenorchestra/machines/look/vms_view.ts";
import { GIB, HOST, NAME, POOL, toCompleteVm, toVm } from "../scene.ts";

const instance = { id: "vm-1" };
const INVENTORY = {
  observedAtMs: 0,
  instances: new Map([["vm-1", instance]]),
  coverage: new Map(),
  undecodable: new Map(),
} as never;

test("toVmsView() tells machines from copies with other names", () => {
  const vms = [toVm(), toVm({ id: "vm-2" }), toVm({ id: "vm-3", name: "copy" })];
  const view = toVmsView({ vms, hosts: [], pools: [], inventory: INVENTORY });
  expect([...view.machines].map(([name, some]) => [name, some.length])).toEqual([[NAME, 2]]);
  expect(view.strays.map(({ id }) => id)).toEqual(["vm-3"]);
  expect(findShown(view, toVm({ id: "vm-2" }))?.id).toBe("vm-2");
  expect(findShown(view, toVm({ id: "vm-9" }))).toBeUndefined();
});

test("toMachine() has the first host, the host while it runs, and its instance", () => {
  const vm = toCompleteVm({ power: "running", hostId: "host-2" });
  expect(toMachine(vm, INVENTORY)).toEqual({
    name: NAME,
    id: "vm-1",
    isComplete: true,
    power: "running",
    poolId: POOL,
    hostId: "host-2",
    cpus: 2,
    firmware: "bios",
    memoryBytes: 4 * GIB,
    firstHostId: HOST,
    instance,
  } as never);
});

test("isComplete() needs the last tag", () => {
  expect(isComplete(toVm({ tags: ["vino"] }))).toBe(false);
  expect(isComplete(toVm({ tags: ["vino:ready=x"] }))).toBe(true);
});

test("toHost() takes a host for enabled unless it says otherwise", () => {
  expect(toHost({ id: "h" })).toEqual({
    id: "h",
    name: "h",
    poolId: "",
    tags: [],
    isEnabled: true,
  });
  expect(toHost({ id: "h", enabled: false }).isEnabled).toBe(false);
});
