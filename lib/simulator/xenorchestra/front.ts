/**
 * Handles each request of the simulated Xen Orchestra before the routes: counts it, applies faults, or passes it on. It
 * has no access to sockets: it decides what happens to a connection, and the server does it.
 * @module
 */
import type { Clock } from "../../core/clock.ts";
import type { Outcome } from "../loopback.ts";
import type { Fault, Faults } from "./faults.ts";
import { toHtml, toJson, toStatus, toUnknownRoute } from "./replies.ts";
import { type RequestCounter, toRoute } from "./requests.ts";
import { NON_ADMIN_HEADER } from "./routes.ts";

/** The dependencies of a {@linkcode Front}. */
interface FrontOptions {
  /** Answers a request without faults. */
  readonly answer: (request: Request) => Promise<Response>;
  readonly faults: Faults;
  readonly requests: RequestCounter;
  readonly clock: Clock;
  /** Ends delays. */
  readonly signal: AbortSignal;
}

/** The front. */
export class Front {
  readonly #options: FrontOptions;

  constructor(options: FrontOptions) {
    this.#options = options;
  }

  /**
   * Decides what happens to a request, and creates its answer if it gets one.
   *
   * @param onWait Called when an intended delay begins and ends
   * @throws the signal's reason, if it ends a delay
   */
  async answer(request: Request, onWait?: (isWaiting: boolean) => void): Promise<Outcome> {
    const { faults, requests, clock, signal } = this.#options;
    const { method } = request;
    const { pathname } = new URL(request.url);
    const route = toRoute(method, pathname);
    requests.add(route);
    const fault = faults.take(route, pathname);
    if (fault?.kind === "hang" || fault?.kind === "reset") return { kind: fault.kind };
    if (fault?.kind === "delay") {
      onWait?.(true);
      await clock.sleep(fault.ms, signal).finally(() => onWait?.(false));
    }
    // Only the front may set this header.
    request.headers.delete(NON_ADMIN_HEADER);
    if (fault?.kind === "nonAdmin") request.headers.set(NON_ADMIN_HEADER, "true");
    const replaced = fault && toFaultReply(fault, method, pathname);
    const [first, second] = fault?.kind === "repeat" ? await copyTwice(request) : [request];
    if (second !== undefined) await this.#options.answer(second);
    const response = replaced ?? (await this.#options.answer(first));
    if (fault?.kind === "resetAfter") return { kind: "reset" };
    if (fault?.kind === "hangAfter") return { kind: "hang" };
    return { kind: "reply", response, isHalf: fault?.kind === "halfBody" };
  }
}

/** A body can be read only once. */
async function copyTwice(request: Request): Promise<readonly [Request, Request]> {
  const { url, method, headers } = request;
  const body = await request.arrayBuffer();
  const init = { method, headers, ...(body.byteLength > 0 && { body }) };
  return [new Request(url, init), new Request(url, init)];
}

function toFaultReply(fault: Fault, method: string, path: string): Response | undefined {
  switch (fault.kind) {
    case "status":
      return toStatus(fault.status, fault.retryAfterSeconds);
    case "html":
      if (fault.status === 404) return toUnknownRoute(method, path);
      return toHtml(fault.status, "Sign in", "Please sign in to continue");
    case "json":
      return toJson(fault.body, fault.status ?? 200);
    case "redirect":
      return new Response(undefined, { status: 302, headers: { location: fault.location } });
    default:
      return undefined;
  }
}
