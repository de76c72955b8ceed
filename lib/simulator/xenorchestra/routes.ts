/**
 * The routes of the simulated Xen Orchestra. They answer requests without faults.
 * @module
 */
import { Hono, type Context } from "hono";
import type { Clock } from "../../core/clock.ts";
import { AuthError, type Auth } from "./auth.ts";
import { FilterError, parseFilter } from "./filter.ts";
import {
  type Collection,
  COLLECTIONS,
  isCollection,
  pickFields,
  type XoRecord,
} from "./records.ts";
import { toForbidden, toHtml, toJson, toNotFound, toUnknownRoute } from "./replies.ts";
import type { EventHub } from "./events.ts";
import type { XenOrchestraState } from "./state.ts";
import { isAllowed } from "./access/privileges.ts";
import type { Backend } from "./writes/backend.ts";
import { BASE, type Env } from "./writes/route.ts";
import { addWrites } from "./writes/mod.ts";

/** The dependencies of the routes. */
interface RoutesOptions {
  readonly state: XenOrchestraState;
  readonly auth: Auth;
  readonly events: EventHub;
  readonly clock: Clock;
  /** What can be changed. Absent: it only answers reads. */
  readonly backend?: Backend;
}

/** Marks a request of a user without rights. Only the server sets it, never a client. */
export const NON_ADMIN_HEADER = "x-simulator-non-admin";

/** Creates the application. */
export function createRoutes(options: RoutesOptions): Hono<Env> {
  const { auth, clock } = options;
  const app = new Hono<Env>({ strict: false });
  app.use("/rest/*", async (c, next) => {
    try {
      const cookie = c.req.header("cookie");
      c.set("user", auth.identify({ cookie, authorization: c.req.header("authorization") }));
    } catch (error) {
      if (error instanceof AuthError) return toJson({ error: error.message }, error.status);
      throw error;
    }
    return next();
  });
  app.get("/", () => toHtml(200, "Simulated", "This Xen Orchestra is simulated: it has no pages."));
  app.get(BASE, () => toRedirect(302, "Found", `${BASE}/docs`));
  app.get(`${BASE}/ping`, () => toJson({ result: "pong", timestamp: clock.now() }));
  app.get(`${BASE}/gui-routes`, () => toJson({ xo5: "/v5", xo6: "/v6" }));
  addUsers(app, options);
  addEvents(app, options);
  if (options.backend !== undefined) addWrites(app, options.backend);
  app.on(["GET", "OPTIONS"], `${BASE}/:collection`, (c) => list(c, options));
  app.get(`${BASE}/:collection/:id`, (c) => read(c, options));
  app.notFound((c) => toUnknownRoute(c.req.method, c.req.path));
  return app;
}

function list(c: Context<Env>, { state }: RoutesOptions): Response {
  const collection = c.req.param("collection") ?? "";
  if (!isCollection(collection)) return toUnknownRoute(c.req.method, c.req.path);
  if (c.req.method === "OPTIONS") {
    return new Response("GET,HEAD", {
      headers: { allow: "GET,HEAD", "content-type": "text/html; charset=utf-8" },
    });
  }
  if (c.get("user") === undefined) return toJson({ error: "invalid credentials" }, 401);
  if (c.req.query("ndjson") === "true" && c.req.query("markdown") === "true") {
    const error = "Cannot use both ndjson and markdown output formats simultaneously";
    return toJson({ error, data: {} }, 422);
  }
  const limit = toLimit(c.req.query("limit"));
  if (typeof limit !== "number") return limit;
  const records = state.listShown(collection).filter((record) => canRead(c, collection, record));
  const filter = c.req.query("filter") ?? "";
  try {
    const found = filter === "" ? records : records.filter(parseFilter(filter));
    const toItem = createToItem(collection, c.req.query("fields"));
    return toJson(found.slice(0, limit).map(toItem), 200, c.req.raw);
  } catch (error) {
    if (!(error instanceof FilterError)) throw error;
    return toJson({ error: error.message, data: { stringToParse: filter } }, 400);
  }
}

function read(c: Context<Env>, { state }: RoutesOptions): Response {
  const collection = c.req.param("collection") ?? "";
  const id = c.req.param("id") ?? "";
  if (!isCollection(collection)) return toUnknownRoute(c.req.method, c.req.path);
  if (c.get("user") === undefined) return toJson({ error: "invalid credentials" }, 401);
  const { type, resource } = COLLECTIONS[collection];
  const record = state.readShown(collection, id);
  if (record === undefined) return toNotFound(id, type);
  const isForbidden = state.isForbidden(id) || !canRead(c, collection, record);
  if (isForbidden) return toForbidden(id, resource);
  return toJson(record, 200, c.req.raw);
}

