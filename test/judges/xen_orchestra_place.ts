/**
 * The Xen Orchestra that the contract is held against: the double, or a real one.
 *
 * A real one is named by XO_URL and XO_TOKEN_FILE, with a token of an administrator. One of its pools has a template
 * `vino-debian` with a disk and a network interface, another one `vino-blank` without guest tools, a network
 * `provisioning` and a repository `Tiny SR` of 5 GiB.
 * @module
 */
import { readFile } from "node:fs/promises";
import { systemClock } from "../../lib/core/clock.ts";
import { ManualClock } from "../support/manual_clock.ts";
import {
  createMachineSite,
  startXenOrchestraSimulator,
} from "../../lib/simulator/xenorchestra/mod.ts";

/** An answer, read. */
export interface Answer {
  readonly status: number;
  readonly location: string | null;
  /** JSON, or text. */
  readonly body: unknown;
}

/** An object as reads show it. */
export type Shown = Readonly<Record<string, unknown>> & { readonly id: string };

/** What the cases use, found by name. */
export interface Site {
  readonly poolId: string;
  readonly hostId: string;
  readonly template: Shown;
  /** A template whose machines have no guest tools. */
  readonly blank: Shown;
  readonly networkId: string;
  readonly srId: string;
  readonly tinySrId: string;
}

/** Where a Xen Orchestra is. */
export class Place {
  readonly name: string;
  readonly isDouble: boolean;
  readonly url: string;
  readonly token: string;
  /** Milliseconds that do not go back, by the clock of the place. */
  readonly now: () => number;
  /** Lets time pass there. */
  readonly wait: (ms: number) => Promise<void>;
  readonly stop: () => Promise<void>;

  constructor(
    options: Pick<Place, "isDouble" | "name" | "now" | "stop" | "token" | "url" | "wait">,
  ) {
    this.name = options.name;
    this.isDouble = options.isDouble;
    this.url = options.url;
    this.token = options.token;
    this.now = options.now;
    this.wait = options.wait;
    this.stop = options.stop;
  }

  /** Sends a request. A body of bytes is sent as it is, any other one as JSON. */
  async ask(method: string, path: string, body?: unknown): Promise<Answer> {
    const content =
      body instanceof Uint8Array ? new Blob([new Uint8Array(body)]) : JSON.stringify(body);
    const reply = await fetch(`${this.url}/rest/v0${path}`, {
      method,
      redirect: "manual",
      headers: {
        cookie: `authenticationToken=${this.token}`,
        ...(body !== undefined &&
          !(body instanceof Uint8Array) && { "content-type": "application/json" }),
      },
      ...(body !== undefined && { body: content }),
    });
    const text = await reply.text();
    const isJson = reply.headers.get("content-type")?.includes("json") === true;
    const location = reply.headers.get("location");
    return { status: reply.status, location, body: isJson ? JSON.parse(text) : text };
  }

  /** The objects that a list shows. */
  async list(collection: string, filter?: string): Promise<Shown[]> {
    const query = filter === undefined ? "" : `&filter=${encodeURIComponent(filter)}`;
    const { status, body } = await this.ask("GET", `/${collection}?fields=*${query}`);
    if (status !== 200 || !Array.isArray(body)) throw new Error(`GET /${collection}: ${status}`);
    return body as Shown[];
  }

  /** One object as a read shows it; `undefined`: 404. */
  async read(collection: string, id: string): Promise<Shown | undefined> {
    const { status, body } = await this.ask("GET", `/${collection}/${id}`);
    return status === 200 ? (body as Shown) : undefined;
  }

  /** Finds what the cases use. */
  async findSite(): Promise<Site> {
    const named = async (collection: string, name: string, poolId?: string): Promise<Shown> => {
      const found = (await this.list(collection)).find(
        (one) => one["name_label"] === name && (poolId ?? one["$pool"]) === one["$pool"],
      );
      if (found === undefined)
        throw new Error(`Cannot judge: there is no "${name}" in ${collection}`);
      return found;
    };
    const template = await named("vm-templates", "vino-debian");
    const poolId = String(template["$pool"]);
    const pool = await this.read("pools", poolId);
    const hosts = await this.list("hosts");
    return {
      poolId,
      hostId: hosts.find((host) => host["$pool"] === poolId)?.id ?? "",
      template,
      blank: await named("vm-templates", "vino-blank", poolId),
      networkId: (await named("networks", "provisioning", poolId)).id,
      srId: String(pool?.["default_SR"]),
      tinySrId: (await named("srs", "Tiny SR", poolId)).id,
    };
  }
}

/** Opens the real one that the environment names, else the double. */
export async function openPlace(): Promise<Place> {
  const { XO_URL: url, XO_TOKEN_FILE: file } = process.env;
  if (url === undefined || file === undefined) return await openDouble();
  const token = (await readFile(file, "utf8")).trim();
  const name = `the Xen Orchestra at ${new URL(url).origin}`;
  const { monotonic: now } = systemClock;
  const wait = (ms: number): Promise<void> => Bun.sleep(ms);
  return new Place({ name, isDouble: false, url, token, now, wait, stop: async () => {} });
}

async function openDouble(): Promise<Place> {
  const { world, templateIds } = createMachineSite();
  const clock = new ManualClock();
  const double = await startXenOrchestraSimulator({ clock, world });
  double.state.toolless.add(templateIds.blank);
  const name = "the double, because XO_URL and XO_TOKEN_FILE name no real Xen Orchestra";
  const { url, token } = double;
  const now = (): number => clock.monotonic();
  const wait = async (ms: number): Promise<void> => {
    await clock.advance(ms);
    // What streams were told by then arrives before the answer.
    await fetch(url);
  };
  return new Place({ name, isDouble: true, url, token, now, wait, stop: () => double.stop() });
}
