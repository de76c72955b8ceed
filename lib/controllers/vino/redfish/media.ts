/**
 * Virtual media: copies images from URLs to a storage of the cloud, and puts them into the drives of machines.
 *
 * Images come from URLs below those that an administrator allows, and from nowhere else, because what Landfall can
 * reach is then readable on a machine.
 *
 * There is one copy for each Vino and URL. Its name says which, so that another process knows it. A copy that no
 * machine has in its drive is removed. A machine waits for one copy at a time, so that one password does not fill a
 * storage: what it asked for before is given up. Nothing shows whether an image is complete: only what this process
 * copied, or what is in a drive, is taken for complete.
 * @module
 */
import type { ManagedMedia } from "../../../cloud/capabilities/machine_management.ts";
import type {
  MachineMedia,
  MediaImage,
  MediaStorage,
} from "../../../cloud/capabilities/machine_media.ts";
import { RefusedPowerError } from "../../../cloud/capabilities/machine_power.ts";
import { MACHINE_PREFIX, toOwnerPrefix } from "../../../cloud/capabilities/machines.ts";
import { CloudError } from "../../../cloud/errors.ts";
import { type ManagedMachine, toMachineKey } from "./credentials.ts";
import { type Clock, startDeadline } from "../../../core/clock.ts";
import { Limiter, Locks } from "../../../core/concurrency.ts";
import { describeError } from "../../../core/errors.ts";
import type { Fence } from "../../../core/fence.ts";
import { formatHostPort, toConnectionProblem } from "../../../core/http/connection.ts";
import { sendHttp } from "../../../core/http/request.ts";
import type { Logger } from "../../../core/log.ts";
import { hashContent } from "../../../core/text/label.ts";
import { formatSize } from "../../../core/text/values.ts";

/** An image that cannot be had. */
export class ImageError extends Error {
  override readonly name = "ImageError";
}

/** An image that is being read. */
interface OpenImage {
  /** In bytes. */
  readonly length: number;
  /** Fails if there are more or fewer bytes. */
  readonly stream: ReadableStream<Uint8Array>;
  /** Why the stream failed. Absent: it did not. */
  findProblem(): ImageError | undefined;
}

/** More than the installation media of any system have. */
const IMAGE_BYTES_MAX = 16 * 1024 ** 3;
const REDIRECTS_MAX = 5;
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/** Reads the URL of an image. @throws {ImageError} if Landfall must not fetch it */
export function parseImageUrl(text: string, sources: readonly string[]): URL {
  const url = URL.parse(text);
  if (url === null || !["http:", "https:"].includes(url.protocol)) {
    throw new ImageError("Image must be a URL with http or https");
  }
  // A server may take these for slashes, and then for the way out of a folder.
  if (/%(?:2f|5c)/i.test(url.pathname))
    throw new ImageError("Image must be a URL without %2F and %5C");
  if (url.username !== "" || url.password !== "") {
    throw new ImageError("Image must be a URL without a user and password");
  }
  if (sources.some((source) => url.href.startsWith(source))) return url;
  throw new ImageError(
    `Landfall may fetch no image from ${url.origin}: an administrator allows it`,
  );
}

/**
 * Opens an image. Messages have no more of its URL than host and port: the rest may be a secret.
 *
 * @param onBytes Called with how many more bytes were read
 * @param signal Also ends the stream
 * @throws {ImageError} if it cannot be had
 */
async function openImage(
  first: URL,
  sources: readonly string[],
  onBytes: (bytes: number) => void,
  signal: AbortSignal,
): Promise<OpenImage> {
  let url = first;
  for (let hop = 0; hop <= REDIRECTS_MAX; hop += 1) {
    const answer = await send(url, signal);
    const { status, headers, body } = answer;
    const location = headers.get("location");
    if (REDIRECTS.has(status) && location !== null) {
      await body?.cancel();
      url = parseImageUrl(URL.parse(location, url.href)?.href ?? "", sources);
      continue;
    }
    const length = Number(headers.get("content-length") ?? Number.NaN);
    const problem = findProblem(status, length);
    if (problem === undefined && body !== null) return toOpen(body, { url, length, onBytes });
    await body?.cancel();
    throw new ImageError(`Cannot fetch the image from ${formatHostPort(url.href)}: ${problem}`);
  }
  throw new ImageError(`Cannot fetch the image: ${first.origin} redirects too often`);
}

