/**
 * Nodes that somebody should look at, by what they have in common.
 * @module
 */
import { STATE_NAMES, STATES, type StateName } from "./state.ts";
import type { Card } from "./topology.ts";

/** Nodes in the same state for the same cause. */
export interface Trouble {
  readonly state: StateName;
  readonly cause: string;
  /** Why, when it is the same for all of them; absent when each has its own reason. */
  readonly why?: string;
  readonly cards: readonly Card[];
}

/** Groups troubled Nodes, the worst first, then the most. */
export function listTroubles(cards: readonly Card[]): Trouble[] {
  const groups = new Map<string, Card[]>();
  for (const card of cards) {
    const { state, cause } = card.condition;
    if (!STATES[state].isTrouble) continue;
    const key = `${STATE_NAMES.indexOf(state)} ${cause}`;
    const group = groups.get(key);
    if (group) group.push(card);
    else groups.set(key, [card]);
  }
  const troubles = [...groups.values()].flatMap((group) => toTrouble(group));
  return troubles.sort(
    (a, b) =>
      STATE_NAMES.indexOf(a.state) - STATE_NAMES.indexOf(b.state) ||
      b.cards.length - a.cards.length,
  );
}

function toTrouble(cards: readonly Card[]): Trouble[] {
  const [first] = cards;
  if (first === undefined) return [];
  const { state, cause, why } = first.condition;
  const isCommon = cards.every(({ condition }) => condition.why === why);
  return [{ state, cause, ...(isCommon ? { why } : {}), cards }];
}
