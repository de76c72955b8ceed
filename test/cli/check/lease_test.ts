/**
 * Which Lease `check` looks at without a flag.
 * @module
 */
import { describe, expect, test } from "bun:test";
import { findLease } from "../../../lib/cli/check/lease.ts";
import { KubeError } from "../../../lib/kube/api/errors.ts";
import { ManualClock } from "../../support/manual_clock.ts";
import { ScriptedKubeClient, type ScriptStep } from "../../support/kube/scripted_kube_client.ts";

const OURS = "cloud-controller-manager-xenorchestra";
const USUAL = "cloud-controller-manager";
const fallback = { namespace: "kube-system", name: USUAL };

interface World {
  /** Names that may be updated. @default {all} */
  readonly allowed?: readonly string[];
  /** Holders by the name of their Lease. */
  readonly existing?: Readonly<Record<string, string>>;
  /** Whether Leases may be listed. @default {true} */
  readonly mayList?: boolean;
}

function toClient({ allowed, existing = {}, mayList = true }: World): ScriptedKubeClient {
  const leases = Object.entries(existing).map(([name, holderIdentity]) => ({
    metadata: { name },
    spec: { holderIdentity },
  }));
  const step: ScriptStep = mayList
    ? { page: { items: leases, resourceVersion: "1" } }
    : { fail: new KubeError("forbidden", "no") };
  const client = new ScriptedKubeClient(new ManualClock(), [step]);
  client.answerRead = ({ name }) => {
    const found = leases.find(({ metadata }) => metadata.name === name);
    if (found === undefined) throw new KubeError("notFound", "none");
    return found;
  };
  client.onWrite = ({ body }) => {
    const { resourceAttributes } = body["spec"] as { resourceAttributes: { name: string } };
    return { status: { allowed: allowed?.includes(resourceAttributes.name) ?? true } };
  };
  return client;
}

describe("findLease()", () => {
  const cases: readonly (readonly [string, World, string, string])[] = [
    ["the only one that may be updated", { allowed: [OURS] }, OURS, "not created yet"],
    [
      "the only one that may be updated, though another exists",
      { allowed: [OURS], existing: { [USUAL]: "other" } },
      OURS,
      "not created yet",
    ],
    ["the one that exists", { existing: { [OURS]: "cp-1_x" } }, OURS, "held by cp-1_x"],
    [
      "the one of the cloud, if both exist",
      { existing: { [OURS]: "", [USUAL]: "x" } },
      OURS,
      "held by no process",
    ],
    [
      "one of another name that is listed",
      { existing: { [`${USUAL}-b`]: "h" } },
      `${USUAL}-b`,
      "held by h",
    ],
    [
      "the default, if several are listed",
      { existing: { [`${USUAL}-b`]: "h", [`${USUAL}-c`]: "h" } },
      USUAL,
      "not created yet",
    ],
    ["the default, if nothing is known", { allowed: [], mayList: false }, USUAL, "not created yet"],
  ];
  test.each(cases)("takes %s", async (_title, world, name, state) => {
    const client = toClient(world);
    const search = { client, reviewer: client, fallback, provider: "xenorchestra" };
    const { lease, finding } = await findLease(search, new AbortController().signal);
    expect(lease).toEqual({ namespace: "kube-system", name });
    expect(finding).toMatchObject({ level: "ok", message: `Lease kube-system/${name}: ${state}` });
    expect(finding.advice?.includes(name) ?? false).toBe(name !== USUAL);
  });
});
