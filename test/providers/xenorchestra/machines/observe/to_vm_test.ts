import { expect, test } from "bun:test";
import {
  toTemplate,
  toVm,
} from "../../../../../lib/providers/xenorchestra/machines/observe/observation.ts";

const RAW = { id: "v", $pool: "p", name_label: "n" };

test("toVm() reads everything that a VM says", () => {
  const raw = {
    ...RAW,
    name_description: "vino uid=u role=worker index=3 host=h hash=a ready",
    power_state: "Running",
    $container: "host-1",
    CPUs: { number: 2, max: 4 },
    memory: { static: [1, 2] },
    tags: ["a"],
    blockedOperations: { destroy: "why" },
    boot: { order: "ncd", firmware: "uefi" },
    $VBDs: ["l"],
    VIFs: ["i"],
    creation: { date: "2026-01-15T10:00:00.000Z", template: "t", user: "u" },
    startTime: 5,
    snapshots: ["s"],
    current_operations: { task: "clone" },
    pvDriversDetected: true,
  };
  expect(toVm(raw)).toEqual({
    id: "v",
    name: "n",
    description: raw.name_description,
    poolId: "p",
    power: "running",
    hostId: "host-1",
    cpus: 2,
    memoryBytes: 2,
    memoryBytesMin: 1,
    tags: ["a"],
    mark: { uid: "u", role: "worker", index: 3, hostId: "h", hash: "a", isReady: true },
    destroyBlock: "why",
    bootOrder: "ncd",
    firmware: "uefi",
    linkIds: ["l"],
    vifIds: ["i"],
    creation: { user: "u", template: "t", dateMs: Date.UTC(2026, 0, 15, 10) },
    isStarted: true,
    startedAtMs: 5_000,
    hasSnapshots: true,
    isBusy: true,
    hasTools: true,
  });
});

test("toVm() reads a VM that says nothing", () => {
  expect(toVm(RAW)).toEqual({
    id: "v",
    name: "n",
    description: "",
    poolId: "p",
    power: "unknown",
    tags: [],
    bootOrder: "",
    firmware: "unknown",
    linkIds: [],
    vifIds: [],
    isStarted: false,
    hasSnapshots: false,
    isBusy: false,
    hasTools: false,
  });
});

test.each([
  ["Halted", "host-1", undefined],
  ["Suspended", "host-1", undefined],
  ["Paused", "host-1", "host-1"],
  ["Running", "p", undefined],
])("toVm() of a VM that is %s in %s has the host %p", (power_state, $container, hostId) => {
  expect(toVm({ ...RAW, power_state, $container }).hostId).toBe(hostId);
});

test("toTemplate() takes the ID of a template that has no other UUID", () => {
  expect(toTemplate(RAW)).toMatchObject({ uuid: "v", isDefault: false });
  expect(toTemplate({ ...RAW, uuid: "u", isDefaultTemplate: true })).toMatchObject({
    uuid: "u",
    isDefault: true,
  });
});
