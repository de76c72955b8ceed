/**
 * What is asked of machines in the crash table.
 * @module
 */
import { toMachineName } from "../../../lib/cloud/capabilities/machines.ts";
import type { XoRecord } from "../../../lib/simulator/xenorchestra/mod.ts";
import type { Stage } from "./stage.ts";
import { toSpec, type Wish } from "./wishes.ts";

/** What people do. */
type Act = (stage: Stage) => void;

/** A story: machines that are at rest, and a change. */
export interface Story {
  readonly name: string;
  /** The machines before the change, brought to rest without any crash. @default {none} */
  readonly before?: Act;
  /** Whether records can be lost beside that: a person can take more marks away than is good. @default {true} */
  readonly isForgetful?: boolean;
  /** Whether with a disturbance there may be nothing to remove, and so no record. @default {false} */
  readonly mayNotBegin?: boolean;
  /** Of so many points one is enough, because they are like those of another story; only CI tells it. @default {1} */
  readonly share?: number;
  /** The change. From here on everything may go wrong. */
  readonly act: Act;
}

const GIB = 1024 ** 3;
/** In the middle of a creation. */
const CHANGED_MIND_MS = 600;

function wish(...indexes: readonly number[]): Act {
  return (stage) => {
    stage.wishes = indexes.map((index) => toExists(stage, index));
  };
}

function toExists({ site }: Stage, index: number, over: Parameters<typeof toSpec>[2] = {}): Wish {
  return { kind: "exists", spec: toSpec(site, index, over) };
}

async function changeMind(stage: Stage): Promise<void> {
  await stage.clock.sleep(CHANGED_MIND_MS, new AbortController().signal);
  stage.wishes = [{ kind: "gone", spec: toSpec(stage.site, 0) }];
}

/** The VM of a machine that is at rest. */
function findVm({ cloud, site }: Stage, index: number): XoRecord {
  const name = toMachineName(toSpec(site, index));
  const vm = [...cloud.state.all("vms").values()].find((one) => one["name_label"] === name);
  if (vm === undefined) throw new Error(`There is no VM ${name}`);
  return vm;
}

/** All stories. */
export const STORIES: readonly Story[] = [
  { name: "a machine is created", act: wish(0) },
  {
    name: "a machine without disks of its own and without a seed is created to start from the network",
    act: (stage) => {
      const { seed: _seed, ...spec } = toSpec(stage.site, 0, {
        template: "vino-diskless",
        disks: [],
        boot: "network",
      });
      stage.wishes = [{ kind: "exists", spec }];
    },
  },
  { name: "three machines are created", share: 5, act: wish(0, 1, 2) },
  {
    name: "a machine is removed",
    before: wish(0, 1),
    act: (stage) => {
      stage.wishes = [{ kind: "gone", spec: toSpec(stage.site, 0) }, toExists(stage, 1)];
    },
  },
  {
    name: "a machine is removed while it is being made",
    mayNotBegin: true,
    act: (stage) => {
      stage.wishes = [toExists(stage, 0)];
      void changeMind(stage);
    },
  },
  {
    name: "a machine that is off grows: CPUs, memory, both disks, another interface",
    before: (stage) => {
      stage.wishes = [toExists(stage, 0, { isStarted: false })];
    },
    act: (stage) => {
      const { disks, interfaces } = toSpec(stage.site, 0);
      const more = { name: "more", network: "oam", mac: "02:00:00:00:03:00" };
      stage.wishes = [
        toExists(stage, 0, {
          isStarted: false,
          cpus: 6,
          memoryBytes: 8 * GIB,
          disks: disks.map((disk) => ({ ...disk, sizeBytes: disk.sizeBytes + GIB })),
          interfaces: [...interfaces, more],
        }),
      ];
    },
  },
  {
    name: "marks of a machine are changed by hand",
    before: wish(0),
    isForgetful: false,
    act: (stage) => {
      const vm = findVm(stage, 0);
      Object.assign(vm, { tags: ["mine"], blockedOperations: {}, name_description: "my text" });
    },
  },
  {
    name: "a machine is deleted by hand",
    share: 5,
    before: wish(0),
    act: (stage) => {
      stage.cloud.state.removeVm(findVm(stage, 0).id, "go");
    },
  },
];
