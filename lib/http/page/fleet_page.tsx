/**
 * The page of all Nodes: their states, the problems, and where they are.
 * @module
 */
/** @jsxImportSource hono/jsx */
import type { JSX } from "hono/jsx/jsx-runtime";
import { formatSpan, toMs } from "../span.ts";
import type { ElectionView, InventoryView, NodeView, StatusView } from "../views.ts";
import { CountBar } from "./boxes.tsx";
import { Facts, toCoverageTable } from "./facts.tsx";
import { type PageFrame, renderDocument, ListHead, toTime } from "./layout.tsx";
import {
  type BoxesSection,
  type Count,
  formatCount,
  type StateName,
  type TableSection,
} from "./model.ts";
import { Sections, Table } from "./sections.tsx";
import { NODE_STATES, STATES } from "./state.ts";
import { StateChips } from "./state_chips.tsx";
import { type Card, countCards, toCards, toNodeTile, toTopology } from "./topology.ts";
import { TroubleList } from "./trouble_list.tsx";
import { groupReasons, type Troubled } from "./troubles.ts";

/** More rows are not useful. */
const ROWS_MAX = 500;

/** What the page shows. */
export interface FleetPageOptions extends PageFrame {
  readonly nodes: readonly NodeView[];
  readonly inventory: InventoryView;
  readonly status?: StatusView;
  /** Only Nodes in this state. */
  readonly state?: StateName;
  /** Only Nodes whose name, machine or place contains this text. */
  readonly query?: string;
  /** Whether the page is a table of all Nodes. @default {false} */
  readonly isTable?: boolean;
}

/** Renders the page. */
export function renderFleetPage(options: FleetPageOptions): Promise<string> {
  const { inventory } = options;
  const cards = toCards(options.nodes);
  const counts = countCards(cards);
  const troubled = countTroubled(counts);
  return renderDocument({
    ...options,
    title: troubled > 0 ? `(${troubled}) Landfall` : "Landfall",
    isTroubled: troubled > 0 || inventory.lastError !== undefined,
    refreshSeconds: toRefreshSeconds(cards.length),
    current: "",
    main: <FleetMain {...options} cards={cards} counts={counts} />,
  });
}

interface FleetMainProps extends FleetPageOptions {
  readonly cards: readonly Card[];
  readonly counts: readonly Count[];
}

function FleetMain(props: FleetMainProps): JSX.Element {
  const { cards, counts, inventory, status, state, query = "", base, isTable = false } = props;
  return (
    <main id="main">
      {inventory.lastError === undefined ? null : <CloudBanner {...inventory} />}
      {status?.election?.isLeading === false ? <StandbyBanner {...status.election} /> : null}
      <Lead {...props} />
      {cards.length > 0 ? <CountBar counts={counts} /> : null}
      <StateChips
        label="Nodes by state"
        path={base}
        total={cards.length}
        counts={counts}
        state={state}
        isAll={state === undefined && query === "" && !isTable}
      />
      <Facts inventory={inventory} status={status} nodes={countMachines(props.nodes)} />
      {state !== undefined || query !== "" || isTable ? (
        <Found {...props} />
      ) : (
        <Everything {...props} />
      )}
    </main>
  );
}

/** Machines of Nodes, each once. */
function countMachines(nodes: readonly NodeView[]): number {
  return new Set(nodes.flatMap(({ instance }) => instance?.id ?? [])).size;
}

function CloudBanner({ lastError, ageSeconds }: InventoryView): JSX.Element {
  return (
    <div class="banner" role="note">
      <b>The cloud does not answer.</b>{" "}
      {ageSeconds === null
        ? "Landfall knows none of its machines yet."
        : "This page shows its last answer. Landfall deletes no Node meanwhile."}
      <p class="why soft">{lastError}</p>
    </div>
  );
}

function StandbyBanner({ holder }: ElectionView): JSX.Element {
  if (holder === "") {
    return (
      <div class="banner" role="note">
        <b>There is no leader now.</b> Landfall changes and deletes nothing until a process takes
        the Lease.
      </div>
    );
  }
  return (
    <div class="banner calm" role="note">
      <b>This process is a standby.</b> It reads the same data as the leader and changes nothing.
      The leader’s page shows what was done, and when.
    </div>
  );
}

function Lead({ cards, counts, query, nowMs, base }: FleetMainProps): JSX.Element {
  return (
    <ListHead
      heading={toHeading(cards.length, counts)}
      subtitle={`as of ${toTime(nowMs)}`}
      action={base}
      label="Node, machine or place"
      query={query ?? ""}
    />
  );
}

