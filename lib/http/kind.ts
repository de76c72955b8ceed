/**
 * What a kind of objects gives to its pages: one list page and one object page serve all kinds.
 * @module
 */
import type { Context } from "hono";
import type { Place } from "./page/layout.tsx";
import { type Cell, type KindState, type Section, toPath } from "./page/model.ts";
import type { ConditionView, EventView, ReconcileView, ServingView } from "./views.ts";

/** What of an object every view has. */
export interface ObjectView {
  readonly namespace: string;
  readonly name: string;
  readonly lastReconcile: ReconcileView | null;
  /** What this process wrote, the newest first. @default {nothing} */
  readonly events?: readonly EventView[];
}

/** A state of an object, as the page judges it. */
export interface JudgedState extends KindState {
  /** Whether the object is being removed. @default {false} */
  readonly isLeaving?: boolean;
}

/** A column of the list, after the name and the state. */
interface Column<V> {
  readonly title: string;
  readonly cell: (view: V, nowMs: number) => Cell;
  /** Whether only tables for terminals have it. @default {false} */
  readonly isText?: boolean;
}

/** What a list shows beside its rows. */
export interface ListMore {
  /** Under the heading: `6 hosts`. */
  readonly subtitle?: string;
  /** What else needs attention, for the heading: `1 host is in trouble`. */
  readonly attention?: { readonly words: string; readonly count: number };
  readonly sections: readonly Section[];
  /** How many things the sections show, in addition to the rows. @default {0} */
  readonly size?: number;
}

/** Reads a list. */
interface ListReading<V> {
  /** Short lists for programs, by their names. @default {none} */
  readonly json?: Readonly<Record<string, readonly object[]>>;
  /** Takes each view. */
  note?(view: V): void;
  /** Called after the last view. @param query Only what contains this text, in lower case */
  end(options: { readonly query: string; readonly context: Context }): ListMore;
}

/** What the page of an object shows. */
interface ObjectReading {
  /** More fields for programs. @default {none} */
  readonly json?: object;
  readonly sections: readonly Section[];
}

/** A kind, and how its objects are shown. */
export interface KindPages<V extends ObjectView> {
  /** Below `/debug/`; the pages of objects are below it, with namespace and name. */
  readonly path: string;
  /** Of the list: `Load balancers`. */
  readonly title: string;
  /** What one is called: `load balancer`. */
  readonly noun: string;
  /** What the object is: `Service`. */
  readonly object: string;
  /** Name of the list for programs. */
  readonly json: string;
  /** What is said without objects. */
  readonly empty: string;
  /** Class of the table. */
  readonly layout: string;
  /** The worst first. */
  readonly states: readonly KindState[];
  /** What a search finds, for its field: `Service or address`. */
  readonly searchLabel: string;
  /** What a standby does not know, as the end of a sentence. */
  readonly unknownToStandby: string;
  /** Whether only the leader knows the states of the objects. @default {false} */
  readonly isKnownToLeader?: boolean;
  readonly columns: readonly Column<V>[];
  judge(view: V): JudgedState;
  /** Why it is not ready, else what is worth knowing; in one line. Empty if there is nothing. */
  describe(view: V): string;
  /** Lines under the state in the list. @default {none} */
  listNotes?(view: V, nowMs: number): readonly string[];
  /** What an object that is not ready lacks: `no address`. */
  findLack?(view: V): string | undefined;
  /** What a search finds it by, beside its name. @default {nothing} */
  listTexts?(view: V): readonly string[];
  /** In order of namespace and name. Each is described when it is read. */
  list(): Iterable<V>;
  /** By `namespace/name`. */
  find(key: string): V | undefined;
  /** Whether this process works on the objects, and what it waits for. */
  readServing(): ServingView;
  openList(signal: AbortSignal): Promise<ListReading<V>>;
  openObject(
    view: V,
    options: { readonly nowMs: number; readonly context: Context },
  ): Promise<ObjectReading>;
}

/** The place of a kind among the pages. */
export function toPlace({ path, title }: Pick<KindPages<ObjectView>, "path" | "title">): Place {
  return { path, title, forPrograms: [[`${path}?format=json`, `${title} as JSON`]] };
}

/** The path of the page of an object, below `/debug/`. @param key `namespace/name` */
export function toObjectPath(path: string, key: string): string {
  return `${path}/${toPath(...key.split("/"))}`;
}

/** Why an object with conditions is not ready: the error of the last attempt, else the condition Ready. */
export function describeConditions({
  conditions,
  lastReconcile,
}: ObjectView & { readonly conditions: readonly ConditionView[] }): string {
  if (lastReconcile?.error !== undefined) return lastReconcile.error;
  const wrong = conditions.find(({ type, status }) => type === "Ready" && status !== "True");
  return wrong === undefined ? "" : wrong.message || wrong.reason;
}
