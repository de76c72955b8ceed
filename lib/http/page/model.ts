/**
 * What pages are made of, as data: the same becomes HTML for browsers, and tables for terminals. Pure.
 * @module
 */

/** States of a Node, each with a shape and a colour; other things look like one of them. */
export type StateName =
  | "missing"
  | "failing"
  | "unmatched"
  | "unseen"
  | "outOfService"
  | "notReady"
  | "stopped"
  | "differs"
  | "conflict"
  | "joining"
  | "foreign"
  | "well";

/** The status of a line. `kept`: the actual value differs, and Landfall never changes it. */
export type LineState = "same" | "missing" | "differs" | "extra" | "kept" | "unknown";

/** A word, and the state of a Node whose colour and shape it has. */
export interface Look {
  readonly word: string;
  readonly looksLike: StateName;
}

/** A state of objects of one kind. */
export interface KindState extends Look {
  /** In queries. */
  readonly name: string;
  /** What it means, in a sentence for people. */
  readonly meaning: string;
  /** Whether an operator should look at such an object. @default {false} */
  readonly isTrouble?: boolean;
  /** Whether the object is as it should be. @default {false} */
  readonly isReady?: boolean;
}

type WorkState = "failing" | "waiting" | "working" | "ready";

/** The states of objects that a controller works on, the worst first. @param meanings A sentence for each */
export function toWorkStates(
  meanings: Readonly<Record<WorkState, string>>,
): Readonly<Record<WorkState, KindState>> {
  const toState = (name: WorkState, looksLike: StateName): KindState => {
    return { name, word: name, meaning: meanings[name], looksLike };
  };
  return {
    failing: { ...toState("failing", "failing"), isTrouble: true },
    waiting: { ...toState("waiting", "notReady"), isTrouble: true },
    working: toState("working", "joining"),
    ready: { ...toState("ready", "well"), isReady: true },
  };
}

/** How many things are in a state. */
export interface Count {
  readonly state: KindState;
  readonly count: number;
}

/** A text with what belongs to it. Links are relative to `/debug/`. */
interface RichCell {
  readonly text: string;
  readonly href?: string;
  /** Shape and colour before the text. */
  readonly looksLike?: StateName;
  /** Lines under it. @default {none} */
  readonly notes?: readonly string[];
  /** A bar under it: how much of the whole it is, from 0 to 1. @default {none} */
  readonly share?: number;
}

/** What a cell of a table shows. */
export type Cell = string | RichCell;

/** A row of a table; its first cell names it. */
export interface Row {
  readonly cells: readonly Cell[];
  /** Whether it differs from what it should be. @default {false} */
  readonly isWrong?: boolean;
}

/** A table; without rows nothing is shown but a link. */
export interface TableSection {
  readonly kind: "table";
  readonly id: string;
  readonly title: string;
  /** Sentences before it. @default {none} */
  readonly intro?: string;
  /** Where more of the same is. @default {nowhere} */
  readonly link?: { readonly text: string; readonly href: string };
  readonly columns: readonly string[];
  readonly rows: readonly Row[];
  /** Class of the table. @default {none} */
  readonly layout?: string;
  /** How many rows are useful on a page. @default {all} */
  readonly max?: number;
  /** Where the other rows are, as a sentence. @default {nothing} */
  readonly rest?: string;
}

/** A name and its value; nothing is shown without a value. */
export type Fact = readonly [name: string, value: Cell | undefined];

/** Cards of facts side by side. */
export interface FactsSection {
  readonly kind: "facts";
  readonly cards: readonly (readonly Fact[])[];
}

/** A desired value beside the actual one. */
export interface Line {
  /** What it is: the key of a label, the type of an address, a part of a machine. */
  readonly name: string;
  readonly wanted?: string;
  readonly actual?: string;
  readonly state: LineState;
}

/** Desired and actual values. */
export interface Comparison {
  readonly title: string;
  readonly lines: readonly Line[];
  /** What is said without a line. */
  readonly empty: string;
}

/** Desired and actual values under one heading; nothing is shown without a comparison. */
export interface ComparisonSection {
  readonly kind: "comparison";
  readonly comparisons: readonly Comparison[];
  /** Whether each is a box that opens. @default {false} */
  readonly isFolded?: boolean;
  /** Where the other comparisons are. @default {nothing} */
  readonly rest?: string;
}

