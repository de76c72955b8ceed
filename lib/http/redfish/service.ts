/**
 * A Redfish service for many machines: power and boot device of each, as a management controller (BMC) of it would give
 * them. Ironic and metal3 are its clients.
 * @module
 */
import { type Context, Hono } from "hono";
import { abortable, type Clock, isTimeout, startDeadline } from "../../core/clock.ts";
import type { Logger } from "../../core/log.ts";
import { quote } from "../../core/text/printable.ts";
import type { Accepted } from "../sockets/exchange.ts";
import type { Handler, Peer } from "../sockets/server.ts";
import { Access } from "./login/access.ts";
import type { MachineManagement } from "../../cloud/capabilities/machine_management.ts";
import type { Endpoint, Visit } from "./endpoints.ts";
import type { RedfishMetrics } from "./metrics.ts";
import {
  formatRefusal,
  replyError,
  RedfishError,
  reply,
  replyXml,
  toUnavailable,
} from "./replies.ts";
import { renderMetadata, toRoot, toServiceDocument } from "./resources.ts";
import { listSessionEndpoints } from "./login/session_endpoints.ts";
import {
  listManagerEndpoints,
  listMediaEndpoints,
  listSystemEndpoints,
} from "./system_endpoints.ts";
import { ROOT } from "./words.ts";

/** What the service needs. */
interface RedfishOptions {
  readonly management: MachineManagement;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: RedfishMetrics;
  /** Of Landfall: what managers have as their firmware. */
  readonly version: string;
  /** Ends running work. */
  readonly signal: AbortSignal;
}

/** The requests that the service accepts; `PUT`, to say that there is nothing to put. */
export const REDFISH_REQUESTS: Accepted = {
  methods: ["GET", "HEAD", "POST", "PATCH", "PUT", "DELETE"],
  bodyBytesMax: 8 * 1024,
  formatRefusal,
};

/** Shorter than the time that a client has for reading the answer. */
const WORK_MS = 20_000;
const READY_PATH = "/readyz";
const ODATA = "4.0";
const METHODS = ["GET", "POST", "PATCH", "DELETE"] as const;
/** Queries of Redfish without a `$`. Others are ignored. */
const OWN_QUERIES: ReadonlySet<string> = new Set(["excerpt", "only"]);

/** Creates the service. Every answer is in the form of Redfish, except that of the probe. */
export function createRedfishService(options: RedfishOptions): Handler {
  const { management, clock, log, metrics, version } = options;
  const access = new Access(management, clock, metrics);
  const app = new Hono<{ Bindings: Peer }>({ strict: false });
  app.get(READY_PATH, () => replyReady(management.isLeading()));
  app.use(async (context, next) => {
    await next();
    metrics.countRequest(context.req.method, context.res.status);
  });
  const endpoints = [
    ...listRootEndpoints(),
    ...listSessionEndpoints(access),
    ...listSystemEndpoints(management, metrics),
    ...listManagerEndpoints(management, access, version),
    ...listMediaEndpoints(management),
  ];
  for (const endpoint of endpoints) {
    const allow = listMethods(endpoint).join(", ");
    app.all(endpoint.path, async (context) => {
      const response = await answer(context, endpoint, { ...options, access, allow });
      response.headers.set("allow", allow);
      return response;
    });
  }
  app.notFound(() =>
    replyError(new RedfishError(404, "ResourceMissingAtURI", "There is nothing at this path")),
  );
  app.onError((error, context) => {
    if (error instanceof RedfishError) return replyError(error);
    log.error("Redfish request failed", { path: context.req.path, error });
    return replyError(
      new RedfishError(500, "InternalError", "The service failed; its log says why"),
    );
  });
  return app;
}

/** What everyone may read, also of a standby. */
function listRootEndpoints(): Endpoint[] {
  const toEndpoint = (path: string, answerAll: () => Response): Endpoint => ({
    path,
    open: { GET: answerAll },
    isOfStandby: true,
  });
  return [
    toEndpoint("/redfish", () => reply({ v1: `${ROOT}/` })),
    toEndpoint(ROOT, () => reply(toRoot())),
    toEndpoint(`${ROOT}/odata`, () => reply(toServiceDocument())),
    // Some clients write the sign as an escape.
    ...["$", "%24"].map((sign) =>
      toEndpoint(`${ROOT}/${sign}metadata`, () => replyXml(renderMetadata())),
    ),
  ];
}

interface Shared {
  readonly access: Access;
  /** The methods of the endpoint. */
  readonly allow: string;
}

async function answer(
  { req, env }: Context<{ Bindings: Peer }>,
  { open = {}, known = {}, isOfStandby = false }: Endpoint,
  { management, access, allow, clock, signal: ended }: RedfishOptions & Shared,
): Promise<Response> {
  checkRequest(req.raw);
  if (!isOfStandby && !management.isLeading()) {
    throw toUnavailable("This process is a standby; another one answers");
  }
  using deadline = startDeadline(ended, WORK_MS, clock);
  const { signal } = deadline;
  const params: Readonly<Record<string, string>> = req.param();
  // Clients may write a UUID in capitals.
  const system = params["system"]?.toLowerCase();
  const visit: Visit = {
    request: req.raw,
    params: { ...params, ...(system !== undefined && { system }) },
    address: env.address,
    signal,
  };
  const method = METHODS.find((one) => one === (req.method === "HEAD" ? "GET" : req.method));
  const openAct = method && open[method];
  const knownAct = method && known[method];
  const work = async (): Promise<Response> => {
    if (openAct) return await openAct(visit);
    if (knownAct === undefined) {
      throw new RedfishError(405, "OperationNotAllowed", "The method cannot be used here", {
        allow,
      });
    }
    const visitor = await access.identify(req.raw.headers, env.address, { system, signal });
    return await knownAct({ ...visit, visitor });
  };
  try {
    // What is behind may not obey the signal.
    return await abortable(work(), signal);
  } catch (error) {
    if (!isTimeout(error)) throw error;
    throw toUnavailable("What is behind this service does not answer in time");
  }
}

/** Clients must not take an answer for what they asked if the service does not know what that is. */
function checkRequest({ url, headers }: Request): void {
  const version = headers.get("odata-version") ?? ODATA;
  if (version !== ODATA) {
    throw new RedfishError(412, "PreconditionFailed", `OData-Version must be ${ODATA}`);
  }
  for (const name of new URL(url).searchParams.keys()) {
    if (name.startsWith("$") || OWN_QUERIES.has(name)) {
      throw new RedfishError(501, "QueryNotSupported", `The service has no query ${quote(name)}`);
    }
  }
}

function listMethods({ open = {}, known = {} }: Endpoint): string[] {
  const methods: string[] = METHODS.filter((one) => open[one] ?? known[one]);
  return methods.includes("GET") ? ["GET", "HEAD", ...methods.slice(1)] : methods;
}

/** For a load balancer: only the leader is ready. */
function replyReady(isLeading: boolean): Response {
  return new Response(isLeading ? "ok\n" : "standby\n", { status: isLeading ? 200 : 503 });
}
