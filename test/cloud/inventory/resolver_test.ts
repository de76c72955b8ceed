import { afterEach, expect, test } from "bun:test";
import { CloudError } from "../../../lib/cloud/errors.ts";
import { InstanceResolver } from "../../../lib/cloud/inventory/resolver.ts";
import { toInstance } from "../../support/cloud/instances.ts";
import { type SourceRig, startSource } from "../../support/cloud/source.ts";

const SIGNAL = new AbortController().signal;

/** What ends after each test. */
const stops: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
});

async function start(failure?: Error): Promise<SourceRig & { resolver: InstanceResolver }> {
  const rig = await startSource((provider) => {
    provider.failure = failure;
  });
  stops.push(rig.stop);
  return { ...rig, resolver: new InstanceResolver(rig.provider, rig.source, rig.clock) };
}

test("InstanceResolver finds a listed instance without asking the cloud", async () => {
  const { clock, provider, resolver } = await start();
  provider.instances.set("a", toInstance("a"));
  await clock.advance(30_000);
  const lists = provider.lists;
  expect(await resolver.resolve({ name: "a" }, SIGNAL)).toMatchObject({ kind: "present" });
  expect([provider.lists, provider.reads]).toEqual([lists, 0]);
});

test("InstanceResolver waits for a newer inventory, and finds a late instance there", async () => {
  const { clock, provider, resolver } = await start();
  expect(await resolver.resolve({ name: "late" }, SIGNAL)).toEqual({ kind: "waiting" });
  expect([...resolver.waiting]).toEqual(["late"]);
  provider.instances.set("late", toInstance("late"));
  await clock.advance(1_000);
  expect(await resolver.resolve({ name: "late" }, SIGNAL)).toMatchObject({ kind: "present" });
  expect([...resolver.waiting]).toEqual([]);
  expect(provider.reads).toBe(0);
});

test("InstanceResolver asks the cloud directly only when a newer inventory lacks the instance too", async () => {
  const { clock, provider, resolver } = await start();
  await resolver.resolve({ name: "a" }, SIGNAL);
  expect(await resolver.resolve({ name: "a" }, SIGNAL)).toEqual({ kind: "waiting" });
  expect(provider.reads).toBe(0);
  await clock.advance(1_000);
  expect(await resolver.resolve({ name: "a" }, SIGNAL)).toMatchObject({ reason: "notFound" });
  expect(provider.reads).toBe(1);
  expect(resolver.explain({ name: "a" })).toMatchObject({ reason: "notFound" });
  expect(resolver.find({ name: "a" })).toMatchObject({ reason: "notListed" });
});

test("InstanceResolver costs one refresh for a thousand missing Nodes", async () => {
  const { clock, provider, resolver } = await start();
  for (let i = 0; i < 1_000; i++) await resolver.resolve({ name: `n${i}` }, SIGNAL);
  await clock.advance(5_000);
  expect(provider.lists).toBe(2);
});

test("InstanceResolver says why when the cloud cannot answer, and asks it nothing more", async () => {
  const { clock, provider, resolver } = await start(new CloudError("denied", "check the token"));
  await resolver.resolve({ name: "a" }, SIGNAL);
  await clock.advance(1_000);
  expect(await resolver.resolve({ name: "a" }, SIGNAL)).toEqual({
    kind: "unknown",
    reason: "denied",
    message: "check the token",
  });
  expect(provider.reads).toBe(0);
});

test("InstanceResolver leaves foreign Nodes alone", async () => {
  const { provider, resolver } = await start();
  const node = { name: "a", providerId: "aws:///i" };
  expect(await resolver.resolve(node, SIGNAL)).toMatchObject({ kind: "foreign" });
  expect([provider.lists, provider.reads]).toEqual([1, 0]);
});

test("InstanceResolver forgets a Node", async () => {
  const { resolver } = await start();
  await resolver.resolve({ name: "a" }, SIGNAL);
  resolver.forget("a");
  expect([...resolver.waiting]).toEqual([]);
});
