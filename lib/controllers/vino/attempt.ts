/**
 * One run of work on a Vino: its newest state, whether it is proven current, and the records of its machines.
 * @module
 */
import type { Clock } from "../../core/clock.ts";
import type { KubeClient } from "../../kube/api/client.ts";
import type { Key, StoreReader } from "../../kube/cache/store.ts";
import { readIfPresent } from "../../kube/api/read_if_present.ts";
import { trimObject } from "../../kube/kinds/trim.ts";
import { MachineRecords } from "./machines/machine_records.ts";
import { type Vino, VINOES } from "./resource/vino.ts";
import type { VinoWriter } from "./vino_writer.ts";

/** What an {@linkcode Attempt} needs. */
interface AttemptOptions {
  readonly client: Pick<KubeClient, "read">;
  readonly clock: Clock;
  readonly vinoes: Pick<StoreReader<Vino>, "get">;
  readonly writer: Pick<VinoWriter, "patchStatus">;
}

/** The cache shows a Vino that was changed, deleted or made again. The watch brings the new one. */
export class OutdatedError extends Error {
  override readonly name = "OutdatedError";
  constructor(key: Key) {
    super(`Cannot change anything: the watch has not shown yet what became of Vino "${key}"`);
  }
}

/** How often the status is written while machines are being made, in milliseconds. */
const PROGRESS_MS = 5_000;

/** One run of work on a Vino. */
export class Attempt {
  readonly key: Key;
  readonly uid: string;
  readonly signal: AbortSignal;
  readonly #options: AttemptOptions;
  #records: MachineRecords;
  /** The generation that the API server confirmed. */
  #confirmed: number | undefined;
  #writtenMs: number;

  constructor(key: Key, vino: Vino, options: AttemptOptions, signal: AbortSignal) {
    this.key = key;
    this.uid = vino.metadata.uid ?? "";
    this.signal = signal;
    this.#options = options;
    this.#records = this.#open(vino);
    this.#writtenMs = options.clock.monotonic();
  }

  /** The records of its machines. */
  get records(): MachineRecords {
    return this.#records;
  }

  /** The Vino as it is now. `undefined`: it is gone, or another one has its name. */
  find(): Vino | undefined {
    const vino = this.#options.vinoes.get(this.key);
    return vino?.metadata.uid === this.uid ? vino : undefined;
  }

  /** The Vino as it is now, if it still has the spec of another state of it. */
  findSame({ metadata: { generation } }: Vino): Vino | undefined {
    const vino = this.find();
    return vino?.metadata.generation === generation ? vino : undefined;
  }

  /**
   * Reads the Vino once for each of its specs.
   *
   * @returns Whether nothing differs. If not, the newest state is known from now on
   * @throws {OutdatedError} if it is another one now, or has another spec
   */
  async requireCurrent(vino: Vino): Promise<boolean> {
    const { generation = 0 } = vino.metadata;
    if (this.#confirmed === generation) return true;
    const known = this.find();
    const { namespace = "", name, uid } = vino.metadata;
    const path = { namespace, name };
    // What follows may destroy a machine, and the watch may be late.
    const current = await readIfPresent(this.#options.client, VINOES, path, this.signal);
    const { metadata } = current ?? {};
    if (current === undefined || metadata?.uid !== uid || metadata?.generation !== generation) {
      throw new OutdatedError(this.key);
    }
    this.#confirmed = generation;
    if (current.metadata.resourceVersion === known?.metadata.resourceVersion) return true;
    this.#records = this.#open(trimObject(VINOES, current));
    return false;
  }

  /** Notes that the status was written. */
  noteWrite(): void {
    this.#writtenMs = this.#options.clock.monotonic();
  }

  /** Whether the status was not written for some time. */
  isProgressDue(): boolean {
    return this.#options.clock.monotonic() - this.#writtenMs >= PROGRESS_MS;
  }

  #open(vino: Vino): MachineRecords {
    const { client, writer } = this.#options;
    const { namespace = "", name } = vino.metadata;
    const store = {
      find: () => this.find(),
      read: async (signal: AbortSignal) =>
        trimObject(VINOES, await client.read(VINOES, { namespace, name }, signal)),
      patch: (one: Vino, status: object, signal: AbortSignal) =>
        writer.patchStatus(one, status, signal),
    };
    return new MachineRecords(vino, store, this.signal);
  }
}
