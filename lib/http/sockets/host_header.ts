/**
 * For which host a request is: a page on a loopback port is for this machine alone.
 * @module
 */
import { isLoopbackHost } from "../../core/net/ip.ts";
import type { ListenAddress } from "./listen_address.ts";

/**
 * Refuses, on a loopback port, requests for another host: a web page that lets its own name point at 127.0.0.1 could
 * else read the debug pages through a browser on this machine.
 *
 * @param request What came in
 * @param address Where it came in
 * @returns The refusal, or `undefined` for what may pass
 */
export function refuseForeignHost(request: Request, address: ListenAddress): Response | undefined {
  if (address.kind !== "tcp" || !isLoopbackHost(address.host)) return undefined;
  const host = toHostName(request.headers.get("host"));
  if (host !== undefined && isLoopbackHost(host)) return undefined;
  const message = "Host header not accepted: use 127.0.0.1, localhost or [::1]\n";
  return new Response(message, { status: 421 });
}

function toHostName(header: string | null): string | undefined {
  const [, bracketed, plain] =
    /^(?:\[([^\]]+)\]|([^:[\]]+))(?::\d{1,5})?$/.exec(header ?? "") ?? [];
  return bracketed ?? plain;
}
