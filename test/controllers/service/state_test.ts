import { describe, expect, test } from "bun:test";
import {
  createRecord,
  ManagedServices,
  ServiceTasks,
} from "../../../lib/controllers/service/managed.ts";
import { ServiceWriter } from "../../../lib/controllers/service/service_writer.ts";
import { silentLogger } from "../../../lib/core/log.ts";
import { KubeError } from "../../../lib/kube/api/errors.ts";
import { Store, type StoreReader } from "../../../lib/kube/cache/store.ts";
import { LOAD_BALANCER_CLEANUP, type Service, SERVICES } from "../../../lib/kube/kinds/service.ts";
import { ServiceServer } from "../../support/kube/service_server.ts";
import { ManualClock } from "../../support/manual_clock.ts";
import { FINALIZER, toService } from "../../support/services/service.ts";

const KEY = "web/shop";
const RECORD = "landfall.dev/load-balancer";
const { signal } = new AbortController();

function toRecordStage(): {
  readonly server: ServiceServer;
  readonly services: StoreReader<Service>;
  readonly managed: ManagedServices;
  save(text: string | undefined): Promise<void>;
} {
  const clock = new ManualClock();
  const store = new Store<Service>({ resource: SERVICES, log: silentLogger });
  store.replace([], "1");
  const server = new ServiceServer(clock, store);
  const managed = new ManagedServices(clock);
  const writer = new ServiceWriter({ client: server, inputs: () => [] });
  const { metadata } = managed.note(server.add("shop")).service;
  const record = createRecord(KEY, metadata.uid, { services: store, managed, writer });
  return { server, services: store, managed, save: (text) => record.save(text, signal) };
}

const read = (server: ServiceServer): string | undefined =>
  server.find(KEY)?.metadata.annotations?.[RECORD];

describe("createRecord()", () => {
  test("keeps a text in the annotation, and removes it", async () => {
    const { server, save } = toRecordStage();
    await save("one");
    expect(read(server)).toBe("one");
    await save("one");
    expect(server.writes.length).toBe(1);
    await save(undefined);
    expect(read(server)).toBeUndefined();
    expect(server.writes.every(({ path }) => path.subresource === "status")).toBe(true);
  });

  test("knows its own writes before the watch shows them", async () => {
    const { server, services, save } = toRecordStage();
    server.isWatchHeld = true;
    await save("one");
    await save("two");
    expect(read(server)).toBe("two");
    expect(services.get(KEY)?.metadata.annotations?.[RECORD]).toBe("two");
    expect(server.requests).toEqual([]);
  });

  test("writes again when another program changed other fields at the same time", async () => {
    const { server, save } = toRecordStage();
    server.isWatchHeld = true;
    server.change(KEY, { metadata: { labels: { a: "1" } } });
    await save("one");
    expect(server.find(KEY)?.metadata).toMatchObject({ labels: { a: "1" } });
    expect(read(server)).toBe("one");
  });

  test("does not overwrite a record that another program changed at the same time", async () => {
    const { server, save } = toRecordStage();
    server.isWatchHeld = true;
    server.change(KEY, { metadata: { annotations: { [RECORD]: "forged" } } });
    expect(save("one")).rejects.toThrow(KubeError);
    expect(read(server)).toBe("forged");
  });

  test("does not write to another Service of the same name", async () => {
    const { server, managed, save } = toRecordStage();
    server.remove(KEY);
    server.add("shop", { metadata: { uid: "other" } });
    await save("one");
    expect(read(server)).toBeUndefined();
    expect(managed.get(KEY)?.service.metadata.annotations?.[RECORD]).toBe("one");
  });

  test("refuses more than 1 KiB", () => {
    const { save } = toRecordStage();
    expect(save("é".repeat(513))).rejects.toThrow("the limit is 1024 bytes");
  });
});

const OTHER = "kube-vip.io/other";

/** Releases a Service. Returns what was written, and what is left. */
async function release(
  change: (service: Service) => Service,
  annotations?: Readonly<Record<string, undefined>>,
) {
  const store = new Store<Service>({ resource: SERVICES, log: silentLogger });
  const server = new ServiceServer(new ManualClock(), store);
  const writer = new ServiceWriter({ client: server, inputs: () => [] });
  await writer.release(change(server.add("shop")), annotations, signal);
  return server.writes.length;
}

describe("release()", () => {
  test.each<[string, (service: Service) => Service]>([
    [
      "the finalizer",
      (one) => ({ ...one, metadata: { ...one.metadata, finalizers: [LOAD_BALANCER_CLEANUP] } }),
    ],
    [
      "a record",
      (one) => ({ ...one, metadata: { ...one.metadata, annotations: { [RECORD]: "{}" } } }),
    ],
    [
      "an annotation of another program",
      (one) => ({ ...one, metadata: { ...one.metadata, annotations: { [OTHER]: "" } } }),
    ],
    [
      "a status",
      (one) => ({ ...one, status: { loadBalancer: { ingress: [{ ip: "192.0.2.1" }] } } }),
    ],
  ])("writes a Service that has %s", async (_what, change) => {
    expect(await release(change, { [OTHER]: undefined })).toBe(1);
  });

  test("writes nothing to a Service that has none of them", async () => {
    expect(await release((one) => one, { [OTHER]: undefined })).toBe(0);
    expect(await release((one) => one)).toBe(0);
  });
});

