import { expect, test } from "bun:test";
import { ManagedServices } from "../../../../lib/controllers/service/state/managed.ts";
import { NewestObjects } from "../../../../lib/controllers/kinds/newest_objects.ts";
import { ServiceTasks } from "../../../../lib/controllers/service/state/tasks.ts";
import { silentLogger } from "../../../../lib/core/log.ts";
import { WrittenVersions } from "../../../../lib/engine/written_versions.ts";
import { Store } from "../../../../lib/kube/cache/store.ts";
import { type Service, SERVICES } from "../../../../lib/kube/kinds/service.ts";
import { ManualClock } from "../../../support/manual_clock.ts";
import { FINALIZER, toService } from "../../../support/services/service.ts";

function toStage(services: readonly Service[]): {
  readonly managed: ManagedServices;
  readonly tasks: ServiceTasks;
} {
  const store = new Store<Service>({ resource: SERVICES, log: silentLogger });
  store.replace(services, "1");
  const managed = new ManagedServices(new ManualClock());
  const newest = new NewestObjects(SERVICES, store, new WrittenVersions());
  const options = { services: newest, managed, ownClass: undefined, leavesNothingBehind: false };
  return { managed, tasks: new ServiceTasks(options) };
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
  const { tasks } = toStage([
    toService({ metadata: { name: "first", uid: "x" } }),
    toService(input),
  ]);
  const owner = { namespace: "web", name: "shop", uid: "uid-1" };
  const holder = isLeaving === undefined ? undefined : { owner, isLeaving };
  expect(tasks.findHolder((uid) => uid === "uid-1")).toEqual(holder);
  expect(tasks.findHolder((uid) => uid === "uid-2")).toBeUndefined();
});

test("findHolder() finds what this process has yet to release of a Service that is gone", () => {
  for (const there of [[], [toService({ metadata: { uid: "uid-2" } })]]) {
    const { managed, tasks } = toStage(there);
    managed.note(toService());
    expect(tasks.findHolder((uid) => uid === "uid-1")).toMatchObject({ isLeaving: true });
    managed.forget("web/shop");
    expect(tasks.findHolder((uid) => uid === "uid-1")).toBeUndefined();
  }
});

test("findHolder() of a Service whose finalizer was removed by hand", () => {
  const { managed, tasks } = toStage([toService({ metadata: { deletionTimestamp } })]);
  managed.note(toService());
  expect(tasks.findHolder((uid) => uid === "uid-1")).toMatchObject({ isLeaving: true });
});
