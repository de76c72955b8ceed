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

const NOT_LISTED: Presence = { kind: "unknown", reason: "notListed", message: "not listed" };

function plan(
  labels: Labels,
  presence: Presence,
  { reported = {}, ...options }: NodeOptions & { reported?: Labels } = {},
): LabelPlan {
  const node = toNode("n", { providerId: "test://i", uninitialized: false, labels, ...options });
  return planNodeLabels(node, presence, { reported, origins: ORIGINS });
}

function listReasons({ events }: LabelPlan): string[] {
  return events.map(({ type, reason, message }) => `${type} ${reason}: ${message}`);
}

describe("planNodeLabels() leaves alone", () => {
  const missing = { [BETA_ZONE]: "z" };
  const noInventory: Presence = { kind: "unknown", reason: "noInventory", message: "none yet" };
  test.each<[string, Presence, NodeOptions]>([
    ["a Node that waits for its cloud", toPresence("h1"), { uninitialized: true }],
    ["a Node without a provider ID", toPresence("h1"), { providerId: "" }],
    ["a Node of another cloud", { kind: "foreign", providerId: "aws:///i-1" }, {}],
    ["every Node before the first inventory", noInventory, {}],
  ])("%s", (_title, presence, options) => {
    const reported = { [ZONE]: "z" };
    expect(plan(missing, presence, { ...options, reported })).toEqual({
      set: {},
      isRepair: false,
      events: [],
      reported,
    });
  });
});

describe("planNodeLabels() of a machine that is there", () => {
  test("sets nothing when nothing differs, and remembers what was reported", () => {
    const { set, events, reported } = plan(toLabels("h1"), toPresence("h1"));
    expect([set, events]).toEqual([{}, []]);
    expect(reported).toEqual(toLabels("h1"));
  });

  test("adds what is missing, changes what differs, and never touches labels of others", () => {
    const { [POOL]: _gone, ...labels } = toLabels("h1");
    Object.assign(labels, { [NAME]: "old", "a.cloud/other": "x", role: "web" });
    expect(plan(labels, toPresence("h1")).set).toEqual({ [NAME]: "vm", [POOL]: "p1" });
  });

  test("writes every label of a Node that has none, and calls none of it a move", () => {
    const { set, events, isRepair } = plan({}, toPresence("h1"));
    expect(set).toEqual(toLabels("h1"));
    expect([events, isRepair]).toEqual([[], false]);
  });

  test.each([ZONE, BETA_ZONE, REGION, BETA_REGION, TYPE, BETA_TYPE, HOST, POOL, NAME])(
    "puts %s back after a hand edit or a deletion, without an Event, and calls it a repair",
    (key) => {
      const right = toLabels("h1");
      const { [key]: value, ...deleted } = right;
      for (const reported of [{}, right]) {
        for (const labels of [deleted, { ...right, [key]: "mine" }]) {
          const { set, events, isRepair } = plan(labels, toPresence("h1"), { reported });
          expect([set, events]).toEqual([{ [key]: value ?? "" }, []]);
          // On the first look nobody knows whose the difference is.
          expect(isRepair).toBe(reported === right);
        }
      }
    },
  );

  test("leaves out what Kubernetes would refuse", () => {
    const labels = { "k8s.io/x": "y", [NAME]: "nœud" };
    expect(plan({}, toPresence("h1", "p1", { zone: "a b", labels })).set).toEqual({
      [REGION]: "p1",
      [BETA_REGION]: "p1",
      [TYPE]: "t1",
      [BETA_TYPE]: "t1",
    });
  });
});

