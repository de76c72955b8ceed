/**
 * An in-memory Kubernetes API over HTTP that behaves like the real one where Landfall depends on it.
 * @module
 */
import type { Clock } from "../../core/clock.ts";
import { Faults } from "./faults.ts";
import { handle } from "./handler.ts";
import { ObjectAccess } from "./object_access.ts";
import { Registry } from "./registry.ts";
import { RequestLog } from "./requests/log.ts";
import type { CustomKind } from "./schema/kind.ts";
import { Watches } from "./watches.ts";

export type { ApiObject, Json, JsonObject, Metadata } from "./patches/json.ts";
export type { ObjectAccess, ObjectInput, ObjectName } from "./object_access.ts";
export type { CustomKind } from "./schema/kind.ts";

/** How many changes of each kind are kept for watches and pages. */
const HISTORY_MAX = 10_000;

/** Settings of a simulated API server. */
interface KubernetesSimulatorOptions {
  /** Time for ages, time-outs of watches and delays. */
  readonly clock: Clock;
  /** Loopback port; 0 takes a free one. @default 0 */
  readonly port?: number;
}

/** A running simulated API server. */
export interface KubernetesSimulator {
  /** Address without a slash at the end, `http://127.0.0.1:12345`. */
  readonly url: string;
  /** The objects, for access without HTTP. */
  readonly objects: ObjectAccess;
  /** Switches for failures. */
  readonly faults: Faults;
  /** The requests so far. */
  readonly requests: RequestLog;
  /** How many watches are open. */
  readonly openWatches: number;
  /** Answers a request of this process, without a socket. */
  readonly answer: (request: Request) => Promise<Response>;
  /** Serves one more kind from now on, like a CustomResourceDefinition. */
  installKind(kind: CustomKind): void;
  /** Removes an installed kind with all its objects, and ends its watches. @throws TypeError when there is none */
  removeKind(plural: string): void;
  /** Ends all open watches cleanly. */
  dropWatches(): void;
  /** Sends `ERROR` 410 into all open watches and ends them. */
  expireWatches(): void;
  /** Sends a bookmark into all open watches that asked for bookmarks. */
  sendBookmarks(): void;
  /** Forgets all changes so far. Requests for older versions get 410. */
  compact(): void;
  /** Closes all connections. Its kubeconfigs and clients do not work after that. */
  stop(): Promise<void>;
}

/** Starts a simulated API server on 127.0.0.1. It needs no credentials and ignores any. */
export function startKubernetesSimulator(options: KubernetesSimulatorOptions): KubernetesSimulator {
  const { clock } = options;
  const registry = new Registry(clock, HISTORY_MAX);
  const faults = new Faults();
  const requests = new RequestLog();
  const watches = new Watches({ clock, registry, faults });
  const context = { clock, registry, watches, faults, requests };
  const answer = (request: Request): Promise<Response> => handle(context, request);
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: options.port ?? 0,
    // A silent watch is not a dead connection.
    idleTimeout: 0,
    fetch: answer,
  });
  return {
    url: `http://127.0.0.1:${server.port}`,
    objects: new ObjectAccess(registry),
    faults,
    requests,
    get openWatches(): number {
      return watches.count;
    },
    answer,
    installKind: (kind) => registry.install(kind),
    removeKind: (plural) => watches.endOf(registry.uninstall(plural)),
    dropWatches: () => watches.drop(),
    expireWatches: () => watches.expire(),
    sendBookmarks: () => watches.bookmark(),
    compact: () => registry.compact(),
    stop: async () => {
      watches.drop();
      await server.stop(true);
    },
  };
}
