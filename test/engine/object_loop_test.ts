import { expect, test } from "bun:test";
import * as fc from "fast-check";
import {
  fromSecondary,
  type ObjectLoopOptions,
  toOwnerKeys,
} from "../../lib/engine/object_loop.ts";
import { KubeError } from "../../lib/kube/api/errors.ts";
import { type Key, toKey } from "../../lib/kube/cache/store.ts";
import type { ObjectMeta, Resource } from "../../lib/kube/kinds/resource.ts";
import {
  type Gadget,
  startWidgets,
  toGadget,
  toWidget,
  type Widget,
  type WidgetRig,
  type WidgetRigOptions,
  WIDGETS,
} from "../support/kube/widgets.ts";
import { tries } from "../support/extent.ts";

function start(over: Partial<ObjectLoopOptions<Widget>> = {}): WidgetRig {
  return startWidgets({ over: () => over });
}

/** Gadgets count for the widgets that they name. */
const BY_NAME: NonNullable<WidgetRigOptions["over"]> = ({ gadgets }) => ({
  sources: [fromSecondary(gadgets, ({ widgets = [] }) => widgets.map((name) => `ns/${name}`))],
});

async function workedAfter(rig: WidgetRig, change: () => void): Promise<string[]> {
  await rig.clock.advance(0);
  rig.worked.length = 0;
  change();
  await rig.clock.advance(0);
  return rig.worked;
}

test("ObjectLoop works on a new object, on a change of its inputs, and forgets one that is gone", async () => {
  await using rig = start();
  rig.widgets.apply(toWidget("w", "1"));
  await rig.clock.advance(0);
  rig.widgets.apply(toWidget("w", "2", { spec: "other" }));
  await rig.clock.advance(0);
  rig.widgets.remove(toWidget("w", "3"));
  await rig.clock.advance(0);
  expect(rig.worked).toEqual(["ns/w", "ns/w", "-ns/w"]);
});

test("ObjectLoop passes over what is no input, unless it is another object of that name", async () => {
  await using rig = start();
  rig.widgets.apply(toWidget("w", "1"));
  const passed = () => rig.widgets.apply(toWidget("w", "2", { status: "well" }));
  expect(await workedAfter(rig, passed)).toEqual([]);
  const other = toWidget("w", "3");
  const replaced = () =>
    rig.widgets.replace([{ ...other, metadata: { ...other.metadata, uid: "another" } }], "3");
  expect(await workedAfter(rig, replaced)).toContain("ns/w");
});

test.each([
  ["after the refusal", false],
  ["while it was on its way", true],
])(
  "ObjectLoop does not wait for the back-off of a conflict when the newer one is shown %s",
  async (_when, isEarly) => {
    let tries = 0;
    const newer = toWidget("w", "2", { status: "of somebody else" });
    await using rig = start({
      reconcile: async () => {
        tries += 1;
        if (tries > 1) return {};
        if (isEarly) rig.widgets.apply(newer);
        throw new KubeError("conflict", "somebody else wrote first");
      },
    });
    rig.widgets.apply(toWidget("w", "1"));
    await rig.clock.advance(0);
    if (!isEarly) rig.widgets.apply(newer);
    await rig.clock.advance(0);
    expect(tries).toBe(2);
  },
);

test("ObjectLoop works on every object at each tick, and never ticks without an interval", async () => {
  await using ticking = start({ tickIntervalMs: 60_000 });
  await using still = start();
  for (const { widgets } of [ticking, still]) {
    for (const name of ["a", "b"]) widgets.apply(toWidget(name, "1"));
  }
  expect(await workedAfter(ticking, () => undefined)).toEqual([]);
  await ticking.clock.advance(60_000);
  expect(ticking.worked).toEqual(["ns/a", "ns/b"]);
  await still.clock.advance(600_000);
  expect(still.worked).toEqual(["ns/a", "ns/b"]);
});

test("ObjectLoop does not tick at rest, until a source reports a change, even one that names no object", async () => {
  let isAtRest = true;
  let ticks = 0;
  await using rig = startWidgets({
    over: (stores) => ({
      ...BY_NAME(stores),
      tickIntervalMs: 1_000,
      onTick: () => (ticks += 1),
      isAtRest: () => isAtRest,
    }),
  });
  await rig.clock.advance(10_000);
  expect(ticks).toBe(0);
  rig.gadgets.apply(toGadget("g", "1"));
  await rig.clock.advance(10_000);
  expect(ticks).toBe(0);
  isAtRest = false;
  rig.gadgets.apply(toGadget("g", "2"));
  await rig.clock.advance(10_000);
  expect(ticks).toBe(10);
});

