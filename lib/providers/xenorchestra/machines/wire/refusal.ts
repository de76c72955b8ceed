/**
 * What Xen Orchestra says when it does not carry out a change.
 * @module
 */
import * as v from "valibot";
import { CloudError } from "../../../../cloud/errors.ts";
import type { Reply } from "../../../../cloud_http/client.ts";
import { shorten } from "../../../../core/text/printable.ts";
import { findPrivilege, formatPrivilege, type Privilege } from "../privileges.ts";
import { toReplyError } from "../../session/reply_error.ts";

/** Xen Orchestra or the hypervisor refused a change. */
export class ChangeRefusal extends CloudError {
  /** The hypervisor's word: `VM_BAD_POWER_STATE`. Absent: Xen Orchestra refused. */
  readonly code: string | undefined;
  readonly params: readonly string[];
  /** The rights that the user lacks, in words. */
  readonly missing: readonly string[];
  /** Whether a person blocked the operation. */
  readonly isBlocked: boolean;
  /** Whether the object of the request does not exist, as far as Xen Orchestra can see. */
  readonly isMissing: boolean;

  constructor(
    kind: CloudError["kind"],
    message: string,
    why: Partial<
      Pick<ChangeRefusal, "code" | "params" | "missing" | "isBlocked" | "isMissing" | "status">
    > & { readonly retryAfterMs?: number },
  ) {
    const { status, retryAfterMs } = why;
    super(kind, message, {
      ...(status !== undefined && { status }),
      ...(retryAfterMs !== undefined && { retryAfterMs }),
    });
    this.code = why.code;
    this.params = why.params ?? [];
    this.missing = why.missing ?? [];
    this.isBlocked = why.isBlocked ?? false;
    this.isMissing = why.isMissing ?? false;
  }
}

const text = v.optional(v.string());
const BODY = v.object({
  error: v.string(),
  info: text,
  data: v.optional(
    v.object({
      id: text,
      type: text,
      operation: text,
      reason: text,
      missingPrivileges: v.optional(
        v.array(v.object({ action: v.string(), resource: v.string(), objectId: text })),
      ),
    }),
  ),
});
const HYPERVISOR = /^([A-Z][A-Z0-9_]+)\((.*)\)$/s;
const SAID_CHARS_MAX = 200;
const ID_CHARS_MAX = 64;

/**
 * Turns a reply that is no success into an error.
 *
 * A {@linkcode ChangeRefusal} means that an answer came. Of the hypervisor's refusals only those before the first
 * change leave nothing behind.
 *
 * @param what The request, in words: `create VM vino-1b4e28ba-worker-3`
 */
export function toRefusal(reply: Reply, what: string): CloudError {
  const parsed = v.safeParse(BODY, reply.json?.value);
  const { status } = reply;
  if (!parsed.success || status === 401 || status === 429) return toReplyError(reply, what);
  const { error, data } = parsed.output;
  const said = shorten(error, SAID_CHARS_MAX);
  const message = `Xen Orchestra refused to ${what}: ${said}`;
  const [, code, params = ""] = HYPERVISOR.exec(error) ?? [];
  if (code !== undefined) {
    const list = params.split(",").map((one) => one.trim());
    return new ChangeRefusal("protocol", message, { status, code, params: list });
  }
  if (status === 403 && data?.missingPrivileges !== undefined) {
    const missing = [...new Set(data.missingPrivileges.map(describeMissing))];
    const lacks = `the user has no right to ${what}: it lacks ${missing.join(", ")}`;
    return new ChangeRefusal("denied", lacks, { status, missing });
  }
  if (status === 403) {
    const isBlocked = data?.operation !== undefined;
    const why =
      data?.reason === undefined ? said : `${said} (${shorten(data.reason, SAID_CHARS_MAX)})`;
    const blocked = `Xen Orchestra refused to ${what}: ${why}`;
    return new ChangeRefusal("denied", blocked, { status, isBlocked });
  }
  if (status === 404) return new ChangeRefusal("protocol", message, { status, isMissing: true });
  if (status >= 500) return toReplyError(reply, what);
  return new ChangeRefusal("protocol", message, { status });
}

function describeMissing(one: Privilege & { readonly objectId?: string | undefined }): string {
  const on = one.objectId === undefined ? "" : ` on ${shorten(one.objectId, ID_CHARS_MAX)}`;
  // As the role and the documents call it.
  const named = formatPrivilege(findPrivilege(one) ?? one);
  return `${shorten(named, ID_CHARS_MAX)}${on}`;
}

/** Whether the hypervisor refused because a VM is in this state already. */
export function isAlready(error: unknown, state: string): boolean {
  if (!(error instanceof ChangeRefusal) || error.code !== "VM_BAD_POWER_STATE") return false;
  return error.params[2]?.toLowerCase() === state;
}
