/**
 * What a storm does when, drawn from a seed: the same for the same seed. Pure.
 * @module
 */

import { Random } from "../random.ts";

/** What a storm may hit. */
const TARGETS = ["one", "two", "apiServer", "etcd", "xenOrchestra"] as const;
export type Target = (typeof TARGETS)[number];

/** One thing that goes wrong. */
export interface Fault {
  /** When, in milliseconds from the beginning of the storm; later if the target has not recovered from the last one. */
  readonly atMs: number;
  readonly target: Target;
  /** `kill`: SIGKILL, and a start · `freeze`: SIGSTOP, and SIGCONT · `end`: SIGTERM, and a start; replicas alone. */
  readonly kind: "kill" | "freeze" | "end";
  /** How long it lasts, in milliseconds; after a kill the time to start comes on top. */
  readonly forMs: number;
}

const GAP_MS = 2_500;
const FREEZE_MS_MAX = 20_000;
const DOWN_MS_MAX = 6_000;
/** After all of it nothing happens for so long that all recover, and Nodes without machines go. */
const LULL_MS = 20_000;
/** What may happen to what: a kill is the more usual. Within two minutes all of it happens twice. */
const DECK: readonly Pick<Fault, "target" | "kind">[] = TARGETS.flatMap((target) =>
  (["kill", "kill", "freeze", ...(isReplica(target) ? (["end"] as const) : [])] as const).map(
    (kind) => ({ target, kind }),
  ),
);

/** Chance by a seed. */
export class Dice {
  /** The next number in [0, 1). */
  readonly next: () => number;

  constructor(seed: number) {
    this.next = new Random(seed).next;
  }

  between(least: number, most: number): number {
    return least + (most - least) * this.next();
  }

  /** One of these; absent when there is none. */
  pick<T>(from: readonly T[]): T | undefined {
    return from[Math.floor(this.next() * from.length)];
  }

  /** These in another order. */
  shuffle<T>(from: readonly T[]): T[] {
    return from
      .map((one) => ({ one, at: this.next() }))
      .toSorted((a, b) => a.at - b.at)
      .map(({ one }) => one);
  }

  /** Milliseconds until something that happens so often on average, like rain. */
  wait(averageMs: number): number {
    return Math.min(4 * averageMs, -Math.log(1 - this.next()) * averageMs);
  }
}

/** All that goes wrong within so many minutes, in order. */
export function planFaults(seed: number, minutes: number): readonly Fault[] {
  const dice = new Dice(seed);
  const faults: Fault[] = [];
  const cards: Pick<Fault, "target" | "kind">[] = [];
  for (let atMs = dice.wait(GAP_MS); atMs < minutes * 60_000; atMs += dice.wait(GAP_MS)) {
    if (cards.length === 0) cards.push(...dice.shuffle(DECK));
    const { target, kind } = cards.pop() ?? { target: "one", kind: "kill" };
    // Short ones are the more usual, and the worse: others have not noticed when it is over.
    const forMs = (kind === "freeze" ? FREEZE_MS_MAX : DOWN_MS_MAX) * dice.next() ** 2;
    faults.push({ atMs: Math.round(atMs), target, kind, forMs: Math.round(forMs) });
    if (cards.length === 0) atMs += LULL_MS;
  }
  return faults;
}

/** Whether a target is one of Landfall's own processes. */
export function isReplica(target: Target): target is "one" | "two" {
  return target === "one" || target === "two";
}
