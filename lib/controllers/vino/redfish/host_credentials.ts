/**
 * User and password of the management controller of each host: those of the Vino, or made for the host alone.
 * @module
 */
import { randomBytes } from "node:crypto";
import type { Clock } from "../../../core/clock.ts";
import { remember } from "../../../core/maps.ts";
import { type KubeClient, readIfPresent } from "../../../kube/api/client.ts";
import { findSecretText, type Secret, SECRETS } from "../../../kube/kinds/secret.ts";
import type { MachineCredentials } from "../../../cloud/capabilities/machine_management.ts";
import { toCredentialsName } from "../hosts/names.ts";
import type { BmcCredentials } from "../resource/vino.ts";

/** What a host gets; `problem`: why it gets nothing, as a sentence without a full stop. */
type HostCredentials =
  | (MachineCredentials & {
      /** What Landfall did with a Secret of the Vino that a person should know, as a sentence without a full stop. */
      readonly notice?: string;
    })
  | { readonly problem: string };

/** Which host, and what its Vino says. */
interface CredentialsQuestion {
  readonly namespace: string;
  /** Name of the BareMetalHost. */
  readonly host: string;
  /** Of the Vino. Absent: a password is made. */
  readonly wanted: BmcCredentials | undefined;
}

/** A Secret of a Vino is read again after this: hosts get a new password within a minute. */
export const SHARED_MS = 25_000;
/** One that cannot be used is read again after this: a person mends it. */
const PROBLEM_MS = 30_000;
/** What the host has already is asked again after this. */
const OWN_MS = 600_000;
const REMEMBERED_MAX = 10_000;
const PASSWORD_BYTES = 24;
const KEYS = ["username", "password"] as const;

/** Finds and makes credentials. */
export class HostCredentialsSource {
  readonly #client: Pick<KubeClient, "read">;
  readonly #clock: Clock;
  readonly #known = new Map<
    string,
    { readonly found: HostCredentials; readonly untilMs: number }
  >();

  constructor({
    client,
    clock,
  }: {
    readonly client: Pick<KubeClient, "read">;
    readonly clock: Clock;
  }) {
    this.#client = client;
    this.#clock = clock;
  }

  /**
   * The user and password of a host. Those that were made stay the same as long as the host has its Secret.
   *
   * @throws {KubeError} if a Secret cannot be read
   */
  async find(
    { namespace, host, wanted }: CredentialsQuestion,
    signal: AbortSignal,
  ): Promise<HostCredentials> {
    const { secretRef, username, password } = wanted ?? {};
    if (username !== undefined && password !== undefined) {
      return judge(trimCredentials({ username, password }), "bmcCredentials.username");
    }
    if (secretRef === undefined) {
      const name = toCredentialsName(host);
      const toOwn = (secret: Secret | undefined): HostCredentials => {
        const found = findCredentials(secret);
        return found && isUsable(found) ? found : make(host);
      };
      return await this.#read({ namespace, name, freshMs: OWN_MS }, toOwn, signal);
    }
    const { name } = secretRef;
    const toShared = (secret: Secret | undefined): HostCredentials => readShared(secret, name);
    return await this.#read({ namespace, name, freshMs: SHARED_MS }, toShared, signal);
  }

  async #read(
    { namespace, name, freshMs }: { namespace: string; name: string; freshMs: number },
    toFound: (secret: Secret | undefined) => HostCredentials,
    signal: AbortSignal,
  ): Promise<HostCredentials> {
    const key = `${namespace}/${name}`;
    const known = this.#known.get(key);
    if (known && this.#clock.monotonic() < known.untilMs) return known.found;
    const secret = await readIfPresent(this.#client, SECRETS, { namespace, name }, signal);
    const found = toFound(secret);
    const untilMs = this.#clock.monotonic() + ("problem" in found ? PROBLEM_MS : freshMs);
    remember(this.#known, key, { found, untilMs }, REMEMBERED_MAX);
    return found;
  }
}

/** What the Secret of a Vino gives to its hosts. */
function readShared(secret: Secret | undefined, name: string): HostCredentials {
  const what = `bmcCredentials: Secret "${name}"`;
  if (secret === undefined) return { problem: `bmcCredentials: there is no Secret "${name}"` };
  const missing = KEYS.filter((key) => !trim(findSecretText(secret, key) ?? ""));
  const found = findCredentials(secret);
  if (found) {
    const isTrimmed = KEYS.some((key) => findSecretText(secret, key) !== found[key]);
    const notice = `${what}: Landfall leaves out blanks and ends of lines around texts, as metal3 does`;
    return { ...judge(found, `${what}: username`), ...(isTrimmed && { notice }) };
  }
  const keys = missing.map((key) => `"${key}"`).join(" and ");
  return { problem: `${what} has no ${keys}, or an empty one` };
}

/** @param place Where the username stands, for messages */
function judge(found: MachineCredentials, place: string): HostCredentials {
  if (isUsable(found)) return found;
  return { problem: `${place} has a colon, and metal3 cannot sign in with such a name` };
}

/** HTTP takes what follows the first colon for the password. */
function isUsable({ username }: MachineCredentials): boolean {
  return !username.includes(":");
}

/** A user of its own: clients keep a session for each user of an address. */
function make(host: string): MachineCredentials {
  return { username: host, password: randomBytes(PASSWORD_BYTES).toString("base64url") };
}

/** The user and the password in a Secret, as metal3 reads them. An empty text is none. */
export function findCredentials(secret: Secret | undefined): MachineCredentials | undefined {
  const [username = "", password = ""] = KEYS.map((key) => findSecretText(secret, key));
  const found = trimCredentials({ username, password });
  return found.username && found.password ? found : undefined;
}

/** Without blanks around them: metal3 sends them so. */
export function trimCredentials({ username, password }: MachineCredentials): MachineCredentials {
  return { username: trim(username), password: trim(password) };
}

/** What Go, in which metal3 is written, takes for a blank: not quite what this language does. */
function trim(text: string): string {
  return text.replace(/^\p{White_Space}+|\p{White_Space}+$/gu, "");
}