test("ObjectLoop ticks again once an object was worked on", async () => {
  let isAtRest = true;
  let ticks = 0;
  const over = { tickIntervalMs: 1_000, onTick: () => (ticks += 1), isAtRest: () => isAtRest };
  await using rig = start(over);
  await rig.clock.advance(10_000);
  isAtRest = false;
  rig.widgets.apply(toWidget("w", "1"));
  await rig.clock.advance(10_000);
  expect(ticks).toBe(10);
});

test("ObjectLoop lets others have their turn between many objects that need nothing", async () => {
  await using rig = start();
  await rig.clock.advance(0);
  for (let at = 0; at < 1_000; at += 1) rig.widgets.apply(toWidget(`w${at}`, "1"));
  // What waits for the event loop, such as an answer to the renewal of the Lease.
  let most = 0;
  for (let before = -1; rig.worked.length < 1_000;) {
    before = rig.worked.length;
    await new Promise((resolve) => setImmediate(resolve));
    most = Math.max(most, rig.worked.length - before);
  }
  expect(most).toBeLessThan(100);
});

test("enqueueUnlessWaiting() leaves an object to its back-off, enqueue() does not", async () => {
  let tries = 0;
  await using rig = start({
    reconcile: async () => {
      tries += 1;
      throw new Error("refused");
    },
  });
  rig.widgets.apply(toWidget("w", "1"));
  await rig.clock.advance(0);
  rig.loop.enqueueUnlessWaiting("ns/w");
  await rig.clock.advance(0);
  expect(tries).toBe(1);
  rig.loop.enqueue("ns/w");
  await rig.clock.advance(0);
  expect(tries).toBe(2);
});

test("ObjectLoop works on every object that another kind speaks for, now or before", async () => {
  await using rig = startWidgets({ over: BY_NAME });
  for (const name of ["a", "b", "c"]) rig.widgets.apply(toWidget(name, "1"));
  const change = (widgets: readonly string[], version: string) => () =>
    rig.gadgets.apply(toGadget("g", version, { widgets }));
  expect(await workedAfter(rig, change(["a", "b"], "1"))).toEqual(["ns/a", "ns/b"]);
  expect(await workedAfter(rig, change(["b", "c"], "2"))).toEqual(["ns/a", "ns/b", "ns/c"]);
  const remove = () => rig.gadgets.remove(toGadget("g", "3", { widgets: ["b", "c"] }));
  expect(await workedAfter(rig, remove)).toEqual(["ns/b", "ns/c"]);
  expect(await workedAfter(rig, change([], "4"))).toEqual([]);
});

test("ObjectLoop works on the owner of an object that changes or is gone", async () => {
  await using rig = startWidgets({
    over: ({ gadgets }) => ({ sources: [fromSecondary(gadgets, toOwnerKeys(WIDGETS))] }),
  });
  rig.widgets.apply(toWidget("w", "1"));
  const owner = { apiVersion: "example.org/v1", kind: "Widget", name: "w", uid: "uid-w" };
  const owned = (resourceVersion: string): Gadget => ({
    metadata: { name: "g", namespace: "ns", resourceVersion, ownerReferences: [owner] },
  });
  expect(await workedAfter(rig, () => rig.gadgets.apply(owned("1")))).toEqual(["ns/w"]);
  expect(await workedAfter(rig, () => rig.gadgets.remove(owned("2")))).toEqual(["ns/w"]);
});

test("ObjectLoop works on nothing before all that it reads is there, and then on everything", async () => {
  let ticks = 0;
  await using rig = startWidgets({
    over: (stores) => ({ ...BY_NAME(stores), tickIntervalMs: 1_000, onTick: () => (ticks += 1) }),
    lacksGadgets: true,
  });
  rig.widgets.apply(toWidget("w", "1"));
  await rig.clock.advance(5_000);
  expect([rig.worked, ticks]).toEqual([[], 5]);
  rig.gadgets.replace([], "1");
  await rig.clock.advance(0);
  expect(rig.worked).toEqual(["ns/w"]);
});