async function send(url: URL, signal: AbortSignal): Promise<Response> {
  const headers = { "accept-encoding": "identity", "user-agent": "landfall" };
  try {
    return await sendHttp(url.href, { method: "GET", headers, tls: {}, signal });
  } catch (error) {
    signal.throwIfAborted();
    const why = describeError(toConnectionProblem(error));
    throw new ImageError(`Cannot fetch the image from ${formatHostPort(url.href)}: ${why}`);
  }
}

function findProblem(status: number, length: number): string | undefined {
  if (status !== 200) return `it answers with status ${status}`;
  if (!Number.isSafeInteger(length) || length === 0) return "it does not say how long the image is";
  if (length <= IMAGE_BYTES_MAX) return undefined;
  return `the image is longer than ${formatSize(IMAGE_BYTES_MAX)}`;
}

/** Counts the bytes, and remembers why there are no more: who sends the stream on sees only that it broke. */
function toOpen(
  body: ReadableStream<Uint8Array>,
  {
    url,
    length,
    onBytes,
  }: { readonly url: URL; readonly length: number; readonly onBytes: (bytes: number) => void },
): OpenImage {
  const reader = body.getReader();
  const from = formatHostPort(url.href);
  let left = length;
  let problem: ImageError | undefined;
  const read = async (): Promise<Uint8Array | undefined> => {
    try {
      const { value } = await reader.read();
      left -= value?.length ?? 0;
      if (left >= 0 && (value !== undefined || left === 0)) return value;
    } catch {
      // Below.
    }
    problem = new ImageError(`The image from ${from} broke off, or is not as long as it says`);
    throw problem;
  };
  const stream = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const chunk = await read();
      if (chunk === undefined) return controller.close();
      onBytes(chunk.length);
      controller.enqueue(chunk);
    },
    cancel: (reason) => reader.cancel(reason),
  });
  return { length, stream, findProblem: () => problem };
}

/** What an administrator allows. */
export interface MediaSettings {
  /** Name or ID of the storage. */
  readonly storage: string;
  /** Beginnings of URLs, each with a slash behind the host. */
  readonly sources: readonly string[];
}

/** What {@linkcode VirtualMedia} needs. */
interface VirtualMediaOptions {
  readonly settings: MediaSettings;
  readonly media: MachineMedia;
  readonly listMachines: () => readonly ManagedMachine[];
  /** Whether a machine has no clients any more. */
  readonly isReleased: (machine: ManagedMachine) => boolean;
  readonly fence: Fence;
  readonly clock: Clock;
  readonly log: Logger;
}

/** An image that is copied, or was. */
interface Copy {
  readonly url: string;
  readonly storage: MediaStorage;
  /** Gives it up. */
  readonly ended: AbortController;
  /** @throws if it could not be made */
  readonly made: Promise<MediaImage>;
  bytes: number;
  /** When the last bytes came, in monotonic milliseconds. */
  movedMs: number;
  /** Absent: not known yet. */
  length?: number;
}

/** A request of a client waits so long for a copy, and then asks again. */
const WAIT_MS = 15_000;
/** A copy that takes longer is given up. */
const COPY_MS = 1_800_000;
/** So is one of which nothing comes for so long: others wait for its place. */
const STILL_MS = 60_000;
const COPIES_AT_ONCE = 2;
/** How often images that no machine has are looked for. */
const SWEEP_MS = 600_000;
/** A cloud shows what is in a drive after 10 to 250 ms. */
const LAG_MS = 300;
const LOOKS_MAX = 5;

