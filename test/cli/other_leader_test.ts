import { beforeEach, expect, test } from "bun:test";
import { type OtherLeaderOptions, warnOfOtherLeader } from "../../lib/cli/other_leader.ts";
import { createLogger } from "../../lib/core/log.ts";
import { KubeError } from "../../lib/kube/api/errors.ts";
import { toMicroTime } from "../../lib/kube/election/lease.ts";
import { cloudStack } from "../../lib/providers/cloudstack/mod.ts";
import { xenOrchestra } from "../../lib/providers/xenorchestra/mod.ts";
import { ManualClock } from "../support/manual_clock.ts";
import { ScriptedKubeClient } from "../support/kube/scripted_kube_client.ts";

const NAME = "cloud-controller-manager-xenorchestra";
const OWN = "cloud-controller-manager";
/** Names of the Leases that were read. */
let reads: string[] = [];
beforeEach(() => {
  reads = [];
});

interface Scene {
  readonly isElected?: boolean;
  readonly own?: string;
  readonly definition?: OtherLeaderOptions["definition"];
  readonly kinds?: readonly string[];
}

/** What the log says if the Lease of an installation was renewed that long ago; `undefined`: it does not exist. */
async function look(
  renewedMs?: number,
  { isElected = true, own = OWN, definition = xenOrchestra, kinds = [] }: Scene = {},
): Promise<string> {
  const clock = new ManualClock();
  const client = new ScriptedKubeClient(clock, []);
  client.answerRead = ({ namespace, name }) => {
    reads.push(name ?? "");
    if (namespace !== "kube-system" || name !== NAME || renewedMs === undefined) {
      throw new KubeError("forbidden", "no");
    }
    const renewTime = toMicroTime(clock.now() - renewedMs);
    return { metadata: { namespace, name }, spec: { holderIdentity: "cp-1_a", renewTime } };
  };
  let text = "";
  const write = (line: string): void => void (text += line);
  const log = createLogger({ format: "text", level: "info", write, now: () => clock.now() });
  const lease = { namespace: "kube-system", name: own };
  const options = { client, definition, own: lease, kinds, isElected, clock, log };
  await warnOfOtherLeader(options, new AbortController().signal);
  return text;
}

test("warnOfOtherLeader() names the Lease that a process holds now, its holder, and what to do", async () => {
  const text = await look(2_000);
  expect(text).toContain("this one would act beside it");
  expect(text).toContain("cp-1_a");
  expect(text).toContain(`--leader-elect-resource-name=${NAME}`);
});

test.each([
  ["the same Lease", NAME, "remove --leader-elect=false, so that"],
  [
    "another Lease",
    OWN,
    `remove --leader-elect=false and set --leader-elect-resource-name=${NAME}`,
  ],
])(
  "warnOfOtherLeader() with --leader-elect=false and %s advises election",
  async (_, own, advice) => {
    const text = await look(2_000, { isElected: false, own });
    expect(text).toContain("Another process leads: this one would act beside it");
    expect(text).toContain("cp-1_a");
    expect(text).toContain(advice);
    expect(text.match(/act beside it/g)).toHaveLength(1);
  },
);

test.each([
  ["was not renewed for an hour", 3_600_000],
  ["may not be read", undefined],
])("warnOfOtherLeader() says nothing about a Lease that %s", async (_title, renewedMs) => {
  expect(await look(renewedMs)).toBe("");
});

test.each<[string, Scene, string[]]>([
  ["none where installations use the one that it waits for", { definition: cloudStack }, []],
  [
    "only its own where nothing is installed by manifests",
    { definition: {}, isElected: false },
    [OWN],
  ],
  ["both without election", { isElected: false }, [NAME, OWN]],
  [
    "those that controllers name, too, without election",
    { isElected: false, kinds: ["shops"] },
    [NAME, OWN, "shops"],
  ],
  ["none that controllers name, if it waits for them", { kinds: ["shops"] }, [NAME]],
])("warnOfOtherLeader() reads %s", async (_what, scene, expected) => {
  await look(2_000, scene);
  expect(reads).toEqual(expected);
});

test("warnOfOtherLeader() names no flag for the Lease that a controller names", async () => {
  const text = await look(2_000, { isElected: false, definition: {}, kinds: [NAME] });
  expect(text).toContain("remove --leader-elect=false, so that");
});
