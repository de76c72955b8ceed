import { describe, expect, test } from "bun:test";
import { NewestObjects } from "../../../../lib/controllers/kinds/newest_objects.ts";
import { ServiceWriter } from "../../../../lib/controllers/service/state/service_writer.ts";
import { silentLogger } from "../../../../lib/core/log.ts";
import { WrittenVersions } from "../../../../lib/engine/written_versions.ts";
import { Store } from "../../../../lib/kube/cache/store.ts";
import {
  LOAD_BALANCER_CLEANUP,
  type Service,
  SERVICES,
} from "../../../../lib/kube/kinds/service.ts";
import { ServiceServer } from "../../../support/kube/service_server.ts";
import { ManualClock } from "../../../support/manual_clock.ts";

const RECORD = "landfall.dev/load-balancer";
const OTHER = "example.com/address";
const { signal } = new AbortController();

/** Releases a Service. Returns what was written, and what is left. */
async function release(
  change: (service: Service) => Service,
  annotations?: Readonly<Record<string, undefined>>,
) {
  const store = new Store<Service>({ resource: SERVICES, log: silentLogger });
  const server = new ServiceServer(new ManualClock(), store);
  const services = new NewestObjects(SERVICES, store, new WrittenVersions());
  const writer = new ServiceWriter({ client: server, services, inputs: () => [] });
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
  const services = new NewestObjects(SERVICES, store, new WrittenVersions());
  const writer = new ServiceWriter({ client: server, services, inputs: () => [] });
  const old = server.add("shop");
  server.remove("web/shop");
  const other = server.add("shop");
  const failed = writer.setIngress(old, { ingress: [{ ip: "192.0.2.1" }] }, signal);
  expect(await failed.catch((error: unknown) => error)).toMatchObject({ kind: "notFound" });
  expect(server.find("web/shop")).toEqual(other);
});
