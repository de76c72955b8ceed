/**
 * Which Lease `check` looks at, and what it says about it and others.
 * @module
 */
import { describe, expect, test } from "bun:test";
import {
  type CheckedLease,
  checkLease,
  checkWithoutLease,
} from "../../../../lib/cli/check/leases/own_lease.ts";
import { KubeError } from "../../../../lib/kube/api/errors.ts";
import { toMicroTime } from "../../../../lib/kube/election/lease.ts";
import { ManualClock } from "../../../support/manual_clock.ts";
import { ScriptedKubeClient, type ScriptStep } from "../../../support/kube/scripted_kube_client.ts";

const OURS = "cloud-controller-manager-xenorchestra";
const USUAL = "cloud-controller-manager";
const own = { namespace: "kube-system", name: USUAL };

interface World {
  /** Names that may be updated. @default {all} */
  readonly allowed?: readonly string[];
  /** Holders by the name of their Lease. */
  readonly existing?: Readonly<Record<string, string>>;
  /** Whether Leases may be listed. @default {true} */
  readonly mayList?: boolean;
  /** Whether a Lease may be read. @default {true} */
  readonly mayRead?: boolean;
  /** Whether they were renewed just now. @default {false} */
  readonly isRenewed?: boolean;
}

const NOW_MS = Date.UTC(2026, 0, 1);

/** Looks, with or without a flag that names the Lease. */
function look(world: World, isNamed = false): Promise<CheckedLease> {
  const client = toClient(world);
  const installed = isNamed ? undefined : "cloud-controller-manager-xenorchestra";
  const search = { client, reviewer: client, own, installed, nowMs: NOW_MS };
  return checkLease(search, new AbortController().signal);
}

function toClient(world: World): ScriptedKubeClient {
  const { allowed, existing = {}, mayList = true, mayRead = true, isRenewed = false } = world;
  const renewTime = toMicroTime(NOW_MS - (isRenewed ? 3_000 : 3_600_000));
  const leases = Object.entries(existing).map(([name, holderIdentity]) => ({
    metadata: { name },
    spec: { holderIdentity, renewTime },
  }));
  const step: ScriptStep = mayList
    ? { page: { items: leases, resourceVersion: "1" } }
    : { fail: new KubeError("forbidden", "no") };
  const client = new ScriptedKubeClient(new ManualClock(), [step]);
  client.answerRead = ({ name }) => {
    if (!mayRead) throw new KubeError("forbidden", "no");
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

describe("checkLease()", () => {
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
    const { lease, findings } = await look(world);
    expect(lease).toEqual({ namespace: "kube-system", name });
    const [finding, ...more] = findings;
    expect(finding).toMatchObject({ level: "ok", message: `Lease kube-system/${name}: ${state}` });
    const isNamed = finding?.advice?.includes(`--leader-elect-resource-name=${name}`) ?? false;
    expect(isNamed).toBe(name !== USUAL);
    expect(more).toEqual([]);
  });

  test("says that the manifests have another Lease before there is any", async () => {
    const [finding] = (await look({})).findings;
    expect(finding?.advice).toStartWith("run uses it without --leader-elect-resource-name");
    expect((await look({ existing: { [USUAL]: "h" } })).findings[0]?.advice).toBeUndefined();
  });

  test.each([
    ["not created yet", { allowed: [OURS] }],
    ["held by cp-1_x", { existing: { [USUAL]: "cp-1_x", [OURS]: "go" } }],
    ["held by no process", { existing: { [USUAL]: "" } }],
    ["no right to see who holds it", { mayRead: false }],
  ] as const)(
    "takes the one that a flag names, whatever else there is: %s",
    async (state, world) => {
      const { lease, findings } = await look(world, true);
      expect(lease).toEqual(own);
      expect(findings).toEqual([
        { level: "ok", code: "lease", message: `Lease kube-system/${USUAL}: ${state}` },
      ]);
    },
  );
});

describe("checkWithoutLease()", () => {
  async function warn(world: World, name: string): Promise<string[]> {
    const installed = "cloud-controller-manager-xenorchestra";
    const search = { client: toClient({ isRenewed: true, ...world }), installed };
    const findings = await checkWithoutLease(
      { ...search, own: { ...own, name }, nowMs: NOW_MS },
      new AbortController().signal,
    );
    return findings.map(({ level, message }) => `${level}: ${message}`);
  }
  const toWarning = (name: string): string =>
    `warning: another cloud controller manager holds Lease kube-system/${name}: cp-1_x renewed it 3s ago`;

  const cases: readonly (readonly [string, World, string, string[]])[] = [
    ["the Lease that the flags name", { existing: { [OURS]: "cp-1_x" } }, OURS, [OURS]],
    ["the Lease of an installation", { existing: { [OURS]: "cp-1_x" } }, USUAL, [OURS]],
    ["a Lease of another name", { existing: { odd: "cp-1_x" } }, "odd", ["odd"]],
    [
      "a Lease that may be read but not listed",
      { existing: { [OURS]: "cp-1_x" }, mayList: false },
      USUAL,
      [OURS],
    ],
    ["no Lease that is free", { existing: { [OURS]: "" } }, OURS, []],
    [
      "no Lease that was not renewed",
      { existing: { [OURS]: "cp-1_x" }, isRenewed: false },
      OURS,
      [],
    ],
    [
      "no Lease that is hidden",
      { existing: { [OURS]: "cp-1_x" }, mayList: false, mayRead: false },
      OURS,
      [],
    ],
  ];
  test.each(cases)("warns of the holder of %s", async (_title, world, name, held) => {
    expect(await warn(world, name)).toEqual(held.map(toWarning));
  });
});
