/**
 * What the routes of writes share: who asks, which bodies are taken, what answers, and what happens if the action
 * fails.
 * @module
 */
import { findMissing, type Need } from "../access/privileges.ts";
import type { XoUser } from "../auth.ts";
import type { XoRecord } from "../records.ts";
import { toJson } from "../replies.ts";
import { type Backend, Work } from "./backend.ts";
import { toErrorReply } from "./errors.ts";
import type { Context } from "hono";

/** Where all paths begin. */
export const BASE = "/rest/v0";

/** What requests carry. */
export interface Env {
  Variables: { user: XoUser | undefined };
}

/** Answers a request of a signed-in user. */
type Handler<T> = (c: Context<Env>, work: Work, body: T) => Promise<Response>;

/** A route, except how it is reached. */
interface RouteOptions<T> {
  /** Rights that it needs. The body is not checked yet. @throws {XoError} if what is named is not there */
  readonly toNeeds: (c: Context<Env>, work: Work, body: unknown) => readonly Need[];
  /** What the body may have. Absent: it is not looked at. */
  readonly shape?: BodyShape;
  readonly handle: Handler<T>;
}

/** Makes a route: first who asks, then their rights, then the body. Errors of actions become answers. */
export function createRoute<T = undefined>(
  backend: Backend,
  { toNeeds, shape, handle }: RouteOptions<T>,
): (c: Context<Env>) => Promise<Response> {
  return async (c) => {
    const user = c.get("user");
    if (user === undefined) return toJson({ error: "invalid credentials" }, 401);
    const work = new Work(backend, user.id);
    try {
      const read = shape && (await readBody(c.req.raw));
      if (read !== undefined && "refusal" in read) return read.refusal;
      const missingPrivileges = findMissing(user.privileges, toNeeds(c, work, read?.body));
      if (missingPrivileges.length > 0) {
        return toJson({ error: "not enough privileges", data: { missingPrivileges } }, 403);
      }
      const refusal = shape && checkBody(read?.body, shape);
      // Its shape was just checked.
      return refusal ?? (await handle(c, work, read?.body as T));
    } catch (error) {
      // The process that took the request is gone, so the client does not get this answer.
      if (work.life.aborted) return toDone();
      if (error instanceof RangeError || error instanceof TypeError) throw error;
      return toErrorReply(error);
    }
  };
}

/** What a request needs for one object. */
export function toNeed(resource: string, action: string, object: XoRecord): Need {
  return { resource, action, objectId: object.id, object };
}

/** What a request needs to use a host. @param id As the body has it; absent: it names no host @throws {XoError} 404 */
export function toHostNeeds(work: Work, id: unknown): readonly Need[] {
  return typeof id === "string" ? [toNeed("host", "allow-vm", work.find("hosts", id, "host"))] : [];
}

/** What a change of fields needs: a right for each. Fields that are not known need none; they are refused later. */
export function toChangeNeeds(
  resource: string,
  object: XoRecord,
  { body, shape }: { readonly body: unknown; readonly shape: BodyShape },
): readonly Need[] {
  return Object.keys(Object(body))
    .filter((field) => Object.hasOwn(shape, field))
    .toSorted()
    .map((field) => toNeed(resource, `update:${field}`, object));
}

/** Done, nothing to say. */
export function toDone(): Response {
  return new Response(undefined, { status: 204 });
}

/** Something was made. @param isLocated Whether the answer says where it is */
export function toMade(collection: string, { id }: XoRecord, isLocated: boolean): Response {
  const response = toJson({ id }, 201);
  if (isLocated) response.headers.set("location", `${BASE}/${collection}/${id}`);
  return response;
}

/** What an action is about. */
interface ActionAbout {
  readonly name: string;
  readonly objectType: string;
  readonly objectId: string;
  readonly args?: unknown;
}