/** Problems, each with a title; nothing is shown without one. */
export interface ProblemsSection {
  readonly kind: "problems";
  readonly id: string;
  readonly title: string;
  readonly problems: readonly (Pick<Look, "looksLike"> & {
    readonly title: string;
    readonly text: string;
  })[];
}

/** What comes in an order; nothing is shown without a text. */
export interface StepsSection {
  readonly kind: "steps";
  readonly id: string;
  readonly title: string;
  readonly steps: readonly string[];
}

/** A thing in a box. */
export interface Tile extends Pick<Look, "looksLike"> {
  readonly name: string;
  /** @default {it leads nowhere} */
  readonly href?: string;
  /** After its name. */
  readonly note?: string;
  /** What is shown when a pointer rests on it. */
  readonly title?: string;
}

/** A place with what is in it. */
export interface Box {
  /** Unique on the page. */
  readonly id: string;
  /** What such a place is called: pool, host, rack. */
  readonly kind?: string;
  readonly name: string;
  /** Beside the name: an ID, or what the box means. */
  readonly detail?: string;
  /** Why it is not complete. */
  readonly problem?: string;
  /** Beside the name: `disabled`. */
  readonly flag?: Look;
  readonly counts: readonly Count[];
  /** In place of the counts. */
  readonly total?: string;
  /** @default {none} */
  readonly boxes?: readonly Box[];
  /** @default {none} */
  readonly tiles?: readonly Tile[];
  /** Over its tiles, if it has boxes, too. */
  readonly looseTitle?: string;
  readonly isOpen: boolean;
}

/** Boxes within boxes. */
export interface BoxesSection {
  readonly kind: "boxes";
  readonly id: string;
  readonly title: string;
  /** Of all tiles. @default {not shown} */
  readonly counts?: readonly Count[];
  readonly boxes: readonly Box[];
  /** Whether the boxes stand side by side. @default {false} */
  readonly isGrid?: boolean;
  /** Other ways to group them. @default {none} */
  readonly choices?: readonly {
    readonly text: string;
    readonly href: string;
    readonly isCurrent: boolean;
  }[];
  /** What is said without boxes. */
  readonly empty: string;
  /** The same for terminals. */
  readonly tables: readonly TableSection[];
}

/** What only terminals show as tables: pages have it in other sections. */
interface TextSection {
  readonly kind: "text";
  readonly tables: readonly TableSection[];
}

/** A part of a page. */
export type Section =
  | TextSection
  | TableSection
  | FactsSection
  | ComparisonSection
  | ProblemsSection
  | StepsSection
  | BoxesSection;

/** A number with the noun that it counts. */
export function formatCount(count: number, noun: string): string {
  return `${count.toLocaleString("en")} ${noun}${count === 1 ? "" : "s"}`;
}

/**
 * Counts things by their states.
 *
 * @param states All states, in the order of the result. States that do not occur are left out
 */
export function countStates<T>(
  things: Iterable<T>,
  states: readonly KindState[],
  judge: (thing: T) => Pick<KindState, "name">,
): readonly Count[] {
  const counts = new Map<string, number>();
  for (const thing of things) {
    const { name } = judge(thing);
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return states
    .map((state) => ({ state, count: counts.get(state.name) ?? 0 }))
    .filter(({ count }) => count > 0);
}

const COLLATOR = new Intl.Collator("en", { numeric: true });

/** Compares names; numbers count as numbers: `n2` comes before `n10`. */
export function compareNames(a: string, b: string): number {
  return COLLATOR.compare(a, b);
}

/** Parts of a path, each in its place, also with characters that a path cannot have. */
export function toPath(...parts: readonly string[]): string {
  return parts.map((part) => encodeURIComponent(part.toWellFormed())).join("/");
}

/** What a cell shows in one line. */
export function toCellText(cell: Cell): string {
  if (typeof cell === "string") return cell;
  return [cell.text, ...(cell.notes ?? [])].filter(Boolean).join(", ");
}

/** Leaves only the rows of a table that contain a text. @param query In lower case; empty: all */
export function keepMatching(table: TableSection, query: string): TableSection {
  const rows = table.rows.filter(({ cells }) =>
    cells.some((cell) => toCellText(cell).toLowerCase().includes(query)),
  );
  return { ...table, rows };
}
