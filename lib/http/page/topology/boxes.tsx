/**
 * The topology as boxes within boxes: the places that hold machines, and the Nodes in them.
 * @module
 */
/** @jsxImportSource hono/jsx */
import type { JSX } from "hono/jsx/jsx-runtime";
import { Bar, formatCount, Tally, Tiles } from "../marks.tsx";
import type { Box, Card, Topology } from "./mod.ts";

/** A box with more Nodes than this is closed at first, unless there are only few Nodes in total. */
const OPEN_BOX_MAX = 60;
const OPEN_FLEET_MAX = 150;

/** The boxes, followed by the Nodes without a place. */
export function TopologyBoxes({
  topology: { boxes, placeless, foreign },
  total,
  base,
}: {
  readonly topology: Topology;
  /** How many Nodes there are in total. */
  readonly total: number;
  readonly base: string;
}): JSX.Element {
  const isSmall = total <= OPEN_FLEET_MAX;
  return (
    <section aria-labelledby="places">
      <h2 id="places">Where they are</h2>
      {boxes.map((box) => (
        <BoxView box={box} path="" isSmall={isSmall} base={base} />
      ))}
      <OtherBox
        id="placeless"
        title="No known place"
        meaning="The cloud shows no machine for these Nodes, and they have no label with a place."
        cards={placeless}
        base={base}
      />
      <OtherBox
        id="foreign"
        title="Foreign"
        meaning="Their provider IDs belong to another cloud. Landfall does not change these Nodes."
        cards={foreign}
        base={base}
      />
    </section>
  );
}

function BoxView({
  box,
  path,
  isSmall,
  base,
}: {
  readonly box: Box;
  /** IDs of the boxes around it. */
  readonly path: string;
  readonly isSmall: boolean;
  readonly base: string;
}): JSX.Element {
  const { kind, id, name, problem, boxes, cards, total, counts } = box;
  const isTop = path === "";
  const own = `${path}-${encodeURIComponent(id.toWellFormed())}`;
  return (
    <details class="box" id={`box${own}`} open={isSmall || total <= OPEN_BOX_MAX}>
      <summary>
        <span class="head">
          <span class="soft">{kind}</span>
          <b>{name}</b>
          {isTop && name !== id ? <span class="id">{id}</span> : null}
        </span>
        {isTop || counts.length > 1 ? <Tally counts={counts} /> : <Total count={total} />}
        {isTop ? <Bar counts={counts} /> : null}
        {problem === undefined ? null : <span class="problem s-unseen mark">{problem}</span>}
      </summary>
      <div class="inside">
        {boxes.length === 0 ? <Tiles cards={cards} base={base} /> : null}
        {boxes.length > 0 ? (
          <div class="grid">
            {boxes.map((inner) => (
              <BoxView box={inner} path={own} isSmall={isSmall} base={base} />
            ))}
            {cards.length > 0 ? (
              <Loose kind={boxes[0]?.kind ?? ""} cards={cards} base={base} />
            ) : null}
          </div>
        ) : null}
      </div>
    </details>
  );
}

function Total({ count }: { readonly count: number }): JSX.Element {
  return <span class="count tally">{formatCount(count, "Node")}</span>;
}

/** Nodes in this place whose smaller place is unknown. */
function Loose({
  kind,
  cards,
  base,
}: {
  readonly kind: string;
  readonly cards: readonly Card[];
  readonly base: string;
}): JSX.Element {
  return (
    <div class="loose">
      <h3>on no {kind} now</h3>
      <Tiles cards={cards} base={base} />
    </div>
  );
}

function OtherBox({
  id,
  title,
  meaning,
  cards,
  base,
}: {
  readonly id: string;
  readonly title: string;
  readonly meaning: string;
  readonly cards: readonly Card[];
  readonly base: string;
}): JSX.Element | null {
  if (cards.length === 0) return null;
  return (
    <details class="box" id={`box-${id}`} open={cards.length <= OPEN_BOX_MAX}>
      <summary>
        <span class="head">
          <b>{title}</b>
          <span class="soft">{meaning}</span>
        </span>
        <Total count={cards.length} />
      </summary>
      <div class="inside">
        <Tiles cards={cards} base={base} />
      </div>
    </details>
  );
}
