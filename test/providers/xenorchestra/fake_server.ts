/**
 * A small Xen Orchestra that answers from captures of a real one; tests bend it.
 * @module
 */
import type { NodeIdentity } from "../../../lib/cloud/instance.ts";
import type { Provider } from "../../../lib/cloud/provider.ts";
import type { ProviderDeps } from "../../../lib/cloud/provider_definition.ts";
import { Fence } from "../../../lib/core/fence.ts";
import { silentLogger } from "../../../lib/core/log.ts";
import { MetricsRegistry } from "../../../lib/core/metrics.ts";
import { xenOrchestra } from "../../../lib/providers/xenorchestra/mod.ts";
import {
  parseXenOrchestraConfig,
  type XenOrchestraSettings,
} from "../../../lib/providers/xenorchestra/settings.ts";
import { readCaptureText } from "../../support/cloud/captures.ts";
import { ManualClock } from "../../support/manual_clock.ts";

/** An object as Xen Orchestra shows it. */
export type Shown = Record<string, unknown> & { id: string };

/** A captured response. */
interface Captured {
  readonly status: number;
  readonly headers: Record<string, string>;
  readonly body?: unknown;
  readonly text?: string;
}

/** One request as the fake saw it. */
interface Seen {
  readonly method: string;
  /** Path and query below `/rest/v0`. */
  readonly path: string;
  readonly headers: Headers;
  readonly body: string;
}

type Answer = (seen: Seen) => Response | Promise<Response> | undefined;

export const POOL_PARIS = "536ef866-bc2b-4a02-a05c-9d87caf8b89f";
export const POOL_LYON = "381c8869-4bae-437c-a265-780be87906ba";
export const HOST_PARIS_1 = "542f1cb1-a19f-4d16-a9da-6d7d791ca664";
export const HOST_PARIS_2 = "70216d65-1402-423b-a1a2-ee716aac2135";
/** k8s-worker-1, running on {@linkcode HOST_PARIS_2}. */
export const WORKER_1 = "cf910379-9c51-46ef-af3f-4a51129ecb9e";
/** Its Node, by the provider ID. */
export const NODE: NodeIdentity = {
  name: "w1",
  providerId: `xenorchestra://${POOL_PARIS}/${WORKER_1}`,
};
/** The same as a UEFI guest's kernel shows it. */
export const WORKER_1_SWAPPED = "790391cf-519c-ef46-af3f-4a51129ecb9e";

const TYPES: Readonly<Record<string, string>> = {
  vms: "VM",
  hosts: "host",
  pools: "pool",
  "vm-controllers": "VM-controller",
  "vm-templates": "VM-template",
};

/** Loads the response of a capture. */
export function loadCapture(name: string): Captured {
  return JSON.parse(readCaptureText(name)).response;
}

/** A captured response, ready to be sent. */
export function toResponse({ status, headers, body, text }: Captured): Response {
  const { "content-type": type = "", location, "www-authenticate": ask } = headers;
  const sent = new Headers({ "content-type": type });
  if (location !== undefined) sent.set("location", location);
  if (ask !== undefined) sent.set("www-authenticate", ask);
  return new Response(text ?? JSON.stringify(body, undefined, 2), { status, headers: sent });
}

/** Serves collections of objects that a test may change, and notes each request. */
export class FakeXenOrchestra {
  readonly collections: Record<string, Shown[]> = {
    vms: loadList("vms-ccm-fields"),
    hosts: loadList("hosts-all-fields"),
    pools: loadList("pools-all-fields"),
    "vm-controllers": loadList("vm-controllers-all-fields"),
    "vm-templates": [],
    networks: loadList("networks-all-fields"),
    vifs: loadList("vifs-all-fields"),
    servers: loadList("servers-all-fields"),
  };
  readonly seen: Seen[] = [];
  /** Asked before the collections; `undefined` leaves the answer to them. */
  answer: Answer = () => undefined;
  readonly #server: Bun.Server<undefined>;

  constructor() {
    this.#server = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      fetch: (request) => this.handle(request),
    });
  }

  get url(): string {
    return `http://127.0.0.1:${this.#server.port}`;
  }

  get paths(): string[] {
    return this.seen.map(({ path }) => path);
  }

  /** Removes an object, as if it were gone. */
  remove(collection: string, id: string): void {
    this.collections[collection] = this.list(collection).filter((one) => one.id !== id);
  }

  /** Everything of a pool vanishes, as when its connection fails. */
  dropPool(poolId: string): void {
    for (const name of ["vms", "hosts", "pools", "vm-controllers", "vifs", "networks"]) {
      this.collections[name] = this.list(name).filter((one) => one["$pool"] !== poolId);
    }
    this.change("servers", (one) => one["poolId"] === poolId, {
      status: "connecting",
      poolId: null,
    });
  }

  /** Changes an object. */
  change(collection: string, which: string | ((one: Shown) => boolean), to: object): void {
    for (const one of this.list(collection)) {
      if (typeof which === "string" ? one.id === which : which(one)) Object.assign(one, to);
    }
  }

  list(collection: string): Shown[] {
    return this.collections[collection] ?? [];
  }

  async stop(): Promise<void> {
    await this.#server.stop(true);
  }

  /** Answers a request, wherever it came from. */
  async handle(request: Request): Promise<Response> {
    const url = new URL(request.url);
    const path = url.pathname.replace("/rest/v0", "") + url.search;
    const { method, headers } = request;
    const seen = { method, path, headers, body: await request.text() };
    this.seen.push(seen);
    return (await this.answer(seen)) ?? this.#answer(url);
  }

  #answer(url: URL): Response {
    const [, collection = "", id] = url.pathname.replace("/rest/v0", "").split("/");
    const all = this.collections[collection];
    if (all === undefined) return toResponse(loadCapture("err-unknown-route"));
    if (id === undefined) {
      return Response.json(all.filter(toMatcher(url.searchParams.get("filter") ?? "")));
    }
    const one = all.find((object) => object.id === id);
    if (one) return Response.json(one);
    const type = TYPES[collection];
    return Response.json({ error: `no such ${type} ${id}`, data: { id, type } }, { status: 404 });
  }
}

function toMatcher(filter: string): (one: Shown) => boolean {
  if (filter === "") return () => true;
  const [, property = "", single, many] = /^([$\w]+):(?:([^|(]+)|\|\((.*)\))$/.exec(filter) ?? [];
  const wanted = many?.split(" ") ?? [single ?? ""];
  return (one) => wanted.some((text) => String(one[property]).includes(text));
}

function loadList(name: string): Shown[] {
  const { body } = loadCapture(name);
  return Array.isArray(body) ? body : [];
}

/** Settings for a server, from a file as a user would write it. */
export function toSettings(url: string, more: object = {}): XenOrchestraSettings {
  const { settings, issues } = parseXenOrchestraConfig({ url, token: "t0ken", ...more }, {});
  if (settings === undefined) throw new Error(JSON.stringify(issues));
  return settings;
}

/** What a provider lives on, in a test. */
export function toDeps(
  over: Partial<ProviderDeps> = {},
): ProviderDeps & { clock: ManualClock; metrics: MetricsRegistry } {
  return {
    log: silentLogger,
    signal: new AbortController().signal,
    fence: new Fence(),
    ...over,
    clock: new ManualClock(),
    metrics: new MetricsRegistry(),
  };
}

/** A provider as the registry makes it, on a server in memory. */
export function createProvider(
  { url }: Pick<FakeXenOrchestra, "url">,
  settings: object = {},
  deps: ProviderDeps = toDeps(),
): Provider {
  return xenOrchestra.create(toSettings(url, settings), deps);
}
