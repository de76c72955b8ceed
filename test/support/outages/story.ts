/**
 * The story of every outage of Xen Orchestra, in the manners in which Landfall may run.
 * @module
 */
import { describe, test } from "bun:test";
import { DEFAULT_DELETION } from "../../../lib/cloud/deletion/guard.ts";
import type { OutOfServiceSettings } from "../../../lib/cloud/deletion/off_streaks.ts";
import { readExtent } from "../extent.ts";
import { OutageRig } from "./rig.ts";
import { type Misleading, PROOF_ALONE, Story, type TellingManner } from "./telling.ts";

/** A way in which Xen Orchestra can mislead. */
export interface Outage extends Misleading<OutageRig> {
  /** Whether another outage is much like it, so that most manners are only in CI. */
  readonly isVariant?: boolean;
}

/** Nothing but the proof stands between a Node and the out-of-service taint. */
const POWER_PROOF_ALONE: OutOfServiceSettings = { confirmations: 1, graceMs: 0 };

interface Manner extends TellingManner {
  /** Whether variants are told so, too, where not all tests run. */
  readonly hasVariants?: boolean;
  /** Whether the cloud tells of changes as they happen. */
  readonly hasEvents: boolean;
  /** The out-of-service controller runs, too, as careful as this says. */
  readonly outOfService?: OutOfServiceSettings;
}

/**
 * Defines the tests of some outages.
 *
 * With the proof alone each outage is tested twice: with and without the out-of-service controller. What differs is
 * only that controller, so without it they run where all tests do. So do those of a cloud without events, because less
 * can go wrong there, and those of a process that starts meanwhile: `test/outages/restart_test.ts` has the worst of
 * them. Variants run elsewhere in one manner only: the one with the least between a Node and its deletion.
 */
export function describeOutages(title: string, outages: readonly Outage[]): void {
  const onlyInCi: [string, Manner][] = [
    [
      "out of the box, where the cloud has no events",
      { deletion: DEFAULT_DELETION, isAnew: false, hasEvents: false },
    ],
    [
      "with nothing but the proof of absence",
      { deletion: PROOF_ALONE, isAnew: false, hasEvents: true },
    ],
    [
      "with the proof alone, by a process that starts meanwhile",
      { deletion: PROOF_ALONE, isAnew: true, hasEvents: true },
    ],
    [
      "where Nodes are taken out of service by the proof alone, by a process that starts meanwhile",
      { deletion: PROOF_ALONE, isAnew: true, hasEvents: true, outOfService: POWER_PROOF_ALONE },
    ],
  ];
  const isAll = readExtent() === "all";
  const manners: [string, Manner][] = [
    ["out of the box", { deletion: DEFAULT_DELETION, isAnew: false, hasEvents: true }],
    [
      "where Nodes are taken out of service by nothing but the proof",
      {
        deletion: PROOF_ALONE,
        isAnew: false,
        hasEvents: true,
        outOfService: POWER_PROOF_ALONE,
        hasVariants: true,
      },
    ],
    ...(isAll ? onlyInCi : []),
  ];
  describe.each(manners)(`no live Node is lost ${title}, %s`, (_title, manner) => {
    const rows = outages.filter(
      ({ needsTime, isVariant }) =>
        (!needsTime || manner.deletion === DEFAULT_DELETION) &&
        (!isVariant || isAll || manner.hasVariants),
    );
    test.each(rows.map((row) => [row.title, row] as const))("%s", async (_row, outage) => {
      const { deletion, hasEvents, outOfService } = manner;
      const more = outOfService && { outOfService };
      await using rig = await OutageRig.start(deletion, hasEvents, more);
      await new Story(rig, outage, manner).tell();
    });
  });
}
