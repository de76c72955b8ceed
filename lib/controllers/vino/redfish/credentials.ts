/**
 * User and password of the management controller of each host: those of the Vino, or made for the host alone; and which
 * user and password each accepts. Secrets are read one by one, never listed.
 * @module
 */
import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import type { MachineCredentials } from "../../../cloud/capabilities/machine_management.ts";
import { toCredentialsName } from "../hosts/names.ts";
import type { BmcCredentials } from "../resource/vino.ts";
import type { Clock } from "../../../core/clock.ts";
import { RateBudget, forEachAtOnce } from "../../../core/concurrency.ts";
import { remember } from "../../../core/maps.ts";
import { type KubeClient, readIfPresent } from "../../../kube/api/client.ts";
import { SECRETS, type Secret, findSecretText } from "../../../kube/kinds/secret.ts";

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
function trimCredentials({ username, password }: MachineCredentials): MachineCredentials {
  return { username: trim(username), password: trim(password) };
}

/** What Go, in which metal3 is written, takes for a blank: not quite what this language does. */
function trim(text: string): string {
  return text.replace(/^\p{White_Space}+|\p{White_Space}+$/gu, "");
}

/** A machine that has a management controller. */
export interface ManagedMachine {
  /** The cloud's ID. */
  readonly id: string;
  /** Its name in the cloud. */
  readonly name: string;
  readonly namespace: string;
  /** Name of the Secret with the keys `username` and `password`. */
  readonly secretName: string;
  /** Name of the Secret with its boot override, if it ever had one. */
  readonly overrideName: string;
  readonly vino: { readonly name: string; readonly uid: string };
  /** Whether metal3 installs it, so that nothing on its disks needs the firmware of the template. */
  readonly isInstalled: boolean;
}

/** What is kept about a machine is kept by this: several Vinos may name the same ID, and only one is right. */
export function toMachineKey({ id, name }: Pick<ManagedMachine, "id" | "name">): string {
  return `${id} ${name}`;
}

interface Known {
  /** Absent: no client has access. */
  readonly username?: string;
  /** Of user and password. Absent: no client has access. */
  readonly digest?: Buffer;
  readonly readMs: number;
}

/** What a {@linkcode SecretCache} needs. */
interface SecretCacheOptions {
  readonly client: Pick<KubeClient, "read">;
  readonly clock: Clock;
}

/** How long a password that was changed may still be accepted. */
const GOOD_MS = 300_000;
/** A client that names no machine makes Landfall read a Secret not more often than this. */
const MISS_MS = 2_000;
/** So many Secrets may be read because of passwords that are wrong, of all clients together. */
const MISSES = { max: 300, perSecond: 20 } as const;
const READS_AT_ONCE = 8;
const EXPECTED_MAX = 10_000;

/** Reads the Secrets. It keeps hashes of passwords, not the passwords. */
export class SecretCache {
  readonly #client: SecretCacheOptions["client"];
  readonly #clock: Clock;
  readonly #misses: RateBudget;
  /** By the keys of machines, as what is expected. */
  readonly #entries = new Map<string, Known>();
  /** What the Secrets of machines will have, if it is not there yet. */
  readonly #expected = new Map<string, Buffer>();
  readonly #salt = randomBytes(32);

  constructor({ client, clock }: SecretCacheOptions) {
    this.#client = client;
    this.#clock = clock;
    this.#misses = new RateBudget(clock, MISSES);
  }

  /** Says what Landfall is about to write in the Secret of a machine. */
  expect(machine: Pick<ManagedMachine, "id" | "name">, credentials: MachineCredentials): void {
    remember(this.#expected, toMachineKey(machine), this.#digest(credentials), EXPECTED_MAX);
  }

  /**
   * Finds the machines that have this user and password. Compares with all, each in the same time.
   *
   * A guess costs few requests: only Secrets are read again that could have become right.
   *
   * @param askedId The machine that a client asks for, if it names one: only that one is looked at
   * @throws {KubeError} if a Secret cannot be read
   */
  async findMachines(
    machines: readonly ManagedMachine[],
    credentials: MachineCredentials,
    signal: AbortSignal,
    askedId?: string,
  ): Promise<readonly ManagedMachine[]> {
    this.#forgetOthers(machines);
    const digest = this.#digest(credentials);
    const asked = machines.filter(({ id }) => askedId === undefined || id === askedId);
    // Landfall itself changes them, so that no client with the new password is ever refused.
    const isNew = (one: ManagedMachine): boolean =>
      isSame(this.#expected.get(toMachineKey(one)), digest);
    const unread = asked.filter(
      (one) => !this.#entries.has(toMachineKey(one)) || (isNew(one) && !this.#has(one, digest)),
    );
    await this.#readAll(unread, signal);
    const found = asked.filter((one) => this.#has(one, digest));
    const again =
      found.length > 0
        ? found.filter((one) => this.#isOlder(one, GOOD_MS))
        : this.#pickMissed(asked, credentials, askedId);
    await this.#readAll(again, signal);
    return asked.filter((one) => this.#has(one, digest));
  }

  /** The machines whose Secrets another program may have changed to what a client gives. */
  #pickMissed(
    machines: readonly ManagedMachine[],
    { username }: MachineCredentials,
    askedId: string | undefined,
  ): readonly ManagedMachine[] {
    const own = toCredentialsName(username);
    const missed = machines.filter((one) => {
      if (one.id === askedId) return true;
      const { username: known = username } = this.#entries.get(toMachineKey(one)) ?? {};
      return (one.secretName === own || known === username) && this.#isOlder(one, MISS_MS);
    });
    return missed.filter(() => {
      const { hasRoom } = this.#misses;
      if (hasRoom) this.#misses.spend();
      return hasRoom;
    });
  }

  async #readAll(machines: readonly ManagedMachine[], signal: AbortSignal): Promise<void> {
    await forEachAtOnce(machines, { atOnce: READS_AT_ONCE, signal }, async (machine, both) => {
      const { namespace, secretName: name } = machine;
      const secret = await readIfPresent(this.#client, SECRETS, { namespace, name }, both);
      const found = findCredentials(secret);
      const known = found && { username: found.username, digest: this.#digest(found) };
      this.#entries.set(toMachineKey(machine), { readMs: this.#clock.monotonic(), ...known });
    });
  }

  #isOlder(machine: ManagedMachine, ageMs: number): boolean {
    return (
      (this.#entries.get(toMachineKey(machine))?.readMs ?? -Infinity) <=
      this.#clock.monotonic() - ageMs
    );
  }

  #has(machine: ManagedMachine, digest: Buffer): boolean {
    return isSame(this.#entries.get(toMachineKey(machine))?.digest, digest);
  }

  #forgetOthers(machines: readonly ManagedMachine[]): void {
    const keys = new Set(machines.map(toMachineKey));
    for (const key of this.#entries.keys()) if (!keys.has(key)) this.#entries.delete(key);
  }

  /** Without blanks around them: metal3 sends them so. */
  #digest(credentials: MachineCredentials): Buffer {
    const { username, password } = trimCredentials(credentials);
    return createHmac("sha256", this.#salt)
      .update(JSON.stringify([username, password]))
      .digest();
  }
}

function isSame(own: Buffer | undefined, digest: Buffer): boolean {
  return own !== undefined && timingSafeEqual(own, digest);
}