function canRead(c: Context<Env>, collection: Collection, object: XoRecord): boolean {
  if (c.req.header(NON_ADMIN_HEADER) !== undefined) return false;
  const { resource } = COLLECTIONS[collection];
  return isAllowed(c.get("user")?.privileges, { resource, action: "read", object });
}

function addUsers(app: Hono<Env>, { auth }: RoutesOptions): void {
  const toMe = (c: Context<Env>): Response => {
    const user = c.get("user");
    if (user === undefined) return toJson({ error: "invalid credentials" }, 401);
    const rest = c.req.path.slice(`${BASE}/users/me`.length);
    return toRedirect(307, "Temporary Redirect", `${BASE}/users/${user.id}${rest}`);
  };
  app.all(`${BASE}/users/me`, toMe);
  app.all(`${BASE}/users/me/*`, toMe);
  const mint = async (c: Context<Env>): Promise<Response> => {
    const user = c.get("user");
    if (user === undefined) return toJson({ error: "invalid credentials" }, 401);
    const id = c.req.param("id") ?? user.id;
    if (id !== user.id) return toForbidden(id, "user");
    try {
      const body: unknown = JSON.parse((await c.req.text()) || "{}");
      const fields = typeof body === "object" && body !== null ? { ...body } : {};
      return toJson({ token: auth.mint(user, fields) }, 201);
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      return toJson({ error: message }, error instanceof AuthError ? error.status : 500);
    }
  };
  app.post(`${BASE}/users/authentication_tokens`, mint);
  app.post(`${BASE}/users/:id/authentication_tokens`, mint);
  app.get(`${BASE}/users/:id/authentication_tokens`, (c) => {
    const user = c.get("user");
    if (user === undefined) return toJson({ error: "invalid credentials" }, 401);
    const id = c.req.param("id");
    if (id !== user.id) return toNotFound(id, "user");
    const own = [...auth.tokens.values()].filter((token) => token.user_id === user.id);
    return toJson(own, 200, c.req.raw);
  });
  app.get(`${BASE}/users/:id/acl-privileges`, (c) => {
    const user = c.get("user");
    if (user === undefined) return toJson({ error: "invalid credentials" }, 401);
    if (c.req.param("id") !== user.id) return toNotFound(c.req.param("id"), "user");
    const privileges = (user.privileges ?? []).map((one) => ({ effect: "allow", ...one }));
    return toJson(privileges, 200, c.req.raw);
  });
  app.get(`${BASE}/users/:id`, (c) => {
    const user = c.get("user");
    if (user === undefined) return toJson({ error: "invalid credentials" }, 401);
    if (c.req.param("id") !== user.id) return toNotFound(c.req.param("id"), "user");
    const { id, username, privileges } = user;
    const permission = privileges === undefined ? "admin" : "none";
    return toJson({ email: username, permission, groups: [], id, name: username });
  });
}

function addEvents(app: Hono<Env>, { events }: RoutesOptions): void {
  app.use(`${BASE}/events/*`, async (c, next) =>
    c.get("user") === undefined ? toJson({ error: "invalid credentials" }, 401) : next(),
  );
  app.get(`${BASE}/events`, (c) => events.open(c.req.header(NON_ADMIN_HEADER) !== undefined));
  app.post(`${BASE}/events/:id/subscriptions`, async (c) =>
    events.subscribe(c.req.param("id"), await c.req.text()),
  );
  app.delete(`${BASE}/events/:id/subscriptions/:type`, (c) =>
    events.unsubscribe(c.req.param("id"), c.req.param("type")),
  );
}

function toRedirect(status: number, word: string, location: string): Response {
  return new Response(`${word}. Redirecting to ${location}`, {
    status,
    headers: { location, "content-type": "text/plain; charset=utf-8" },
  });
}

/** Parses a limit. Ignores negative and fractional limits, and refuses text. */
function toLimit(text: string | undefined): number | Response {
  if (text === undefined) return Infinity;
  const limit = text.trim() === "" ? Number.NaN : Number(text);
  if (Number.isNaN(limit)) {
    const error = { limit: { message: "invalid float number", value: text } };
    return toJson({ error, data: {} }, 422);
  }
  return Number.isInteger(limit) && limit >= 0 ? limit : Infinity;
}

/** Creates the function that builds the list entry of a record: only its address, all of it, or some fields. */
function createToItem(
  collection: Collection,
  wanted: string | undefined,
): (record: XoRecord) => unknown {
  const toHref = ({ id }: XoRecord): string => `${BASE}/${collection}/${id}`;
  if (wanted === undefined) return toHref;
  if (wanted === "*") return (record) => ({ ...record, href: toHref(record) });
  const fields = wanted.split(",");
  return (record) => ({ ...pickFields(record, fields), href: toHref(record) });
}
