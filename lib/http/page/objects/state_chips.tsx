/**
 * The states of the objects of a list, as links that show only the objects in one of them.
 * @module
 */
/** @jsxImportSource hono/jsx */
import type { JSX } from "hono/jsx/jsx-runtime";
import type { KindStateWords, StateWords } from "../state.ts";

/** How many objects there are, and how many in each state. */
export function StateChips<N extends string>({
  label,
  path,
  total,
  counts,
  states,
  state,
  isAll,
}: {
  /** For those who hear the page: `Nodes by state`. */
  readonly label: string;
  /** Path of the list. */
  readonly path: string;
  readonly total: number;
  readonly counts: readonly (readonly [N, number])[];
  /** States of Nodes look like themselves. */
  readonly states: Readonly<Record<N, StateWords & Partial<Pick<KindStateWords, "looksLike">>>>;
  /** The state that is shown. `undefined`: all are. */
  readonly state: N | undefined;
  /** Whether the page shows all objects. */
  readonly isAll: boolean;
}): JSX.Element {
  return (
    <nav class="chips" aria-label={label}>
      <a href={path || "./"} aria-current={isAll ? "page" : undefined}>
        <b>{total.toLocaleString("en")}</b> in all
      </a>
      {counts.map(([name, count]) => (
        <a
          class={`mark s-${states[name].looksLike ?? name}`}
          href={`${path}?state=${name}`}
          title={states[name].meaning}
          aria-current={state === name ? "page" : undefined}
        >
          <b>{count.toLocaleString("en")}</b> {states[name].word}
        </a>
      ))}
    </nav>
  );
}
