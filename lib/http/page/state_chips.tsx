/**
 * The states of the objects of a list, as links that show only the objects in one of them.
 * @module
 */
/** @jsxImportSource hono/jsx */
import type { JSX } from "hono/jsx/jsx-runtime";
import type { Count } from "./model.ts";

/** How many objects there are, and how many in each state. */
export function StateChips({
  label,
  path,
  total,
  counts,
  state,
  isAll,
}: {
  /** For those who hear the page: `Nodes by state`. */
  readonly label: string;
  /** Path of the list. */
  readonly path: string;
  readonly total: number;
  readonly counts: readonly Count[];
  /** Name of the state that is shown. `undefined`: all are. */
  readonly state: string | undefined;
  /** Whether the page shows all objects. */
  readonly isAll: boolean;
}): JSX.Element {
  return (
    <nav class="chips" aria-label={label}>
      <a href={path || "./"} aria-current={isAll ? "true" : undefined}>
        <b>{total.toLocaleString("en")}</b> in all
      </a>
      {counts.map(({ state: { name, looksLike, word, meaning }, count }) => (
        <a
          class={`mark s-${looksLike}`}
          href={`${path}?state=${name}`}
          title={meaning}
          aria-current={state === name ? "true" : undefined}
        >
          <b>{count.toLocaleString("en")}</b> {word}
        </a>
      ))}
    </nav>
  );
}