/** Runs an action: at once with `?sync=true`, otherwise as a task. @param status Of a success that is waited for */
export async function runAction(
  c: Context<Env>,
  work: Work,
  about: ActionAbout,
  action: () => Promise<unknown>,
  status: 201 | 204 = 204,
): Promise<Response> {
  const sync = c.req.query("sync");
  if (sync !== undefined && sync !== "true" && sync !== "false") {
    return toJson(
      { error: { sync: { message: "invalid boolean value", value: sync } }, data: {} },
      422,
    );
  }
  const properties = { ...about, userId: work.userId };
  if (sync === "true") {
    const running = action();
    work.backend.tasks.start(properties, () => running, work.life);
    const result = await running;
    return status === 204 ? toDone() : toJson(result, status);
  }
  const { id } = work.backend.tasks.start(properties, action, work.life);
  const response = toJson({ taskId: id }, 202);
  response.headers.set("location", `${BASE}/tasks/${id}`);
  return response;
}

/** One key. */
interface BodyField {
  readonly type: "string" | "strings" | "number" | "boolean" | "array" | "object" | "any";
  /** @default {false} */
  readonly isRequired?: boolean;
  /** Whether `null` is taken, too. @default {false} */
  readonly isNullable?: boolean;
  /** Of the entries of a list, or the keys of an object. @default {anything} */
  readonly of?: BodyShape;
}

/** The keys of a body. */
export interface BodyShape {
  readonly [key: string]: BodyField;
}

/** JSON bodies are no larger. */
const BYTES_MAX = 100 * 1024;

/** Reads the JSON of a body, or the answer that refuses it. */
async function readBody(
  request: Request,
): Promise<{ readonly body: unknown } | { readonly refusal: Response }> {
  const text = await request.text();
  if (Buffer.byteLength(text) > BYTES_MAX) {
    return { refusal: toJson({ error: "request entity too large" }, 500) };
  }
  try {
    return { body: text === "" ? {} : JSON.parse(text) };
  } catch (error) {
    return { refusal: toJson({ error: error instanceof Error ? error.message : "" }, 500) };
  }
}

/** The answer that refuses a body; `undefined` if it is as it must be. */
function checkBody(body: unknown, shape: BodyShape): Response | undefined {
  const issues: Record<string, object> = {};
  checkObject(body, shape, "body", issues);
  const isRight = Object.keys(issues).length === 0;
  return isRight ? undefined : toJson({ error: issues, data: {} }, 422);
}

function checkObject(
  value: unknown,
  shape: BodyShape,
  path: string,
  issues: Record<string, object>,
): void {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    issues[path] = { message: "invalid object", value };
    return;
  }
  for (const [key, inner] of Object.entries(value)) {
    const field = Object.hasOwn(shape, key) ? shape[key] : undefined;
    if (field !== undefined) checkField(inner, field, `${path}.${key}`, issues);
    else {
      const message = `"${key}" is an excess property and therefore is not allowed`;
      issues[`${path}.${key}`] = { message, value: key };
    }
  }
  for (const [key, { isRequired = false }] of Object.entries(shape)) {
    if (isRequired && !Object.hasOwn(value, key)) {
      issues[`${path}.${key}`] = { message: `'${key}' is required` };
    }
  }
}

function checkField(
  value: unknown,
  { type, isNullable = false, of }: BodyField,
  path: string,
  issues: Record<string, object>,
): void {
  if (type === "any" || (isNullable && value === null)) return;
  if (type === "strings") {
    // Its path has no name of the body, and one text does for a list.
    const name = path.slice(path.indexOf(".") + 1);
    for (const [index, entry] of [value].flat().entries()) {
      if (typeof entry === "string") continue;
      issues[`${name}.$${index}`] = { message: "invalid string value", value: entry };
    }
    return;
  }
  const actual = Array.isArray(value) ? "array" : typeof value;
  // A number may be sent as text.
  if (type === "number" && actual === "string" && Number.isFinite(Number(value))) return;
  if (actual !== type || value === null) {
    issues[path] = { message: `invalid ${type} value`, value };
    return;
  }
  if (of === undefined) return;
  if (!Array.isArray(value)) return checkObject(value, of, path, issues);
  for (const [index, entry] of value.entries()) {
    checkObject(entry, of, `${path}.$${index}`, issues);
  }
}
