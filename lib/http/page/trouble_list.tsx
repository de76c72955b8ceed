/**
 * What somebody should look at: troubled Nodes, by what they have in common.
 * @module
 */
import type { JSX } from "hono/jsx/jsx-runtime";
import { formatCount, Mark, Tiles, toNodePath } from "./marks.tsx";
import type { Card } from "./topology.ts";
import type { Trouble } from "./troubles.ts";

/** How many Nodes of one trouble are told one by one. The others follow as tiles. */
const TOLD_MAX = 12;

/** The troubles, the worst first. */
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
        <TroubleGroup trouble={trouble} base={base} />
      ))}
    </section>
  );
}

function TroubleGroup({
  trouble: { state, cause, why, cards },
  base,
}: {
  readonly trouble: Trouble;
  readonly base: string;
}): JSX.Element {
  // Nodes that share their reason need only be named.
  const told = why !== undefined && cards.length > 1 ? [] : cards.slice(0, TOLD_MAX);
  const others = cards.slice(told.length);
  return (
    <div class={`trouble s-${state}`}>
      <h3>
        <Mark state={state} />
        <span class="count">{formatCount(cards.length, "Node")}</span>
      </h3>
      {why && cards.length > 1 ? <p class="why">{why}</p> : null}
      {told.length > 0 ? (
        <ul class="rows">
          {told.map((card) => (
            <TroubleRow card={card} base={base} />
          ))}
        </ul>
      ) : null}
      {others.length > 0 ? (
        <details
          class="more"
          id={`more-${state}-${encodeURIComponent(cause)}`}
          open={others.length <= TOLD_MAX}
        >
          <summary>
            {told.length > 0 ? `${others.length} more` : formatCount(others.length, "Node")}
          </summary>
          <Tiles cards={others} base={base} />
        </details>
      ) : null}
    </div>
  );
}

function TroubleRow({ card, base }: { readonly card: Card; readonly base: string }): JSX.Element {
  const { node, condition } = card;
  return (
    <li>
      <div>
        <a class="name" href={toNodePath(base, node.name)}>
          {node.name}
        </a>
        <small class="soft name">{formatPlaces(card)}</small>
      </div>
      <p class="why">{condition.why}</p>
    </li>
  );
}

/** Where a Node is, in one line: `paris › xcp-par-1`. */
export function formatPlaces({ node: { places = [] } }: Card): string {
  return places.map(({ id, name }) => name ?? id).join(" › ");
}