/** The virtual media of all machines. */
export class VirtualMedia {
  readonly #options: VirtualMediaOptions;
  readonly #limiter = new Limiter(COPIES_AT_ONCE);
  /** By the storage and the name of the image. */
  readonly #copies = new Map<string, Copy>();
  /** The key of the copy that each machine waits for, by the key of the machine. */
  readonly #wanted = new Map<string, string>();
  /** Of images: one is not removed while it is put into a drive. */
  readonly #locks = new Locks();
  readonly #ended = new AbortController();

  constructor(options: VirtualMediaOptions) {
    this.#options = options;
  }

  /** What is in the drive of a machine. */
  async read(machine: ManagedMachine, signal: AbortSignal): Promise<ManagedMedia> {
    const held = await this.#options.media.readDrive(machine.id, signal);
    if (held === undefined) return {};
    const { url } =
      [...this.#copies.values()].find((one) => toName(machine, one.url) === held.name) ?? {};
    return { name: held.name, ...(url !== undefined && { url }) };
  }

  /**
   * Copies an image, if there is no copy yet, and puts it into the drive of a machine.
   *
   * @throws {ImageError} if it cannot be had
   * @throws {RefusedPowerError} `busy` while it is copied, or if the cloud refuses
   */
  async insert(machine: ManagedMachine, text: string, signal: AbortSignal): Promise<void> {
    const { settings, media, log, isReleased } = this.#options;
    const url = parseImageUrl(text, settings.sources);
    const storage = await media.findStorage(machine.id, settings.storage, signal);
    const key = toKey(storage, toName(machine, url.href));
    const copy = this.#copies.get(key) ?? this.#begin(key, storage, machine, url);
    this.#want(toMachineKey(machine), key);
    const image = await this.#wait(copy, signal);
    using _ = await this.#locks.take(machine.id, signal);
    if (isReleased(machine))
      throw new RefusedPowerError("notOurs", "The machine has no BareMetalHost any more");
    const before = await media.readDrive(machine.id, signal);
    const isThere = before?.id === image.id;
    if (!isThere) await this.#put(machine, image, key, signal);
    if (this.#wanted.get(toMachineKey(machine)) === key) this.#wanted.delete(toMachineKey(machine));
    if (isThere) return;
    log.info("A management controller inserted an image", {
      machine: machine.name,
      from: url.origin,
    });
    if (before) void this.#release(storage, before);
  }

  /** Empties the drive of a machine that has no clients any more. What a person inserted stays. */
  async release(machine: ManagedMachine, signal: AbortSignal): Promise<void> {
    this.#want(toMachineKey(machine));
    const prefix = toPrefix(machine);
    await this.eject(machine, signal, ({ name }) => name.startsWith(prefix));
  }

  /** Empties the drive of a machine, and removes the image if no other machine has it. */
  async eject(
    machine: ManagedMachine,
    signal: AbortSignal,
    isMeant: (image: MediaImage) => boolean = () => true,
  ): Promise<void> {
    const { settings, media, fence, log } = this.#options;
    using _ = await this.#locks.take(machine.id, signal);
    const before = await media.readDrive(machine.id, signal);
    if (before === undefined || !isMeant(before)) return;
    await media.eject(machine.id, fence, signal);
    await this.#untilSeen(machine, undefined, signal);
    log.info("A management controller ejected an image", { machine: machine.name });
    const storage = await media.findStorage(machine.id, settings.storage, signal);
    await this.#release(storage, before);
  }

  /** Removes images that no machine has, from time to time. Called when this process leads, until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, log } = this.#options;
    signal.addEventListener("abort", () => this.#ended.abort(signal.reason), { once: true });
    while (!signal.aborted) {
      await this.#sweep(signal).catch((error: unknown) => {
        if (!signal.aborted)
          log.warn("Cannot look for images of CDs that no machine has", { error });
      });
      await clock.sleep(SWEEP_MS, signal).catch(() => {});
    }
  }

  async #put(
    machine: ManagedMachine,
    image: MediaImage,
    key: string,
    signal: AbortSignal,
  ): Promise<void> {
    const { media, fence } = this.#options;
    using _ = await this.#locks.take(key, signal);
    try {
      await media.insert(machine.id, image.id, fence, signal);
    } catch (error) {
      // A person may have deleted it.
      if (error instanceof RefusedPowerError) this.#copies.delete(key);
      throw error;
    }
    await this.#untilSeen(machine, image.id, signal);
  }

  #begin(key: string, storage: MediaStorage, machine: ManagedMachine, url: URL): Copy {
    const ended = new AbortController();
    const signal = AbortSignal.any([this.#ended.signal, ended.signal]);
    const copy: Copy = {
      url: url.href,
      storage,
      ended,
      bytes: 0,
      movedMs: 0,
      made: this.#limiter.run(() => this.#make(copy, machine, url, signal), signal),
    };
    this.#copies.set(key, copy);
    // The next request begins again.
    copy.made.catch(() => this.#forget(key, copy));
    return copy;
  }

  #forget(key: string, copy: Copy): void {
    if (this.#copies.get(key) === copy) this.#copies.delete(key);
  }

  /** Notes which copy a machine waits for. @param key Absent: none any more */
  #want(machineKey: string, key?: string): void {
    const before = this.#wanted.get(machineKey);
    if (key === undefined) this.#wanted.delete(machineKey);
    else this.#wanted.set(machineKey, key);
    if (before === undefined || before === key) return;
    const copy = this.#copies.get(before);
    if (copy === undefined || this.#isWanted(before)) return;
    const message = "Another image was asked for meanwhile; ask again if this one is meant";
    copy.ended.abort(new RefusedPowerError("busy", message));
    copy.made.then(
      (image) => this.#release(copy.storage, image),
      () => {},
    );
  }

  #isWanted(key: string): boolean {
    return [...this.#wanted.values()].includes(key);
  }

  async #make(
    copy: Copy,
    machine: ManagedMachine,
    url: URL,
    until: AbortSignal,
  ): Promise<MediaImage> {
    const { media, fence, clock, log, settings } = this.#options;
    const { storage } = copy;
    using deadline = startDeadline(until, COPY_MS, clock);
    const { signal } = deadline;
    const name = toName(machine, url.href);
    for (const old of await media.listImages(storage, name, signal)) {
      if (old.isInUse) return old;
      await media.deleteImage(old.id, fence, signal);
    }
    const broken = new AbortController();
    const both = AbortSignal.any([signal, broken.signal]);
    const count = (bytes: number): void => {
      copy.bytes += bytes;
      copy.movedMs = clock.monotonic();
    };
    copy.movedMs = clock.monotonic();
    this.#watch(copy, url, both).catch(() => {});
    let image: OpenImage | undefined;
    try {
      image = await openImage(url, settings.sources, count, both);
      const { length, stream } = image;
      copy.length = length;
      const content = { stream, length, timeoutMs: COPY_MS };
      const id = await media.upload(storage, name, content, fence, signal);
      log.info("Copied an image of a CD", { image: name, from: url.origin, bytes: length });
      return { id, name, isInUse: false };
    } catch (error) {
      copy.ended.signal.throwIfAborted();
      throw image?.findProblem() ?? error;
    } finally {
      broken.abort();
    }
  }

  /** Gives a copy up of which nothing comes any more. The cloud may take its time with what it has. */
  async #watch(copy: Copy, url: URL, signal: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    let leftMs = STILL_MS;
    while (leftMs > 0) {
      await clock.sleep(leftMs, signal);
      if (copy.bytes === copy.length) return;
      leftMs = copy.movedMs + STILL_MS - clock.monotonic();
    }
    const why = `nothing more of it came for ${STILL_MS / 1_000} seconds`;
    const from = formatHostPort(url.href);
    copy.ended.abort(new ImageError(`Cannot copy the image from ${from}: ${why}`));
  }

