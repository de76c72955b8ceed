/**
 * Nodes in the places that hold their machines, as boxes within boxes.
 * @module
 */
import type { InventoryView, NodeView, PlaceView } from "../views.ts";
import {
  type Box,
  compareNames,
  type Count,
  countStates,
  formatCount,
  type Tile,
  toPath,
} from "./model.ts";
import { NODE_STATES, type NodeCondition, STATES, toCondition } from "./state.ts";

/** A box with more Nodes than this is closed at first, unless there are only few Nodes in total. */
const OPEN_BOX_MAX = 60;
const OPEN_FLEET_MAX = 150;

/** A Node with its state. */
export interface Card {
  readonly node: NodeView;
  readonly condition: NodeCondition;
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

/** Nodes by name, each with its state. */
export function toCards(nodes: readonly NodeView[]): Card[] {
  return nodes
    .toSorted((a, b) => compareNames(a.name, b.name))
    .map((node) => ({ node, condition: toCondition(node) }));
}

/** Counts Nodes by state. */
export function countCards(cards: readonly Card[]): readonly Count[] {
  return countStates(cards, NODE_STATES, ({ condition }) => STATES[condition.state]);
}

/** A Node that links to its page. A healthy one shows its name only. */
export function toNodeTile({ node: { name }, condition: { state } }: Card, isAlike = false): Tile {
  const { word, looksLike } = STATES[state];
  const note = isAlike || state === "well" ? {} : { note: word };
  return { name, href: `nodes/${toPath(name)}`, looksLike, ...note };
}

/**
 * Puts Nodes into boxes: the places that hold their machines, then those without a place, then those of other clouds.
 *
 * @param cards In the order of the page
 * @param coverage For the names and problems of the largest places
 */
export function toTopology(cards: readonly Card[], coverage: InventoryView["coverage"]): Box[] {
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
  const surroundings = { problems, path: "", isSmall: cards.length <= OPEN_FLEET_MAX };
  return [
    ...toBoxes(drafts, surroundings),
    ...toOtherBox(placeless, {
      id: "box-placeless",
      name: "No known place",
      detail: "The cloud shows no machine for these Nodes, and they have no label with a place.",
    }),
    ...toOtherBox(foreign, {
      id: "box-foreign",
      name: "Foreign",
      detail: "Their provider IDs belong to another cloud. Landfall does not change these Nodes.",
    }),
  ];
}

function toOtherBox(
  cards: readonly Card[],
  words: Pick<Box, "detail" | "id" | "name">,
): readonly Box[] {
  if (cards.length === 0) return [];
  return [
    {
      ...words,
      counts: [],
      total: formatCount(cards.length, "Node"),
      tiles: cards.map((card) => toNodeTile(card)),
      isOpen: cards.length <= OPEN_BOX_MAX,
    },
  ];
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
  /** Why a place is not complete, by its ID. */
  readonly problems: ReadonlyMap<string, string>;
  /** IDs of the boxes around it. */
  readonly path: string;
  /** Whether there are only few Nodes in total. */
  readonly isSmall: boolean;
}

function toBoxes(drafts: ReadonlyMap<string, Draft>, surroundings: Surroundings): Box[] {
  const boxes = [...drafts.values()].map((draft) => toBox(draft, surroundings).box);
  return boxes.toSorted((a, b) => compareNames(a.name, b.name));
}

function toBox(
  { place, name = place.id, drafts, cards }: Draft,
  { problems, path, isSmall }: Surroundings,
): { readonly box: Box; readonly inside: readonly Card[] } {
  const own = `${path}-${encodeURIComponent(place.id.toWellFormed())}`;
  const isTop = path === "";
  const inner = [...drafts.values()].map((draft) =>
    toBox(draft, { problems: new Map(), path: own, isSmall }),
  );
  const boxes = inner.map(({ box }) => box).toSorted((a, b) => compareNames(a.name, b.name));
  const inside = [...inner.flatMap((one) => one.inside), ...cards];
  const counts = countCards(inside);
  const problem = problems.get(place.id);
  const box: Box = {
    id: `box${own}`,
    kind: place.kind,
    name,
    ...(isTop && name !== place.id && { detail: place.id }),
    ...(problem !== undefined && { problem }),
    counts,
    ...(!isTop && counts.length < 2 && { total: formatCount(inside.length, "Node") }),
    boxes,
    tiles: cards.map((card) => toNodeTile(card)),
    ...(boxes[0]?.kind !== undefined && { looseTitle: `on no ${boxes[0].kind} now` }),
    isOpen: isSmall || inside.length <= OPEN_BOX_MAX,
  };
  return { box, inside };
}
