/**
 * When the token in use expires, if Xen Orchestra says so, and how to renew it.
 * @module
 */
import * as v from "valibot";
import { CloudError } from "../../../cloud/errors.ts";
import type { Reply } from "../../../cloud_http/http.ts";
import { isTime, OWN_CLIENT, toMinted } from "./mint.ts";
import { toReplyError } from "./reply_error.ts";
import type { Session } from "./session.ts";

/** How long a token lives. */
export interface TokenLife {
  /** Wall-clock milliseconds. */
  readonly endsAtMs: number;
  /** How to renew it; absent if Landfall did not create it, so that its owner decides. */
  readonly renewal?: TokenRenewal;
}

/** Whose token it is: minting again for the same client of the same user gives the same token a new expiry. */
export interface TokenRenewal {
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

/** How long tokens last by default; asked for, because an installation may have a shorter default. */
const RENEWED_LIFE = "30 days";

/**
 * Looks up the token in use among those of its user.
 *
 * @returns `undefined` if Xen Orchestra does not say: the user has no right to ask, or the server is too old
 * @throws {CloudError} when there is no usable answer
 */
export async function readTokenLife(
  session: Asker,
  signal: AbortSignal,
): Promise<TokenLife | undefined> {
  const path = "/users/me/authentication_tokens";
  const request = { operation: "list_tokens", path, isList: false, isAside: true };
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
 * Renews the token in use, for 30 days, or for as long as the server gives by default if that is too long for it.
 *
 * @returns When it expires now, in wall-clock milliseconds
 * @throws {CloudError} when the server refuses, or gave another token, which is then not used
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
  // That is how the server says that it is out of range.
  if (reply.status === 500) reply = await post({ client });
  const { token, expiresAtMs } = toMinted(reply);
  if (token === (await session.readToken(signal)) && expiresAtMs !== undefined) return expiresAtMs;
  throw new CloudError("protocol", "Xen Orchestra gave another token instead of renewing this one");
}
