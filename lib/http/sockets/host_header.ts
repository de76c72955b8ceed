/**
 * Checks the host of a request: a page on a loopback port is only for this machine.
 * @module
 */
import { isLoopbackHost } from "../../core/net/ip.ts";
import type { ListenAddress } from "../../core/net/listen_address.ts";

/**
 * On a loopback port, refuses requests for another host. Otherwise a web page whose name resolves to 127.0.0.1 could
 * read the debug pages through a browser on this machine.
 *
 * @param request The request
 * @param address The address of the listener
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
