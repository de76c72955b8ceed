/**
 * The scenarios of Vinos: each once without a disturbance, and once for each of many.
 * @module
 */
import { isOfTurn, readExtent } from "../../../support/extent.ts";
import { Random } from "../../../support/random.ts";
import type { Ending } from "../../ending.ts";
import type { Telling } from "../scenario.ts";
import {
  type Disturbance,
  findVm,
  order,
  tellVino,
  VINO,
  type VinoEnding,
  type VinoStory,
} from "./stage.ts";
import { METAL } from "../../vino/world.ts";

const LONG_MS = 900_000;
/** In the middle of a creation. */
const CHANGED_MIND_MS = 600;
/** One of so many disturbances is told, others in each story and run: a prime number falls on all kinds. */
const SHARES = { some: 97, all: 7 } as const;
/** The same of stories that are like another one. */
const VARIANT_SHARE = 3;
const PAIRS = 25;
/** So many runs of CI together have all pairs. */
const PAIR_RUNS = 3;
const PAIR_SEED = 17;

const STORIES: readonly VinoStory[] = [
  {
    name: "vinos/machine-is-made",
    act: (world) => order(world),
    once: {
      // A proxy makes two VMs. A disk of the second one stays when it is deleted, or when it cannot be made.
      "second-vm-and-disk": [
        { who: "reply", at: 1, when: "repeated" },
        { who: "call", at: 34 },
      ],
      "second-task-and-disk": [
        { who: "reply", at: 1, when: "repeated" },
        { who: "call", at: 19 },
      ],
    },
  },
  {
    name: "vinos/machine-is-made-from-the-network",
    isOfCi: true,
    act: (world) => order(world, { isNetboot: true }),
  },
  {
    name: "vinos/three-machines-are-made",
    isVariant: true,
    act: (world) => order(world, { count: 3 }),
  },
  {
    name: "vinos/machine-is-removed",
    before: { count: 2 },
    act: (world) => order(world, { count: 1 }),
    once: {
      // The pool is lost after the VM was stopped; then one of its disks stays. Another machine was removed instead.
      "lost-pool-and-disk": [
        { who: "pool", at: 2, when: "before" },
        { who: "call", at: 4 },
      ],
    },
  },
  {
    name: "vinos/machine-is-removed-while-it-is-made",
    act: (world) => {
      order(world);
      world.timeline.schedule(CHANGED_MIND_MS, () => order(world, { count: 0 }));
    },
    once: {
      // Nothing completes the VM; its only disk stays when it is deleted. The machine was taken for removed.
      "cut-off-and-disk": [
        { who: "server", at: 8, when: "before" },
        { who: "call", at: 11 },
      ],
    },
  },
  {
    name: "vinos/machine-grows",
    isOfCi: true,
    before: {},
    act: (world) => {
      world.cloud.state.setPower(findVm(world).id, "Halted");
      order(world, { cpus: 6, memory: "8Gi", rootGib: 21, isWide: true });
    },
  },
  {
    name: "vinos/disk-is-added",
    before: { hasData: false },
    act: (world) => order(world),
  },
  {
    name: "vinos/marks-are-changed-by-hand",
    before: {},
    isForgetful: false,
    act: (world) => {
      const marks = { tags: ["mine"], blockedOperations: {}, name_description: "my text" };
      Object.assign(findVm(world), marks);
    },
  },
  {
    name: "vinos/machine-is-deleted-by-hand",
    isVariant: true,
    before: {},
    act: (world) => world.cloud.state.removeVm(findVm(world).id, "go"),
  },
  {
    name: "vinos/vino-is-deleted",
    before: {},
    act: ({ objects }) => void objects.delete("vinoes", { namespace: METAL, name: VINO }),
  },
];

