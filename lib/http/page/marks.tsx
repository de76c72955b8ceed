/**
 * Small pieces that more than one page shows: states, counts of states, Nodes as tiles, the last reconcile.
 * @module
 */
/** @jsxImportSource hono/jsx */
import type { JSX } from "hono/jsx/jsx-runtime";
import { formatSpan, toMs } from "../span.ts";
import type { ReconcileView } from "../views.ts";
import { type KindStateWords, STATES, type StateName } from "./state.ts";
import type { Card, Counts } from "./topology/mod.ts";

/** A state, by shape, colour and word. */
export function Mark({ state }: { readonly state: StateName }): JSX.Element {
  return <span class={`mark s-${state}`}>{STATES[state].word}</span>;
}

/** The state of an object of another kind, by shape, colour and word. */
export function KindMark({ word, looksLike }: KindState): JSX.Element {
  return <span class={`mark s-${looksLike}`}>{word}</span>;
}

type KindState = Pick<KindStateWords, "word" | "looksLike">;

/** How many objects of another kind are in each state, in words. */
export function KindTally<N extends string>({ counts, states }: KindCounts<N>): JSX.Element {
  return (
    <span class="tally">
      {counts.map(([name, count]) => {
        const { word, looksLike } = states[name];
        return <KindMark word={`${count.toLocaleString("en")} ${word}`} looksLike={looksLike} />;
      })}
    </span>
  );
}

/** Shares of the states of objects of another kind as one bar. */
export function KindBar<N extends string>({ counts, states }: KindCounts<N>): JSX.Element | null {
  if (counts.length === 0) return null;
  return <Bar counts={counts.map(([name, count]) => [states[name].looksLike, count])} />;
}

interface KindCounts<N extends string> {
  readonly counts: readonly (readonly [N, number])[];
  readonly states: Readonly<Record<N, KindState>>;
}

/** Smallest share of a bar in percent, so that one Node of thousands is still visible. */
const SHARE_MIN = 0.8;

/** Shares of states as one bar. The numbers beside it say the same. */
export function Bar({ counts }: { readonly counts: Counts }): JSX.Element {
  const total = counts.reduce((sum, [, count]) => sum + count, 0);
  const shares = counts.map(([, count]) => Math.max(SHARE_MIN, (count / total) * 100));
  const all = shares.reduce((sum, share) => sum + share, 0);
  let x = 0;
  return (
    <svg class="bar" viewBox="0 0 100 1" preserveAspectRatio="none" aria-hidden="true">
      {counts.map(([state], at) => {
        const width = ((shares[at] ?? 0) / all) * 100;
        x += width;
        return (
          <rect
            class={`s-${state}`}
            x={(x - width).toFixed(2)}
            width={width.toFixed(2)}
            height="1"
          />
        );
      })}
    </svg>
  );
}

/** Counts of states in words. */
export function Tally({ counts }: { readonly counts: Counts }): JSX.Element {
  return (
    <span class="tally">
      {counts.map(([state, count]) => (
        <span class={`mark s-${state}`}>
          {count} {STATES[state].word}
        </span>
      ))}
    </span>
  );
}

/**
 * Nodes as tiles that link to their pages, with their states in words. A healthy Node shows its name only.
 *
 * @param props.isAlike Whether the heading already says the state of all Nodes @default {false}
 */
export function Tiles({
  cards,
  base,
  isAlike = false,
}: {
  readonly cards: readonly Card[];
  readonly base: string;
  readonly isAlike?: boolean;
}): JSX.Element {
  return (
    <ul class="tiles">
      {cards.map(({ node: { name }, condition: { state } }) => (
        <li>
          <a class={`dot s-${state}`} href={toNodePath(base, name)}>
            {name}
            {isAlike || state === "well" ? null : <i>{STATES[state].word}</i>}
          </a>
        </li>
      ))}
    </ul>
  );
}

/**
 * Path of a Node's page.
 *
 * @param base Path to `/debug/` from the page that links
 */
export function toNodePath(base: string, name: string): string {
  return `${base}nodes/${encodeURIComponent(name.toWellFormed())}`;
}

/** A number with the noun that it counts. */
export function formatCount(count: number, noun: string): string {
  return `${count.toLocaleString("en")} ${noun}${count === 1 ? "" : "s"}`;
}

/** Rows of a list of facts: when an object was reconciled last, and its error. */
export function LastReconcile({
  last,
  nowMs,
  error,
}: {
  /** `null`: it was not yet. */
  readonly last: ReconcileView | null;
  readonly nowMs: number;
  /** `undefined`: there is none, or the page says it elsewhere. */
  readonly error: string | undefined;
}): JSX.Element {
  return (
    <>
      <dt>Last reconcile</dt>
      <dd>
        {last === null
          ? "not yet"
          : `${formatSpan(nowMs - toMs(last.at))} ago, with the outcome “${last.outcome}”`}
      </dd>
      {error === undefined ? null : (
        <>
          <dt>Error</dt>
          <dd>{error}</dd>
        </>
      )}
    </>
  );
}
