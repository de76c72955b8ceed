/**
 * Groups of objects with problems, by what they have in common. Pure.
 * @module
 */
import type { KindState, Tile } from "./model.ts";

/** An object that may have a problem. */
export interface Troubled {
  /** Unique in the list. */
  readonly id: string;
  /** `undefined`: there is nothing to say. */
  readonly state: KindState | undefined;
  /** Why it is in its state, in a sentence for operators. */
  readonly why: string;
  /** Where it is, in a few words; may be empty. */
  readonly where: string;
  /** Texts that belong to this object alone: its name, the ID of its machine. */
  readonly names: readonly string[];
  readonly tile: Tile;
}

/** Objects in the same state. */
export interface Trouble {
  readonly state: KindState;
  /** The most frequent first. */
  readonly reasons: readonly Reason[];
  /** How many objects there are in total. */
  readonly total: number;
}

/** Objects that are in a state for the same reason. */
export interface Reason {
  /** A sentence for operators. Parts that differ from object to object are `…`. May be empty. */
  readonly why: string;
  /** At least one. */
  readonly members: readonly Troubled[];
}

const UUID = /\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/gi;
/** Whole words only: a Node may be called `a`. */
const WORD = /[^\s"'(),;]+/g;
const STOPS = /[:.]{1,3}$/;
const DURATION = /\b(?:\d+h)?(?:\d+m)?\d+(?:\.\d+)?m?s\b/g;

/**
 * Groups objects, the worst state first. A lost pool of 500 machines is one reason, not 500.
 *
 * @param states In the order of the result
 * @param membersMin A reason that fewer share is left out. @default {none is}
 */
export function groupReasons(
  objects: readonly Troubled[],
  states: readonly KindState[],
  membersMin: number = 1,
): Trouble[] {
  const byState = Map.groupBy(objects, ({ state }) => state?.name);
  return states.flatMap((state) => {
    const groups = Map.groupBy(byState.get(state.name) ?? [], ({ why, names }) =>
      hideNames(why, names),
    );
    const reasons = [...groups]
      .filter(([, members]) => members.length >= membersMin)
      .map(([pattern, members]): Reason => {
        const why = members[0]?.why ?? "";
        return { why: members.every((one) => one.why === why) ? why : pattern, members };
      })
      .toSorted((a, b) => b.members.length - a.members.length);
    const total = reasons.reduce((sum, { members }) => sum + members.length, 0);
    return total === 0 ? [] : [{ state, reasons, total }];
  });
}

/** A text without the parts that belong to one object: these names, UUIDs, spans of time. */
export function hideNames(text: string, names: readonly string[]): string {
  const own = new Set(names);
  return text
    .replaceAll(UUID, "…")
    .replaceAll(DURATION, "…")
    .replaceAll(WORD, (word) => {
      const [stops = ""] = STOPS.exec(word) ?? [];
      return own.has(word.slice(0, word.length - stops.length)) ? `…${stops}` : word;
    });
}
