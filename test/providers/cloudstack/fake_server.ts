/**
 * A server that answers commands as a test says. It refuses a wrong signature, as CloudStack does.
 * @module
 */
import { Fence, type Leadership } from "../../../lib/core/fence.ts";
import { silentLogger } from "../../../lib/core/log.ts";
import { MetricsRegistry } from "../../../lib/core/metrics.ts";
import type { ProviderDeps } from "../../../lib/cloud/provider_definition.ts";
import {
  type CloudStackSettings,
  parseCloudStackConfig,
} from "../../../lib/providers/cloudstack/settings/config.ts";
import { sign } from "../../../lib/providers/cloudstack/session/request.ts";
import { ManualClock } from "../../support/manual_clock.ts";

/** The keys that the server knows. */
export const KEYS = {
  apiKey: "plgWJfZK4gyS3mOMTVmjUVg-X-jlWlnfaUJ9GAbBbf9E",
  secretKey: "VDaACYb0LV9eNjTetIOElcVQkvJck_J_QljX_FcHRj87",
};

/** One command as the server saw it. */
export interface Seen {
  readonly method: string;
  readonly command: string;
  /** All parameters but the signature. */
  readonly params: Readonly<Record<string, string>>;
  /** Path and query. */
  readonly path: string;
}

type Answer = (seen: Seen) => Response | Promise<Response> | undefined;

/** Answers commands, and notes each. */
export class FakeCloudStack {
  readonly seen: Seen[] = [];
  /** Secret keys by API key. */
  readonly secrets: Map<string, string> = new Map([[KEYS.apiKey, KEYS.secretKey]]);
  /** Answers what has a right signature; `undefined` is an empty list. */
  answer: Answer = () => undefined;
  readonly #server: Bun.Server<undefined>;

  constructor() {
    this.#server = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      fetch: (request) => this.#handle(request),
    });
  }

  get url(): string {
    return `http://127.0.0.1:${this.#server.port}/client/api`;
  }

  get commands(): string[] {
    return this.seen.map(({ method, command }) => `${method} ${command}`);
  }

  async stop(): Promise<void> {
    await this.#server.stop(true);
  }

  async #handle(request: Request): Promise<Response> {
    const url = new URL(request.url);
    const form = request.method === "POST" ? await request.text() : url.search;
    const fields = new URLSearchParams(form);
    const signature = fields.get("signature");
    fields.delete("signature");
    const params = Object.fromEntries(fields);
    const { command = "" } = params;
    const seen = { method: request.method, command, params, path: url.pathname + url.search };
    this.seen.push(seen);
    const secret = this.secrets.get(params["apikey"] ?? "");
    if (secret === undefined || sign(params, secret) !== signature)
      return refuse(command, 401, BAD);
    return (await this.answer(seen)) ?? reply(command, {});
  }
}

const BAD = "unable to verify user credentials and/or request signature";

/** An answer in its envelope. */
export function reply(command: string, body: unknown, status = 200): Response {
  return Response.json({ [`${command.toLowerCase()}response`]: body }, { status });
}

/** A refusal in its envelope. */
export function refuse(command: string, code: number, text: string): Response {
  const body = { uuidList: [], errorcode: code, cserrorcode: 9999, errortext: text };
  return reply(command, body, code);
}

/** Settings for a server, from a file as a user would write it. */
export function toSettings(url: string, more: object = {}): CloudStackSettings {
  const { settings, issues } = parseCloudStackConfig({ apiUrl: url, ...KEYS, ...more });
  if (settings === undefined) throw new Error(JSON.stringify(issues));
  return settings;
}

const ALWAYS: Leadership = { signal: new AbortController().signal, isHeld: () => true };

/** What a provider lives on, in a test: it leads. */
export function toDeps(
  over: Partial<ProviderDeps> = {},
): ProviderDeps & { clock: ManualClock; metrics: MetricsRegistry } {
  return {
    log: silentLogger,
    signal: new AbortController().signal,
    fence: new Fence(ALWAYS),
    ...over,
    clock: new ManualClock(),
    metrics: new MetricsRegistry(),
  };
}