  async #wait(copy: Copy, signal: AbortSignal): Promise<MediaImage> {
    const { clock } = this.#options;
    const ended = new AbortController();
    const late = clock
      .sleep(WAIT_MS, AbortSignal.any([signal, ended.signal]))
      .then(() => "late" as const);
    late.catch(() => {});
    const first = await Promise.race([copy.made, late]).finally(() => ended.abort());
    if (first !== "late") return first;
    const { bytes, length } = copy;
    const part = length === undefined ? "" : `: ${Math.floor((bytes / length) * 100)} %`;
    const message = `Landfall copies the image to the cloud${part}; ask again`;
    throw new RefusedPowerError("busy", message);
  }

  async #untilSeen(
    { id, name }: ManagedMachine,
    imageId: string | undefined,
    signal: AbortSignal,
  ): Promise<void> {
    const { media, clock } = this.#options;
    for (let look = 0; look < LOOKS_MAX; look += 1) {
      if ((await media.readDrive(id, signal))?.id === imageId) return;
      await clock.sleep(LAG_MS, signal);
    }
    throw new CloudError("unreachable", `The drive of ${name} does not show what was done with it`);
  }

  /** Removes an image of ours that no machine has. If that fails, it is tried again later. */
  async #release(storage: MediaStorage, { id, name }: MediaImage): Promise<void> {
    const { media, fence, clock, log } = this.#options;
    const { signal } = this.#ended;
    if (!isOurs(name)) return;
    const key = toKey(storage, name);
    try {
      using _ = await this.#locks.take(key, signal);
      await clock.sleep(LAG_MS, signal);
      const [image] = await media.listImages(storage, name, signal);
      if (image?.id !== id || image.isInUse || this.#isWanted(key)) return;
      this.#copies.delete(key);
      await media.deleteImage(id, fence, signal);
    } catch (error) {
      if (!signal.aborted)
        log.warn("Cannot remove an image of a CD; trying again later", { error });
    }
  }

  async #sweep(signal: AbortSignal): Promise<void> {
    const { listMachines, log } = this.#options;
    const machines = listMachines();
    const keys = new Set(machines.map(toMachineKey));
    for (const key of this.#wanted.keys()) if (!keys.has(key)) this.#want(key);
    const perVino = new Map(machines.map((one) => [one.vino.uid, one]));
    for (const machine of perVino.values()) {
      // Its pool may have no storage for ISOs: those of other Vinos are looked at all the same.
      await this.#sweepVino(machine, signal).catch((error: unknown) => {
        signal.throwIfAborted();
        const fields = { vino: machine.vino.name, namespace: machine.namespace, error };
        log.warn("Cannot look for images of CDs that no machine of a Vino has", fields);
      });
    }
  }

  async #sweepVino(machine: ManagedMachine, signal: AbortSignal): Promise<void> {
    const { media, settings } = this.#options;
    const storage = await media.findStorage(machine.id, settings.storage, signal);
    const images = await media.listImages(storage, toPrefix(machine), signal);
    for (const image of images) {
      if (image.isInUse) continue;
      const key = toKey(storage, image.name);
      const copy = this.#copies.get(key);
      // One that is copied has its name already; one that was copied waits for its client until the next look.
      if (copy && (await isPending(copy.made))) continue;
      for (const [one, wanted] of this.#wanted) if (wanted === key) this.#wanted.delete(one);
      if (copy === undefined) await this.#release(storage, image);
      else this.#copies.delete(key);
    }
  }
}

async function isPending(promise: Promise<unknown>): Promise<boolean> {
  const pending = Symbol("pending");
  const first = await Promise.race([promise, Promise.resolve(pending)]).catch(() => undefined);
  return first === pending;
}

function toPrefix({ vino }: Pick<ManagedMachine, "vino">): string {
  return `${toOwnerPrefix(vino)}iso.`;
}

/** The end is that of a file: storages for ISOs are folders. */
function toName(machine: Pick<ManagedMachine, "vino">, url: string): string {
  return `${toPrefix(machine)}${hashContent(url)}.iso`;
}

function isOurs(name: string): boolean {
  return (
    name.startsWith(MACHINE_PREFIX) &&
    /^[0-9a-f]{8}-iso\.[0-9a-f]{16}\.iso$/.test(name.slice(MACHINE_PREFIX.length))
  );
}

function toKey({ id }: MediaStorage, name: string): string {
  return `${id} ${name}`;
}