test("ObjectLoop works on nothing before it is prepared", async () => {
  const prepared = Promise.withResolvers<void>();
  await using rig = start({ prepare: () => prepared.promise });
  rig.widgets.apply(toWidget("w", "1"));
  await rig.clock.advance(600_000);
  expect(rig.worked).toEqual([]);
  prepared.resolve();
  await rig.clock.advance(0);
  expect(rig.worked).toEqual(["ns/w"]);
});

test("ObjectLoop works on nothing while a kind that it reads is gone, and then on what it was asked to", async () => {
  await using rig = startWidgets({ over: BY_NAME });
  for (const name of ["a", "b", "c", "d"]) rig.widgets.apply(toWidget(name, "1"));
  rig.gadgets.apply(toGadget("g", "1", { widgets: ["a"] }));
  const lose = () => {
    rig.gadgets.clear();
    rig.widgets.apply(toWidget("b", "2", { spec: "other" }));
    rig.loop.enqueue("ns/c");
  };
  expect(await workedAfter(rig, lose)).toEqual([]);
  await rig.clock.advance(600_000);
  rig.loop.enqueue("ns/b");
  expect(await workedAfter(rig, () => rig.gadgets.replace([], "3"))).toEqual([
    "ns/a",
    "ns/b",
    "ns/c",
  ]);
  rig.gadgets.clear();
  expect(await workedAfter(rig, () => rig.loop.enqueue("ns/d"))).toEqual([]);
  expect(await workedAfter(rig, () => rig.gadgets.replace([], "4"))).toEqual(["ns/d"]);
});

test("ObjectLoop ends when it is stopped while it waits for what it reads", async () => {
  const rig = startWidgets({ over: BY_NAME, lacksGadgets: true });
  rig.widgets.apply(toWidget("w", "1"));
  await rig.clock.advance(0);
  await rig.stop();
  rig.gadgets.replace([], "1");
  rig.widgets.apply(toWidget("w", "2", { spec: "other" }));
  await rig.clock.advance(0);
  expect(rig.worked).toEqual([]);
});

test.each([1, 3])(
  "ObjectLoop works on as many objects at once as it has workers: %d",
  async (workers) => {
    let running = 0;
    let most = 0;
    let rig: WidgetRig | undefined;
    const reconcile = async (_widget: Widget, signal: AbortSignal) => {
      running += 1;
      most = Math.max(most, running);
      await rig?.clock.sleep(1_000, signal);
      running -= 1;
      return {};
    };
    await using started = (rig = start({ workers, reconcile }));
    for (const name of ["a", "b", "c", "d"]) started.widgets.apply(toWidget(name, "1"));
    await started.clock.advance(10_000);
    expect([most, running]).toEqual([workers, 0]);
  },
);

/** What happens to the two kinds. */
type Step =
  | { readonly kind: "widget" | "gadget"; readonly name: string; readonly value: string }
  | { readonly kind: "lose widget" | "lose gadget"; readonly name: string }
  | { readonly kind: "let it work" };

const NAME = fc.constantFrom("a", "b", "c");
const STEP: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ kind: fc.constantFrom("widget", "gadget"), name: NAME, value: NAME }),
  fc.record({ kind: fc.constantFrom("lose widget", "lose gadget"), name: NAME }),
  fc.constant({ kind: "let it work" }),
);

test("ObjectLoop has seen every object, and what speaks for it, as they are in the end", async () => {
  const list = ({ gadgets }: Pick<WidgetRig, "gadgets">, name: string): string[] =>
    [...gadgets.values()]
      .filter(({ widgets }) => widgets?.includes(name))
      .map(({ metadata }) => metadata.name);
  const play = async (steps: readonly Step[]): Promise<void> => {
    const seen = new Map<string, unknown>();
    await using rig = startWidgets({
      over: (stores) => ({
        ...BY_NAME(stores),
        workers: 2,
        reconcile: async (widget) => {
          seen.set(toKey(widget), [widget.spec, list(stores, widget.metadata.name)]);
          return {};
        },
        forget: (key) => seen.delete(key),
      }),
    });
    for (const [at, step] of steps.entries()) {
      const version = `${at + 2}`;
      if (step.kind === "let it work") await rig.clock.advance(0);
      else if (step.kind === "widget")
        rig.widgets.apply(toWidget(step.name, version, { spec: step.value }));
      else if (step.kind === "gadget")
        rig.gadgets.apply(toGadget(step.name, version, { widgets: [step.value] }));
      else if (step.kind === "lose widget") rig.widgets.remove(toWidget(step.name, version));
      else {
        const gone = rig.gadgets.get(`ns/${step.name}`);
        if (gone) rig.gadgets.remove(gone);
      }
    }
    await rig.clock.advance(0);
    const expected = [...rig.widgets.values()].map((widget) => [
      toKey(widget),
      [widget.spec, list(rig, widget.metadata.name)],
    ]);
    expect(Object.fromEntries(seen)).toEqual(Object.fromEntries(expected));
  };
  await fc.assert(fc.asyncProperty(fc.array(STEP, { maxLength: 20 }), play), tries(100));
});

