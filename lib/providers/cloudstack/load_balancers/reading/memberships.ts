/**
 * Reads which VMs are behind which rules, with as few requests as possible.
 * @module
 */
import type { Limiter } from "../../../../core/concurrency.ts";
import { ApiError } from "../../session/errors.ts";
import type { LoadBalancingApi } from "../../wire/load_balancing_api.ts";
import type { BackendVm } from "../view.ts";

/** What is asked about. */
interface MembershipQuestion {
  /** The rules, by ID, each with its network. */
  readonly rules: ReadonlyMap<string, { readonly networkId: string }>;
  /** How many rules all lists together show, also those of others. */
  readonly ruleCount: number;
  /** All VMs that this user may see. Absent: not known, or not all of them. */
  readonly vms: ReadonlyMap<string, BackendVm> | undefined;
  readonly projectId: string | undefined;
  /** Bounds how many questions are asked at once. */
  readonly limiter: Limiter;
}

type Api = Pick<LoadBalancingApi, "listMembers" | "listRulesOf">;

/** Of the largest page. */
const PAGE_SIZE = 500;
/** Codes of CloudStack that are about the account, the keys or the whole server, not about one rule. */
const ABOUT_EVERYTHING: ReadonlySet<number> = new Set([401, 405, 411, 429, 432, 503]);

/**
 * Reads the members of rules: rule by rule, or VM by VM if that takes fewer requests. Only a VM with an interface in
 * the network of a rule can be behind it.
 *
 * @returns IDs of VMs by the ID of the rule. A rule about which CloudStack does not answer, or not in full, is missing
 * @throws {CloudError} when CloudStack answers nothing at all
 */
export async function readMemberships(
  api: Api,
  question: MembershipQuestion,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, ReadonlySet<string>>> {
  const vmIds = listCandidates(question);
  const pages = Math.ceil(question.ruleCount / PAGE_SIZE);
  return vmIds !== undefined && vmIds.length * pages < question.rules.size
    ? await readByVm(api, { ...question, vmIds }, signal)
    : await readByRule(api, question, signal);
}

/** Whether a refusal is about what the question names, and says nothing about other questions. */
export function isAboutOne(error: unknown): error is ApiError {
  return error instanceof ApiError && !ABOUT_EVERYTHING.has(error.code);
}

function listCandidates({ rules, vms }: MembershipQuestion): string[] | undefined {
  if (vms === undefined) return undefined;
  const networkIds = new Set([...rules.values()].map(({ networkId }) => networkId));
  const isCandidate = ({ isGone, nics }: BackendVm): boolean =>
    !isGone && nics.some(({ networkId }) => networkIds.has(networkId));
  return [...vms.values()].filter(isCandidate).map(({ id }) => id);
}

async function readByRule(
  api: Api,
  { rules, limiter }: MembershipQuestion,
  signal: AbortSignal,
): Promise<Map<string, ReadonlySet<string>>> {
  const members = new Map<string, ReadonlySet<string>>();
  const read = async (ruleId: string): Promise<void> => {
    try {
      const found = await api.listMembers(ruleId, signal);
      if (found !== undefined) members.set(ruleId, found);
    } catch (error) {
      if (!isAboutOne(error)) throw error;
    }
  };
  await Promise.all([...rules.keys()].map((id) => limiter.run(() => read(id), signal)));
  return members;
}

async function readByVm(
  api: Api,
  { rules, vmIds, projectId, limiter }: MembershipQuestion & { readonly vmIds: readonly string[] },
  signal: AbortSignal,
): Promise<Map<string, ReadonlySet<string>>> {
  const members = new Map([...rules.keys()].map((id) => [id, new Set<string>()]));
  const read = async (vmId: string): Promise<void> => {
    for (const ruleId of await listRulesOf(api, vmId, projectId, signal)) {
      members.get(ruleId)?.add(vmId);
    }
  };
  await Promise.all(vmIds.map((id) => limiter.run(() => read(id), signal)));
  return members;
}

/** A VM that was expunged since the list of VMs is behind no rule. */
async function listRulesOf(
  api: Api,
  vmId: string,
  projectId: string | undefined,
  signal: AbortSignal,
): Promise<ReadonlySet<string>> {
  try {
    return await api.listRulesOf(vmId, projectId, signal);
  } catch (error) {
    if (error instanceof ApiError && error.unknownId === vmId) return new Set();
    throw error;
  }
}
