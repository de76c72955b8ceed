/**
 * The records of the machines of a Vino, in its status: what the cloud must know about them after a restart.
 * @module
 */
import { assert } from "../../../core/errors.ts";
import type { MachineRecord } from "../../../cloud/capabilities/machines.ts";
import { isKubeError } from "../../../kube/api/errors.ts";
import type { Vino, VinoMachine, VinoStatus } from "../resource/vino.ts";

/** What a {@linkcode MachineRecords} writes with. */
interface RecordStore {
  /** The Vino as it is now, as far as this process knows. `undefined`: it is gone. */
  find(): Vino | undefined;
  /** Reads it from the API server. @throws {KubeError} also if it is gone */
  read(signal: AbortSignal): Promise<Vino>;
  /** Merges into the status of the version of `vino`. @throws {KubeError} `conflict` if there is a newer one */
  patch(vino: Vino, status: VinoStatus, signal: AbortSignal): Promise<Vino>;
}

/** Which machine a record is of. */
type RecordKey = Pick<VinoMachine, "host" | "index" | "name" | "role">;

const TEXT_BYTES_MAX = 1_024;
/** Another program may change the Vino as often while a record is saved. */
const TRIES_MAX = 8;

/** A record that waits to be written. */
interface Pending {
  readonly of: RecordKey;
  readonly text: string | undefined;
}

/** Records that are written together. */
interface Batch {
  /** By name of the machine. */
  readonly records: Map<string, Pending>;
  readonly written: Promise<void>;
}

/**
 * Records of one Vino while this process works on it. Saves at the same time become one write.
 *
 * Guarantee: a save resolves only after the API server has the text, in the status of the Vino with the UID that the
 * records began with. What other entries of the status say stays as it is.
 */
export class MachineRecords {
  readonly #store: RecordStore;
  readonly #signal: AbortSignal;
  readonly #uid: string | undefined;
  readonly #texts: Map<string, string>;
  /** The batch that still takes records. */
  #open: Batch | undefined;
  #last: Promise<void> = Promise.resolve();

  /** @param signal Of the work on the Vino, which all records share */
  constructor(vino: Vino, store: RecordStore, signal: AbortSignal) {
    this.#store = store;
    this.#signal = signal;
    this.#uid = vino.metadata.uid;
    this.#texts = new Map(readRecordTexts(vino));
  }

  /** All texts, by name of the machine. */
  get texts(): ReadonlyMap<string, string> {
    return this.#texts;
  }

  /** The record of a machine. */
  record(of: RecordKey): MachineRecord {
    return {
      text: this.#texts.get(of.name),
      save: (text, signal) => this.#save({ of, text }, signal),
    };
  }

  async #save(record: Pending, signal: AbortSignal): Promise<void> {
    const { of, text } = record;
    assert(
      text === undefined || Buffer.byteLength(text) <= TEXT_BYTES_MAX,
      "a record of a machine must have at most 1 KiB",
    );
    signal.throwIfAborted();
    this.#open ??= this.#begin();
    this.#open.records.set(of.name, record);
    await this.#open.written;
  }

  #begin(): Batch {
    const records = new Map<string, Pending>();
    const before = this.#last.catch(() => undefined);
    const written = (async () => {
      await before;
      // Steps that began together save together.
      await Promise.resolve();
      this.#open = undefined;
      await this.#write(records);
    })();
    this.#last = written;
    return { records, written };
  }

  async #write(records: ReadonlyMap<string, Pending>): Promise<void> {
    const store = this.#store;
    const signal = this.#signal;
    for (let tries = 1; ; tries += 1) {
      const vino = tries === 1 ? store.find() : await store.read(signal);
      if (vino === undefined || vino.metadata.uid !== this.#uid) {
        throw new Error("Cannot keep the record of a machine: the Vino is gone, or another one");
      }
      try {
        await store.patch(vino, { machines: merge(vino, records) }, signal);
        break;
      } catch (error) {
        if (tries === TRIES_MAX || !isKubeError(error, "conflict")) throw error;
      }
    }
    for (const [name, { text }] of records) {
      if (text === undefined) this.#texts.delete(name);
      else this.#texts.set(name, text);
    }
  }
}

/** The texts that the status of a Vino has, by name of the machine. */
export function readRecordTexts({ status }: Pick<Vino, "status">): ReadonlyMap<string, string> {
  return new Map(
    (status?.machines ?? []).flatMap(({ name, record }) =>
      record === undefined ? [] : [[name, record] as const],
    ),
  );
}

function merge({ status }: Vino, records: ReadonlyMap<string, Pending>): VinoMachine[] {
  const entries = new Map((status?.machines ?? []).map((one) => [one.name, one]));
  for (const [name, { of, text }] of records) {
    const { record: _before, ...entry } = entries.get(name) ?? {
      ...of,
      state: "Creating" as const,
    };
    entries.set(name, text === undefined ? entry : { ...entry, record: text });
  }
  return [...entries.values()];
}