// Both ways to see a move: by memory, and on the first look by labels of one kind that agree.
describe.each<[string, Labels]>([
  ["by what the cloud reported before", toLabels("h1")],
  ["on the first look", {}],
])("planNodeLabels() sees a move %s", (_how, reported) => {
  test("to another host: both zone labels, the host, the first host, a Warning", () => {
    const moved = plan(toLabels("h1"), toPresence("h2"), { reported });
    const zone = { [ZONE]: "h2", [BETA_ZONE]: "h2", [HOST]: "h2" };
    expect(moved.set).toEqual({ ...zone, [FIRST_HOST]: "h1" });
    expect(listReasons(moved)).toEqual([
      "Warning NodeZoneChanged: The zone of the machine changed: old=h1, new=h2",
    ]);
    expect(moved.isRepair).toBe(false);
  });

  test("to another pool: everything in one write, Warnings for region and zone", () => {
    const moved = plan(toLabels("h1"), toPresence("h9", "p2"), { reported });
    const { [TYPE]: _1, [BETA_TYPE]: _2, [NAME]: _3, ...place } = toLabels("h9", "p2");
    expect(moved.set).toEqual({ ...place, [FIRST_HOST]: "h1", [FIRST_POOL]: "p1" });
    expect(listReasons(moved)).toEqual([
      "Warning NodeRegionChanged: The region of the machine changed: old=p1, new=p2",
      "Warning NodeZoneChanged: The zone of the machine changed: old=h1, new=h9",
    ]);
  });

  test("and never changes where the machine was first", () => {
    const first = { [FIRST_HOST]: "h0", [FIRST_POOL]: "p0" };
    const { set } = plan({ ...toLabels("h1"), ...first }, toPresence("h9", "p2"), { reported });
    expect(set).not.toContainKey(FIRST_HOST);
    expect(set).not.toContainKey(FIRST_POOL);
    const empty = { ...toLabels("h1"), [FIRST_HOST]: "" };
    expect(plan(empty, toPresence("h2"), { reported }).set).not.toContainKey(FIRST_HOST);
  });

  test("a change of type is Normal, and no move", () => {
    const changed = plan(toLabels("h1"), toPresence("h1", "p1", { instanceType: "t2" }), {
      reported,
    });
    expect(changed.set).toEqual({ [TYPE]: "t2", [BETA_TYPE]: "t2" });
    expect(listReasons(changed)).toEqual([
      "Normal NodeInstanceTypeHasChanged: The instance type of the machine changed: old=t1, new=t2",
    ]);
  });
});

