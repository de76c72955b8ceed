/**
 * Replies of the debug pages: JSON for programs, and the same as a table for people with a terminal.
 * @module
 */
import type { Context } from "hono";
import { setImmediate } from "node:timers/promises";
import { escapeInvisible } from "../core/text/printable.ts";

/** A long list, as {@linkcode inPieces} gives it. */
export type Pieces<T extends object> = AsyncGenerator<readonly T[], void>;

/** Makes a text of what is shown. */
type ToText = () => string | Promise<string>;

const JSON_TYPE = { "content-type": "application/json" };
const JSON_INDENT = 2;

interface Reply {
  readonly toJson: () => Response;
  readonly toText: ToText;
  /** Of the text. @default {200} */
  readonly status?: 200 | 404;
}

/** Replies with one object. `?format=text` gives the text instead. */
export function showView(context: Context, view: object, toText: ToText): Promise<Response> {
  return show(context, { toJson: () => showJson(context, view), toText });
}

/** Replies with one object as JSON. */
export function showJson(context: Context, view: object): Response {
  return context.body(`${formatJson(view)}\n`, 200, JSON_TYPE);
}

/** A long list, and what is shown after it. */
interface ListToShow<T extends object> {
  readonly name: string;
  readonly pieces: Pieces<T>;
  /** Short lists that follow it, by their names. @default {none} */
  readonly more?: Readonly<Record<string, readonly object[]>>;
  readonly toText: ToText;
}

/** Replies with a list under its name. `?format=text` gives the text instead. */
export function showList<T extends object>(
  context: Context,
  { toText, ...list }: ListToShow<T>,
): Promise<Response> {
  const toJson = (): Response => new Response(toListJson(list), { headers: JSON_TYPE });
  return show(context, { toJson, toText });
}

/** Replies that something is not there, in the form that the request asks for. */
export function showMissing(context: Context, error: string): Promise<Response> {
  const toJson = (): Response => context.json({ error }, 404);
  return show(context, { toJson, toText: () => `${escapeInvisible(error)}\n`, status: 404 });
}

async function show(context: Context, { toJson, toText, status = 200 }: Reply): Promise<Response> {
  const wanted = context.req.query("format") ?? "json";
  if (wanted === "text") return context.text(await toText(), status);
  if (wanted === "json") return toJson();
  return context.json({ error: 'format: must be "json" or "text"' }, 400);
}

/** Indented, because operators read it with curl more often than programs do. */
function formatJson(view: object): string {
  return escapeInvisible(JSON.stringify(view, undefined, JSON_INDENT));
}

/** `{"nodes": […]}` in pieces: for a large fleet it has many megabytes. */
async function* toListJson<T extends object>({
  name,
  pieces,
  more = {},
}: Omit<ListToShow<T>, "toText">): AsyncGenerator<string, void> {
  const blanks = " ".repeat(2 * JSON_INDENT);
  let before = "";
  yield `{\n  ${JSON.stringify(name)}: [`;
  for await (const piece of pieces) {
    let text = "";
    for (const view of piece) {
      text += `${before}\n${blanks}${formatJson(view).replaceAll("\n", `\n${blanks}`)}`;
      before = ",";
    }
    yield text;
  }
  yield before === "" ? "]" : "\n  ]";
  for (const [key, list] of Object.entries(more)) {
    yield `,\n  ${JSON.stringify(key)}: ${formatJson(list).replaceAll("\n", "\n  ")}`;
  }
  yield "\n}\n";
}

/**
 * Whether an `Accept` header asks for HTML by name, at least as much as for JSON or plain text.
 *
 * Wildcards do not count: a client that accepts everything (curl) gets data.
 */
export function wantsHtml(accept: string | undefined): boolean {
  const html = findQuality(accept, "text/html");
  if (html === 0) return false;
  return (
    html >= findQuality(accept, "application/json") && html >= findQuality(accept, "text/plain")
  );
}

function findQuality(accept: string | undefined, type: string): number {
  for (const part of (accept ?? "").split(",")) {
    const [name = "", ...params] = part.split(";").map((one) => one.trim().toLowerCase());
    if (name !== type) continue;
    const quality = params.find((param) => param.startsWith("q="));
    return quality === undefined ? 1 : Number(quality.slice("q=".length)) || 0;
  }
  return 0;
}

/**
 * Replies with HTML if the client prefers it and the query names no other form, else with data. Caches must tell the
 * two apart.
 */
export async function showEither(
  context: Context,
  { toPage, toData }: { toPage(): Promise<Response>; toData(): Response | Promise<Response> },
): Promise<Response> {
  const isPage =
    wantsHtml(context.req.header("accept")) && context.req.query("format") === undefined;
  if (isPage) return await toPage();
  const response = await toData();
  response.headers.set("vary", "Accept");
  return response;
}

/** Describing this many Nodes takes a few milliseconds. */
const PIECE_LENGTH = 50;

/**
 * Reads a list in pieces. Thousands of items in one piece would delay probes and the renewal of the Lease.
 *
 * @param items The list may create each item when it is read
 */
export async function* inPieces<T>(items: Iterable<T>): AsyncGenerator<readonly T[], void> {
  let piece: T[] = [];
  for (const item of items) {
    piece.push(item);
    if (piece.length < PIECE_LENGTH) continue;
    yield piece;
    piece = [];
    await setImmediate();
  }
  if (piece.length > 0) yield piece;
}
