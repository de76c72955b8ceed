/**
 * What may happen to any reply of a cloud without making it say something else, and what a failure's words must be.
 * @module
 */
import fc from "fast-check";
import { describeError } from "../../lib/core/errors.ts";
import { applyDamage, type Damage, damage } from "./damage.ts";

/** One mishap. */
export type Mishap =
  | { readonly kind: "damage"; readonly damage: Damage }
  | { readonly kind: "cut"; readonly at: number }
  | { readonly kind: "status" | "page" | "nothing"; readonly status: number }
  | { readonly kind: "other"; readonly said: unknown };

/** What differs by cloud. */
interface MishapOptions {
  /** Statuses under which the same body means nothing. */
  readonly statuses: readonly number[];
  /** Statuses under which a proxy may send a page. */
  readonly pageStatuses: readonly number[];
  /** Answers that are about something else, or by somebody else. */
  readonly others: readonly unknown[];
}

/** Draws mishaps. */
export function toMishaps({ statuses, pageStatuses, others }: MishapOptions): fc.Arbitrary<Mishap> {
  return fc.oneof(
    { weight: 4, arbitrary: fc.record({ kind: fc.constant("damage" as const), damage }) },
    fc.record({ kind: fc.constant("cut" as const), at: fc.nat() }),
    fc.record({ kind: fc.constant("status" as const), status: fc.constantFrom(...statuses) }),
    fc.record({ kind: fc.constant("page" as const), status: fc.constantFrom(...pageStatuses) }),
    fc.record({ kind: fc.constant("other" as const), said: fc.constantFrom(...others) }),
    fc.record({ kind: fc.constant("nothing" as const), status: fc.constantFrom(200, 204, 304) }),
  );
}

/**
 * A reply after a mishap.
 *
 * @param text The body of the reply, in JSON
 * @param otherStatus Status of an answer about something else
 */
export function bendReply(
  one: Mishap,
  { reply, text, otherStatus }: { reply: Response; text: string; otherStatus: number },
): Response {
  switch (one.kind) {
    case "cut":
      return withText(reply, text.slice(0, one.at % Math.max(1, text.length)));
    case "status":
      return new Response(text, { status: one.status, headers: reply.headers });
    case "other":
      return Response.json(one.said, { status: otherStatus });
    case "nothing":
      return new Response(null, { status: one.status });
    case "page":
      return new Response("<html>404</html>", {
        status: one.status,
        headers: { "content-type": "text/html" },
      });
    case "damage":
      return withText(reply, JSON.stringify(applyDamage(JSON.parse(text), one.damage).value));
  }
}

/** A reply with this body, else as it was. */
export function withText(reply: Response, text: string | Uint8Array<ArrayBuffer>): Response {
  return new Response(text, { status: reply.status, headers: reply.headers });
}

/** Makes sure that a failure has a reason, a short one, without secrets. */
export function checkReason<E extends Error>(error: E, secrets: readonly string[]): E {
  const text = describeError(error);
  if (text.length < 10 || text.length > 1_500) throw new Error(`no words: ${text.slice(0, 2_000)}`);
  if (/\p{Cc}/u.test(error.message)) throw new Error(`no plain text: ${text.slice(0, 2_000)}`);
  if (secrets.some((secret) => text.includes(secret))) throw new Error("a secret is shown");
  return error;
}
