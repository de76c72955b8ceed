/**
 * The page of one SIPCluster: what each role gets and why not more, its hosts, its conditions.
 * @module
 */
/** @jsxImportSource hono/jsx */
import type { JSX } from "hono/jsx/jsx-runtime";
import {
  describeRejected,
  describeSipCluster,
  formatNodePorts,
} from "../../sip_clusters/replies.ts";
import type { SipClusterView, SipHostView } from "../../sip_clusters/views.ts";
import type { PageFrame } from "../layout.tsx";
import { KindMark, LastReconcile } from "../marks.tsx";
import { Conditions } from "../objects/conditions.tsx";
import { type ListLink, renderNoObjectPage, renderObjectPage } from "../objects/object_page.tsx";
import { CardTable } from "../card_table.tsx";
import { ClusterMark, toClusterPath } from "./marks.tsx";
import { isTroubled, judgeHost, SIP_CLUSTER_STATES, SIP_HOST_STATES } from "./state.ts";

/** What the page shows. */
interface SipClusterPageOptions extends PageFrame {
  readonly cluster: SipClusterView;
  /** The hosts that it has. */
  readonly hosts: readonly SipHostView[];
}

const HOST_TITLES = ["Host", "State", "Role", "Where", "Used by"];
const REFUSED_TITLES = ["Host", "Role", "Refused because"];
/** There may be thousands of hosts. */
const REFUSED_MAX = 200;
const ROLE_TITLES = ["Role", "Wanted", "Has", "Free and fit", "Refused"];

/** Renders the page. */
export function renderSipClusterPage(options: SipClusterPageOptions): Promise<string> {
  const { cluster, hosts, base, places, nowMs } = options;
  const { word, meaning } = SIP_CLUSTER_STATES[cluster.state];
  const key = `${cluster.namespace}/${cluster.name}`;
  return renderObjectPage({
    name: key,
    word,
    isTroubled: isTroubled(cluster),
    mark: <ClusterMark cluster={cluster} />,
    why: describeSipCluster(cluster) || meaning,
    list: toList(base),
    json: { href: `${toClusterPath(base, key)}?format=json`, words: "This SIPCluster as JSON" },
    base,
    places,
    children: (
      <>
        <div class="pair">
          <Work cluster={cluster} nowMs={nowMs} />
          <Conditions conditions={cluster.conditions} />
        </div>
        <Roles cluster={cluster} />
        <Refused cluster={cluster} />
        <Breaches cluster={cluster} />
        <Hosts cluster={cluster} hosts={hosts} />
      </>
    ),
  });
}

/** Renders the page for a SIPCluster that is not there. */
export function renderNoSipClusterPage(key: string, { base, places }: PageFrame): Promise<string> {
  return renderNoObjectPage({
    title: "No such SIPCluster",
    sentence: `There is no SIPCluster “${key}”`,
    list: toList(base),
    base,
    places,
  });
}

function toList(base: string): ListLink {
  return { href: `${base}sipclusters`, words: "All SIPClusters" };
}

function Work({
  cluster: { lastReconcile: last, endpoints },
  nowMs,
}: Pick<SipClusterPageOptions, "cluster" | "nowMs">): JSX.Element {
  return (
    <div class="card">
      <dl>
        <LastReconcile last={last} nowMs={nowMs} error={last?.error} />
        {[...Map.groupBy(endpoints, ({ service }) => service)].map(([service, ports]) => (
          <>
            <dt>{service}</dt>
            <dd>
              node {ports.length === 1 ? "port" : "ports"} {formatNodePorts(ports)}
            </dd>
          </>
        ))}
      </dl>
    </div>
  );
}

function Roles({ cluster: { roles } }: Pick<SipClusterPageOptions, "cluster">): JSX.Element {
  return (
    <section aria-labelledby="roles">
      <h2 id="roles">What it asks for, and gets</h2>
      <CardTable
        titles={ROLE_TITLES}
        items={roles}
        row={(role) => (
          <tr class={role.have === role.wanted ? "" : "l-differs"}>
            <th scope="row">{role.role}</th>
            <td data-label={ROLE_TITLES[1]}>{role.wanted}</td>
            <td data-label={ROLE_TITLES[2]}>{role.have}</td>
            <td data-label={ROLE_TITLES[3]}>{role.eligible ?? ""}</td>
            <td data-label={ROLE_TITLES[4]}>{describeRejected(role)}</td>
          </tr>
        )}
      />
    </section>
  );
}

function Refused({
  cluster: { roles },
}: Pick<SipClusterPageOptions, "cluster">): JSX.Element | null {
  const rows = roles.flatMap(({ role, refused }) => refused.map((one) => ({ ...one, role })));
  if (rows.length === 0) return null;
  return (
    <section aria-labelledby="refused">
      <h2 id="refused">Why not the other hosts</h2>
      <CardTable
        titles={REFUSED_TITLES}
        items={rows}
        max={REFUSED_MAX}
        rest="The JSON has all."
        row={({ host, role, reason }) => (
          <tr>
            <th scope="row">{host}</th>
            <td data-label={REFUSED_TITLES[1]}>{role}</td>
            <td data-label={REFUSED_TITLES[2]}>{reason}</td>
          </tr>
        )}
      />
    </section>
  );
}

function Breaches({
  cluster: { breaches },
}: Pick<SipClusterPageOptions, "cluster">): JSX.Element | null {
  if (breaches.length === 0) return null;
  return (
    <section aria-labelledby="breaches">
      <h2 id="breaches">Hosts in the same place</h2>
      {breaches.map(({ topologyKey, value, hosts }) => (
        <div class="trouble s-differs">
          <h3>
            {topologyKey}: {value}
          </h3>
          <p class="why">{hosts.join(", ")}</p>
        </div>
      ))}
    </section>
  );
}

function Hosts({ cluster, hosts }: Pick<SipClusterPageOptions, "cluster" | "hosts">): JSX.Element {
  return (
    <section aria-labelledby="hosts">
      <h2 id="hosts">Hosts</h2>
      {hosts.length === 0 ? <p class="soft">It has no hosts.</p> : null}
      {hosts.length === 0 ? null : (
        <CardTable
          titles={HOST_TITLES}
          items={hosts}
          row={(host) => <HostRow host={host} keys={cluster.topologyKeys} />}
        />
      )}
    </section>
  );
}

function HostRow({
  host,
  keys,
}: {
  readonly host: SipHostView;
  readonly keys: readonly string[];
}): JSX.Element {
  const { namespace, name, role = "", standby, consumer, trouble, places } = host;
  const where = keys.flatMap((key) => {
    const value = places[key];
    return value === undefined ? [] : [`${key.split("/").at(-1)} ${value}`];
  });
  return (
    <tr>
      <th scope="row">{`${namespace}/${name}`}</th>
      <td>
        <KindMark {...SIP_HOST_STATES[judgeHost(host)]} />
        <p class="soft">{trouble ?? host.state}</p>
      </td>
      <td data-label={HOST_TITLES[2]}>{standby === true ? `${role}, standby` : role}</td>
      <td data-label={HOST_TITLES[3]}>{where.join(", ")}</td>
      <td data-label={HOST_TITLES[4]}>{consumer ?? ""}</td>
    </tr>
  );
}
