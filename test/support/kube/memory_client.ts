/**
 * The client of Kubernetes on a connection in memory: requests go to a function.
 * @module
 */
import type { Clock } from "../../../lib/core/clock.ts";
import { MetricsRegistry } from "../../../lib/core/metrics.ts";
import type { KubeClient } from "../../../lib/kube/api/client.ts";
import { createKubeClient, type KubeClientOptions } from "../../../lib/kube/api/http_client.ts";
import type { Transport, TransportRequest } from "../../../lib/kube/api/request.ts";

/** What a client in memory may have besides. */
interface MemoryClientOptions extends Partial<KubeClientOptions> {
  readonly clock: Clock;
  /** @default {nobody} */
  readonly token?: string;
  readonly onClose?: () => void;
}

/** Creates a client whose requests are answered by `send`. */
export function createMemoryClient(
  send: Transport["send"],
  { token, onClose = () => undefined, ...options }: MemoryClientOptions,
): KubeClient {
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
  return createKubeClient({
    credentials: {
      server: "http://memory",
      current: () => Promise.resolve({ headers, tls: {}, version: 1 }),
      invalidate: () => undefined,
    },
    metrics: new MetricsRegistry(),
    version: "test",
    transport: {
      host: "memory",
      generation: 0,
      giveUp: () => undefined,
      send,
      close: onClose,
    },
    ...options,
  });
}

/** A request as a server in memory gets it. */
export function toMemoryRequest({ method, path, headers, body }: TransportRequest): Request {
  const init = { method, headers: { ...headers }, ...(body !== undefined && { body }) };
  return new Request(`http://memory${path}`, init);
}
