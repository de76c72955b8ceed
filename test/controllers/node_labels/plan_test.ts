import { describe, expect, test } from "bun:test";
import type { Instance } from "../../../lib/cloud/instance.ts";
import type { Presence } from "../../../lib/cloud/provider.ts";
import {
  type LabelPlan,
  type Labels,
  planNodeLabels,
} from "../../../lib/controllers/node_labels/plan.ts";
import { toInstance } from "../../support/cloud/instances.ts";
import { type NodeOptions, toNode } from "../../support/nodes/nodes.ts";

const ZONE = "topology.kubernetes.io/zone";
const BETA_ZONE = "failure-domain.beta.kubernetes.io/zone";
const REGION = "topology.kubernetes.io/region";
const BETA_REGION = "failure-domain.beta.kubernetes.io/region";
const TYPE = "node.kubernetes.io/instance-type";
const BETA_TYPE = "beta.kubernetes.io/instance-type";
const HOST = "a.cloud/host";
const POOL = "a.cloud/pool";
const NAME = "a.cloud/name";
const FIRST_HOST = "a.cloud/first-host";
const FIRST_POOL = "a.cloud/first-pool";
const ORIGINS = { [HOST]: FIRST_HOST, [POOL]: FIRST_POOL };

/** What the cloud shows: no host while the machine does not run. */
function toPresence(host: string | undefined, pool = "p1", over: Partial<Instance> = {}): Presence {
  const instance = toInstance("i", {
    region: pool,
    instanceType: "t1",
    ...(host === undefined ? {} : { zone: host }),
    labels: { [NAME]: "vm", [POOL]: pool, ...(host === undefined ? {} : { [HOST]: host }) },
    ...over,
  });
  return { kind: "present", instance, matchedBy: "providerId" };
}

/** All labels of a Node whose machine is there. */
function toLabels(host: string, pool = "p1", type = "t1"): Record<string, string> {
  const zone = { [ZONE]: host, [BETA_ZONE]: host, [HOST]: host };
  return { ...zone, ...toPool(pool), [TYPE]: type, [BETA_TYPE]: type, [NAME]: "vm" };
}

function toPool(pool: string): Record<string, string> {
  return { [REGION]: pool, [BETA_REGION]: pool, [POOL]: pool };
}

function plan(
  labels: Labels,
  presence: Presence,
  { reported = {}, ...options }: NodeOptions & { reported?: Labels } = {},
): LabelPlan {
  const node = toNode("n", { providerId: "test://i", uninitialized: false, labels, ...options });
  return planNodeLabels(node, presence, { reported, origins: ORIGINS });
}

describe("planNodeLabels() of a machine that is off in another pool", () => {
  const copy = toPresence(undefined, "p2", { state: "stopped" });
  const before = toLabels("h1");

  test.each([{}, before])("keeps the labels of a Node whose kubelet reports: %#", (reported) => {
    for (const ready of ["True", "False"]) {
      const kept = plan(before, copy, { ready, reported });
      expect(kept).toMatchObject({ set: {}, events: [], reported });
    }
  });

  test("follows it when the kubelet is silent, or the machine runs there", () => {
    expect(plan(before, copy, { ready: "Unknown" }).set).toMatchObject(toPool("p2"));
    const runs = toPresence("h2", "p2");
    expect(plan(before, runs, { ready: "True" }).set).toMatchObject(toPool("p2"));
  });

  test("repairs a label of a machine that is off where it was, and adds a missing one", () => {
    const halted = toPresence(undefined, "p1", { state: "stopped" });
    const { [TYPE]: _, ...fewer } = before;
    expect(plan(fewer, halted, { ready: "True", reported: before }).set).toEqual({ [TYPE]: "t1" });
  });
});

describe("planNodeLabels() is not misled on the first look by", () => {
  test.each<[string, Record<string, string>]>([
    ["a lonely old zone", { [ZONE]: "h1" }],
    ["an empty zone", { [ZONE]: "", [BETA_ZONE]: "", [HOST]: "" }],
  ])("%s", (_title, labels) => {
    const { set, events } = plan(labels, toPresence("h2"));
    expect(events).toEqual([]);
    expect(set).toMatchObject(
      Object.fromEntries(Object.entries(toLabels("h2")).filter(([key, v]) => labels[key] !== v)),
    );
    expect(set).not.toContainAnyKeys([FIRST_HOST, FIRST_POOL]);
  });

  test("labels of the cloud that only look alike", () => {
    // The name of the machine is no witness of its place.
    const named = toPresence("h2", "p1", { labels: { [NAME]: "h2" } });
    expect(plan({ [ZONE]: "h1", [NAME]: "h1" }, named).events).toEqual([]);
  });

  test("a zone label that is made of something else since", () => {
    const byPool = toPresence("h1", "p1", { zone: "p1" });
    expect(plan(toLabels("h1"), byPool).events).toEqual([]);
    const wasTag = { ...toLabels("h1"), [ZONE]: "rack1", [BETA_ZONE]: "rack1" };
    expect(plan(wasTag, toPresence("h1")).events).toEqual([]);
  });
});

