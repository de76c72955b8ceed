/**
 * Turns the changes that Xen Orchestra reports as they happen (server-sent events, since 5.113) into hints.
 * @module
 */
import { CloudError } from "../../cloud/errors.ts";
import type { ChangeHint } from "../../cloud/provider.ts";
import {
  ChangeFeed,
  type ChangeFeedOptions,
  type ChangeSource,
  type ServerSentEvent,
  Unsupported,
} from "../../cloud_http/change_feed.ts";
import type { Reply } from "../../cloud_http/http.ts";
import { parseFields, parseUuid } from "../../core/text/values.ts";
import { toReplyError } from "./session/reply_error.ts";
import { SERVER_NAMES, type Session } from "./session/session.ts";

type Asker = Pick<Session, "post" | "openStream">;

/**
 * Subscriptions: the fields that an inventory uses, so that the server does not send other changes. For CPUs and memory
 * only the configured values, because the used values change all the time.
 */
export const SUBSCRIPTIONS: Readonly<Record<string, readonly string[]>> = {
  VM: [
    "id",
    "name_label",
    "power_state",
    "CPUs.max",
    "memory.static",
    "mainIpAddress",
    "addresses",
    "$container",
    "$pool",
    "tags",
    "current_operations",
  ],
  host: ["id", "name_label", "$pool", "tags", "controlDomain"],
  pool: ["id", "name_label", "master"],
};

const STREAM_TYPE = "text/event-stream";
const CHANGES: ReadonlySet<string> = new Set(["add", "update", "remove"]);
/** The server sends a ping every 30 s; two may be missing. */
const SILENCE_MS = 75_000;

/** Creates the change feed of one Xen Orchestra. */
export function createEventFeed({
  session,
  ...options
}: Omit<ChangeFeedOptions, "source"> & { readonly session: Asker }): ChangeFeed {
  const source: ChangeSource = {
    server: SERVER_NAMES.server,
    silenceMs: SILENCE_MS,
    open: (signal) => open(session, signal),
    begin: async ({ event, data }, signal) => {
      if (event !== "init") return false;
      await subscribe(session, toId(data), signal);
      return true;
    },
    toHint,
  };
  return new ChangeFeed({ ...options, source });
}

async function open(session: Asker, signal: AbortSignal): Promise<ReadableStream<Uint8Array>> {
  const request = { operation: "open_events", path: "/events", type: STREAM_TYPE };
  const { body, ...head } = await session.openStream(request, signal);
  if (body === undefined) throw toRefusal(head, "GET /events");
  return body;
}

async function subscribe(session: Asker, id: string, signal: AbortSignal): Promise<void> {
  const path = `/events/${encodeURIComponent(id)}/subscriptions`;
  await Promise.all(
    Object.entries(SUBSCRIPTIONS).map(async ([collection, fields]) => {
      const content = { collection, fields };
      const request = { operation: "subscribe_events", path, content };
      const reply = await session.post(request, signal);
      if (reply.status === 200 || reply.status === 201) return;
      // The stream ended meanwhile; the next one may work.
      const isGone = reply.status === 404 && reply.json !== undefined;
      const what = `the subscription to ${collection}`;
      throw isGone ? toReplyError(reply, what) : toRefusal(reply, what);
    }),
  );
}

/** Turns events into a hint; `undefined` if none reports a change. */
function toHint(events: readonly ServerSentEvent[]): ChangeHint | undefined {
  const ids = new Set<string>();
  for (const { event, data } of events) {
    if (!CHANGES.has(event)) continue;
    const { $subscription: type, id } = parseFields(data) ?? {};
    // A host or pool that changed may affect every VM. An unreadable event counts as such a change.
    const vmId = typeof id === "string" ? parseUuid(id) : undefined;
    if (type !== "VM" || vmId === undefined) return "everything";
    ids.add(vmId);
  }
  return ids.size > 0 ? ids : undefined;
}

function toId(data: string): string {
  const { id } = parseFields(data) ?? {};
  if (typeof id === "string" && id !== "") return id;
  throw new CloudError("protocol", "Xen Orchestra started an event stream without an ID");
}

/** Landfall soon tries again if the server has a problem, but not if it refuses. */
function toRefusal(reply: Reply, what: string): Error {
  const error = toReplyError(reply, what);
  return reply.status === 429 || reply.status >= 500 ? error : new Unsupported(error.message);
}
