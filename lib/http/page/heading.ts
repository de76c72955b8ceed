/**
 * The heading of a list of objects, computed from its rows. Pure.
 * @module
 */
import type { JudgedState } from "../kind.ts";
import { formatCount } from "./model.ts";

/** What of a row matters. */
interface Judged {
  readonly state: JudgedState;
  /** What it lacks although it should not: `no address`. */
  readonly lack?: string;
}

/** What the heading is about. */
interface Summary {
  readonly rows: readonly Judged[];
  /** What else needs attention. */
  readonly attention?: { readonly words: string };
  /** Whether this process knows the states: a standby may not. */
  readonly isKnown: boolean;
}

type Verbs = readonly [one: string, many: string];

/** How many objects are not as they should be, and how; never that all are well while one is not. */
export function toHeading(noun: string, { rows, attention, isKnown }: Summary): string {
  const parts = rows.length === 0 ? [`No ${noun}s yet`] : describeRows(noun, rows, isKnown);
  if (attention === undefined) return joinParts(parts);
  const isWell = isKnown && rows.length > 0 && rows.every(isFine);
  return isWell ? attention.words : joinParts([...parts, attention.words]);
}

function describeRows(noun: string, rows: readonly Judged[], isKnown: boolean): string[] {
  const lacking = rows.filter(({ lack }) => lack !== undefined);
  const others = isKnown ? rows.filter(({ lack }) => lack === undefined) : [];
  const lack = lacking[0]?.lack ?? "";
  const groups: readonly (readonly [count: number, verbs: Verbs])[] = [
    [lacking.length, [`has ${lack}`, `have ${lack}`]],
    [others.filter(({ state }) => state.isTrouble).length, ["needs attention", "need attention"]],
    [others.filter(isUnready).length, ["is not ready yet", "are not ready yet"]],
    [others.filter(isLeaving).length, ["is being removed", "are being removed"]],
  ];
  const parts = groups
    .filter(([count]) => count > 0)
    .map(([count, verbs], at) => {
      const verb = verbs[count === 1 ? 0 : 1];
      if (at > 0) return `${count.toLocaleString("en")} ${verb}`;
      if (rows.length === 1) return `The only ${noun} ${verb}`;
      return `${count.toLocaleString("en")} of ${formatCount(rows.length, noun)} ${verb}`;
    });
  if (parts.length > 0) return parts;
  if (!isKnown) return [formatCount(rows.length, noun)];
  return [
    rows.length === 1
      ? `The only ${noun} is well`
      : `All ${formatCount(rows.length, noun)} are well`,
  ];
}

function isLeaving({ state }: Judged): boolean {
  return state.isTrouble !== true && state.isLeaving === true;
}

function isUnready(row: Judged): boolean {
  return row.state.isTrouble !== true && row.state.isReady !== true && !isLeaving(row);
}

function isFine({ state, lack }: Judged): boolean {
  return state.isReady === true && state.isTrouble !== true && lack === undefined;
}

function joinParts(parts: readonly string[]): string {
  return parts.length < 2
    ? parts.join("")
    : `${parts.slice(0, -1).join(", ")}, and ${parts.at(-1)}`;
}
