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
  /** Those that the page shows. */
  readonly rows: readonly Judged[];
  /** Of how many a search or a state chose them. @default {they are all} */
  readonly foundIn?: number;
  /** What else needs attention. */
  readonly attention?: { readonly words: string };
  /** Whether this process knows the states: a standby may not. */
  readonly isKnown: boolean;
}

type Verbs = readonly [one: string, many: string];

/** How many objects are not as they should be, and how; never that all are well while one is not. */
export function toHeading(noun: string, { rows, foundIn, attention, isKnown }: Summary): string {
  if (foundIn !== undefined) {
    const more = attention === undefined ? [] : [attention.words];
    return joinParts([describeFound(noun, { rows, foundIn, isKnown }), ...more]);
  }
  const parts = rows.length === 0 ? [`No ${noun}s yet`] : describeRows(noun, rows, isKnown);
  if (attention === undefined) return joinParts(parts);
  const isWell = isKnown && rows.length > 0 && rows.every(isFine);
  return isWell ? attention.words : joinParts([...parts, attention.words]);
}

/** How many a search found, and how many of these are not as they should be. */
function describeFound(
  noun: string,
  { rows, foundIn, isKnown }: Summary & { readonly foundIn: number },
): string {
  if (rows.length === 0) return `No ${noun} matches`;
  const what = `${rows.length.toLocaleString("en")} of ${formatCount(foundIn, noun)}`;
  const matching = `${what} ${rows.length === 1 ? "matches" : "match"}`;
  const groups = listGroups(rows, isKnown).map(
    ([count, verbs]) => `${count.toLocaleString("en")} ${verbs[count === 1 ? 0 : 1]}`,
  );
  if (groups.length > 0) return `${matching}: ${joinParts(groups)}`;
  if (!isKnown) return matching;
  return `${matching}: ${rows.length === 1 ? "it is well" : "all are well"}`;
}

type Group = readonly [count: number, verbs: Verbs];

function describeRows(noun: string, rows: readonly Judged[], isKnown: boolean): string[] {
  const parts = listGroups(rows, isKnown).map(([count, verbs], at) => {
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

/** Those that are not as they should be. */
function listGroups(rows: readonly Judged[], isKnown: boolean): Group[] {
  const lacking = rows.filter(({ lack }) => lack !== undefined);
  const others = isKnown ? rows.filter(({ lack }) => lack === undefined) : [];
  const lack = lacking[0]?.lack ?? "";
  const groups: readonly Group[] = [
    [lacking.length, [`has ${lack}`, `have ${lack}`]],
    [others.filter(({ state }) => state.isTrouble).length, ["needs attention", "need attention"]],
    [others.filter(isUnready).length, ["is not ready yet", "are not ready yet"]],
    [others.filter(isLeaving).length, ["is being removed", "are being removed"]],
  ];
  return groups.filter(([count]) => count > 0);
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
