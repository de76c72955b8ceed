/**
 * The page of all objects of a kind.
 * @module
 */
/** @jsxImportSource hono/jsx */
import type { JSX } from "hono/jsx/jsx-runtime";
import {
  type JudgedState,
  type KindPages,
  type ListMore,
  type ObjectView,
  toObjectPath,
} from "../kind.ts";
import type { ServingView } from "../views.ts";
import { CountBar } from "./boxes.tsx";
import { toHeading } from "./heading.ts";
import { type PageFrame, renderDocument, ListHead, toTime } from "./layout.tsx";
import { type Cell, countStates, formatCount, type KindState } from "./model.ts";
import { Sections, Table } from "./sections.tsx";
import { MissingBanner, StandbyBanner } from "./serving_banners.tsx";
import { StateChips } from "./state_chips.tsx";
import { TroubleList } from "./trouble_list.tsx";
import { groupReasons, type Troubled } from "./troubles.ts";

/** One object as the list shows it. */
export interface ListRow {
  readonly namespace: string;
  readonly name: string;
  readonly state: JudgedState;
  /** Why it is not ready, else what is worth knowing; empty if there is nothing. */
  readonly why: string;
  /** Lines under the state. */
  readonly notes: readonly string[];
  /** Of the columns after name and state. */
  readonly cells: readonly Cell[];
  /** What a search finds it by. */
  readonly texts: readonly string[];
  /** When it was last reconciled; empty: not yet. */
  readonly ago: string;
  /** What it lacks although it should not. */
  readonly lack?: string;
}

/** What the page shows. */
interface ListOptions {
  readonly rows: readonly ListRow[];
  readonly more: ListMore;
  readonly serving: ServingView;
  /** Only what contains this text. Empty: all. */
  readonly query: string;
  /** Only those in this state. */
  readonly state?: KindState;
}

/** More rows are not useful. */
const ROWS_MAX = 500;
/** A reason that so many share is said once. */
const SHARED_MIN = 3;
const REFRESH: readonly (readonly [moreThan: number, seconds: number])[] = [
  [1_000, 30],
  [300, 15],
  [-1, 5],
];

/** Renders the page. */
export function renderList<V extends ObjectView>(
  kind: KindPages<V>,
  options: ListOptions,
  frame: PageFrame,
): Promise<string> {
  const { rows, more, serving, query, state } = options;
  const found = findRows(options);
  const isFiltered = query !== "" || state !== undefined;
  const { attention, size = 0 } = more;
  const isStandby = serving.election?.isLeading === false;
  const troubled = rows.filter(({ state }) => state.isTrouble).length + (attention?.count ?? 0);
  const heading = toHeading(kind.noun, {
    rows: found,
    ...(isFiltered && { foundIn: rows.length }),
    ...(attention && { attention }),
    isKnown: !isStandby || !kind.isKnownToLeader,
  });
  const [, refreshSeconds = 5] = REFRESH.find(([most]) => rows.length + size > most) ?? [];
  const { path } = kind;
  return renderDocument({
    ...frame,
    title: `${troubled > 0 ? `(${troubled}) ` : ""}${kind.title} · Landfall`,
    isTroubled: troubled > 0,
    refreshSeconds,
    current: path,
    main: <Main kind={kind} options={options} found={found} frame={frame} heading={heading} />,
  });
}

function findRows({ rows, query, state }: ListOptions): readonly ListRow[] {
  const text = query.toLowerCase();
  return rows.filter(
    (row) =>
      (state === undefined || row.state.name === state.name) &&
      row.texts.some((one) => one.toLowerCase().includes(text)),
  );
}

function Main<V extends ObjectView>({
  kind,
  options: { rows, more, serving, query, state },
  found,
  frame: { base, nowMs },
  heading,
}: {
  readonly kind: KindPages<V>;
  readonly options: ListOptions;
  /** The rows that are shown. */
  readonly found: readonly ListRow[];
  readonly frame: PageFrame;
  readonly heading: string;
}): JSX.Element {
  const counts = countStates(rows, kind.states, (row) => row.state);
  const as = `as of ${toTime(nowMs)}`;
  return (
    <main id="main">
      <MissingBanner missing={serving.missing} />
      <StandbyBanner {...serving} unknown={kind.unknownToStandby} />
      <ListHead
        heading={heading}
        subtitle={more.subtitle === undefined ? as : `${more.subtitle}, ${as}`}
        action={base + kind.path}
        label={kind.searchLabel}
        query={query}
      />
      {counts.length > 0 ? <CountBar counts={counts} /> : null}
      <StateChips
        label={`${kind.title} by state`}
        path={base + kind.path}
        total={rows.length}
        counts={counts}
        state={state?.name}
        isAll={state === undefined && query === ""}
      />
      {rows.length === 0 && serving.missing.length === 0 ? <p class="soft">{kind.empty}</p> : null}
      <Found kind={kind} rows={found} base={base} />
      <Sections sections={more.sections} base={base} />
    </main>
  );
}

/** What many share is said once; then a row for each. */
function Found<V extends ObjectView>({
  kind,
  rows,
  base,
}: {
  readonly kind: KindPages<V>;
  readonly rows: readonly ListRow[];
  readonly base: string;
}): JSX.Element {
  const troubles = groupReasons(
    rows.map((row) => toTroubled(row, kind.path)),
    kind.states,
    SHARED_MIN,
  );
  const told = new Set(
    troubles.flatMap(({ reasons }) =>
      reasons.flatMap(({ members }) => members.map(({ id }) => id)),
    ),
  );
  const hasTrouble = troubles.some(({ state }) => state.isTrouble);
  // Those that need attention come first, those that are ready last; the others keep the order of their names.
  const sorted = rows.toSorted((a, b) => toRank(a) - toRank(b));
  const title = formatCount(rows.length, kind.object);
  return (
    <>
      {troubles.length > 0 ? (
        <TroubleList
          title={hasTrouble ? "Look at these first" : "What they wait for"}
          troubles={troubles}
          noun={kind.object}
          base={base}
          listPath={kind.path}
        />
      ) : null}
      <Table
        base={base}
        section={{
          kind: "table",
          id: "objects",
          title,
          columns: [
            kind.object,
            "State",
            ...kind.columns.flatMap((one) => (one.isText === true ? [] : [one.title])),
            "Last reconcile",
          ],
          layout: kind.layout,
          max: ROWS_MAX,
          rest: "Search for the others by name.",
          rows: sorted.map((row) => {
            const key = `${row.namespace}/${row.name}`;
            const why = row.why === "" || told.has(key) ? [] : [row.why];
            const { word, looksLike } = row.state;
            return {
              cells: [
                { text: key, href: toObjectPath(kind.path, key) },
                { text: word, looksLike, notes: [...why, ...row.notes] },
                ...row.cells,
                row.ago,
              ],
            };
          }),
        }}
      />
    </>
  );
}

function toTroubled({ namespace, name, state, why, texts }: ListRow, path: string): Troubled {
  const key = `${namespace}/${name}`;
  return {
    id: key,
    state: state.isReady === true || why === "" ? undefined : state,
    why,
    where: "",
    names: [namespace, name, ...texts],
    tile: { name: key, href: toObjectPath(path, key), looksLike: state.looksLike },
  };
}

function toRank({ state: { isTrouble, isReady } }: ListRow): number {
  if (isTrouble === true) return 0;
  return isReady === true ? 2 : 1;
}
