/**
 * The page of all load balancers.
 * @module
 */
/** @jsxImportSource hono/jsx */
import type { JSX } from "hono/jsx/jsx-runtime";
import type {
  LeftoverView,
  LoadBalancerState,
  LoadBalancerView,
} from "../../load_balancers/views.ts";
import { describeReason } from "../../load_balancers/replies.ts";
import { formatSpan, toMs } from "../../span.ts";
import type { ElectionView, PoolUsageView } from "../../views.ts";
import { type PageFrame, renderDocument } from "../layout.tsx";
import { formatCount, KindBar } from "../marks.tsx";
import { StateChips } from "../objects/state_chips.tsx";
import { Leftovers } from "./leftovers.tsx";
import { LoadBalancerMark, toLoadBalancerPath } from "./marks.tsx";
import { toHeading } from "../objects/heading.ts";
import { Pools } from "../objects/pools.tsx";
import { LOAD_BALANCER_STATE_NAMES, LOAD_BALANCER_STATES } from "./state.ts";
import { CardTable } from "../card_table.tsx";

/** One load balancer as the list shows it: without its parts, which may be many. */
export interface LoadBalancerRow extends Pick<
  LoadBalancerView,
  "namespace" | "name" | "state" | "isLeaving" | "addresses" | "ports" | "serving" | "notReadySince"
> {
  /** How many there are. Absent: it has none of its own. */
  readonly backends?: number;
  /** Why it is not ready, else what is worth knowing; empty if there is nothing. */
  readonly why: string;
  /** When it was last reconciled; ISO 8601. */
  readonly at: string;
}

/** What the page shows. */
export interface LoadBalancerListOptions extends PageFrame {
  readonly rows: readonly LoadBalancerRow[];
  /** Addresses without a Service. @default {none} */
  readonly leftovers?: readonly LeftoverView[];
  /** How full the address pools are. @default {none} */
  readonly pools?: readonly PoolUsageView[];
  readonly election?: ElectionView;
  /** Only those in this state. */
  readonly state?: LoadBalancerState;
  /** Only those whose Service or address contains this text. */
  readonly query?: string;
}

/** More rows are not useful. */
const ROWS_MAX = 500;
const REFRESH_SECONDS = 5;
const REFRESH_MANY_SECONDS = 30;

/** What the list shows of a load balancer. */
export function toLoadBalancerRow(view: LoadBalancerView): LoadBalancerRow {
  const { namespace, name, state, addresses, ports } = view;
  return {
    namespace,
    name,
    state,
    addresses,
    ports,
    ...(view.isLeaving === true && { isLeaving: true }),
    ...(view.notReadySince !== undefined && { notReadySince: view.notReadySince }),
    ...(view.backends !== undefined && { backends: view.backends.length }),
    ...(view.serving !== undefined && { serving: view.serving }),
    why: describeReason(view),
    at: view.lastReconcile?.at ?? "",
  };
}

/** Renders the page. */
export function renderLoadBalancerList(options: LoadBalancerListOptions): Promise<string> {
  const { rows, base } = options;
  const troubled = rows.filter(isTroubled).length;
  const isMany = rows.length > ROWS_MAX;
  return renderDocument({
    title: `${troubled > 0 ? `(${troubled}) ` : ""}Load balancers · Landfall`,
    base,
    isTroubled: troubled > 0,
    refreshSeconds: isMany ? REFRESH_MANY_SECONDS : REFRESH_SECONDS,
    places: options.places,
    main: <Main {...options} troubled={troubled} />,
  });
}

