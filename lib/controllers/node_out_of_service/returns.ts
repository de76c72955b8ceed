/**
 * Remembers since when the machines of Nodes that are out of service run again, and which volumes were attached then.
 * @module
 */
import type { Clock } from "../../core/clock.ts";
import type { Node } from "../../kube/kinds/node.ts";
import type { Attachments } from "./attachments.ts";

interface Return {
  /** A Node that comes again under its name is another one. */
  readonly uid: string | undefined;
  /** Monotonic milliseconds. */
  readonly sinceMs: number;
  /** UIDs of the VolumeAttachments of then; `undefined` until they are known. */
  readonly attached: ReadonlySet<string> | undefined;
}

/**
 * One for each Node at most. A process that starts later takes what it sees first for the start of the machine, so it
 * waits for longer rather than for less.
 */
export class Returns {
  readonly #clock: Clock;
  readonly #attachments: Attachments;
  readonly #byName = new Map<string, Return>();

  constructor(clock: Clock, attachments: Attachments) {
    this.#clock = clock;
    this.#attachments = attachments;
  }

  /** The machine of a Node runs. @returns For how long, and how many volumes of before are still attached */
  note({ metadata: { name, uid } }: Node): { runningMs: number; attached: number | undefined } {
    const nowMs = this.#clock.monotonic();
    const now = this.#attachments.list(name);
    const known = this.#byName.get(name);
    const isSame = known !== undefined && known.uid === uid;
    const sinceMs = isSame ? known.sinceMs : nowMs;
    const before = (isSame ? known.attached : undefined) ?? now;
    this.#byName.set(name, { uid, sinceMs, attached: before });
    const left = now && before && [...before].filter((one) => now.has(one));
    return { runningMs: nowMs - sinceMs, attached: left?.length };
  }

  /** The machine of a Node does not run, or the Node is gone. */
  forget(name: string): void {
    this.#byName.delete(name);
  }
}
