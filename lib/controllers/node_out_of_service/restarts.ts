/**
 * Remembers when the machines of out-of-service Nodes started to run again, and which volumes were attached at that
 * time.
 * @module
 */
import type { Clock } from "../../core/clock.ts";
import type { Node } from "../../kube/kinds/node.ts";
import type { Attachments } from "./attachments.ts";

interface Return {
  /** A new Node with the same name has another UID. */
  readonly uid: string | undefined;
  /** Monotonic milliseconds. */
  readonly sinceMs: number;
  /** UIDs of the VolumeAttachments at that time; `undefined` until they are known. */
  readonly attached: ReadonlySet<string> | undefined;
}

/**
 * Holds at most one entry for each Node. A new process takes its first look for the start of the machine, so it may
 * wait longer than necessary, never shorter.
 */
export class Restarts {
  readonly #clock: Clock;
  readonly #attachments: Attachments;
  readonly #byName = new Map<string, Return>();

  constructor(clock: Clock, attachments: Attachments) {
    this.#clock = clock;
    this.#attachments = attachments;
  }

  /**
   * Records that the machine of a Node runs. @returns How long it has run, and how many volumes from before are still
   * attached
   */
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

  /** Call it when the machine of a Node does not run, or the Node is gone. */
  forget(name: string): void {
    this.#byName.delete(name);
  }
}
