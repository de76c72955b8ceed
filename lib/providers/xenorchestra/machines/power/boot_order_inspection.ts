/**
 * Says whether the user may set what VMs start from. Only JSON-RPC can do that, which knows no roles: it obeys the old
 * ACLs. Changes nothing.
 * @module
 */
import { CloudError } from "../../../../cloud/errors.ts";
import type { Finding } from "../../../../cloud/inspection.ts";
import { ALONE, Fence } from "../../../../core/fence.ts";
import { RpcError } from "../../session/rpc.ts";
import type { Session } from "../../session/session.ts";
import type { MachinesApi } from "../wire/machines_api.ts";

/** What {@linkcode inspectBootOrders} needs. */
interface BootOrderInspection {
  readonly api: Pick<MachinesApi, "list">;
  readonly session: Pick<Session, "callRpc">;
}

const CODE = "machines.bootOrder";
/** What an operator may do, and an administrator of the object. */
const ENOUGH = ["operate", "administrate"] as const;
const CALL = { operation: "read_old_acls", method: "acl.getCurrentPermissions", params: {} };
const CONSEQUENCE =
  "without it, management controllers refuse to set the boot device; machines with boot: Network still try the " +
  "network first at each start";

/**
 * Looks at every pool that is visible.
 *
 * @throws {CloudError} if the pools cannot be listed
 */
export async function inspectBootOrders(
  { api, session }: BootOrderInspection,
  signal: AbortSignal,
): Promise<Finding[]> {
  const [{ objects: pools }, rights] = await Promise.all([
    api.list("pools", signal),
    readOldRights(session, signal),
  ]);
  if ("problem" in rights) {
    const message =
      "Machines: Landfall cannot find out whether the user may set the boot order of VMs: " +
      rights.problem;
    const advice = `make sure that it has the old ACL "operator" on the pool (Settings, ACLs); ${CONSEQUENCE}`;
    return [{ level: "warning", code: CODE, message, advice }];
  }
  const lacking = pools.filter(({ id }) => !rights.pools.has(id));
  if (lacking.length === 0) {
    return [
      { level: "ok", code: CODE, message: "Machines: the user may set the boot order of VMs" },
    ];
  }
  return lacking.map(({ id, name_label: name }) => {
    const pool = name ? `${name} (${id})` : id;
    const message =
      `Machines: the user has no right to set the boot order of VMs in pool ${pool}: ` +
      'it lacks the old ACL "operator" there';
    const advice = `add the ACL in Settings, ACLs, because roles do not count for this; ${CONSEQUENCE}`;
    return { level: "warning", code: CODE, message, advice };
  });
}

/** The pools whose VMs the user may operate. */
async function readOldRights(
  session: Pick<Session, "callRpc">,
  signal: AbortSignal,
): Promise<{ readonly pools: ReadonlySet<string> } | { readonly problem: string }> {
  try {
    // It only reads, so it need not lead.
    const answer = await session.callRpc(CALL, new Fence(ALONE), signal);
    if (typeof answer !== "object" || answer === null || Array.isArray(answer)) {
      return { problem: "it answers in another form" };
    }
    const objects: [string, unknown][] = Object.entries(answer);
    const allowed = objects.filter(([, actions]) => ENOUGH.some((one) => Object(actions)[one]));
    return { pools: new Set(allowed.map(([id]) => id)) };
  } catch (error) {
    if (error instanceof RpcError || error instanceof CloudError) return { problem: error.message };
    throw error;
  }
}
