/**
 * An API server that knows EndpointSlices of version 1, in front of one that only knows the last beta of them: the
 * fields are the same, and the one behind checks them, and the rights to them, as it checks everything.
 * @module
 */
import { readFileSync } from "node:fs";
import { readTls } from "../net/tls_fixtures.ts";
import type { Cluster } from "../process/cluster.ts";

/** A running front. Its certificate is signed by the fixture `ca.crt`. */
export interface SlicesFront extends AsyncDisposable {
  /** `https://127.0.0.1:<port>` */
  readonly url: string;
}

const GROUP = "/apis/discovery.k8s.io";
const WANTED = "discovery.k8s.io/v1";
const BETA = "discovery.k8s.io/v1beta1";

/** The path of EndpointSlices of a namespace, in the version that an API server has. */
export async function findSlicesPath(
  cluster: Pick<Cluster, "adminFetch">,
  namespace: string,
): Promise<string> {
  const versions = await (await cluster.adminFetch(GROUP)).text();
  const version = versions.includes(`"${WANTED}"`) ? WANTED : BETA;
  return `/apis/${version}/namespaces/${namespace}/endpointslices`;
}

/** Starts a front. */
export async function startSlicesFront(
  cluster: Pick<Cluster, "adminFetch" | "caPath" | "url">,
): Promise<SlicesFront> {
  const path = await findSlicesPath(cluster, "default");
  const isOld = path.includes(BETA);
  const tls = { ca: readFileSync(cluster.caPath, "utf8") };
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    tls: { cert: readTls("server.crt"), key: readTls("server.key") },
    // A watch is silent for minutes.
    idleTimeout: 0,
    async fetch(request) {
      const { pathname, search } = new URL(request.url);
      const isSlice = isOld && pathname.startsWith(`/apis/${WANTED}/`);
      const target = isSlice ? pathname.replace(WANTED, BETA) : pathname;
      const { method, headers, signal } = request;
      headers.delete("accept-encoding");
      const sent = await request.text();
      const body = isSlice ? sent.replaceAll(`"${WANTED}"`, `"${BETA}"`) : sent;
      const response = await fetch(`${cluster.url}${target}${search}`, {
        method,
        headers,
        signal,
        tls,
        ...(body !== "" && { body }),
      });
      if (!isSlice) return response;
      const text = (await response.text()).replaceAll(`"${BETA}"`, `"${WANTED}"`);
      const { status } = response;
      return new Response(text, { status, headers: { "content-type": "application/json" } });
    },
  });
  return {
    url: `https://127.0.0.1:${server.port}`,
    [Symbol.asyncDispose]: () => server.stop(true),
  };
}
