import { describe, expect, test } from "bun:test";
import type { Coverage } from "../../../../lib/cloud/inventory/inventory.ts";
import type { ServersReply } from "../../../../lib/providers/xenorchestra/proof/connections.ts";
import { NEVER_SHOWN } from "../../../../lib/providers/xenorchestra/scope/named_pools.ts";
import {
  isUnknownEntry,
  listUnknownEntryFindings,
  NOT_SHOWN,
  toEntryAdvice,
  withoutUnknownEntries,
} from "../../../../lib/providers/xenorchestra/scope/unknown_pools.ts";
import type { Server } from "../../../../lib/providers/xenorchestra/wire/schema.ts";
import { toUuid } from "../../../../lib/simulator/uuid.ts";

const PARIS = toUuid("paris");
const ENTRY: Coverage = { complete: false, isOnlyNamed: true, reason: NOT_SHOWN };
const OF_A_NODE: Coverage = { complete: false, isOnlyNamed: true, reason: NEVER_SHOWN };

function toShown(entry: string): { coverage: Map<string, Coverage> } {
  const shown: Coverage = { complete: true, name: "paris" };
  return {
    coverage: new Map([
      [PARIS, shown],
      [entry, ENTRY],
    ]),
  };
}

function toServers(...more: readonly Server[]): ServersReply {
  const paris = { id: "1", enabled: true, status: "connected", poolId: PARIS };
  return { objects: [paris, ...more], undecodable: new Map() };
}

describe("listUnknownEntryFindings()", () => {
  const down: Server = { id: "2", enabled: true, status: "connecting" };
  const off: Server = { id: "2", enabled: false, status: "disconnected" };
  test.each<[string, ServersReply | undefined, boolean]>([
    ["every connection is up", toServers(), true],
    ["a connection is down", toServers(down), false],
    ["a connection is disabled, which names no pool", toServers(off), false],
    ["the list is refused", "refused", false],
    [
      "the list has no connection of the pool that is shown",
      { objects: [], undecodable: new Map() },
      false,
    ],
    ["there is no answer", undefined, false],
  ])("knows whether there is no such pool when %s", (_title, servers, isSure) => {
    const [finding] = listUnknownEntryFindings(toShown("Pariss"), servers);
    expect(finding?.message.includes("no pool that the user can see")).toBe(isSure);
    expect(finding?.advice?.includes("reconnect")).toBe(!isSure);
    expect(finding?.advice).toContain("did you mean paris?");
  });

  test("finds none among pools that are shown, or that only a Node names", () => {
    const coverage = new Map([[PARIS, OF_A_NODE]]);
    expect(listUnknownEntryFindings({ coverage }, toServers())).toEqual([]);
  });
});

test.each([
  ["PARIS", 'correct it in "pools" (did you mean paris?), or reconnect the pool'],
  [
    `${PARIS.slice(0, -1)}x`,
    `correct it in "pools" (did you mean ${PARIS}?), or reconnect the pool`,
  ],
  ["frankfurt", 'correct it in "pools", or reconnect the pool'],
])("toEntryAdvice() suggests the closest pool for %s", (entry, advice) => {
  expect(toEntryAdvice(entry, toShown(entry))).toBe(advice);
});

test("withoutUnknownEntries() keeps pools that a Node names", () => {
  expect(isUnknownEntry(OF_A_NODE)).toBe(false);
  const { coverage } = withoutUnknownEntries({
    coverage: new Map([
      ["Paris", ENTRY],
      [PARIS, OF_A_NODE],
    ]),
  });
  expect([...coverage.keys()]).toEqual([PARIS]);
});
