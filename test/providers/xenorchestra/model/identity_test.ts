/**
 * What a Node tells, and what is made of it.
 * @module
 */
import { describe, expect, test } from "bun:test";
import { swapUuid } from "../../../../lib/core/text/uuid.ts";
import { parseIdentity, toVmIds } from "../../../../lib/providers/xenorchestra/model/identity.ts";
import { POOL_LYON, POOL_PARIS, WORKER_1, WORKER_1_SWAPPED } from "../fake_server.ts";

const POOL_ID = "topology.k8s.xenorchestra/pool_id";
const name = "w1";
const providerId = `xenorchestra://${POOL_PARIS}/${WORKER_1}`;
const OURS = { kind: "providerId", vmId: WORKER_1, poolId: POOL_PARIS } as const;

describe("parseIdentity()", () => {
  test.each([
    ["a provider ID", { name, providerId }, OURS],
    ["a provider ID whose VM reports itself", { name, providerId, systemUuid: WORKER_1 }, OURS],
    ["one that reports itself swapped", { name, providerId, systemUuid: WORKER_1_SWAPPED }, OURS],
    [
      "a system UUID that contradicts the provider ID",
      { name, providerId, systemUuid: POOL_LYON },
      { ...OURS, reported: [POOL_LYON, swapUuid(POOL_LYON)] },
    ],
    [
      "a region that is a UUID, in any case",
      { name, providerId, region: POOL_LYON.toUpperCase() },
      { ...OURS, labelledPoolId: POOL_LYON },
    ],
    [
      "the label of the pool, where the region has another label",
      { name, providerId, region: "eu", labels: { [POOL_ID]: POOL_LYON } },
      { ...OURS, labelledPoolId: POOL_LYON },
    ],
    [
      "both labels, where they contradict each other",
      { name, providerId, region: POOL_PARIS, labels: { [POOL_ID]: POOL_LYON } },
      { ...OURS, labelledPoolId: POOL_LYON, regionPoolId: POOL_PARIS },
    ],
    [
      "the region, where the label of the pool is none",
      { name, providerId, region: POOL_LYON, labels: { [POOL_ID]: "x" } },
      { ...OURS, labelledPoolId: POOL_LYON },
    ],
    ["a region of another cloud", { name, providerId, region: "eu-west-1" }, OURS],
    [
      "a provider ID without a pool",
      { name, providerId: `xenorchestra:///${WORKER_1}` },
      { kind: "providerId", vmId: WORKER_1 },
    ],
    [
      "a system UUID",
      { name, systemUuid: ` ${WORKER_1.toUpperCase()}\n`, region: POOL_LYON },
      { kind: "systemUuid", direct: WORKER_1, swapped: WORKER_1_SWAPPED },
    ],
    [
      "a foreign provider ID",
      { name, providerId: "aws:///i-1", systemUuid: WORKER_1 },
      { kind: "other", presence: { kind: "foreign", providerId: "aws:///i-1" } },
    ],
  ])("reads %s", (_title, node, identity) => {
    expect<object>(parseIdentity(node)).toEqual(identity);
  });

  test.each([
    [{ name, providerId: "xenorchestra://x" }, "malformedProviderId", "xenorchestra://x"],
    [{ name }, "noIdentity", "it reports no system UUID"],
    [{ name, systemUuid: "none" }, "noIdentity", '"none" as its system UUID'],
  ])("says of %j: %s", (node, reason, words) => {
    expect(parseIdentity(node)).toMatchObject({
      kind: "other",
      presence: { kind: "unknown", reason, message: expect.stringContaining(words) },
    });
  });
});

test("toVmIds() gives every ID that a VM of these Nodes may have, each once", () => {
  const nodes = [{ name, providerId }, { name, systemUuid: WORKER_1 }, { name: "x" }];
  const ids = toVmIds(nodes.map(parseIdentity));
  expect([...ids]).toEqual([WORKER_1, WORKER_1_SWAPPED]);
  const contradiction = parseIdentity({ name, providerId, systemUuid: POOL_LYON });
  expect([...toVmIds([contradiction])]).toEqual([WORKER_1, POOL_LYON, swapUuid(POOL_LYON)]);
});
