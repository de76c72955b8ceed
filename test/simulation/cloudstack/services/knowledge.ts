/**
 * Every version of every Service, and which of them each process was shown.
 * @module
 */
import type { Service } from "../../../../lib/kube/kinds/service.ts";
import { toName } from "./wishes.ts";

/** A Service, from its beginning to its end. */
export interface Life {
  readonly uid: string;
  readonly namespace: string;
  readonly name: string;
  /** The name of its load balancer. */
  readonly lbName: string;
  /** The oldest first. */
  readonly versions: Service[];
  isGone: boolean;
  /** Whether a person did something for which more than one address may serve it. */
  mayMove: boolean;
  /** Whether a person did something for which things of it may be left behind. */
  mayLeak: boolean;
  /** Whether a person deleted a rule of it: what let clients in to that stays until the address goes. */
  mayStray: boolean;
}

interface Shown {
  readonly atMs: number;
  readonly version: number;
}

const SERVICE_MARK = '"kind":"Service"';
const DECODER = new TextDecoder();

/** What happened to Services. Times in monotonic milliseconds. */
export class Knowledge {
  readonly #lives = new Map<string, Life>();
  /** By UID and resource version. */
  readonly #numbers = new Map<string, number>();
  /** By process and UID, the oldest first. */
  readonly #shown = new Map<string, Shown[]>();
  readonly #now: () => number;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** Every Service that ever was. */
  get lives(): readonly Life[] {
    return [...this.#lives.values()];
  }

  /** @param uid Of a Service that was there at some time */
  find(uid: string): Life | undefined {
    return this.#lives.get(uid);
  }

  /** Takes in a change of a Service. */
  noteChange(before: Service | undefined, after: Service | undefined): void {
    const { uid = "" } = (after ?? before)?.metadata ?? {};
    const life = this.#lives.get(uid);
    if (after === undefined) {
      if (life) life.isGone = true;
      return;
    }
    const { name, namespace = "", resourceVersion = "" } = after.metadata;
    const known = life ?? {
      uid,
      namespace,
      name,
      lbName: toName(uid),
      versions: [],
      isGone: false,
      mayMove: false,
      mayLeak: false,
      mayStray: false,
    };
    this.#lives.set(uid, known);
    known.versions.push(after);
    this.#numbers.set(`${uid} ${resourceVersion}`, known.versions.length - 1);
  }

  /** Takes in that Services reached a process, as they were when they were sent. */
  noteShown(asker: string, services: readonly Service[]): void {
    for (const { metadata } of services) {
      const { uid = "", resourceVersion = "" } = metadata;
      const version = this.#numbers.get(`${uid} ${resourceVersion}`);
      if (version === undefined) continue;
      const key = `${asker} ${uid}`;
      const all = this.#shown.get(key) ?? [];
      this.#shown.set(key, all);
      if (version > (all.at(-1)?.version ?? -1)) all.push({ atMs: this.#now(), version });
    }
  }

  /** Takes in a piece of a watch that reached a process. */
  notePiece(asker: string, piece: Uint8Array): void {
    const text = DECODER.decode(piece);
    if (!text.includes(SERVICE_MARK)) return;
    const services = text
      .split("\n")
      // A piece may be cut anywhere.
      .filter((line) => line.includes(SERVICE_MARK) && line.startsWith("{") && line.endsWith("}"))
      .map((line) => JSON.parse(line).object as Service);
    this.noteShown(asker, services);
  }

  /** The version of a Service by which a process may have planned what it does at a moment. */
  findKnown(asker: string, uid: string, atMs: number): number {
    return this.#shown.get(`${asker} ${uid}`)?.findLast((one) => one.atMs <= atMs)?.version ?? 0;
  }
}
