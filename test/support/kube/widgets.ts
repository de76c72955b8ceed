/**
 * Two kinds that nobody has: widgets, which a loop works on, and gadgets, which speak for widgets.
 * @module
 */
import { ObjectLoop, type ObjectLoopOptions } from "../../../lib/engine/object_loop.ts";
import { createLoopMetrics } from "../../../lib/engine/work_queue.ts";
import { silentLogger } from "../../../lib/core/log.ts";
import { MetricsRegistry } from "../../../lib/core/metrics.ts";
import type { Kind, KubeObject, ObjectMeta } from "../../../lib/kube/kinds/resource.ts";
import { type Key, Store } from "../../../lib/kube/cache/store.ts";
import { ManualClock } from "../manual_clock.ts";

export interface Widget extends KubeObject {
  /** What the loop works towards. */
  readonly spec?: string;
  /** What it does not look at. */
  readonly status?: string;
}

export interface Gadget extends KubeObject {
  /** Names of the widgets of its namespace that it speaks for. */
  readonly widgets?: readonly string[];
}

export const WIDGETS: Kind<Widget> = {
  apiVersion: "example.org/v1",
  kind: "Widget",
  plural: "widgets",
  namespaced: true,
};

export const GADGETS: Kind<Gadget> = {
  apiVersion: "example.org/v1",
  kind: "Gadget",
  plural: "gadgets",
  namespaced: true,
  metadata: ["ownerReferences"],
};

/** A widget of namespace `ns`. */
export function toWidget(
  name: string,
  version: string,
  fields: Omit<Widget, "metadata"> = {},
): Widget {
  return { ...fields, metadata: toMetadata(name, version) };
}

/** A gadget of namespace `ns`. */
export function toGadget(name: string, version: string, fields: Partial<Gadget> = {}): Gadget {
  return { ...fields, metadata: { ...toMetadata(name, version), ...fields.metadata } };
}

function toMetadata(name: string, resourceVersion: string): ObjectMeta {
  return { name, namespace: "ns", uid: `uid-${name}`, resourceVersion };
}

/** A loop that runs, and what it works on. */
export interface WidgetRig extends AsyncDisposable {
  readonly clock: ManualClock;
  readonly widgets: Store<Widget>;
  readonly gadgets: Store<Gadget>;
  readonly loop: ObjectLoop<Widget>;
  /** Keys as they were worked on, and those forgotten with a `-` before. */
  readonly worked: string[];
  /** Stops the loop; resolves when it has ended. */
  stop(): Promise<void>;
}

/** What a test may choose. */
export interface WidgetRigOptions {
  /** What differs from a loop that notes what it works on. */
  readonly over?: (stores: Pick<WidgetRig, "gadgets">) => Partial<ObjectLoopOptions<Widget>>;
  /** Whether the first list of gadgets is still to come. @default {false} */
  readonly lacksGadgets?: boolean;
}

/** Starts a loop without widgets. */
export function startWidgets({ over, lacksGadgets = false }: WidgetRigOptions = {}): WidgetRig {
  const clock = new ManualClock();
  const metrics = new MetricsRegistry();
  const log = silentLogger;
  const widgets = new Store<Widget>({ resource: WIDGETS, log });
  const gadgets = new Store<Gadget>({ resource: GADGETS, log });
  const worked: string[] = [];
  const loop = new ObjectLoop<Widget>({
    context: {
      clock,
      log,
      loopMetrics: createLoopMetrics(metrics),
    },
    name: "widget",
    queueName: "widgets",
    noun: "widget",
    objects: widgets,
    workers: 1,
    inputs: ({ spec }) => [spec],
    reconcile: async ({ metadata }) => {
      worked.push(`${metadata.namespace}/${metadata.name}`);
      return {};
    },
    forget: (key: Key) => worked.push(`-${key}`),
    ...over?.({ gadgets }),
  });
  widgets.replace([], "1");
  if (!lacksGadgets) gadgets.replace([], "1");
  const stopping = new AbortController();
  const running = loop.run(stopping.signal);
  const stop = async (): Promise<void> => {
    stopping.abort(new Error("the test is over"));
    await clock.advance(10_000);
    await running;
  };
  return { clock, widgets, gadgets, loop, worked, stop, [Symbol.asyncDispose]: stop };
}
