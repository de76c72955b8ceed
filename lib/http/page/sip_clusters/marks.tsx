/**
 * Small pieces that both pages about SIPClusters show.
 * @module
 */
/** @jsxImportSource hono/jsx */
import type { JSX } from "hono/jsx/jsx-runtime";
import type { SipClusterView } from "../../sip_clusters/views.ts";
import { KindMark } from "../marks.tsx";
import { toClusterWords } from "./state.ts";

/** The state of a cluster, by shape, colour and word. */
export function ClusterMark({ cluster }: { readonly cluster: SipClusterView }): JSX.Element {
  const { word, looksLike } = toClusterWords(cluster);
  const text = cluster.isLeaving === true ? `${word}, being deleted` : word;
  return <KindMark word={text} looksLike={looksLike} />;
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
