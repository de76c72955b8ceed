/**
 * The page of all Nodes: their states, the problems, and where they are.
 * @module
 */
/** @jsxImportSource hono/jsx */
import type { JSX } from "hono/jsx/jsx-runtime";
import type { ElectionView, InventoryView, NodeView, StatusView } from "../views.ts";
import { CoverageTable, Facts } from "./facts.tsx";
import { type PageFrame, renderDocument } from "./layout.tsx";
import { Bar, formatCount } from "./marks.tsx";
import { NodeTable } from "./node_table.tsx";
import { StateChips } from "./objects/state_chips.tsx";
import { STATES, type StateName } from "./state.ts";
import { type Card, type Counts, countStates, toCards, toTopology } from "./topology/mod.ts";
import { TopologyBoxes } from "./topology/boxes.tsx";
import { TroubleList } from "./trouble_list.tsx";
import { listTroubles } from "./troubles.ts";

/** What the page shows. */
export interface FleetPageOptions extends PageFrame {
  readonly nodes: readonly NodeView[];
  readonly inventory: InventoryView;
  readonly status?: StatusView;
  /** Only Nodes in this state. */
  readonly state?: StateName;
  /** Only Nodes whose name, machine or place contains this text. */
  readonly query?: string;
}

/** Renders the page. */
export function renderFleetPage(options: FleetPageOptions): Promise<string> {
  const { base, inventory, places } = options;
  const cards = toCards(options.nodes);
  const counts = countStates(cards);
  const troubled = countTroubled(counts);
  return renderDocument({
    title: troubled > 0 ? `(${troubled}) Landfall` : "Landfall",
    base,
    isTroubled: troubled > 0 || inventory.lastError !== undefined,
    refreshSeconds: toRefreshSeconds(cards.length),
    places,
    main: <FleetMain {...options} cards={cards} counts={counts} />,
  });
}

interface FleetMainProps extends FleetPageOptions {
  readonly cards: readonly Card[];
  readonly counts: Counts;
}

function FleetMain(props: FleetMainProps): JSX.Element {
  const { cards, counts, inventory, status, state, query = "", base } = props;
  return (
    <main id="main">
      {inventory.lastError === undefined ? null : <CloudBanner {...inventory} />}
      {status?.election?.isLeading === false ? <StandbyBanner {...status.election} /> : null}
      <Lead {...props} />
      {cards.length > 0 ? <Bar counts={counts} /> : null}
      <StateChips
        label="Nodes by state"
        path={base}
        total={cards.length}
        counts={counts}
        states={STATES}
        state={state}
        isAll={state === undefined && query === ""}
      />
      <Facts inventory={inventory} status={status} nodes={countMachines(props.nodes)} />
      {state !== undefined || query !== "" ? <Found {...props} /> : <Everything {...props} />}
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
    <div class="lead">
      <div>
        <h1>{toHeading(cards.length, counts)}</h1>
        <p>as of {new Date(nowMs).toISOString().slice(11, 19)} UTC</p>
      </div>
      <form role="search" action={base || "./"}>
        <input
          type="search"
          name="q"
          value={query ?? ""}
          aria-label="Name of a Node, machine or place"
          placeholder="Node, machine or place"
        />
        <button type="submit">Find</button>
      </form>
    </div>
  );
}

function toHeading(total: number, counts: Counts): string {
  if (total === 0) return "No Nodes yet";
  const troubled = countTroubled(counts);
  if (troubled > 0) {
    const verb = troubled === 1 ? "needs" : "need";
    return `${troubled.toLocaleString("en")} of ${formatCount(total, "Node")} ${verb} attention`;
  }
  const well = counts.find(([state]) => state === "well")?.[1] ?? 0;
  if (well < total)
    return `${well.toLocaleString("en")} of ${formatCount(total, "Node")} are in sync`;
  return total === 1 ? "The only Node is in sync" : `All ${formatCount(total, "Node")} are in sync`;
}

function Everything({ cards, inventory, base }: FleetMainProps): JSX.Element {
  const troubles = listTroubles(cards);
  return (
    <>
      {troubles.length > 0 ? <TroubleList troubles={troubles} base={base} /> : null}
      {cards.length > 0 ? (
        <TopologyBoxes
          topology={toTopology(cards, inventory.coverage)}
          total={cards.length}
          base={base}
        />
      ) : null}
      <CoverageTable coverage={inventory.coverage} />
    </>
  );
}

function Found({ cards, state, query = "", base, nowMs }: FleetMainProps): JSX.Element {
  const wanted = query.trim().toLowerCase();
  const found = cards.filter(
    (card) => (state === undefined || card.condition.state === state) && mentions(card, wanted),
  );
  const what = state === undefined ? "" : ` ${STATES[state].word}`;
  const where = wanted === "" ? "" : ` with “${query.trim()}”`;
  return (
    <section aria-labelledby="found">
      <h2 id="found" class="name">{`${formatCount(found.length, "Node")}${what}${where}`}</h2>
      {state === undefined ? null : <p class="soft">{STATES[state].meaning}</p>}
      {found.length > 0 ? <NodeTable cards={found} base={base} nowMs={nowMs} /> : null}
    </section>
  );
}

/** Whether the name of a Node, its machine or one of its places contains the text. */
function mentions({ node }: Card, text: string): boolean {
  const { name, instance, providerId = "", places = [] } = node;
  const texts = [name, providerId, instance?.name ?? "", instance?.id ?? ""];
  for (const place of places) texts.push(place.id, place.name ?? "");
  return texts.some((one) => one.toLowerCase().includes(text));
}

function countTroubled(counts: Counts): number {
  return counts.reduce((sum, [state, count]) => sum + (STATES[state].isTrouble ? count : 0), 0);
}

/** A large page costs more, and a change on it is harder to see. */
function toRefreshSeconds(total: number): number {
  if (total <= 300) return 5;
  return total <= 2_000 ? 15 : 60;
}
