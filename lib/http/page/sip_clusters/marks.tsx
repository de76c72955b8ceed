/**
 * Small pieces that both pages about SIPClusters show.
 * @module
 */
/** @jsxImportSource hono/jsx */
import type { JSX } from "hono/jsx/jsx-runtime";
import type { SipClusterView, SipHostView } from "../../sip_clusters/views.ts";
import { Bar } from "../marks.tsx";
import type { HostCounts } from "./racks.ts";
import { judgeHost, SIP_HOST_STATES, toClusterWords } from "./state.ts";

/** The state of a cluster, by shape, colour and word. */
export function ClusterMark({ cluster }: { readonly cluster: SipClusterView }): JSX.Element {
  const { word, looksLike } = toClusterWords(cluster);
  const text = cluster.isLeaving === true ? `${word}, being deleted` : word;
  return <span class={`mark s-${looksLike}`}>{text}</span>;
}

/** The state of a host, by shape, colour and word. */
export function HostMark({ host }: { readonly host: SipHostView }): JSX.Element {
  const { word, looksLike } = SIP_HOST_STATES[judgeHost(host)];
  return <span class={`mark s-${looksLike}`}>{word}</span>;
}

/** Shares of the states of hosts as one bar. */
export function HostBar({ counts }: { readonly counts: HostCounts }): JSX.Element | null {
  if (counts.length === 0) return null;
  const drawn = counts.map(([state, count]) => [SIP_HOST_STATES[state].looksLike, count] as const);
  return <Bar counts={drawn} />;
}

/** How many hosts are in each state, in words. */
export function HostTally({ counts }: { readonly counts: HostCounts }): JSX.Element {
  return (
    <span class="tally">
      {counts.map(([state, count]) => (
        <span class={`mark s-${SIP_HOST_STATES[state].looksLike}`}>
          {count.toLocaleString("en")} {SIP_HOST_STATES[state].word}
        </span>
      ))}
    </span>
  );
}

/**
 * Path of the page of a cluster.
 *
 * @param base Path to `/debug/` from the page that links
 * @param key `namespace/name`
 */
export function toClusterPath(base: string, key: string): string {
  const parts = key.split("/").map((part) => encodeURIComponent(part.toWellFormed()));
  return `${base}sipclusters/${parts.join("/")}`;
}
