/**
 * What no page needs to be asked: refused before any page sees it.
 * @module
 */
import { isLoopbackHost } from "../core/ip.ts";
import type { ListenAddress } from "./listen_address.ts";

/**
 * Refuses methods other than GET and HEAD, and, on a loopback port, requests for another host: a web page that lets its
 * own name point at 127.0.0.1 could else read the debug pages through a browser on this machine.
 *
 * @param request What came in
 * @param address Where it came in
 * @returns The refusal, or `undefined` for what may pass
 */
export function refuseRequest(request: Request, address: ListenAddress): Response | undefined {
  if (address.kind === "tcp" && isLoopbackHost(address.host)) {
    const host = toHostName(request.headers.get("host"));
    if (host === undefined || !isLoopbackHost(host)) {
      return new Response("Host header not accepted: use 127.0.0.1, localhost or [::1]\n", {
        status: 421,
      });
    }
  }
  if (request.method === "GET" || request.method === "HEAD") return undefined;
  return new Response("method not allowed\n", { status: 405, headers: { allow: "GET, HEAD" } });
}

function toHostName(header: string | null): string | undefined {
  const [, bracketed, plain] =
    /^(?:\[([^\]]+)\]|([^:[\]]+))(?::\d{1,5})?$/.exec(header ?? "") ?? [];
  return bracketed ?? plain;
}
