/**
 * Nodes with problems, by what they have in common.
 * @module
 */
/** @jsxImportSource hono/jsx */
import type { JSX } from "hono/jsx/jsx-runtime";
import type { PlaceView } from "../views.ts";
import { formatCount, Mark, Tiles, toNodePath } from "./marks.tsx";
import type { Card } from "./topology/mod.ts";
import type { Reason, Trouble } from "./troubles.ts";

/** How many reasons of one state are shown. A search for the state shows more. */
const REASONS_MAX = 12;
/** Up to this many Nodes with the same reason are named at once. */
const NAMED_MAX = 12;

/** The problems, the worst first. */
export function TroubleList({
  troubles,
  base,
}: {
  readonly troubles: readonly Trouble[];
  readonly base: string;
}): JSX.Element {
  return (
    <section aria-labelledby="troubles">
      <h2 id="troubles">Look at these first</h2>
      {troubles.map((trouble) => (
        <TroubleView trouble={trouble} base={base} />
      ))}
    </section>
  );
}

function TroubleView({
  trouble: { state, reasons, total },
  base,
}: {
  readonly trouble: Trouble;
  readonly base: string;
}): JSX.Element {
  const told = reasons.slice(0, REASONS_MAX);
  const left = total - told.reduce((sum, { cards }) => sum + cards.length, 0);
  return (
    <div class={`trouble s-${state}`}>
      <h3>
        <Mark state={state} />
        <span class="count">{formatCount(total, "Node")}</span>
      </h3>
      <ul class="rows">
        {told.map((reason, at) => (
          <ReasonRow reason={reason} id={`more-${state}-${at}`} base={base} />
        ))}
      </ul>
      {left > 0 ? (
        <p class="more">
          <a
            href={`${base}?state=${state}`}
          >{`${formatCount(left, "more Node")}, each with its reason`}</a>
        </p>
      ) : null}
    </div>
  );
}

function ReasonRow({
  reason: { why, cards },
  id,
  base,
}: {
  readonly reason: Reason;
  readonly id: string;
  readonly base: string;
}): JSX.Element {
  const [first, second] = cards;
  if (first === undefined) return <li></li>;
  const isOne = second === undefined;
  return (
    <li>
      {isOne ? <OneNode card={first} base={base} /> : <ManyNodes cards={cards} />}
      <div>
        <p class="why">{why}</p>
        {isOne ? null : (
          <details class="more" id={id} open={cards.length <= NAMED_MAX}>
            <summary>which ones</summary>
            <Tiles cards={cards} base={base} isAlike />
          </details>
        )}
      </div>
    </li>
  );
}

/** The number of Nodes, and the place that holds all of them, if there is one. */
function ManyNodes({ cards }: { readonly cards: readonly Card[] }): JSX.Element {
  const [first, ...others] = cards.map(({ node: { places = [] } }) => places);
  const shared = (first ?? []).filter(({ id }, at) => others.every((one) => one[at]?.id === id));
  return (
    <div>
      <b>{formatCount(cards.length, "Node")}</b>
      <small class="soft name">{formatPath(shared)}</small>
    </div>
  );
}

function OneNode({ card, base }: { readonly card: Card; readonly base: string }): JSX.Element {
  return (
    <div>
      <a class="name" href={toNodePath(base, card.node.name)}>
        {card.node.name}
      </a>
      <small class="soft name">{formatPlaces(card)}</small>
    </div>
  );
}

/** Where a Node is, in one line: `paris › xcp-par-1`. */
export function formatPlaces({ node: { places = [] } }: Card): string {
  return formatPath(places);
}

function formatPath(places: readonly PlaceView[]): string {
  return places.map(({ id, name }) => name ?? id).join(" › ");
}
