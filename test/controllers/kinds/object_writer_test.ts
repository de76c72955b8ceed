/**
 * What is written to an object of our kinds, and what is not.
 * @module
 */
import { expect, test } from "bun:test";
import { systemClock } from "../../../lib/core/clock.ts";
import type { KubeClient } from "../../../lib/kube/api/client.ts";
import type { EventOptions } from "../../../lib/kube/events/events.ts";
import { ObjectWriter } from "../../../lib/controllers/kinds/object_writer.ts";
import {
  type SipCluster,
  SIP_CLUSTERS,
} from "../../../lib/controllers/sipcluster/resource/sip_cluster.ts";
import { EVENT_WORDS, FINALIZER } from "../../../lib/controllers/sipcluster/words.ts";
import { startHostServer } from "../../support/sipcluster/hosts.ts";

const signal = AbortSignal.timeout(10_000);
const { ready } = EVENT_WORDS;
const READY: NonNullable<SipCluster["status"]> = {
  conditions: [
    {
      type: "Ready",
      status: "True",
      reason: ready.reason,
      message: "All is well",
      lastTransitionTime: "2026-01-01T00:00:00Z",
    },
  ],
};

test("ObjectWriter writes a status once, for the version that it read, and tells that it is ready", async () => {
  await using server = await startHostServer();
  const { objects } = server.kubernetes;
  server.kubernetes.installKind(SIP_CLUSTERS);
  const path = { namespace: "metal3", name: "a" };
  objects.create(SIP_CLUSTERS.plural, { metadata: { ...path, generation: 1 }, spec: {} });
  const read = (): SipCluster => objects.get(SIP_CLUSTERS.plural, path) as object as SipCluster;
  const said: string[] = [];
  const client: Pick<KubeClient, "patch"> = server.client;
  const events = {
    record: (_object: object, event: EventOptions) => void said.push(event.reason),
  };
  const writer = new ObjectWriter(SIP_CLUSTERS, {
    client,
    clock: systemClock,
    events,
  });
  const old = read();
  await writer.writeStatus(old, READY, ready, signal);
  const { resourceVersion } = read().metadata;
  await writer.writeStatus(read(), undefined, ready, signal);
  expect(read().metadata.resourceVersion).toBe(resourceVersion);
  expect(said).toEqual(["ReconciliationSucceeded"]);
  await expect(writer.writeStatus(old, {}, ready, signal)).rejects.toThrow(/modified/);

  await writer.setFinalizers(read(), [FINALIZER], signal);
  expect(read().metadata.finalizers).toEqual([FINALIZER]);
  await expect(writer.setFinalizers(old, [], signal)).rejects.toThrow(/modified/);

  writer.warn(read(), EVENT_WORDS.invalidSpec, "no");
  writer.warn(read(), EVENT_WORDS.invalidSpec, "no");
  expect(said).toEqual(["ReconciliationSucceeded", "InvalidSpec"]);
});