function Main(props: LoadBalancerListOptions & { readonly troubled: number }): JSX.Element {
  const { rows, base, nowMs, election, state, query = "", leftovers = [] } = props;
  const counts = LOAD_BALANCER_STATE_NAMES.map(
    (name) => [name, rows.filter((row) => row.state === name).length] as const,
  ).filter(([, count]) => count > 0);
  const found = rows.filter((row) => (state ?? row.state) === row.state && mentions(row, query));
  return (
    <main id="main">
      {election?.isLeading === false ? (
        <div class="banner calm" role="note">
          <b>This process is a standby.</b> It works on no load balancer, so their states and parts
          are known only to the leader: {election.holder || "there is none now"}.
        </div>
      ) : null}
      <div class="lead">
        <div>
          <h1>
            {toHeading("load balancer", { total: rows.length, troubled: props.troubled }) +
              toLeftoverHeading(leftovers.length)}
          </h1>
          <p>as of {new Date(nowMs).toISOString().slice(11, 19)} UTC</p>
        </div>
        <form role="search" action={`${base}load-balancers`}>
          <input
            type="search"
            name="q"
            value={query}
            aria-label="Namespace or name of a Service, or an address"
            placeholder="Service or address"
          />
          <button type="submit">Find</button>
        </form>
      </div>
      <KindBar counts={counts} states={LOAD_BALANCER_STATES} />
      <StateChips
        label="Load balancers by state"
        path={`${base}load-balancers`}
        total={rows.length}
        counts={counts}
        states={LOAD_BALANCER_STATES}
        state={state}
        isAll={state === undefined && query === ""}
      />
      {rows.length === 0 ? (
        <p class="soft">No Service of type LoadBalancer is served by Landfall.</p>
      ) : (
        <Table {...props} rows={found} />
      )}
      <Leftovers leftovers={leftovers} />
      <Pools pools={props.pools ?? []} />
    </main>
  );
}

function Table({ rows, base, nowMs }: LoadBalancerListOptions): JSX.Element {
  // Those that need attention come first; the others keep the order of their names.
  const sorted = rows.toSorted((a, b) => Number(isTroubled(b)) - Number(isTroubled(a)));
  return (
    <section aria-label="Load balancers">
      <h2>{formatCount(rows.length, "Service")}</h2>
      <CardTable
        titles={["Service", "State", "Address", "Ports", "Backends", "Last reconcile"]}
        kind="nodes balancers"
        items={sorted}
        max={ROWS_MAX}
        rest="Search for the others by name."
        row={(row) => <Row row={row} base={base} nowMs={nowMs} />}
      />
    </section>
  );
}

function Row({
  row,
  base,
  nowMs,
}: {
  readonly row: LoadBalancerRow;
  readonly base: string;
  readonly nowMs: number;
}): JSX.Element {
  const { namespace, name, state, addresses, ports, backends, serving, why, at } = row;
  const count = backends?.toLocaleString("en") ?? "";
  const ago = formatSpan(nowMs - toMs(at));
  const since = formatSpan(nowMs - toMs(row.notReadySince));
  return (
    <tr>
      <th scope="row">
        <a href={toLoadBalancerPath(base, row)}>{`${namespace}/${name}`}</a>
      </th>
      <td>
        <LoadBalancerMark state={state} isLeaving={row.isLeaving === true} />
        {why ? <p class="why soft">{why}</p> : null}
        {since ? <p class="soft">not ready for {since}</p> : null}
      </td>
      <td data-label="Address">{addresses.join(", ")}</td>
      <td data-label="Ports">{ports.join(", ")}</td>
      <td data-label="Backends">
        {serving === undefined ? count : `${serving.toLocaleString("en")} of ${count}`}
      </td>
      <td data-label="Last reconcile">{ago && `${ago} ago`}</td>
    </tr>
  );
}

function toLeftoverHeading(count: number): string {
  return count === 0 ? "" : `, ${formatCount(count, "leftover")}`;
}

function isTroubled({ state }: LoadBalancerRow): boolean {
  return LOAD_BALANCER_STATES[state].isTrouble;
}

function mentions({ namespace, name, addresses }: LoadBalancerRow, query: string): boolean {
  const text = query.trim().toLowerCase();
  return [`${namespace}/${name}`, ...addresses].some((one) => one.toLowerCase().includes(text));
}
