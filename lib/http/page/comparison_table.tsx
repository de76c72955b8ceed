/**
 * A table that compares desired and actual values.
 * @module
 */
/** @jsxImportSource hono/jsx */
import type { JSX } from "hono/jsx/jsx-runtime";
import type { Line, LineState } from "./differences.ts";
import { CardTable } from "./card_table.tsx";

const VERDICTS: Readonly<Record<LineState, string>> = {
  same: "in sync",
  missing: "missing",
  differs: "differs",
  extra: "not desired",
  kept: "differs: never changed",
  unknown: "unknown",
};

/** A table with its title; a sentence when there is nothing to compare. */
export function ComparisonTable({
  title,
  lines,
  empty,
}: {
  readonly title: string;
  readonly lines: readonly Line[];
  readonly empty: string;
}): JSX.Element {
  const shown = lines.filter(({ wanted, actual }) => wanted !== undefined || actual !== undefined);
  if (shown.length === 0) {
    return (
      <section class="card">
        <h2>{title}</h2>
        <p class="soft empty">{empty}</p>
      </section>
    );
  }
  return (
    <CardTable
      caption={title}
      titles={["Name", "Desired", "Actual", "Status"]}
      items={shown}
      row={({ name, wanted, actual, state }) => (
        <tr class={`l-${state}`}>
          <th scope="row">
            <code>{name}</code>
          </th>
          <Value title="desired" text={wanted} />
          <Value title="actual" text={actual} />
          <td class="verdict">{VERDICTS[state]}</td>
        </tr>
      )}
    />
  );
}

function Value({
  title,
  text,
}: {
  readonly title: string;
  readonly text: string | undefined;
}): JSX.Element {
  if (text === undefined) return <td></td>;
  return <td data-label={title}>{text === "" ? "(empty)" : <code>{text}</code>}</td>;
}
