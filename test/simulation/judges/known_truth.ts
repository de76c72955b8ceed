/**
 * What a process may honestly believe of machines when it writes: not more than it was told, and not for longer than it
 * has nothing newer.
 * @module
 */
import type { Span, Surroundings } from "../world/cloud.ts";
import type { LabelSettings } from "../world/settings_file.ts";

/** A write that was sent. */
interface Sent {
  readonly author: string;
  readonly name: string;
  readonly body: string;
  readonly atMs: number;
  /** How old what it tells may be. */
  readonly sinceMs: number;
  /** By which settings it may have been planned. */
  readonly labels: readonly LabelSettings[];
}

/** Longest way of a request. */
const WAY_MS = 7_000;
/** The deadline of a request, in which it may be sent again, and of what is asked of the cloud for one Node. */
const REQUEST_MS = 30_000;

/** Follows how old is what each process goes by. */
export class KnownTruth {
  readonly #world: Surroundings;
  #sent: Sent[] = [];
  /** Of late: when the cloud answered a process about one machine. */
  #answers: { readonly asker: string; readonly vmId: string; readonly atMs: number }[] = [];

  constructor(world: Surroundings) {
    this.#world = world;
  }

  /** Takes in an answer of the cloud. */
  noteAnswer(asker: string, request: Request): void {
    const vmId = this.#world.cloud.findAsked(request);
    if (vmId === undefined) return;
    const atMs = this.#nowMs;
    this.#answers = this.#answers.filter((one) => one.atMs >= atMs - REQUEST_MS);
    this.#answers.push({ asker, vmId, atMs });
  }

  /** Takes in that a process sends a write to a Node. It was planned right before, or first sent not long ago. */
  noteSent(author: string, name: string, body: string): void {
    const atMs = this.#nowMs;
    this.#sent = this.#sent.filter((one) => one.atMs >= atMs - REQUEST_MS);
    const again = this.#sent.find(
      (one) => one.author === author && one.name === name && one.body === body,
    );
    const { askedMs, said } = this.#world.findProcess(author).inventory ?? {
      askedMs: atMs,
      said: this.#world.findSaid(author),
    };
    const vmId = this.#world.machines.get(name);
    const direct = this.#answers.filter((one) => one.asker === author && one.vmId === vmId);
    const sinceMs = Math.min(
      askedMs,
      again?.sinceMs ?? Infinity,
      ...direct.map(({ atMs: answeredMs }) => answeredMs),
    );
    const labels = [...(again?.labels ?? []), said.labels];
    this.#sent.push({ author, name, body, atMs, sinceMs, labels });
  }

  /** From when on what a process wrote into a Node, which arrives now, may have been true, and by which settings. */
  toSpan(author: string, name: string): Span {
    const nowMs = this.#nowMs;
    const arriving = this.#sent.filter(
      (one) => one.author === author && one.name === name && one.atMs >= nowMs - WAY_MS,
    );
    const sinceMs = Math.min(nowMs, ...arriving.map((one) => one.sinceMs));
    const past = this.#world.findProcess(author).uses.map(({ said }) => said.labels);
    return { sinceMs, labels: arriving.flatMap(({ labels }) => labels), past };
  }

  /** Whether the settings of a process let it write addresses, or did when what arrives now may have been planned. */
  mayWriteAddresses(author: string): boolean {
    const { uses } = this.#world.findProcess(author);
    const sinceMs = this.#nowMs - REQUEST_MS - WAY_MS;
    return uses.some(
      ({ said }, at) => !said.leavesAddresses && (uses[at + 1]?.sinceMs ?? Infinity) > sinceMs,
    );
  }

  get #nowMs(): number {
    return this.#world.timeline.monotonic();
  }
}
