import { expect, test } from "bun:test";
import {
  runLeaderEndpoint,
  toEndpointSlice,
} from "../../../../lib/controllers/vino/redfish/leader_endpoint.ts";
import { createLogger } from "../../../../lib/core/log.ts";
import { KubeError } from "../../../../lib/kube/api/errors.ts";
import { ScriptedKubeClient } from "../../../support/kube/scripted_kube_client.ts";
import { ManualClock } from "../../../support/manual_clock.ts";

const ENDPOINT = { namespace: "metal", service: "redfish", ip: "10.0.0.7", port: 8443 } as const;

function start() {
  const clock = new ManualClock();
  const client = new ScriptedKubeClient(clock);
  const lines: string[] = [];
  const log = createLogger({ format: "text", write: (line) => lines.push(line), now: () => 0 });
  const ended = new AbortController();
  const running = runLeaderEndpoint({ client, endpoint: ENDPOINT, clock, log }, ended.signal);
  return { clock, client, lines, running, stop: () => ended.abort() };
}

test("toEndpointSlice() is the only endpoint of the Service, or none", () => {
  expect(toEndpointSlice(ENDPOINT, true)).toEqual({
    apiVersion: "discovery.k8s.io/v1",
    kind: "EndpointSlice",
    metadata: {
      namespace: "metal",
      name: "redfish-ipv4",
      labels: {
        "kubernetes.io/service-name": "redfish",
        "endpointslice.kubernetes.io/managed-by": "landfall-vino-redfish",
      },
    },
    addressType: "IPv4",
    endpoints: [{ addresses: ["10.0.0.7"], conditions: { ready: true } }],
    ports: [{ name: "redfish", protocol: "TCP", port: 8443 }],
  });
  expect(toEndpointSlice({ ...ENDPOINT, ip: "fd00::7" }, false)).toMatchObject({
    metadata: { name: "redfish-ipv6" },
    addressType: "IPv6",
    endpoints: [],
  });
});

test("runLeaderEndpoint() writes the endpoint once a minute, and takes it back at the end", async () => {
  const { clock, client, running, stop } = start();
  await clock.advance(61_000);
  expect(client.writes.map(({ verb, type, path, body }) => [verb, type, path, body])).toEqual(
    [true, true].map(() => [
      "patch",
      "apply",
      { namespace: "metal", name: "redfish-ipv4" },
      toEndpointSlice(ENDPOINT, true),
    ]),
  );
  stop();
  await running;
  expect(client.writes.at(-1)?.body).toEqual(toEndpointSlice(ENDPOINT, false));
});

test("runLeaderEndpoint() tries again, and says once why it cannot", async () => {
  const { clock, client, lines, running, stop } = start();
  client.onWrite = () => {
    throw new KubeError("forbidden", "endpointslices is forbidden");
  };
  await clock.advance(70_000);
  expect(client.writes.length).toBeGreaterThan(2);
  expect(lines).toHaveLength(1);
  expect(lines[0]).toContain("endpointslices is forbidden");
  stop();
  await running;
});

test("runLeaderEndpoint() does not wait for an API server that is silent at the end", async () => {
  const { clock, client, running, stop } = start();
  await clock.advance(0);
  client.onWrite = () => new Promise(() => {});
  stop();
  await clock.advance(2_000);
  await running;
});
