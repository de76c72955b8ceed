/**
 * The Nodes that a search found, as a table; on a phone as a list.
 * @module
 */
/** @jsxImportSource hono/jsx */
import type { JSX } from "hono/jsx/jsx-runtime";
import { formatSpan, toMs } from "../span.ts";
import { Mark, toNodePath } from "./marks.tsx";
import type { Card } from "./topology/mod.ts";
import { formatPlaces } from "./trouble_list.tsx";
import { CardTable } from "./card_table.tsx";

/** More rows are not useful. */
const ROWS_MAX = 500;

/** The table. */
export function NodeTable({
  cards,
  base,
  nowMs,
}: {
  readonly cards: readonly Card[];
  readonly base: string;
  readonly nowMs: number;
}): JSX.Element {
  return (
    <CardTable
      titles={["Node", "State", "Machine", "Place", "Last reconcile"]}
      kind="nodes"
      items={cards}
      max={ROWS_MAX}
      rest="Search for the others by name."
      row={(card) => <Row card={card} base={base} nowMs={nowMs} />}
    />
  );
}

function Row({
  card,
  base,
  nowMs,
}: {
  readonly card: Card;
  readonly base: string;
  readonly nowMs: number;
}): JSX.Element {
  const { node, condition } = card;
  const ago = formatSpan(nowMs - toMs(node.lastReconcile?.at));
  return (
    <tr>
      <th scope="row">
        <a href={toNodePath(base, node.name)}>{node.name}</a>
      </th>
      <td>
        <Mark state={condition.state} />
        {condition.why ? <p class="why soft">{condition.why}</p> : null}
      </td>
      <td data-label="Machine">{node.instance?.name ?? ""}</td>
      <td data-label="Place">{formatPlaces(card)}</td>
      <td data-label="Last reconcile">{ago && `${ago} ago`}</td>
    </tr>
  );
}
