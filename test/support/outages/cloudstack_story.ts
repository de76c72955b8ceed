/**
 * The story of every outage of CloudStack, in the manners in which Landfall may run.
 * @module
 */
import { describe, test } from "bun:test";
import { DEFAULT_DELETION } from "../../../lib/cloud/deletion/guard.ts";
import { readExtent } from "../extent.ts";
import { type CloudStackOptions, CloudStackRig } from "./cloudstack_rig.ts";
import { type Misleading, PROOF_ALONE, Story, type TellingManner } from "./telling.ts";

/** A way in which CloudStack can mislead. */
export interface CloudStackOutage extends Misleading<CloudStackRig> {
  /** Which CloudStack it is, and how it is asked. */
  readonly how?: CloudStackOptions;
  /** Whether another outage is much like it, so that it is only in CI. */
  readonly isVariant?: boolean;
}

/**
 * Defines the tests of some outages: with nothing but the proof where all tests run; by a process that starts meanwhile
 * and with the settings of a new installation in CI, because less can go wrong there. What only time tells from a
 * deletion needs the settings of a new installation.
 */
export function describeCloudStackOutages(
  title: string,
  outages: readonly CloudStackOutage[],
): void {
  const isAll = readExtent() === "all";
  const told = outages.filter(({ isVariant }) => isAll || !isVariant);
  const boxed = told.filter(({ needsTime }) => isAll || needsTime);
  const proven = told.filter(({ needsTime }) => !needsTime);
  const manners: [string, TellingManner, readonly CloudStackOutage[]][] = [
    ["out of the box", { deletion: DEFAULT_DELETION, isAnew: false }, boxed],
    ["with nothing but the proof of absence", { deletion: PROOF_ALONE, isAnew: false }, proven],
    [
      "with the proof alone, by a process that starts meanwhile",
      { deletion: PROOF_ALONE, isAnew: true },
      isAll ? proven : [],
    ],
  ];
  for (const [how, manner, rows] of manners) {
    if (rows.length === 0) continue;
    describe(`no live Node is lost ${title}, ${how}`, () => {
      test.each(rows.map((row) => [row.title, row] as const))("%s", async (_row, outage) => {
        await using rig = await CloudStackRig.start(manner.deletion, outage.how);
        await new Story(rig, outage, manner).tell();
      });
    });
  }
}
