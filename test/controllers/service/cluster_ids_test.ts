import { describe, expect, test } from "bun:test";
import { silentLogger } from "../../../lib/core/log.ts";
import { Store } from "../../../lib/kube/cache/store.ts";
import { type Service, SERVICES } from "../../../lib/kube/kinds/service.ts";
import { ServiceServer } from "../../support/kube/service_server.ts";
import { ManualClock } from "../../support/manual_clock.ts";
import { findClusterIds } from "../../../lib/controllers/service/cluster_ids.ts";

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
