/**
 * A Redfish service over machines in memory, and a client of it, without sockets.
 * @module
 */
import { silentLogger } from "../../../lib/core/log.ts";
import { MetricsRegistry } from "../../../lib/core/metrics.ts";
import { createRedfishMetrics } from "../../../lib/http/redfish/metrics.ts";
import { createRedfishService } from "../../../lib/http/redfish/service.ts";
import { ManualClock } from "../manual_clock.ts";
import { makeSystem, MemoryBackend, type MemorySystem } from "./memory_backend.ts";

/** What a request says besides its path. */
export interface Ask {
  readonly method?: string;
  /** Given as basic authentication. @default {nobody} */
  readonly as?: MemorySystem["credentials"] | undefined;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  readonly address?: string;
}

/** An answer. */
interface Told {
  readonly status: number;
  readonly headers: Headers;
  /** The resource or the error; empty without one. */
  readonly json: Readonly<Record<string, unknown>>;
  /** The message of an error. */
  readonly message: string | undefined;
}

/** The service with two machines, `a` and `b`. */
export function createRig(systems: readonly MemorySystem[] = [makeSystem("a"), makeSystem("b")]): {
  readonly backend: MemoryBackend;
  readonly clock: ManualClock;
  /** The lines of metrics that contain a word. */
  listMetrics(word: string): readonly string[];
  ask(path: string, ask?: Ask): Promise<Told>;
} {
  const backend = new MemoryBackend(systems);
  const clock = new ManualClock();
  const { signal } = new AbortController();
  const registry = new MetricsRegistry();
  const service = createRedfishService({
    management: backend,
    clock,
    log: silentLogger,
    metrics: createRedfishMetrics(registry),
    version: "1.2.3",
    signal,
  });
  return {
    backend,
    clock,
    listMetrics: (word) =>
      registry
        .render()
        .split("\n")
        .filter((line) => !line.startsWith("#") && line.includes(word)),
    async ask(path, { method = "GET", as, headers = {}, body, address = "192.0.2.1" } = {}) {
      const basic = as && Buffer.from(`${as.username}:${as.password}`).toString("base64");
      const sent = {
        ...(basic !== undefined && { authorization: `Basic ${basic}` }),
        ...(body !== undefined && { "content-type": "application/json" }),
        ...headers,
      };
      const text = typeof body === "string" ? body : JSON.stringify(body);
      const init = { method, headers: sent, ...(body !== undefined && { body: text }) };
      const response = await service.fetch(new Request(`https://bmc${path}`, init), { address });
      const answer = await response.text();
      const isJson = (response.headers.get("content-type") ?? "").startsWith("application/json");
      const json = isJson && answer !== "" ? JSON.parse(answer) : {};
      return {
        status: response.status,
        headers: response.headers,
        json,
        message: json.error?.message,
      };
    },
  };
}

/** The credentials of a machine that {@linkcode makeSystem} made. */
export function credentialsOf(id: string): MemorySystem["credentials"] {
  return makeSystem(id).credentials;
}

/** Where sessions and systems are. */
export const SESSIONS = "/redfish/v1/SessionService/Sessions";
export const SYSTEMS = "/redfish/v1/Systems";

/** Begins a session. */
export function signIn(
  { ask }: Pick<ReturnType<typeof createRig>, "ask">,
  { username, password }: MemorySystem["credentials"] = credentialsOf("a"),
  more: Ask = {},
): Promise<Told> {
  const body = { UserName: username, Password: password };
  return ask(SESSIONS, { method: "POST", body, ...more });
}

/** What a request sends to be of the session that an answer began. */
export function toToken({ headers }: Told): Required<Pick<Ask, "headers">> {
  return { headers: { "x-auth-token": headers.get("x-auth-token") ?? "" } };
}
