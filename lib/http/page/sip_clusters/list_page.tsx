/**
 * The page of all SIPClusters: how each stands, and who has which host.
 * @module
 */
/** @jsxImportSource hono/jsx */
import type { JSX } from "hono/jsx/jsx-runtime";
import {
  describeRejected,
  describeSipCluster,
  formatNodePorts,
  isHostTroubled,
} from "../../sip_clusters/replies.ts";
import type { SipClusterView, SipHostView, SipRoleView } from "../../sip_clusters/views.ts";
import { formatSpan, toMs } from "../../span.ts";
import type { ServingView } from "../../views.ts";
import { type PageFrame, renderDocument } from "../layout.tsx";
import { formatCount, KindBar, KindTally } from "../marks.tsx";
import { toHeading } from "../objects/heading.ts";
import { MissingBanner, StandbyBanner } from "../objects/serving_banners.tsx";
import { CardTable } from "../card_table.tsx";
import { RackBoxes } from "./boxes.tsx";
import { ClusterMark, toClusterPath } from "./marks.tsx";
import { countHosts, listKeys } from "./racks.ts";
import { isTroubled, SIP_HOST_STATES } from "./state.ts";

/** What the page shows. */
export interface SipClusterListOptions extends PageFrame {
  readonly clusters: readonly SipClusterView[];
  readonly hosts: readonly SipHostView[];
  readonly serving: ServingView;
  /** The label by which hosts are grouped. @default {the one with the fewest values} */
  readonly by?: string;
}

const REFRESH_SECONDS = 5;
/** Renewing a page with very many hosts costs more. */
const REFRESH_MANY_SECONDS = 15;
const MANY_HOSTS = 1_000;
const TROUBLED_TITLES = ["Host", "Trouble", "SIPCluster"];
const TROUBLED_MAX = 50;

/** Renders the page. */
export function renderSipClusterList(options: SipClusterListOptions): Promise<string> {
  const { clusters, hosts, base, places } = options;
  const troubled = clusters.filter(isTroubled).length;
  const attention = troubled + hosts.filter(isHostTroubled).length;
  return renderDocument({
    title: `${attention > 0 ? `(${attention}) ` : ""}SIPClusters · Landfall`,
    base,
    isTroubled: attention > 0,
    refreshSeconds: hosts.length > MANY_HOSTS ? REFRESH_MANY_SECONDS : REFRESH_SECONDS,
    places,
    main: <Main {...options} troubled={troubled} />,
  });
}

function Main(props: SipClusterListOptions & { readonly troubled: number }): JSX.Element {
  const { clusters, hosts, nowMs, base } = props;
  const keys = listKeys(clusters, hosts);
  const by = props.by !== undefined && keys.includes(props.by) ? props.by : keys[0];
  const counts = countHosts(hosts);
  return (
    <main id="main">
      <MissingBanner {...props.serving} />
      <StandbyBanner {...props.serving} unknown="why hosts were refused" />
      <div class="lead">
        <div>
          <h1>{toTitle(props)}</h1>
          <p>
            {formatCount(hosts.length, "host")}, as of {new Date(nowMs).toISOString().slice(11, 19)}{" "}
            UTC
          </p>
        </div>
        <KindTally counts={counts} states={SIP_HOST_STATES} />
      </div>
      <KindBar counts={counts} states={SIP_HOST_STATES} />
      {clusters.length > 0 ? <Table {...props} /> : null}
      <Troubled hosts={hosts.filter(isHostTroubled)} base={base} />
      <RackBoxes hosts={hosts} keys={keys} base={base} {...(by !== undefined && { by })} />
    </main>
  );
}

/** How many clusters and hosts need attention. */
function toTitle({
  clusters,
  hosts,
  troubled,
}: SipClusterListOptions & { readonly troubled: number }): string {
  const unready = clusters.filter(({ state }) => state !== "ready").length;
  const broken = hosts.filter(isHostTroubled).length;
  const heading = toHeading("SIPCluster", { total: clusters.length, troubled, unready });
  if (broken === 0) return heading;
  const says = `${formatCount(broken, "host")} ${broken === 1 ? "is" : "are"} in trouble`;
  const isWell = clusters.length > 0 && troubled + unready === 0;
  return isWell ? says : `${heading}, and ${says}`;
}

function Troubled({
  hosts,
  base,
}: Pick<SipClusterListOptions, "hosts" | "base">): JSX.Element | null {
  if (hosts.length === 0) return null;
  return (
    <section aria-labelledby="troubled">
      <h2 id="troubled">Hosts in trouble</h2>
      <CardTable
        titles={TROUBLED_TITLES}
        items={hosts}
        max={TROUBLED_MAX}
        row={({ namespace, name, cluster = "", trouble }) => (
          <tr>
            <th scope="row">{`${namespace}/${name}`}</th>
            <td data-label={TROUBLED_TITLES[1]}>{trouble}</td>
            <td data-label={TROUBLED_TITLES[2]}>
              <a href={toClusterPath(base, cluster)}>{cluster}</a>
            </td>
          </tr>
        )}
      />
    </section>
  );
}

function Table({ clusters, nowMs, base }: SipClusterListOptions): JSX.Element {
  // Those that need attention come first; the others keep the order of their names.
  const toRank = (cluster: SipClusterView): number =>
    isTroubled(cluster) ? 0 : cluster.state === "ready" ? 2 : 1;
  const sorted = clusters.toSorted((a, b) => toRank(a) - toRank(b));
  return (
    <section aria-label="SIPClusters">
      <h2>{formatCount(clusters.length, "SIPCluster")}</h2>
      <CardTable
        titles={["SIPCluster", "State", "Hosts", "Node ports", "Last reconcile"]}
        kind="nodes sips"
        items={sorted}
        row={(cluster) => <Row cluster={cluster} nowMs={nowMs} base={base} />}
      />
    </section>
  );
}

function Row({
  cluster,
  nowMs,
  base,
}: {
  readonly cluster: SipClusterView;
  readonly nowMs: number;
  readonly base: string;
}): JSX.Element {
  const key = `${cluster.namespace}/${cluster.name}`;
  const why = describeSipCluster(cluster);
  const ago = formatSpan(nowMs - toMs(cluster.lastReconcile?.at));
  return (
    <tr>
      <th scope="row">
        <a href={toClusterPath(base, key)}>{key}</a>
      </th>
      <td>
        <ClusterMark cluster={cluster} />
        {why === "" ? null : <p class="why soft">{why}</p>}
      </td>
      <td data-label="Hosts">
        {cluster.roles.map((role) => (
          <Role role={role} />
        ))}
      </td>
      <td data-label="Node ports">{formatNodePorts(cluster.endpoints)}</td>
      <td data-label="Last reconcile">{ago && `${ago} ago`}</td>
    </tr>
  );
}

function Role({ role }: { readonly role: SipRoleView }): JSX.Element {
  const isShort = role.have < role.wanted;
  return (
    <p>
      {role.role} {role.have}/{role.wanted}
      {isShort && role.rejected.length > 0 ? (
        <span class="soft">; refused: {describeRejected(role)}</span>
      ) : null}
    </p>
  );
}