/** Each way to tell each of them. */
export const TELLINGS: readonly Telling[] = STORIES.flatMap((story, number): Telling[] => {
  const { name, isVariant = false, isOfCi = isVariant, once = {} } = story;
  const share = SHARES[readExtent()] * (isVariant ? VARIANT_SHARE : 1);
  const listOnes = (whole: VinoEnding): Disturbance[][] =>
    listDisturbances(story, whole)
      .filter((_one, at) => isOfTurn(at + number, share))
      .map((one) => [one]);
  // At most one of the two ends the process: it is the first one that is counted.
  const listPairs = (whole: VinoEnding): Disturbance[][] => {
    const random = new Random(PAIR_SEED);
    const all = listDisturbances(story, whole);
    const others = all.filter(({ who }) => who !== "process");
    const pairs = Array.from({ length: PAIRS }, () => [random.pick(all), random.pick(others)]);
    return pairs.filter((_pair, at) => isOfTurn(at + number, PAIR_RUNS));
  };
  const toTelling = (full: string, isOnlyOfCi: boolean, list: typeof listOnes): Telling => ({
    name: full,
    isOfCi: isOnlyOfCi,
    tell: () => tellDisturbed({ ...story, name: full }, list),
  });
  return [
    toTelling(name, isOfCi, listOnes),
    toTelling(`${name}/pairs`, true, listPairs),
    ...Object.entries(once).map(([end, some]) =>
      toTelling(`${name}/${end}`, false, () => [[...some]]),
    ),
  ];
});

/** Tells a story once, and once for each of some disturbances. The first one that ends otherwise is the ending. */
async function tellDisturbed(
  story: VinoStory,
  list: (whole: VinoEnding) => readonly (readonly Disturbance[])[],
): Promise<Ending> {
  const whole = await tellVino(story);
  if (whole.violations.length > 0) return whole;
  for (const some of list(whole)) {
    const ending = await tellVino(story, some);
    const [now, before] = [ending, whole].map(({ left }) => JSON.stringify(left));
    const other = now === before ? [] : [`it leaves ${now}, and undisturbed ${before}`];
    const violations = [...ending.violations, ...other];
    const what = some.map((one) => describe(one, whole)).join(" and ");
    if (violations.length > 0) return { ...ending, violations: [what, ...violations] };
  }
  return whole;
}

/** What a disturbance is, by what happens without it. */
function describe(one: Disturbance, { asked, calls }: VinoEnding): string {
  if (one.who === "process")
    return `${JSON.stringify(one)}: ${asked[one.point.at - 1]?.what ?? "nothing"}`;
  const isCall = one.who !== "reply" && one.who !== "proxy";
  return `${JSON.stringify(one)}${isCall ? `: ${calls[one.at - 1] ?? "nothing"}` : ""}`;
}

function listDisturbances(story: VinoStory, whole: VinoEnding): Disturbance[] {
  const { isForgetful = true } = story;
  const { asked, changes, calls } = whole;
  return [
    ...asked.flatMap(({ isChange }, index) => listOfRequest(index + 1, { isChange, isForgetful })),
    ...Array.from({ length: changes }, (_, index) =>
      (["lost", "late", "hangs", "repeated"] as const).map((when): Disturbance => ({
        who: "reply",
        at: index + 1,
        when,
      })),
    ).flat(),
    ...calls.flatMap((method, index) => listOfCall(method, index + 1)),
    { who: "proxy" },
  ];
}

/** Before and after each change: questions change nothing. */
function listOfRequest(
  at: number,
  { isChange, isForgetful }: { readonly isChange: boolean; readonly isForgetful: boolean },
): Disturbance[] {
  if (!isChange) return [];
  return [
    { who: "process", point: { at, when: "before" } },
    { who: "process", point: { at, when: "after" } },
    ...(isForgetful
      ? [{ who: "process", point: { at, when: "after" }, isForgetful } as const]
      : []),
  ];
}

/** Calls on which a hypervisor works for long. */
const ASYNCHRONOUS: ReadonlySet<string> = new Set([
  "VM.clone",
  "VM.provision",
  "VM.start",
  "VM.clean_shutdown",
  "VM.destroy",
]);

function listOfCall(method: string, at: number): Disturbance[] {
  const moments = ["before", "during", "after"] as const;
  return [
    ...moments.flatMap((when): Disturbance[] => [
      { who: "server", at, when },
      { who: "pool", at, when },
    ]),
    { who: "pool", at, when: "after", isBack: true },
    { who: "call", at },
    ...(ASYNCHRONOUS.has(method)
      ? ([
          { who: "server", at, when: "during", isSlow: true },
          { who: "pool", at, when: "during", forMs: LONG_MS },
          { who: "hypervisor", at },
        ] as const)
      : []),
  ];
}
