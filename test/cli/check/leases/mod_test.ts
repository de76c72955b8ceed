/**
 * Which Leases `check` looks at for the controllers that run.
 * @module
 */
import { expect, test } from "bun:test";
import { checkLeases, type LeasesSearch } from "../../../../lib/cli/check/leases/mod.ts";
import { KubeError } from "../../../../lib/kube/api/errors.ts";
import { toMicroTime } from "../../../../lib/kube/election/lease.ts";
import { ManualClock } from "../../../support/manual_clock.ts";
import { ScriptedKubeClient } from "../../../support/kube/scripted_kube_client.ts";

const NOW_MS = Date.UTC(2026, 0, 1);
const MAIN = "cloud-controller-manager";
const own = { namespace: "kube-system", name: MAIN };

/** What it says in a cluster where one process holds the Lease of shops since 3 s, and none exists beside it. */
async function look(
  leases: readonly (string | undefined)[],
  changes: Partial<LeasesSearch> = {},
): Promise<string[]> {
  const client = new ScriptedKubeClient(new ManualClock(), [
    { page: { items: [], resourceVersion: "1" } },
  ]);
  client.answerRead = ({ name }) => {
    if (name !== "shops") throw new KubeError("notFound", "none");
    const renewTime = toMicroTime(NOW_MS - 3_000);
    return { metadata: { name }, spec: { holderIdentity: "cp-1_x", renewTime } };
  };
  client.onWrite = () => ({ status: { allowed: true } });
  const { lease, findings } = await checkLeases(
    {
      client,
      reviewer: client,
      own,
      isElected: true,
      isNamed: true,
      installed: "cloud-controller-manager-xenorchestra",
      chosen: leases.map((name) => (name === undefined ? {} : { lease: name })),
      nowMs: NOW_MS,
      ...changes,
    },
    new AbortController().signal,
  );
  const lines = findings.map(({ level, message }) => `${level}: ${message}`);
  return lease === undefined ? lines : [`uses ${lease.name}`, ...lines];
}

const OF_MAIN = [`uses ${MAIN}`, `ok: Lease kube-system/${MAIN}: not created yet`];
const OF_SHOPS = "ok: Lease kube-system/shops: held by cp-1_x";
const NONE = "ok: no Lease: with --leader-elect=false this process acts at once, so run only one";
const HELD = "warning: another process holds Lease kube-system/shops: cp-1_x renewed it 3s ago";

test.each([
  ["that of the process", [undefined], {}, OF_MAIN],
  ["that of the process without controllers", [], {}, OF_MAIN],
  ["those that controllers name, too", [undefined, "shops", "shops"], {}, [...OF_MAIN, OF_SHOPS]],
  ["only those, if no controller waits for that of the process", ["shops"], {}, [OF_SHOPS]],
  [
    "the one of both, if a flag names it",
    ["shops", undefined],
    { own: { ...own, name: "shops" } },
    ["uses shops", OF_SHOPS],
  ],
  [
    "no Lease without election, and warns of holders",
    ["shops"],
    { isElected: false },
    [NONE, HELD],
  ],
  ["no Lease without election, and none is held", [undefined], { isElected: false }, [NONE]],
] as const)("checkLeases() takes %s", async (_title, leases, changes, expected) => {
  expect(await look(leases, changes)).toEqual([...expected]);
});
