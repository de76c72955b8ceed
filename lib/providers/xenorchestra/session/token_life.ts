/**
 * Finds out when the token in use expires, if Xen Orchestra reports it, and renews it.
 * @module
 */
import * as v from "valibot";
import { CloudError } from "../../../cloud/errors.ts";
import type { Reply } from "../../../cloud_http/http.ts";
import { isTime, OWN_CLIENT, toMinted } from "./mint.ts";
import { toReplyError } from "./reply_error.ts";
import type { Session } from "./session.ts";

/** The expiry of a token. */
export interface TokenLife {
  /** Wall-clock milliseconds. */
  readonly endsAtMs: number;
  /** How to renew it; absent if Landfall did not create it, because its owner decides. */
  readonly renewal?: TokenRenewal;
}

/** The user and client of a token. A new request for the same client and user gives the same token a new expiry. */
interface TokenRenewal {
  readonly userId: string;
  readonly clientId: string;
}

type Asker = Pick<Session, "get" | "post" | "readToken">;

const LISTED = v.object({
  id: v.string(),
  expiration: v.custom<number>(isTime),
  user_id: v.nullish(v.string()),
  client: v.nullish(v.object({ id: v.nullish(v.string()) })),
});

/** The usual life of tokens. Landfall asks for it, because an installation may have a shorter default. */
const RENEWED_LIFE = "30 days";

/**
 * Looks up the token in use in the list of its user's tokens.
 *
 * @returns `undefined` if Xen Orchestra does not report it: the user has no right, or the server is too old
 * @throws {CloudError} if there is no usable answer
 */
export async function readTokenLife(
  session: Asker,
  signal: AbortSignal,
): Promise<TokenLife | undefined> {
  const path = "/users/me/authentication_tokens";
  const request = { operation: "list_tokens", path, isList: false, allows401: true };
  const reply = await session.get(request, signal);
  if (reply.status === 403 || reply.status === 404) return undefined;
  const list = reply.json?.value;
  if (reply.status !== 200 || !Array.isArray(list)) throw toReplyError(reply, `GET ${path}`);
  const token = await session.readToken(signal);
  for (const one of list) {
    const listed = v.safeParse(LISTED, one);
    if (listed.success && listed.output.id === token) return toLife(listed.output);
  }
  return undefined;
}

function toLife({ expiration, user_id: userId, client }: v.InferOutput<typeof LISTED>): TokenLife {
  const clientId = client?.id ?? "";
  const isOurs = clientId.startsWith(OWN_CLIENT) && userId;
  return { endsAtMs: expiration, ...(isOurs && { renewal: { userId, clientId } }) };
}

/**
 * Renews the token in use for 30 days, or for the server's default if it refuses 30 days.
 *
 * @returns The new expiry, in wall-clock milliseconds
 * @throws {CloudError} if the server refuses, or gives another token, which Landfall does not use
 */
export async function renewToken(
  session: Asker,
  { userId, clientId }: TokenRenewal,
  signal: AbortSignal,
): Promise<number> {
  const client = { id: clientId };
  const path = `/users/${encodeURIComponent(userId)}/authentication_tokens`;
  const post = (content: object): Promise<Reply> =>
    session.post({ operation: "renew_token", path, content }, signal);
  let reply = await post({ client, expiresIn: RENEWED_LIFE });
  // The server answers 500 if the value is out of range.
  if (reply.status === 500) reply = await post({ client });
  const { token, expiresAtMs } = toMinted(reply);
  if (token === (await session.readToken(signal)) && expiresAtMs !== undefined) return expiresAtMs;
  throw new CloudError("protocol", "Xen Orchestra gave another token instead of renewing this one");
}
