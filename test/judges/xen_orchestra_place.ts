/**
 * The Xen Orchestra that the contract is held against: the double, or a real one.
 *
 * A real one is named by XO_URL and XO_TOKEN_FILE, with a token of an administrator. The cases make, change and delete
 * machines there, so only with LANDFALL_CHANGE_REAL_CLOUD=yes. One of its pools has a template `vino-debian` with a
 * disk and a network interface, another one `vino-blank` without guest tools, one `vino-diskless` without disks, a
 * network `provisioning` and a repository `Tiny SR` of 5 GiB. One of its machines has an IPv4 address.
 *
 * These files are for more cases, which are skipped without them: XO_PASSWORD_FILE has the name and password of that
 * administrator (`name:password`), XO_READ_ONLY_TOKEN_FILE a token of a user with the rights of {@linkcode READ_ONLY},
 * and XO_NO_RIGHTS_TOKEN_FILE one of a user without any.
 * @module
 */
import { systemClock } from "../../lib/core/clock.ts";
import { ManualClock } from "../support/manual_clock.ts";
import {
  createMachineSite,
  startXenOrchestraSimulator,
} from "../../lib/simulator/xenorchestra/mod.ts";
import type { Privilege } from "../../lib/simulator/xenorchestra/access/privileges.ts";
import { toUuid } from "../../lib/simulator/uuid.ts";
import { findRealCloud, readKeys } from "./real_cloud.ts";

/** The rights of the user who only reads. */
export const READ_ONLY: readonly Privilege[] = [
  "pool",
  "host",
  "network",
  "vif",
  "server",
  "vm",
].map((resource) => ({ resource, action: "read" }));

/** An answer, read. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly location: string | null;
  /** JSON, or text. */
  readonly body: unknown;
}

/** An object as reads show it. */
export type Shown = Readonly<Record<string, unknown>> & { readonly id: string };

/** What the cases use, found by name. */
interface Site {
  readonly poolId: string;
  readonly hostId: string;
  readonly template: Shown;
  /** A template whose machines have no guest tools. */
  readonly blank: Shown;
  readonly diskless: Shown;
  readonly networkId: string;
  readonly srId: string;
  readonly tinySrId: string;
}

/** Other ways in than the token of the administrator. What is absent is not judged. */
interface Credentials {
  /** Name and password of the administrator, as HTTP Basic has them. */
  readonly password?: string | undefined;
  readonly readOnly?: string | undefined;
  readonly noRights?: string | undefined;
}

/** Where a Xen Orchestra is. */
class Place {
  readonly name: string;
  readonly isDouble: boolean;
  readonly url: string;
  readonly token: string;
  readonly credentials: Credentials;
  /** Takes a token from its user. Absent: no request is known that does. */
  readonly revoke: ((token: string) => void) | undefined;
  /** Milliseconds that do not go back, by the clock of the place. */
  readonly now: () => number;
  /** Lets time pass there. */
  readonly wait: (ms: number) => Promise<void>;
  readonly stop: () => Promise<void>;

  constructor(
    options: Omit<Place, "ask" | "findSite" | "list" | "read" | "revoke" | "send"> &
      Partial<Pick<Place, "revoke">>,
  ) {
    this.name = options.name;
    this.isDouble = options.isDouble;
    this.url = options.url;
    this.token = options.token;
    this.credentials = options.credentials;
    this.revoke = options.revoke;
    this.now = options.now;
    this.wait = options.wait;
    this.stop = options.stop;
  }

  /** Sends a request. A body of bytes is sent as it is, any other one as JSON. */
  async ask(method: string, path: string, body?: unknown): Promise<Answer> {
    const content =
      body instanceof Uint8Array ? new Blob([new Uint8Array(body)]) : JSON.stringify(body);
    return await this.send(`/rest/v0${path}`, {
      method,
      headers: {
        cookie: `authenticationToken=${this.token}`,
        ...(body !== undefined &&
          !(body instanceof Uint8Array) && { "content-type": "application/json" }),
      },
      ...(body !== undefined && { body: content }),
    });
  }

  /** Sends a request as it is, signed in or not. */
  async send(path: string, init: RequestInit): Promise<Answer> {
    const reply = await fetch(`${this.url}${path}`, { redirect: "manual", ...init });
    const { status, headers } = reply;
    const text = await reply.text();
    const isJson = headers.get("content-type")?.includes("json") === true && text !== "";
    const body: unknown = isJson ? JSON.parse(text) : text;
    return { status, headers, location: headers.get("location"), body };
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
      diskless: await named("vm-templates", "vino-diskless", poolId),
      networkId: (await named("networks", "provisioning", poolId)).id,
      srId: String(pool?.["default_SR"]),
      tinySrId: (await named("srs", "Tiny SR", poolId)).id,
    };
  }
}

/** Opens the real one that the environment names, else the double. It says which. */
export async function openPlace(): Promise<Place> {
  const found = await findRealCloud("XO_URL", "XO_TOKEN_FILE");
  const place = "url" in found ? await openReal(found.url, found.secret) : await openDouble(found);
  process.stderr.write(`\n*** The contract of Xen Orchestra runs on ${place.name} ***\n`);
  return place;
}

async function openReal(url: string, token: string): Promise<Place> {
  const read = async (variable: string): Promise<string | undefined> => {
    const file = process.env[variable];
    return file ? await readKeys(variable, file) : undefined;
  };
  const credentials = {
    password: await read("XO_PASSWORD_FILE"),
    readOnly: await read("XO_READ_ONLY_TOKEN_FILE"),
    noRights: await read("XO_NO_RIGHTS_TOKEN_FILE"),
  };
  return new Place({
    name: `the Xen Orchestra at ${new URL(url).origin}`,
    isDouble: false,
    url,
    token,
    credentials,
    now: systemClock.monotonic,
    wait: (ms) => Bun.sleep(ms),
    stop: async () => {},
  });
}

async function openDouble({ whyDouble }: { whyDouble: string }): Promise<Place> {
  const { world, templateIds, foreign } = createMachineSite();
  const clock = new ManualClock();
  const admin = { id: toUuid("user/admin"), username: "admin", password: "of:admin" };
  const readOnly = { ...admin, id: toUuid("user/ro"), username: "ro", privileges: READ_ONLY };
  const noRights = { ...admin, id: toUuid("user/none"), username: "none", privileges: [] };
  const users = [admin, readOnly, noRights];
  const double = await startXenOrchestraSimulator({ clock, world, users });
  double.state.toolless.add(templateIds.blank);
  const mainIpAddress = "10.0.7.1";
  double.state.setVm(foreign.vmId, { addresses: { "0/ipv4/0": mainIpAddress }, mainIpAddress });
  const { url, token, auth } = double;
  return new Place({
    name: `the double, because ${whyDouble}`,
    isDouble: true,
    url,
    token,
    credentials: {
      password: `${admin.username}:${admin.password}`,
      readOnly: auth.addToken("of-the-reader", readOnly).id,
      noRights: auth.addToken("of-nobody", noRights).id,
    },
    revoke: (id) => auth.revoke(id),
    now: () => clock.monotonic(),
    wait: async (ms) => {
      await clock.advance(ms);
      // What streams were told by then arrives before the answer.
      await fetch(url);
    },
    stop: () => double.stop(),
  });
}