function toHeading(total: number, counts: readonly Count[]): string {
  if (total === 0) return "No Nodes yet";
  const troubled = countTroubled(counts);
  if (troubled > 0) {
    const verb = troubled === 1 ? "needs" : "need";
    return `${troubled.toLocaleString("en")} of ${formatCount(total, "Node")} ${verb} attention`;
  }
  const well = counts.find(({ state }) => state.isReady === true)?.count ?? 0;
  if (well < total)
    return `${well.toLocaleString("en")} of ${formatCount(total, "Node")} are in sync`;
  return total === 1 ? "The only Node is in sync" : `All ${formatCount(total, "Node")} are in sync`;
}

function Everything({ cards, counts, inventory, base }: FleetMainProps): JSX.Element {
  const troubles = groupReasons(cards.map(toTroubled), NODE_STATES);
  const boxes: BoxesSection = {
    kind: "boxes",
    id: "places",
    title: "Where they are",
    boxes: toTopology(cards, inventory.coverage),
    empty: "",
    tables: [],
  };
  return (
    <>
      {troubles.length > 0 ? (
        <TroubleList
          troubles={troubles}
          title="Look at these first"
          noun="Node"
          base={base}
          listPath=""
        />
      ) : null}
      {counts.length > 0 ? <Sections sections={[boxes]} base={base} /> : null}
      <Table section={toCoverageTable(inventory.coverage)} base={base} />
    </>
  );
}

function toTroubled(card: Card): Troubled {
  const { node, condition } = card;
  const { name, providerId = "", instance } = node;
  const state = STATES[condition.state];
  return {
    id: name,
    state: state.isTrouble === true ? state : undefined,
    why: condition.why,
    where: formatPlaces(card),
    names: [
      name,
      providerId,
      providerId.split("/").at(-1) ?? "",
      ...(instance ? [instance.id, instance.name] : []),
    ],
    tile: toNodeTile(card, true),
  };
}

function Found({ cards, state, query = "", base, nowMs }: FleetMainProps): JSX.Element {
  const wanted = query.trim().toLowerCase();
  const found = cards.filter(
    (card) => (state === undefined || card.condition.state === state) && mentions(card, wanted),
  );
  const what = state === undefined ? "" : ` ${STATES[state].word}`;
  const where = wanted === "" ? "" : ` with “${query.trim()}”`;
  const title = `${formatCount(found.length, "Node")}${what}${where}`;
  if (found.length === 0) return <h2 class="name">{title}</h2>;
  const sorted = found.toSorted((a, b) => toRank(a) - toRank(b));
  return <Table section={toNodeTable(sorted, { title, state, nowMs })} base={base} />;
}

/** The worst state comes first. */
function toRank({ condition }: Card): number {
  return NODE_STATES.indexOf(STATES[condition.state]);
}

function toNodeTable(
  cards: readonly Card[],
  { title, state, nowMs }: { title: string; state: StateName | undefined; nowMs: number },
): TableSection {
  return {
    kind: "table",
    id: "found",
    title,
    ...(state !== undefined && { intro: STATES[state].meaning }),
    layout: "nodes",
    columns: ["Node", "State", "Machine", "Place", "Last reconcile"],
    max: ROWS_MAX,
    rest: "Search for the others by name.",
    rows: cards.map((card) => {
      const { node, condition } = card;
      const { name, href = "", looksLike } = toNodeTile(card);
      const ago = formatSpan(nowMs - toMs(node.lastReconcile?.at));
      const notes = condition.why === "" ? [] : [condition.why];
      return {
        cells: [
          { text: name, href },
          { text: STATES[condition.state].word, looksLike, notes },
          node.instance?.name ?? "",
          formatPlaces(card),
          ago && `${ago} ago`,
        ],
      };
    }),
  };
}

/** Where a Node is, in one line: `paris › xcp-par-1`. */
function formatPlaces({ node: { places = [] } }: Card): string {
  return places.map(({ id, name }) => name ?? id).join(" › ");
}

/** Whether the name of a Node, its machine or one of its places contains the text. */
function mentions({ node }: Card, text: string): boolean {
  const { name, instance, providerId = "", places = [] } = node;
  const texts = [name, providerId, instance?.name ?? "", instance?.id ?? ""];
  for (const place of places) texts.push(place.id, place.name ?? "");
  return texts.some((one) => one.toLowerCase().includes(text));
}

function countTroubled(counts: readonly Count[]): number {
  return counts.reduce((sum, { state, count }) => sum + (state.isTrouble === true ? count : 0), 0);
}

/** A large page costs more, and a change on it is harder to see. */
function toRefreshSeconds(total: number): number {
  if (total <= 300) return 5;
  return total <= 2_000 ? 15 : 60;
}