describe("planNodeLabels() of a machine that does not run", () => {
  test("keeps zone and host, and sees no move when it starts where it was", () => {
    const stopped = plan(toLabels("h1"), toPresence(undefined), { reported: toLabels("h1") });
    expect([stopped.set, stopped.events]).toEqual([{}, []]);
    const started = plan(toLabels("h1"), toPresence("h1"), { reported: stopped.reported });
    expect([started.set, started.events]).toEqual([{}, []]);
  });

  test("sees the move when it starts elsewhere", () => {
    const { reported } = plan(toLabels("h1"), toPresence(undefined), { reported: toLabels("h1") });
    const { set, events } = plan(toLabels("h1"), toPresence("h2"), { reported });
    expect(set[FIRST_HOST]).toBe("h1");
    expect(events).toHaveLength(1);
  });

  test("forgets nothing while the cloud shows nothing at all", () => {
    const reported = toLabels("h1");
    for (const presence of [NOT_LISTED, { kind: "absent", evidence: "404" } as const]) {
      const lost = plan(toLabels("h1"), presence, { reported });
      expect(lost).toMatchObject({ set: {}, events: [], reported });
    }
  });
});

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
  const halted = toLabels("p1");
  const { [REGION]: _1, [BETA_REGION]: _2, [POOL]: _3, ...onlyHost } = halted;
  test.each<[string, Record<string, string>]>([
    ["the pool that the Go controller writes as the host of a halted machine", halted],
    ["the same when the labels of the pool are gone", onlyHost],
    ["one zone label that a hand has edited", { ...toLabels("h2"), [ZONE]: "mine" }],
    ["a beta label that a hand has edited", { ...toLabels("h2"), [BETA_ZONE]: "mine" }],
    ["both zone labels, if the host says otherwise", { ...toLabels("mine"), [HOST]: "h2" }],
    ["a host label that a hand has edited", { ...toLabels("h2"), [HOST]: "mine" }],
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

  test("the same when the machine went to another pool before it started", () => {
    const labels = { ...toLabels("p1"), ...toPool("p2"), [FIRST_POOL]: "p1" };
    const { set, events } = plan(labels, toPresence("h9", "p2"));
    expect(events).toEqual([]);
    expect(set).toEqual({ [ZONE]: "h9", [BETA_ZONE]: "h9", [HOST]: "h9" });
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

describe("N-15 planNodeLabels() where the cloud tells nothing", () => {
  test.each<[string, Record<string, string>, Labels]>([
    ["copies a missing stable label", { [BETA_ZONE]: "z" }, { [ZONE]: "z" }],
    ["leaves equal labels alone", { [BETA_ZONE]: "z", [ZONE]: "z" }, {}],
    ["lets the beta label win", { [BETA_ZONE]: "new", [ZONE]: "old" }, { [ZONE]: "new" }],
    ["ignores a missing beta label", { [ZONE]: "z" }, {}],
    ["does so for the region", { [BETA_REGION]: "r" }, { [REGION]: "r" }],
    ["does so for the instance type", { [BETA_TYPE]: "t" }, { [TYPE]: "t" }],
  ])("%s", (_title, labels, wanted) => {
    const { set, events } = plan(labels, NOT_LISTED);
    expect([set, events]).toEqual([wanted, []]);
  });

  test("does so for what a halted machine's cloud does not tell, and for nothing that it tells", () => {
    const labels = { ...toLabels("h1"), [BETA_ZONE]: "z", [BETA_REGION]: "mine" };
    const reported = toLabels("h1");
    const { set, isRepair } = plan(labels, toPresence(undefined), { reported });
    expect(set).toEqual({ [ZONE]: "z", [BETA_REGION]: "p1" });
    expect(isRepair).toBe(true);
  });
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

  test("takes its start on another host for a move", () => {
    const { reported: after } = plan(toLabels("h1"), STOPPED, { reported });
    const started = plan(toLabels("h1"), toPresence("h2"), { reported: after });
    expect(started.set).toMatchObject({ [ZONE]: "h2", [HOST]: "h2", [FIRST_HOST]: "h1" });
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

describe("planNodeLabels() of a machine with tags", () => {
  const RECORD = "landfall.dev/labels-from-tags";
  const toTagged = (labels: Labels, refused: readonly string[] = []): Presence =>
    toPresence("h1", "p1", { tagLabels: { labels, unclear: [], refused } });

  test("brings their labels beside those of the cloud", () => {
    const { tags, set, isRepair } = plan(toLabels("h1"), toTagged({ "x.y/rack": "7" }));
    expect([set, isRepair]).toEqual([{}, false]);
    expect(tags).toMatchObject({ set: { "x.y/rack": "7" }, record: `{"x.y/rack":"7"}` });
  });

  test("needs no write once they stand", () => {
    const labels = { ...toLabels("h1"), "x.y/rack": "7" };
    const annotations = { [RECORD]: `{"x.y/rack":"7"}` };
    const done = plan(labels, toTagged({ "x.y/rack": "7" }), { annotations });
    expect([done.set, done.tags, done.tagWarnings]).toEqual([{}, undefined, undefined]);
  });

  test("counts a label that somebody removed as one to put back, like those of the cloud", () => {
    const annotations = { [RECORD]: `{"x.y/rack":"7"}` };
    const reported = toLabels("h1");
    const { tags, isRepair } = plan(reported, toTagged({ "x.y/rack": "7" }), {
      annotations,
      reported,
    });
    expect([tags?.set, isRepair]).toEqual([{ "x.y/rack": "7" }, true]);
    const first = plan(reported, toTagged({ "x.y/rack": "8" }), { annotations, reported });
    expect(first.isRepair).toBe(false);
  });

  test("says which labels it leaves to somebody else, and which tags it cannot follow", () => {
    const labels = { ...toLabels("h1"), "x.y/rack": "mine" };
    const { tags, tagWarnings } = plan(labels, toTagged({ "x.y/rack": "7" }, ["no", "never"]));
    expect(tags).toBeUndefined();
    expect(tagWarnings).toEqual([
      {
        type: "Warning",
        reason: "NodeTagLabelConflict",
        message:
          'Landfall did not set these labels and leaves them: label x.y/rack is "mine", the tag says "7". ' +
          "To use the value of the tag, remove the label. To keep the label, remove the tag",
      },
      { type: "Warning", reason: "NodeTagRefused", message: "no; never. Correct these tags" },
    ]);
  });

  test("names a few of many", () => {
    const keys = Array.from({ length: 9 }, (_, at) => `x.y/k${at}`);
    const mine = Object.fromEntries(keys.map((key) => [key, "mine"]));
    const wanted = Object.fromEntries(keys.map((key) => [key, "7"]));
    const { tagWarnings = [] } = plan({ ...toLabels("h1"), ...mine }, toTagged(wanted));
    expect(tagWarnings[0]?.message).toContain('k4 is "mine", the tag says "7"; and 4 more.');
  });

  test.each<[string, Presence]>([
    ["is not listed", NOT_LISTED],
    ["is gone", { kind: "absent", evidence: "404" }],
    ["is another cloud's", { kind: "foreign" }],
  ])("leaves them while the machine %s", (_title, presence) => {
    const labels = { ...toLabels("h1"), "x.y/rack": "7" };
    const annotations = { [RECORD]: `{"x.y/rack":"7"}` };
    expect(plan(labels, presence, { annotations })).toMatchObject({ set: {} });
    expect(plan(labels, presence, { annotations }).tags).toBeUndefined();
  });
});
