/**
 * The page of one object, and the page for an object that is not there.
 * @module
 */
/** @jsxImportSource hono/jsx */
import type { Child } from "hono/jsx";
import type { JSX } from "hono/jsx/jsx-runtime";
import { type KindPages, type ObjectView, toObjectPath } from "../kind.ts";
import { formatSpan, toMs } from "../span.ts";
import type { ConditionView, EventView, ReconcileView } from "../views.ts";
import { Mark } from "./boxes.tsx";
import { type PageFrame, renderDocument, toTime } from "./layout.tsx";
import type { Fact, KindState, Section, TableSection } from "./model.ts";
import { Sections } from "./sections.tsx";

const REFRESH_SECONDS = 5;

/** What the page of an object shows. Links are relative to `/debug/`. */
interface ObjectOptions {
  readonly name: string;
  readonly state: KindState;
  /** Why it is in its state. Empty: the state says everything. */
  readonly why: string;
  /** The list that it is in. */
  readonly list: ListLink;
  /** Path of its page. */
  readonly path: string;
  /** What it is: `Node`. */
  readonly noun: string;
  readonly sections: readonly Section[];
  /** Before the sections. @default {nothing} */
  readonly children?: Child;
}

interface ListLink {
  readonly path: string;
  /** `All SIPClusters`. */
  readonly words: string;
}

/** Renders the page of an object of a kind. */
export function renderObject<V extends ObjectView>(
  kind: KindPages<V>,
  { view, sections }: { readonly view: V; readonly sections: readonly Section[] },
  frame: PageFrame,
): Promise<string> {
  const key = `${view.namespace}/${view.name}`;
  const options = {
    name: key,
    state: kind.judge(view),
    why: kind.describe(view),
    list: toListLink(kind),
    path: toObjectPath(kind.path, key),
    noun: kind.noun,
    sections: [...sections, toEventTable(view.events, frame.nowMs)],
  };
  return renderObjectPage(options, frame);
}

/** Renders the page of an object. */
export function renderObjectPage(options: ObjectOptions, frame: PageFrame): Promise<string> {
  const { name, state, why, list, path, noun, sections, children } = options;
  const { base } = frame;
  const main = (
    <main id="main">
      <Back list={list} base={base} />
      <div class="title">
        <h1 class="name">{name}</h1>
        <Mark {...state} />
      </div>
      <p class="why soft">{why || state.meaning}</p>
      {children}
      <Sections sections={sections} base={base} />
      <p class="more">
        <a href={`${base}${path}?format=json`}>This {noun} as JSON</a>
      </p>
    </main>
  );
  return renderDocument({
    ...frame,
    title: `${name}: ${state.word} · Landfall`,
    isTroubled: state.isTrouble === true,
    refreshSeconds: REFRESH_SECONDS,
    current: list.path,
    isBelow: true,
    main,
  });
}

/** Renders the page for an object of a kind that is not there. */
export function renderNoObject(
  kind: Pick<KindPages<ObjectView>, "noun" | "path">,
  key: string,
  frame: PageFrame,
): Promise<string> {
  return renderNoObjectPage({ noun: kind.noun, name: key, list: toListLink(kind) }, frame);
}

/** Renders the page for an object that is not there. */
export function renderNoObjectPage(
  { noun, name, list }: { readonly noun: string; readonly name: string; readonly list: ListLink },
  frame: PageFrame,
): Promise<string> {
  const main = (
    <main id="main">
      <Back list={list} base={frame.base} />
      <h1 class="name">
        There is no {noun} “{name}”
      </h1>
      <p class="soft">It was deleted, or the address of this page has a mistake.</p>
    </main>
  );
  return renderDocument({
    ...frame,
    title: `No such ${noun} · Landfall`,
    isTroubled: true,
    current: list.path,
    isBelow: true,
    main,
  });
}

/** Renders a page that belongs to no list. */
export function renderPlainPage(
  {
    title,
    path,
    sections,
  }: {
    readonly title: string;
    /** Below `/debug/`. */
    readonly path: string;
    readonly sections: readonly Section[];
  },
  frame: PageFrame,
): Promise<string> {
  const main = (
    <main id="main">
      <h1>{title}</h1>
      <p class="soft">as of {toTime(frame.nowMs)}</p>
      <Sections sections={sections} base={frame.base} />
      <p class="more">
        <a href={`${frame.base}${path}?format=json`}>The same as JSON</a>
      </p>
    </main>
  );
  const window = `${title} · Landfall`;
  return renderDocument({
    ...frame,
    title: window,
    isTroubled: false,
    refreshSeconds: REFRESH_SECONDS,
    main,
  });
}

function Back({
  list: { path, words },
  base,
}: {
  readonly list: ListLink;
  readonly base: string;
}): JSX.Element {
  return (
    <p class="back">
      <a href={base + path || "./"}>‹ {words}</a>
    </p>
  );
}

function toListLink({ path, noun }: Pick<KindPages<ObjectView>, "path" | "noun">): ListLink {
  return { path, words: `All ${noun}s` };
}

/** The Events that this process wrote, the newest first. */
export function toEventTable(
  events: readonly EventView[] | undefined,
  nowMs: number,
): TableSection {
  return {
    kind: "table",
    id: "events",
    title: "Events of this process",
    columns: ["Event", "Message", "Ago", "Count"],
    layout: "nodes events",
    rows: (events ?? []).map(({ type, reason, message, count, at }) => ({
      cells: [
        reason,
        { text: message, looksLike: type === "Warning" ? "notReady" : "well" },
        formatSpan(nowMs - toMs(at)),
        count.toLocaleString("en"),
      ],
    })),
  };
}

/**
 * Facts about the last reconcile.
 *
 * @param options.error What is wrong. @default {the error of the last reconcile}
 * @param options.said What the page says already: it stands there once. @default {nothing}
 */
export function toReconcileFacts(
  last: ReconcileView | null,
  nowMs: number,
  { error = last?.error, said }: { readonly error?: string; readonly said?: string } = {},
): readonly Fact[] {
  const what =
    last === null ? "not yet" : `${formatSpan(nowMs - toMs(last.at))} ago: ${last.outcome}`;
  return [
    ["Last reconcile", what],
    ["Error", error === said ? undefined : error],
  ];
}

/** Facts about all conditions. @param said What the page says already: it stands there once */
export function toConditionFacts(
  conditions: readonly ConditionView[],
  said: string,
): readonly Fact[] {
  if (conditions.length === 0) return [["Conditions", "none yet"]];
  return conditions.map(({ type, status, reason, message }) => [
    type,
    { text: `${status}: ${reason}`, notes: message === "" || message === said ? [] : [message] },
  ]);
}
