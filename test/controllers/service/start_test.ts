import { describe, expect, test } from "bun:test";
import { catchUp } from "../../../lib/controllers/service/start/catch_up.ts";
import { silentLogger } from "../../../lib/core/log.ts";
import { Store } from "../../../lib/kube/cache/store.ts";
import { type Service, SERVICES } from "../../../lib/kube/kinds/service.ts";
import { ServiceServer } from "../../support/kube/service_server.ts";
import { ManualClock } from "../../support/manual_clock.ts";
import { findClusterIds } from "../../../lib/controllers/service/start/cluster_ids.ts";

function startCatchUp(prepare: (server: ServiceServer) => void): {
  readonly clock: ManualClock;
  readonly server: ServiceServer;
  readonly stop: AbortController;
  readonly state: { isDone: boolean };
} {
  const clock = new ManualClock();
  const store = new Store<Service>({ resource: SERVICES, log: silentLogger });
  const server = new ServiceServer(clock, store);
  store.replace([], "1");
  prepare(server);
  const stop = new AbortController();
  const state = { isDone: false };
  const options = { client: server, clock, log: silentLogger, services: store };
  const run = async (): Promise<void> => {
    await catchUp(options, stop.signal);
    state.isDone = true;
  };
  run().catch(() => undefined);
  return { clock, server, stop, state };
}

describe("catchUp()", () => {
  test("is done at once if the watch shows what the list has", async () => {
    const { clock, server, state } = startCatchUp((one) => one.add("shop"));
    await clock.advance(0);
    expect(state.isDone).toBe(true);
    expect(server.requests).toEqual(["list services"]);
    expect(clock.pending).toBe(0);
  });

  test("waits for a write of the leader before that the watch does not show yet", async () => {
    const { clock, server, state } = startCatchUp((one) => {
      one.add("shop");
      one.isWatchHeld = true;
      one.change("web/shop", { metadata: { annotations: { a: "1" } } });
    });
    await clock.advance(5_000);
    expect(state.isDone).toBe(false);
    server.releaseWatch();
    await clock.advance(0);
    expect(state.isDone).toBe(true);
  });

  test("lists again if the watch went past the version of the list", async () => {
    const { clock, server, state } = startCatchUp((one) => {
      one.add("shop");
      one.isWatchHeld = true;
      one.change("web/shop", { metadata: { annotations: { a: "1" } } });
    });
    await clock.advance(0);
    server.change("web/shop", { metadata: { annotations: { a: "2" } } });
    server.releaseWatch();
    await clock.advance(9_000);
    expect(state.isDone).toBe(false);
    await clock.advance(1_000);
    expect(state.isDone).toBe(true);
    expect(server.requests.length).toBe(2);
  });

  test("ends by its signal", async () => {
    const { clock, stop, state } = startCatchUp((one) => {
      one.isWatchHeld = true;
      one.add("shop");
    });
    await clock.advance(0);
    stop.abort();
    await clock.advance(0);
    expect([state.isDone, clock.pending]).toEqual([false, 0]);
  });
});

function startClusterIds(
  namespace: ServiceServer["namespace"],
  hasService: boolean,
): {
  readonly clock: ManualClock;
  readonly server: ServiceServer;
  readonly state: { ids?: readonly string[] };
} {
  const clock = new ManualClock();
  const services = new Store<Service>({ resource: SERVICES, log: silentLogger });
  const server = new ServiceServer(clock, services);
  server.namespace = namespace;
  const metadata = { namespace: "default", uid: "of-service" };
  if (hasService) server.add("kubernetes", { metadata, spec: { type: "ClusterIP" } });
  const state: { ids?: readonly string[] } = {};
  const options = { client: server, clock, log: silentLogger, services };
  const run = async (): Promise<void> => {
    state.ids = await findClusterIds(options, new AbortController().signal);
  };
  run().catch(() => undefined);
  return { clock, server, state };
}

describe("findClusterIds()", () => {
  test.each<[string, ServiceServer["namespace"], boolean, readonly string[]]>([
    ["both, that of the namespace first", "of-namespace", true, ["of-namespace", "of-service"]],
    ["that of the namespace alone", "of-namespace", false, ["of-namespace"]],
    ["that of the Service without the right", "forbidden", true, ["of-service"]],
    ["that of the Service without the namespace", "notFound", true, ["of-service"]],
  ])("finds %s", async (_what, namespace, hasService, ids) => {
    const { clock, state } = startClusterIds(namespace, hasService);
    await clock.advance(0);
    expect(state.ids).toEqual(ids);
  });

  test("does not fall back while the API server has trouble: another ID would make new objects", async () => {
    const { clock, server, state } = startClusterIds("unavailable", true);
    await clock.advance(300_000);
    expect(state.ids).toBeUndefined();
    server.namespace = "of-namespace";
    await clock.advance(80_000);
    expect(state.ids).toEqual(["of-namespace", "of-service"]);
  });

  test("tries again until one is known", async () => {
    const { clock, server, state } = startClusterIds("forbidden", false);
    await clock.advance(10_000);
    expect(state.ids).toBeUndefined();
    server.namespace = "of-namespace";
    await clock.advance(80_000);
    expect(state.ids).toEqual(["of-namespace"]);
  });
});
