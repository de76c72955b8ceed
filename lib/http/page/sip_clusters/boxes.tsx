/**
 * Racks as boxes, with their hosts as tiles: who has which, and why not.
 * @module
 */
/** @jsxImportSource hono/jsx */
import type { JSX } from "hono/jsx/jsx-runtime";
import { toTroubledFirst } from "../../sip_clusters/replies.ts";
import type { SipHostView } from "../../sip_clusters/views.ts";
import { KindBar, KindTally } from "../marks.tsx";
import { toClusterPath } from "./marks.tsx";
import { type Rack, toRacks } from "./racks.ts";
import { judgeHost, SIP_HOST_STATES } from "./state.ts";

/** With more hosts than this in total, the boxes are closed at first. */
const OPEN_HOSTS_MAX = 300;

/** What the boxes show. */
interface RackBoxesOptions {
  readonly hosts: readonly SipHostView[];
  /** The label by which they are grouped; absent: no cluster spreads its hosts. */
  readonly by?: string;
  /** All labels by which they could be. */
  readonly keys: readonly string[];
  readonly base: string;
}

/** All hosts in their racks. */
export function RackBoxes({ hosts, by, keys, base }: RackBoxesOptions): JSX.Element {
  const racks = by === undefined ? [{ hosts, counts: [] }] : toRacks(hosts, by);
  const isOpen = hosts.length <= OPEN_HOSTS_MAX;
  return (
    <section aria-labelledby="hosts">
      <h2 id="hosts">Hosts</h2>
      {keys.length > 1 ? (
        <nav class="chips" aria-label="Group hosts by a label">
          {keys.map((key) => (
            <a
              href={`${base}sipclusters?by=${encodeURIComponent(key)}`}
              aria-current={key === by ? "page" : undefined}
            >
              by {key}
            </a>
          ))}
        </nav>
      ) : null}
      {hosts.length === 0 ? (
        <p class="soft">There are no BareMetalHosts.</p>
      ) : (
        <div class="grid racks">
          {racks.map((rack) => (
            <RackBox rack={rack} by={by ?? ""} isOpen={isOpen} base={base} />
          ))}
        </div>
      )}
    </section>
  );
}

function RackBox({
  rack: { name, hosts, counts },
  by,
  isOpen,
  base,
}: {
  readonly rack: Rack;
  readonly by: string;
  readonly isOpen: boolean;
  readonly base: string;
}): JSX.Element {
  const kind = by.split("/").at(-1) ?? "";
  return (
    <details
      class="box"
      id={`rack-${encodeURIComponent((name ?? "").toWellFormed())}`}
      open={isOpen}
    >
      <summary>
        <span class="head">
          <span class="soft">{name === undefined ? "" : kind}</span>
          <b>{name ?? (kind === "" ? "All hosts" : `No ${kind}`)}</b>
        </span>
        <KindTally counts={counts} states={SIP_HOST_STATES} />
        <KindBar counts={counts} states={SIP_HOST_STATES} />
      </summary>
      <div class="inside">
        <ul class="tiles">
          {toTroubledFirst(hosts).map((host) => (
            <li>
              <HostTile host={host} base={base} />
            </li>
          ))}
        </ul>
      </div>
    </details>
  );
}

function HostTile({
  host,
  base,
}: {
  readonly host: SipHostView;
  readonly base: string;
}): JSX.Element {
  const { name, cluster, role = "", trouble } = host;
  const state = judgeHost(host);
  const { word, looksLike } = SIP_HOST_STATES[state];
  const title = [host.state, host.consumer, trouble].filter(Boolean).join(", ");
  if (cluster === undefined) {
    return (
      <span class={`dot s-${looksLike}`} title={title}>
        {name}
        {trouble === undefined ? null : <i>{trouble}</i>}
      </span>
    );
  }
  const shown = state === "used" ? role : `${role}, ${trouble ?? word}`;
  return (
    <a class={`dot s-${looksLike}`} href={toClusterPath(base, cluster)} title={title}>
      {name}
      <i>{`${cluster} · ${shown}`}</i>
    </a>
  );
}
