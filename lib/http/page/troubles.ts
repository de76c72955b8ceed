/**
 * Groups of Nodes with problems, by what they have in common.
 * @module
 */
import type { NodeView } from "../views.ts";
import { STATE_NAMES, STATES, type StateName } from "./state.ts";
import type { Card } from "./topology/mod.ts";

/** Nodes in the same state. */
export interface Trouble {
  readonly state: StateName;
  /** The most frequent first. */
  readonly reasons: readonly Reason[];
  /** How many Nodes there are in total. */
  readonly total: number;
}

/** Nodes that are in a state for the same reason. */
export interface Reason {
  /** A sentence for operators. Parts that differ from Node to Node are `…`. May be empty. */
  readonly why: string;
  /** At least one. */
  readonly cards: readonly Card[];
}

const UUID = /\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/gi;
/** Whole words only: a Node may be called `a`. */
const WORD = /[^\s"'(),;]+/g;
const STOPS = /[:.]{1,3}$/;
const DURATION = /\b(?:\d+h)?(?:\d+m)?\d+(?:\.\d+)?m?s\b/g;

/** Groups Nodes with problems, the worst state first. A lost pool of 500 machines is one reason, not 500. */
export function listTroubles(cards: readonly Card[]): Trouble[] {
  const states = new Map<StateName, Map<string, Card[]>>();
  for (const card of cards) {
    const { state } = card.condition;
    if (!STATES[state].isTrouble) continue;
    const reasons = states.get(state) ?? new Map<string, Card[]>();
    states.set(state, reasons);
    const key = toPattern(card);
    const alike = reasons.get(key);
    if (alike) alike.push(card);
    else reasons.set(key, [card]);
  }
  return STATE_NAMES.flatMap((state) => {
    const reasons = states.get(state);
    return reasons === undefined ? [] : [toTrouble(state, reasons)];
  });
}

function toTrouble(state: StateName, groups: ReadonlyMap<string, readonly Card[]>): Trouble {
  const reasons = [...groups].map(([pattern, cards]): Reason => {
    const why = cards[0]?.condition.why ?? "";
    const isSame = cards.every(({ condition }) => condition.why === why);
    return { why: isSame ? why : pattern, cards };
  });
  reasons.sort((a, b) => b.cards.length - a.cards.length);
  return { state, reasons, total: reasons.reduce((sum, { cards }) => sum + cards.length, 0) };
}

/** A reason without the parts that belong to one Node: names, UUIDs, spans of time. */
function toPattern({ node, condition }: Card): string {
  const names = listNames(node);
  return condition.why
    .replaceAll(UUID, "…")
    .replaceAll(DURATION, "…")
    .replaceAll(WORD, (word) => {
      const [stops = ""] = STOPS.exec(word) ?? [];
      return names.has(word.slice(0, word.length - stops.length)) ? `…${stops}` : word;
    });
}

function listNames({ name, providerId = "", instance }: NodeView): Set<string> {
  const names = [name, providerId, providerId.split("/").at(-1) ?? ""];
  if (instance) names.push(instance.id, instance.name);
  return new Set(names);
}