test("ObjectLoop works on an object that is gone until it needs nothing more", async () => {
  let last: Widget | undefined = toWidget("w", "1");
  const results: string[] = [];
  await using rig = start({
    findGone: (key) => (key === "ns/w" ? last : undefined),
    reconcile: async ({ metadata }) => {
      results.push(metadata.resourceVersion ?? "");
      if (results.length === 2) throw new KubeError("unavailable", "not now");
      if (results.length === 3) last = undefined;
      return {};
    },
  });
  rig.widgets.apply(toWidget("w", "1"));
  await rig.clock.advance(0);
  rig.widgets.remove(toWidget("w", "2"));
  await rig.clock.advance(5_000);
  expect(results).toEqual(["1", "1", "1"]);
  await rig.clock.advance(600_000);
  expect(results.length).toBe(3);
});

test("ObjectLoop works on drift as well as on inputs", async () => {
  await using rig = start({
    isDrift: (_before, after) => (after as { status?: string }).status === "changed",
  });
  rig.widgets.apply(toWidget("w", "1"));
  const own = () => rig.widgets.apply(toWidget("w", "2", { status: "well" }));
  expect(await workedAfter(rig, own)).toEqual([]);
  const others = () => rig.widgets.apply(toWidget("w", "3", { status: "changed" }));
  expect(await workedAfter(rig, others)).toEqual(["ns/w"]);
});

test("ObjectLoop waits after the first failure as long as it is told", async () => {
  const times: number[] = [];
  await using rig: WidgetRig = start({
    backoffMs: 5_000,
    reconcile: async () => {
      times.push(rig.clock.monotonic());
      throw new KubeError("unavailable", "not now");
    },
  });
  rig.widgets.apply(toWidget("w", "1"));
  await rig.clock.advance(20_000);
  const [first = 0, second = 0, third = 0] = times;
  expect(second - first).toBeWithin(5_000, 6_001);
  expect(third - second).toBeWithin(10_000, 12_001);
});

const OWNER = { apiVersion: "example.org/v1", kind: "Widget", name: "w", uid: "u" };
const CLUSTER_WIDGETS: Resource<Widget> = { ...WIDGETS, namespaced: false };
const NODES: Resource<Widget> = {
  apiVersion: "v1",
  kind: "Node",
  plural: "nodes",
  namespaced: false,
};

test.each<[string, Resource<Widget>, ObjectMeta["ownerReferences"], Key[]]>([
  ["its owner", WIDGETS, [OWNER], ["ns/w"]],
  ["every owner of the kind", WIDGETS, [OWNER, { ...OWNER, name: "x" }], ["ns/w", "ns/x"]],
  ["an owner that has no namespace", CLUSTER_WIDGETS, [OWNER], ["w"]],
  ["an owner by another version", WIDGETS, [{ ...OWNER, apiVersion: "example.org/v2" }], ["ns/w"]],
  ["an owner of the core group", NODES, [{ ...OWNER, apiVersion: "v1", kind: "Node" }], ["w"]],
  ["none of another kind", WIDGETS, [{ ...OWNER, kind: "Gadget" }], []],
  ["none of another group", WIDGETS, [{ ...OWNER, apiVersion: "example.com/v1" }], []],
  ["none of the core group", WIDGETS, [{ ...OWNER, apiVersion: "v1" }], []],
  ["none of what is nobody's", WIDGETS, undefined, []],
])("toOwnerKeys() finds %s", (_what, owner, ownerReferences, expected) => {
  const metadata = { name: "g", namespace: "ns", ...(ownerReferences && { ownerReferences }) };
  expect(toOwnerKeys(owner)({ metadata })).toEqual(expected);
});
