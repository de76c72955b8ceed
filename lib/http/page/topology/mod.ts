/**
 * Nodes in the places that hold their machines, as boxes within boxes.
 * @module
 */
import type { InventoryView, NodeView, PlaceView } from "../../views.ts";
import { type NodeCondition, STATE_NAMES, type StateName, toCondition } from "../state.ts";

/** A Node with its state. */
export interface Card {
  readonly node: NodeView;
  readonly condition: NodeCondition;
}

/** Number of Nodes in each state that occurs, the worst state first. */
export type Counts = readonly (readonly [StateName, number])[];

/** A place with the Nodes in it. */
export interface Box {
  /** What the cloud calls such a place: pool, host … */
  readonly kind: string;
  readonly id: string;
  /** Its name, or its ID without one. */
  readonly name: string;
  /** Why the cloud does not show all of it now; absent if it does, or gives no reason. */
  readonly problem?: string;
  readonly boxes: readonly Box[];
  /** Nodes whose smaller place is unknown. */
  readonly cards: readonly Card[];
  /** Number of Nodes in this place and the smaller ones. */
  readonly total: number;
  readonly counts: Counts;
}

/** The places of all Nodes. */
export interface Topology {
  readonly boxes: readonly Box[];
  /** Nodes without a known place. */
  readonly placeless: readonly Card[];
  /** Nodes of other clouds. */
  readonly foreign: readonly Card[];
}

/** A box under construction. */
interface Draft {
  readonly place: PlaceView;
  name: string | undefined;
  /** Whether the name comes from the cloud, and not from a label. */
  isNameSure: boolean;
  readonly drafts: Map<string, Draft>;
  readonly cards: Card[];
}

/** Nodes by name, each with its state. Numbers count as numbers: `n2` comes before `n10`. */
export function toCards(nodes: readonly NodeView[]): Card[] {
  const { compare } = new Intl.Collator("en", { numeric: true });
  return nodes
    .toSorted((a, b) => compare(a.name, b.name))
    .map((node) => ({ node, condition: toCondition(node) }));
}

/** Counts Nodes by state. */
export function countStates(cards: readonly Card[]): Counts {
  const counts = new Map<StateName, number>();
  for (const { condition } of cards) {
    counts.set(condition.state, (counts.get(condition.state) ?? 0) + 1);
  }
  return toCounts(counts);
}

/**
 * Puts Nodes into boxes.
 *
 * @param cards In the order of the page
 * @param coverage For the names and problems of the largest places
 */
export function toTopology(cards: readonly Card[], coverage: InventoryView["coverage"]): Topology {
  const drafts = new Map<string, Draft>();
  const placeless: Card[] = [];
  const foreign: Card[] = [];
  for (const card of cards) {
    const { places = [], presence } = card.node;
    if (presence.kind === "foreign") foreign.push(card);
    else if (places.length === 0) placeless.push(card);
    else put(card, places, drafts);
  }
  for (const { id, name } of coverage) {
    const draft = drafts.get(id);
    if (draft && name !== undefined && !draft.isNameSure) draft.name = name;
  }
  const problems = new Map(
    coverage.filter(({ complete }) => !complete).map(({ id, reason = "" }) => [id, reason]),
  );
  const { compare } = new Intl.Collator("en", { numeric: true });
  return { boxes: toBoxes(drafts, { compare, problems }), placeless, foreign };
}

function put(card: Card, places: readonly PlaceView[], drafts: Map<string, Draft>): void {
  const isSure = card.node.presence.kind === "present";
  let inside = drafts;
  let draft: Draft | undefined;
  for (const place of places) {
    draft = inside.get(place.id);
    if (draft === undefined) {
      draft = { place, name: undefined, isNameSure: false, drafts: new Map(), cards: [] };
      inside.set(place.id, draft);
    }
    if (place.name !== undefined && (draft.name === undefined || (isSure && !draft.isNameSure))) {
      draft.name = place.name;
      draft.isNameSure = isSure;
    }
    inside = draft.drafts;
  }
  draft?.cards.push(card);
}

interface Surroundings {
  readonly compare: (a: string, b: string) => number;
  /** Why a place is not complete, by its ID. */
  readonly problems: ReadonlyMap<string, string>;
}

function toBoxes(drafts: ReadonlyMap<string, Draft>, surroundings: Surroundings): Box[] {
  const boxes = [...drafts.values()].map((draft) => toBox(draft, surroundings));
  return boxes.sort((a, b) => surroundings.compare(a.name, b.name));
}

function toBox({ place, name, drafts, cards }: Draft, surroundings: Surroundings): Box {
  const boxes = toBoxes(drafts, { ...surroundings, problems: new Map() });
  const problem = surroundings.problems.get(place.id);
  const counts = new Map(countStates(cards));
  for (const box of boxes) {
    for (const [state, count] of box.counts) counts.set(state, (counts.get(state) ?? 0) + count);
  }
  return {
    kind: place.kind,
    id: place.id,
    name: name ?? place.id,
    ...(problem === undefined ? {} : { problem }),
    boxes,
    cards,
    total: boxes.reduce((sum, box) => sum + box.total, cards.length),
    counts: toCounts(counts),
  };
}

function toCounts(counts: ReadonlyMap<StateName, number>): Counts {
  return STATE_NAMES.flatMap((state) => {
    const count = counts.get(state);
    return count === undefined ? [] : [[state, count] as const];
  });
}