test("planNodeLabels() says nothing of a move whose labels stand already, but keeps the first host", () => {
  const { set, events, isRepair } = plan(toLabels("h2"), toPresence("h2"), {
    reported: toLabels("h1"),
  });
  expect(set).toEqual({ [FIRST_HOST]: "h1" });
  expect([events, isRepair]).toEqual([[], false]);
});

describe("planNodeLabels() keeps what was reported of a machine that does not run", () => {
  const STOPPED: Presence = toPresence(undefined, "p1", { state: "stopped" });
  const reported = toLabels("h1");

  test("puts its zone and host back after a hand edit or a deletion", () => {
    const { [ZONE]: _zone, ...rest } = toLabels("h1");
    const edited = plan({ ...rest, [HOST]: "mine" }, STOPPED, { reported });
    expect(edited.set).toEqual({ [ZONE]: "h1", [HOST]: "h1" });
    expect([edited.isRepair, edited.events]).toEqual([true, []]);
  });

  test("forgets nothing that a running machine's cloud still tells, and keeps nothing that it does not", () => {
    const running = toPresence(undefined, "p1", { state: "running" });
    expect(plan({ ...toLabels("h1"), [HOST]: "mine" }, running, { reported }).set).toEqual({});
  });
});

test("planNodeLabels() trusts no old label that is no UUID where the cloud names hosts by UUID", () => {
  const uuid = "b8b1c016-9b86-52b9-891e-644b6d7a33ff";
  const { set, events } = plan(toLabels("rack1"), toPresence(uuid));
  expect(set).toMatchObject({ [ZONE]: uuid, [HOST]: uuid });
  expect(set).not.toContainKey(FIRST_HOST);
  expect(events).toEqual([]);
});

test("planNodeLabels() forgets zones that the cloud reported before they were left alone", () => {
  const labels = { ...toLabels("h1"), [ZONE]: "mine", [BETA_ZONE]: "mine" };
  const node = toNode("n", { providerId: "test://i", uninitialized: false, labels });
  const halted = toPresence(undefined, "p1", { state: "stopped" });
  const known = {
    reported: toLabels("h1"),
    origins: ORIGINS,
    unmanaged: new Set(["zone"] as const),
  };
  const plan = planNodeLabels(node, halted, known);
  expect(plan.set).toEqual({});
  expect(plan.reported).not.toHaveProperty([ZONE]);
  expect(plan.reported[HOST]).toBe("h1");
});

test("planNodeLabels() leaves a Node to the controller that initialises it", () => {
  const reported = { [ZONE]: "z" };
  const waiting = plan({ [BETA_ZONE]: "z" }, toPresence("h1"), { uninitialized: true, reported });
  expect(waiting).toEqual({ set: {}, isRepair: false, events: [], reported });
});

test("planNodeLabels() sees a move on the first look, and never changes where the machine was first", () => {
  const { set, events } = plan(toLabels("h1"), toPresence("h9", "p2"));
  const { [TYPE]: _1, [BETA_TYPE]: _2, [NAME]: _3, ...place } = toLabels("h9", "p2");
  expect(set).toEqual({ ...place, [FIRST_HOST]: "h1", [FIRST_POOL]: "p1" });
  expect(events.map(({ reason }) => reason)).toEqual(["NodeRegionChanged", "NodeZoneChanged"]);
  const empty = { ...toLabels("h1"), [FIRST_HOST]: "" };
  expect(plan(empty, toPresence("h2")).set).not.toContainKey(FIRST_HOST);
});

test("planNodeLabels() calls it a repair if no report differs, also of a twin that the cloud does not tell", () => {
  const reported = toLabels("h1");
  const { [NAME]: _, ...fewer } = reported;
  const edited = { ...fewer, [BETA_REGION]: "mine", [BETA_ZONE]: "z" };
  const repair = plan(edited, toPresence(undefined), { reported });
  expect(repair.set).toEqual({ [NAME]: "vm", [BETA_REGION]: "p1", [ZONE]: "z" });
  expect(repair).toMatchObject({ isRepair: true, events: [] });
  expect(plan(edited, toPresence("h1")).isRepair).toBe(false);
  const toTagged = (rack: string): Presence =>
    toPresence("h1", "p1", { tagLabels: { labels: { rack }, unclear: [], refused: [] } });
  const annotations = { "landfall.dev/labels-from-tags": '{"rack":"7"}' };
  expect(plan(reported, toTagged("7"), { annotations, reported }).isRepair).toBe(true);
  expect(plan(reported, toTagged("8"), { annotations, reported }).isRepair).toBe(false);
});

test("planNodeLabels() names a few of many tags that it cannot follow", () => {
  const keys = Array.from({ length: 9 }, (_, at) => `x.y/k${at}`);
  const toAll = (value: string): Labels => Object.fromEntries(keys.map((key) => [key, value]));
  const tagLabels = { labels: toAll("7"), unclear: [], refused: keys };
  const presence = toPresence("h1", "p1", { tagLabels });
  const { tagWarnings = [] } = plan({ ...toLabels("h1"), ...toAll("mine") }, presence);
  expect(tagWarnings.map(({ message }) => message)).toEqual([
    expect.stringContaining('k4 is "mine", the tag says "7"; and 4 more.'),
    expect.stringContaining("x.y/k4; and 4 more. Correct these tags"),
  ]);
});
