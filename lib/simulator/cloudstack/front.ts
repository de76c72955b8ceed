/**
 * Stands before the API of the simulated CloudStack: writes requests down, applies faults, passes the rest on. It knows
 * no sockets: it decides what happens to a connection, the server does it.
 * @module
 */
import type { Clock } from "../../core/clock.ts";
import type { Outcome } from "../loopback.ts";
import type { Fault, Faults } from "./faults.ts";
import { readParameters, type Parameters } from "./parameters.ts";
import { toHtml } from "./replies.ts";
import type { RequestLog } from "./requests.ts";

/** What a {@linkcode Front} needs. */
interface FrontOptions {
  /** Carries out a command. */
  readonly answer: (method: string, parameters: Parameters, fault?: Fault) => Response;
  readonly faults: Faults;
  readonly requests: RequestLog;
  readonly clock: Clock;
  /** Ends delays. */
  readonly signal: AbortSignal;
}

const PATH = "/client/api";

/** The front. */
export class Front {
  readonly #options: FrontOptions;

  constructor(options: FrontOptions) {
    this.#options = options;
  }

  /**
   * Decides what happens to a request, and answers it if it gets an answer.
   *
   * @param onWait Called when the answer is delayed on purpose, and when the delay ends
   * @throws the signal's reason, when it ends a delay
   */
  async answer(request: Request, onWait?: (isWaiting: boolean) => void): Promise<Outcome> {
    const { faults, requests, clock, signal } = this.#options;
    const { method } = request;
    if (new URL(request.url).pathname !== PATH) return toOutcome(toHtml(404, "404 Not Found"));
    if (method !== "GET" && method !== "POST") return toOutcome(toHtml(405, "405 Not Allowed"));
    const parameters = await readParameters(request);
    requests.add(method, parameters.command, parameters.byName);
    const fault = faults.take(parameters.command, parameters.byName);
    if (fault?.kind === "hang" || fault?.kind === "reset") return { kind: fault.kind };
    if (fault?.kind === "delay") {
      onWait?.(true);
      await clock.sleep(fault.ms, signal).finally(() => onWait?.(false));
    }
    const replaced = fault && toForeignReply(fault);
    if (replaced !== undefined) return toOutcome(replaced);
    const response = this.#options.answer(method, parameters, fault);
    // The command is carried out; only its answer is lost.
    if (fault?.kind === "resetAfter") return { kind: "reset" };
    if (fault?.kind === "hangAfter") return { kind: "hang" };
    return { kind: "reply", response, isHalf: fault?.kind === "halfBody" };
  }
}

function toOutcome(response: Response): Outcome {
  return { kind: "reply", response, isHalf: false };
}

/** The answer of another server in between, which never asked CloudStack. */
function toForeignReply(fault: Fault): Response | undefined {
  switch (fault.kind) {
    case "html":
      return toHtml(fault.status, fault.status === 502 ? "502 Bad Gateway" : `${fault.status}`);
    case "json":
      return Response.json(fault.body, { status: fault.status ?? 200 });
    case "redirect":
      return new Response(undefined, { status: 302, headers: { location: fault.location } });
    default:
      return undefined;
  }
}
