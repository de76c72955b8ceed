/**
 * What the routes of writes share: who asks, what answers, and what happens if the action fails.
 * @module
 */
import type { Context } from "hono";
import type { XoUser } from "../../auth.ts";
import { toJson } from "../../replies.ts";
import type { XoRecord } from "../../records.ts";
import { type Backend, Work } from "../backend.ts";
import { type BodyShape, readBody } from "./bodies.ts";
import { toErrorReply } from "../errors.ts";

/** Where all paths begin. */
export const BASE = "/rest/v0";

/** What requests carry. */
export interface Env {
  Variables: { user: XoUser | undefined };
}

/** Answers a request of a signed-in user. */
export type Handler = (c: Context<Env>, work: Work) => Promise<Response>;

/** Makes a route of a handler. Errors of actions become answers. */
export function toHandler(
  backend: Backend,
  handler: Handler,
): (c: Context<Env>) => Promise<Response> {
  return async (c: Context<Env>): Promise<Response> => {
    const user = c.get("user");
    if (user === undefined) return toJson({ error: "invalid credentials" }, 401);
    const work = new Work(backend, user.id);
    try {
      return await handler(c, work);
    } catch (error) {
      // The process that took the request is gone, so the client gets no answer.
      work.life.throwIfAborted();
      if (error instanceof RangeError || error instanceof TypeError) throw error;
      return toErrorReply(error);
    }
  };
}

/** Makes a route that takes a body. */
export function toBodyHandler<T>(
  backend: Backend,
  shape: BodyShape,
  handler: (c: Context<Env>, work: Work, body: T) => Promise<Response>,
): (c: Context<Env>) => Promise<Response> {
  return toHandler(backend, async (c, work) => {
    const read = await readBody<T>(c.req.raw, shape);
    return "refusal" in read ? read.refusal : await handler(c, work, read.body);
  });
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
export interface ActionAbout {
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
