import { expect, test } from "bun:test";
import { DEFAULT_DELETION } from "../../lib/cloud/deletion/guard.ts";
import { requireCloud, toNodeContext } from "../../lib/controllers/context.ts";
import { AssertionError } from "../../lib/core/errors.ts";
import { MetricsRegistry } from "../../lib/core/metrics.ts";
import { Caches } from "../../lib/kube/cache/caches.ts";
import { createLifecycleWorld } from "../support/nodes/lifecycle_rig.ts";

test("toNodeContext() puts Nodes and their cloud beside what every controller has", () => {
  const { context, metrics } = createLifecycleWorld();
  const { nodes, provider, source, resolver, presences, workers, ...rest } = context;
  const deletion = DEFAULT_DELETION;
  const cloud = { deletion, nodes, provider, source, resolver, presences, workers };
  const caches = new Caches(rest);
  expect(toNodeContext({ ...rest, caches, metrics, flags: {}, cloud })).toMatchObject(context);
});

test("toNodeContext() and requireCloud() refuse a controller that did not say that it needs a cloud", () => {
  const { context } = createLifecycleWorld();
  const caches = new Caches(context);
  const without = { ...context, caches, metrics: new MetricsRegistry(), flags: {} };
  expect(() => toNodeContext(without)).toThrow(AssertionError);
  expect(() => requireCloud(without)).toThrow(AssertionError);
});
