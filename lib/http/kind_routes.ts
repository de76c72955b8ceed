/**
 * The routes of a kind: the list of its objects, and each of them, for browsers, programs and terminals.
 * @module
 */
import { type Context, Hono } from "hono";
import type { KindPages, ObjectView } from "./kind.ts";
import { type PageFrame, showPage } from "./page/layout.tsx";
import { type ListRow, renderList } from "./page/list_page.tsx";
import { toCellText } from "./page/model.ts";
import { renderNoObject, renderObject } from "./page/object_page.tsx";
import { inPieces, showEither, showList, showMissing, showView } from "./replies.ts";
import { formatSpan, toMs } from "./span.ts";
import { formatSections, formatTable, toTitle } from "./text_table.ts";
import type { ReconcileView } from "./views.ts";

/** What the pages of all kinds share. */
export interface PagesContext extends Omit<PageFrame, "base" | "nowMs"> {
  /** Wall-clock milliseconds. */
  now(): number;
}

/** Longest text of a search. */
const QUERY_LENGTH_MAX = 200;

/** Reads the text of a search. */
export function readQuery(context: Context): string {
  return (context.req.query("q") ?? "").trim().slice(0, QUERY_LENGTH_MAX);
}

/** Routes of a list and of each object in it. Like those of Nodes, they check no access. */
export function createKindRoutes<V extends ObjectView>(
  kind: KindPages<V>,
  { now, ...shared }: PagesContext,
): Hono {
  const routes = new Hono();
  const { path, noun } = kind;
  routes.get(`/debug/${path}`, (context) => {
    const frame = { ...shared, nowMs: now(), base: "" };
    return showEither(context, {
      toPage: async () => showPage(context, await renderKind(kind, context, frame)),
      toData: () => showKind(kind, context, frame.nowMs),
    });
  });
  routes.get(`/debug/${path}/:namespace/:name`, (context) => {
    const key = `${context.req.param("namespace")}/${context.req.param("name")}`;
    const view = kind.find(key);
    const nowMs = now();
    const frame = { ...shared, nowMs, base: "../../" };
    if (view === undefined) {
      return showEither(context, {
        toPage: async () => showPage(context, await renderNoObject(kind, key, frame), 404),
        toData: () => showMissing(context, `there is no ${noun} ${JSON.stringify(key)}`),
      });
    }
    const reading = kind.openObject(view, { nowMs, context });
    return showEither(context, {
      toPage: async () => {
        const { sections } = await reading;
        return showPage(context, await renderObject(kind, { view, sections }, frame));
      },
      toData: async () => {
        const { json = {}, sections } = await reading;
        return await showView(
          context,
          { ...view, ...json },
          () => `${formatRows(kind, [toCells(kind, view, nowMs)])}\n${formatSections(sections)}`,
        );
      },
    });
  });
  return routes;
}

async function renderKind<V extends ObjectView>(
  kind: KindPages<V>,
  context: Context,
  frame: PageFrame,
): Promise<string> {
  const query = readQuery(context);
  const reading = await kind.openList(context.req.raw.signal);
  const rows: ListRow[] = [];
  for await (const piece of inPieces(kind.list())) {
    for (const view of piece) {
      reading.note?.(view);
      rows.push(toRow(kind, view, frame.nowMs));
    }
  }
  const more = reading.end({ query: query.toLowerCase(), context });
  const state = kind.states.find(({ name }) => name === context.req.query("state"));
  const serving = kind.readServing();
  return await renderList(kind, { rows, more, serving, query, ...(state && { state }) }, frame);
}

/** What the list shows of an object: without its parts, which may be many. */
function toRow<V extends ObjectView>(kind: KindPages<V>, view: V, nowMs: number): ListRow {
  const { namespace, name, lastReconcile } = view;
  const state = kind.judge(view);
  const lack = state.isReady === true ? undefined : kind.findLack?.(view);
  return {
    namespace,
    name,
    state,
    why: kind.describe(view),
    notes: kind.listNotes?.(view, nowMs) ?? [],
    cells: kind.columns.flatMap(({ cell, isText = false }) => (isText ? [] : [cell(view, nowMs)])),
    texts: [`${namespace}/${name}`, ...(kind.listTexts?.(view) ?? [])],
    ago: formatAgo(lastReconcile, nowMs),
    ...(lack !== undefined && { lack }),
  };
}

async function showKind<V extends ObjectView>(
  kind: KindPages<V>,
  context: Context,
  nowMs: number,
): Promise<Response> {
  const reading = await kind.openList(context.req.raw.signal);
  const pieces = inPieces(kind.list());
  const toText = async (): Promise<string> => {
    const rows: string[][] = [];
    for await (const piece of pieces) {
      for (const view of piece) {
        reading.note?.(view);
        rows.push(toCells(kind, view, nowMs));
      }
    }
    const { missing } = kind.readServing();
    const waits = missing.map((one) => `waiting for CustomResourceDefinition ${one}\n`);
    const { sections } = reading.end({ query: "", context });
    return [waits.join("") + formatRows(kind, rows), formatSections(sections)]
      .filter(Boolean)
      .join("\n");
  };
  const { json: more = {} } = reading;
  return await showList(context, { name: kind.json, pieces, more, toText });
}

function formatRows<V extends ObjectView>(
  { columns }: KindPages<V>,
  rows: readonly (readonly string[])[],
): string {
  const titles = ["Namespace", "Name", "State", ...columns.map(({ title }) => title)];
  return formatTable([...titles, "Last", "Ago", "Reason"].map(toTitle), rows);
}

function toCells<V extends ObjectView>(kind: KindPages<V>, view: V, nowMs: number): string[] {
  const { namespace, name, lastReconcile } = view;
  return [
    namespace,
    name,
    kind.judge(view).word,
    ...kind.columns.map(({ cell }) => toCellText(cell(view, nowMs))),
    lastReconcile?.outcome ?? "",
    formatSpan(nowMs - toMs(lastReconcile?.at)),
    kind.describe(view),
  ];
}

function formatAgo(last: ReconcileView | null, nowMs: number): string {
  const ago = formatSpan(nowMs - toMs(last?.at));
  return ago && `${ago} ago`;
}
