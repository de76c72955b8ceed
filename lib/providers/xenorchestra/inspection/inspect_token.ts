/**
 * Reports when the token expires, for an operator who sets it up.
 * @module
 */
import { CloudError } from "../../../cloud/errors.ts";
import type { Finding } from "../../../cloud/inspection.ts";
import type { SignIn } from "../settings/config.ts";
import type { Session } from "../session/session.ts";
import { readTokenLife } from "../session/token_life.ts";
import { describeTokenEnd } from "../session/token_watch.ts";

/**
 * Looks up the expiry of the token in use. Returns no finding with a password, or if Xen Orchestra does not report it.
 *
 * @param nowMs Wall-clock milliseconds
 * @throws the signal's reason
 */
export async function inspectToken(
  session: Pick<Session, "get" | "post" | "readToken">,
  { kind }: Pick<SignIn, "kind">,
  { nowMs, signal }: { readonly nowMs: number; readonly signal: AbortSignal },
): Promise<Finding[]> {
  if (kind === "password") return [];
  try {
    const life = await readTokenLife(session, signal);
    if (life === undefined) return [];
    const { isSoon, message, advice } = describeTokenEnd(kind, life.endsAtMs, nowMs);
    const code = "tokenEnd";
    if (life.renewal)
      return [{ level: "ok", code, message: `${message}; Landfall renews it in time` }];
    return isSoon
      ? [{ level: "warning", code, message, advice }]
      : [{ level: "ok", code, message }];
  } catch (error) {
    signal.throwIfAborted();
    // Everything else works, so this failure needs no finding.
    if (error instanceof CloudError) return [];
    throw error;
  }
}
