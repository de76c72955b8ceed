/**
 * Proof that a VM is gone.
 *
 * CloudStack keeps VMs in its own database, so the loss of a host or a zone hides none. But an answer without the VM
 * proves nothing by itself: the server gives the same answer for a VM that this user may not see.
 * @module
 */
import type { Inventory } from "../../../cloud/inventory/inventory.ts";
import { type Presence, toUnknown, type UnknownReason } from "../../../cloud/provider.ts";
import { findNameless } from "../../../cloud_http/decode.ts";
import { findOwner, isGone } from "../model/inventory.ts";
import { toUndecodable } from "../model/matching.ts";
import type { CloudStackApi } from "../wire/api.ts";

/** The VM whose absence to prove. */
interface AbsenceQuestion {
  readonly vmId: string;
  /** Whose it was when this process last saw it; `undefined` if it never saw it, or the server did not say. */
  readonly owner: string | undefined;
  /** Whether the server knew the ID after that, and answered with an empty list. */
  readonly wasRemoved: boolean;
  /** The VMs of all Nodes, by all that is known. */
  readonly nodeVmIds: ReadonlySet<string>;
  /** Whether an answer without the VM may count. */
  readonly trustsEmptyAnswer: boolean;
}

/** What a proof asks. */
interface AbsenceApi extends Pick<CloudStackApi, "readVmAnywhere"> {
  /** A new inventory: it is not kept. */
  list(signal: AbortSignal): Promise<Inventory>;
}

type Unknown = Presence & { kind: "unknown" };

const ADVICE = "if the VM is gone, delete the Node";
const AGAIN = "it appeared again a moment later";
/** A command such as `landfall check` has seen nothing before, although a running process may have. */
const NEVER_SEEN =
  "this process has not seen it since it started or since its settings or keys changed (a command cannot prove it: " +
  `it has no memory; a running Landfall that saw the VM can); ${ADVICE}`;
const FORGOTTEN =
  "CloudStack has no record of it (error 431), although it showed the VM before: its database may have been restored " +
  `from a backup, or it may be another CloudStack; check api-url; ${ADVICE}`;

/** A VM that is shown in a state from which none comes back. */
export function toGone(vmId: string, state: string | null | undefined): Presence {
  return { kind: "absent", evidence: `CloudStack shows VM ${vmId} as ${state}` };
}

/** A VM that is in another project than that of the settings. */
export function toElsewhere(vmId: string, projectId: string | null | undefined): Presence {
  const where = projectId ? `in project ${projectId}` : "in no project";
  return toDoubt("notCovered", vmId, `it is ${where} now; check project-id`);
}

/**
 * Proves that a VM is gone after error 431, which the server gives for an ID that it never had, or has purged.
 *
 * Another CloudStack gives it for every VM, and a database that was restored from a backup for every VM that is newer.
 * A VM that is removed is known for a while longer, before its records are purged. So this process must have seen the
 * VM, then an empty answer for its ID, and a new list must show the VM of another Node.
 *
 * @throws {CloudError} when there is no new list
 */
export async function proveNeverKnown(
  api: Pick<AbsenceApi, "list">,
  { vmId, owner, wasRemoved, nodeVmIds }: Omit<AbsenceQuestion, "trustsEmptyAnswer">,
  signal: AbortSignal,
): Promise<Presence> {
  if (owner === undefined) return toDoubt("notCovered", vmId, NEVER_SEEN);
  if (!wasRemoved) return toDoubt("notCovered", vmId, FORGOTTEN);
  const { instances } = await api.list(signal);
  if (instances.has(vmId)) return toDoubt("notListed", vmId, AGAIN);
  if ([...nodeVmIds].some((id) => id !== vmId && instances.has(id))) {
    return {
      kind: "absent",
      evidence: `CloudStack has no VM ${vmId}, and none that was removed (error 431)`,
    };
  }
  const why = "it shows no VM of any other Node, so it may be another CloudStack; check api-url";
  return toDoubt("notCovered", vmId, `${why}; ${ADVICE}`);
}

/**
 * Proves that a VM is gone after an answer without it, or says why it cannot.
 *
 * In this order, all in one round:
 *
 * 1. the VM is in no other project
 * 2. a new list is whole, and does not show the VM
 * 3. that list shows the VM of another Node with the same owner: so the user may still see what that owner has
 *
 * What still deceives it: an administrator who hides this one VM, and a destroyed VM that is recovered later. The
 * kubelet of such a VM registers its Node again.
 *
 * @throws {CloudError} when there is no answer to one of the questions
 */
export async function proveAbsence(
  api: AbsenceApi,
  { vmId, owner, nodeVmIds, trustsEmptyAnswer }: Omit<AbsenceQuestion, "wasRemoved">,
  signal: AbortSignal,
): Promise<Presence> {
  if (!trustsEmptyAnswer) {
    const why =
      "it answered with an empty list, which is no proof by the setting deletion.trustEmptyAnswer";
    return toDoubt("notCovered", vmId, `${why}; ${ADVICE}`);
  }
  if (owner === undefined) {
    return toDoubt("notCovered", vmId, NEVER_SEEN);
  }
  const anywhere = await api.readVmAnywhere(vmId, signal);
  if (anywhere.kind === "undecodable") return toUndecodable(vmId, anywhere.problem);
  if (anywhere.kind === "found") {
    const { projectid, state } = anywhere.vm;
    if (isGone(state)) return toGone(vmId, state);
    return toElsewhere(vmId, projectid);
  }
  const inventory = await api.list(signal);
  for (const { complete, reason = "" } of inventory.coverage.values()) {
    if (!complete) return toDoubt("notCovered", vmId, `the list of VMs is not whole: ${reason}`);
  }
  if (inventory.instances.has(vmId)) {
    return toDoubt("notListed", vmId, AGAIN);
  }
  const problem = inventory.undecodable.get(vmId);
  if (problem !== undefined) return toUndecodable(vmId, problem);
  const nameless = findNameless(inventory.undecodable);
  if (nameless !== undefined) {
    return toDoubt(
      "undecodable",
      vmId,
      `the list holds a VM that Landfall cannot read: ${nameless}`,
    );
  }
  const witness = [...nodeVmIds].find((id) => {
    const instance = id === vmId ? undefined : inventory.instances.get(id);
    return instance !== undefined && findOwner(instance) === owner;
  });
  if (witness === undefined) {
    const why = `it lists no VM of another Node that belongs to ${owner}, so the user may not see these VMs any more`;
    return toDoubt("notCovered", vmId, `${why}; ${ADVICE}`);
  }
  const evidence = `no VM ${vmId} in any project, while CloudStack lists all others of ${owner}, among them ${witness}`;
  return { kind: "absent", evidence };
}

function toDoubt(reason: UnknownReason, vmId: string, why: string): Unknown {
  return toUnknown(reason, `Cannot prove that VM ${vmId} is gone: ${why}`);
}
