/**
 * Signed requests to a CloudStack, simulated or real, as a test writes them by hand.
 * @module
 */
import { createHmac } from "node:crypto";
import type { CloudStackSimulator } from "../../../lib/simulator/cloudstack/mod.ts";

/** Parameters of a request. */
export type Fields = Readonly<Record<string, string>>;

/** Keys of a user. */
export interface Keys {
  readonly apiKey: string;
  readonly secretKey: string;
}

/** How to send a request. */
export interface SendOptions {
  /** @default {"GET"} */
  readonly method?: "GET" | "POST" | undefined;
  /** Milliseconds since the epoch until when the signature is good. @default {no version 3, and so for ever} */
  readonly expiresMs?: number;
  /** Fields that are added or replaced after signing. */
  readonly unsigned?: Fields;
}

/** How to ask the simulated one. */
export interface AskOptions extends SendOptions {
  /** Whose keys sign. @default {those of the first user} */
  readonly username?: string;
}

/** What came back. */
export interface Answer {
  readonly status: number;
  /** The single key around the answer. */
  readonly key: string;
  // What is inside differs by command.
  readonly body: Readonly<Record<string, unknown>>;
  readonly headers: Headers;
}

/** Asks, and takes the answer out of its envelope. */
export async function ask(
  simulator: CloudStackSimulator,
  command: string,
  fields: Fields = {},
  options: AskOptions = {},
): Promise<Answer> {
  return readAnswer(await send(simulator, command, fields, options));
}

/** Takes an answer out of its envelope. */
export async function readAnswer(response: Response): Promise<Answer> {
  const text = await response.text();
  const [key = "", body] =
    Object.entries(JSON.parse(text) as Record<string, Answer["body"]>)[0] ?? [];
  return { status: response.status, key, body: body ?? {}, headers: response.headers };
}

/** Asks for JSON. */
function send(
  simulator: CloudStackSimulator,
  command: string,
  fields: Fields = {},
  options: AskOptions = {},
): Promise<Response> {
  const user = findUser(simulator, options.username);
  return sendSigned(simulator.url, user, { command, ...fields }, options);
}

/** Asks for JSON with the keys of a user. */
export function sendSigned(
  url: string,
  { apiKey, secretKey }: Keys,
  fields: Fields,
  { method = "GET", expiresMs, unsigned = {} }: SendOptions = {},
): Promise<Response> {
  const all: Record<string, string> = { response: "json", apikey: apiKey, ...fields };
  if (expiresMs !== undefined) {
    all["signatureversion"] = "3";
    all["expires"] = new Date(expiresMs).toISOString().replace(/\.\d+Z$/, "+0000");
  }
  all["signature"] = sign(all, secretKey);
  const query = new URLSearchParams({ ...all, ...unsigned }).toString();
  if (method === "GET") return fetch(`${url}?${query}`, { redirect: "manual" });
  const headers = { "content-type": "application/x-www-form-urlencoded" };
  return fetch(url, { method, headers, body: query, redirect: "manual" });
}

/** The names of the entries of a list. */
export function listNames({ body }: Answer, key: string): unknown[] {
  return listEntries({ body }, key).map((entry) => entry["name"]);
}

/** The entries of a list. */
export function listEntries(
  { body }: Pick<Answer, "body">,
  key: string,
): Record<string, unknown>[] {
  const entries = body[key];
  return Array.isArray(entries) ? entries : [];
}

function findUser({ state, apiKey }: CloudStackSimulator, username: string | undefined) {
  const found = [...state.users.values()].find((user) =>
    username === undefined ? user.apiKey === apiKey : user.username === username,
  );
  if (found === undefined) throw new RangeError(`Cannot find user "${username}"`);
  return found;
}

function sign(fields: Fields, secret: string): string {
  const encode = (value: string): string =>
    encodeURIComponent(value).replaceAll(/[!~'()]/g, (one) => `%${one.charCodeAt(0).toString(16)}`);
  const pairs = Object.entries(fields).map(([name, value]) => `${name}=${encode(value)}`);
  const text = pairs.toSorted().join("&").toLowerCase();
  return createHmac("sha1", secret).update(text).digest("base64");
}