test("a write to a Service that was replaced by another one of its name fails like one that is gone", async () => {
  const store = new Store<Service>({ resource: SERVICES, log: silentLogger });
  const server = new ServiceServer(new ManualClock(), store);
  const writer = new ServiceWriter({ client: server, inputs: () => [] });
  const old = server.add("shop");
  server.remove("web/shop");
  const other = server.add("shop");
  const failed = writer.show(old, { ingress: [{ ip: "192.0.2.1" }] }, signal);
  expect(await failed.catch((error: unknown) => error)).toMatchObject({ kind: "notFound" });
  expect(server.find("web/shop")).toEqual(other);
});

test("a write that was done although its answer was lost is not repeated", async () => {
  const store = new Store<Service>({ resource: SERVICES, log: silentLogger });
  const server = new ServiceServer(new ManualClock(), store);
  const writer = new ServiceWriter({ client: server, inputs: () => [] });
  const old = server.add("shop");
  server.isWatchHeld = true;
  server.change("web/shop", { metadata: { finalizers: [LOAD_BALANCER_CLEANUP] } });
  // One try each, which the API server refuses.
  await writer.addFinalizer(old, signal);
  expect(server.writes.length).toBe(1);
  const ingress = [{ ip: "192.0.2.1", ipMode: "VIP" as const }];
  const text = { annotations: { [OTHER]: "1" }, ingress };
  await writer.show(old, text, signal);
  expect(server.find("web/shop")).toMatchObject({
    metadata: { annotations: { [OTHER]: "1" } },
    status: { loadBalancer: { ingress: text.ingress } },
  });
  expect(server.writes.length).toBe(3);
  await writer.show(old, text, signal);
  expect(server.writes.length).toBe(4);
});

function toTasksStage(services: readonly Service[]): {
  readonly managed: ManagedServices;
  readonly tasks: ServiceTasks;
} {
  const store = new Store<Service>({ resource: SERVICES, log: silentLogger });
  store.replace(services, "1");
  const clock = new ManualClock();
  const managed = new ManagedServices(clock);
  const classes = { servesClassless: true };
  const options = { clock, services: store, managed, classes };
  return { managed, tasks: new ServiceTasks({ ...options, leavesNothingBehind: false }) };
}

const finalizers = [FINALIZER];
const deletionTimestamp = "2026-01-01T00:00:00Z";
const loadBalancerClass = "example.com/other";
const ClusterIP = { type: "ClusterIP" };

test.each<[string, Parameters<typeof toService>[0], boolean | undefined]>([
  ["that is new", {}, false],
  ["with a load balancer", { metadata: { finalizers } }, false],
  ["that is being deleted", { metadata: { finalizers, deletionTimestamp } }, true],
  ["of another type with the finalizer", { metadata: { finalizers }, spec: ClusterIP }, true],
  ["of another class", { spec: { loadBalancerClass } }, false],
  [
    "of another class with the finalizer",
    { metadata: { finalizers }, spec: { loadBalancerClass } },
    false,
  ],
  ["of another type", { spec: ClusterIP }, undefined],
  ["that is deleted and released", { metadata: { deletionTimestamp } }, undefined],
])("findHolder() of a Service %s", (_what, input, isLeaving) => {
  const { tasks } = toTasksStage([
    toService({ metadata: { name: "first", uid: "x" } }),
    toService(input),
  ]);
  const owner = { namespace: "web", name: "shop", uid: "uid-1" };
  const holder = isLeaving === undefined ? undefined : { claim: { owner }, isLeaving };
  const found = tasks.findHolder((uid) => uid === "uid-1");
  if (holder === undefined) expect(found).toBeUndefined();
  else expect(found).toMatchObject(holder);
  expect(tasks.findHolder((uid) => uid === "uid-2")).toBeUndefined();
});

test("findHolder() finds what this process has yet to release of a Service that is gone", () => {
  for (const there of [[], [toService({ metadata: { uid: "uid-2" } })]]) {
    const { managed, tasks } = toTasksStage(there);
    managed.note(toService());
    expect(tasks.findHolder((uid) => uid === "uid-1")).toMatchObject({ isLeaving: true });
    managed.forget("web/shop");
    expect(tasks.findHolder((uid) => uid === "uid-1")).toBeUndefined();
  }
});

test("findHolder() of a Service whose finalizer was removed by hand", () => {
  const { managed, tasks } = toTasksStage([toService({ metadata: { deletionTimestamp } })]);
  managed.note(toService());
  expect(tasks.findHolder((uid) => uid === "uid-1")).toMatchObject({ isLeaving: true });
});
