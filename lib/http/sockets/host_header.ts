/**
 * Checks the host of a request: a page on a loopback port is only for this machine.
 * @module
 */
import { isLoopbackHost } from "../../core/net/ip.ts";
import type { ListenAddress } from "./listen_address.ts";

/**
 * Refuses requests for another host on a loopback port: otherwise a web page whose name points to 127.0.0.1 could read
 * the debug pages through a browser on this machine.
 *
 * @param request What came in
 * @param address Where it came in
 * @returns The refusal, or `undefined` for an allowed request
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
