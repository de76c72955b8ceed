/**
 * Carries out the change of a step, and says what its failure means.
 * @module
 */
import { CloudError } from "../../../cloud/errors.ts";
import { ApiError, JobOverError } from "../session/errors.ts";
import { INTERNAL } from "../session/refusal.ts";
import { type Acts, type Change, type ChangeOf, DELETIONS } from "./steps.ts";
import { createAclItem, updateAclItem } from "./acl.ts";
import { type Acting, sendRemoval } from "./acting.ts";
import { createFirewallRule } from "./firewall.ts";
import { createPolicy } from "./stickiness.ts";
import { releaseAddress, tagAddress, takeAddress } from "./address.ts";
import { addBackends, createRule, isNotAssigned, removeBackends, updateRule } from "./rule.ts";

/** What a refusal says that differs from the observation: an invalid or unknown object, in use, a conflict. */
const DIFFERS: ReadonlySet<number> = new Set([431, 536, 537]);
/** The server does not know a job any more, so it is over. */
const UNKNOWN_JOB = 431;

const ACTS: Acts<Acting> = {
  takeAddress,
  tagAddress,
  releaseAddress,
  createRule,
  updateRule,
  delete: deleteObject,
  addBackends,
  removeBackends,
  createFirewallRule,
  createAclItem,
  updateAclItem,
  createPolicy,
  keepShared: ({ ip }, { record }) => record.keepShared(ip),
  awaitJob,
  forgetRecord: (_change, { record }) => record.clear(),
};

/** Carries out a change, and puts what it did into the store. */
export async function carryOut<K extends Change["kind"]>(
  change: ChangeOf<K>,
  acting: Acting,
): Promise<void> {
  const act: Acts<Acting>[K] = ACTS[change.kind];
  await act(change, acting);
}

async function deleteObject({ what, id }: ChangeOf<"delete">, acting: Acting): Promise<void> {
  await sendRemoval(acting, DELETIONS[what], id);
  acting.store.drop(what, id);
}

/** What the job did, the next observation shows. */
async function awaitJob({ jobId, command }: ChangeOf<"awaitJob">, acting: Acting): Promise<void> {
  const { session, store, signal } = acting;
  try {
    await session.awaitJob(jobId, command, signal);
  } catch (error) {
    if (!(error instanceof ApiError && error.code === UNKNOWN_JOB)) throw error;
  }
  store.invalidate();
}

/** Whether an error says that nothing was changed, so that the observation is as good as before. */
export function isWithoutEffect(error: unknown): boolean {
  return error instanceof CloudError && (error.kind === "denied" || error.kind === "throttled");
}

/** Whether CloudStack refuses a change because it differs from the observation. */
export function isOutdated({ kind }: Change, error: unknown): boolean {
  if (error instanceof JobOverError) return true;
  if (!(error instanceof ApiError)) return false;
  // Also that an address has a key already.
  if (kind === "tagAddress" && error.code === INTERNAL) return true;
  return DIFFERS.has(error.code) || (kind === "addBackends" && isNotAssigned(error));
}
