/**
 * What a Node tells, every form of provider ID that was ever accepted, and what is made of them.
 * @module
 */
import { describe, expect, test } from "bun:test";
import { swapUuid } from "../../../lib/core/text/values.ts";
import {
  parseIdentity,
  parseProviderId,
  toVmIds,
} from "../../../lib/providers/xenorchestra/identity.ts";
import { POOL_LYON, POOL_PARIS, WORKER_1, WORKER_1_SWAPPED } from "./fake_server.ts";

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
      {
        kind: "other",
        presence: { kind: "foreign", providerId: "aws:///i-1" },
        reported: [WORKER_1, WORKER_1_SWAPPED],
      },
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

const POOL = "536ef866-bc2b-4a02-a05c-9d87caf8b89f";
const VM = "cf910379-9c51-46ef-af3f-4a51129ecb9e";

describe("parseProviderId()", () => {
  test.each([
    `xenorchestra://${POOL}/${VM}`,
    `xenorchestra://${POOL.toUpperCase()}/${VM.toUpperCase()}`,
    `xenorchestra://${POOL.replaceAll("-", "")}/${VM.replaceAll("-", "")}`,
    `xenorchestra://{${POOL}}/urn:uuid:${VM}`,
  ])("C-01 reads %p", (text) => {
    expect(parseProviderId(text)).toEqual({ kind: "ours", poolId: POOL, vmId: VM });
  });

  test("C-01 reads an ID without a pool", () => {
    expect(parseProviderId(`xenorchestra:///${VM}`)).toEqual({ kind: "ours", vmId: VM });
  });

  test.each([
    "xenorchestra",
    "xenorchestra:",
    `xenorchestra:/${VM}`,
    "xenorchestra://",
    "xenorchestra://x",
    `xenorchestra://${VM}`,
    `xenorchestra://${POOL}/`,
    `xenorchestra://${POOL}/${VM}/`,
    `xenorchestra://${POOL}/${VM}x`,
    `xenorchestra://${POOL}/${VM}\n`,
    `xenorchestra://pool/${VM}`,
    `xenorchestra://${POOL}/12345678901234567890123`,
    `xenorchestra://00000000-0000-0000-0000-000000000000/${VM}`,
  ])("C-01 calls %p malformed, and says why", (text) => {
    const parsed = parseProviderId(text);
    const message = expect.stringContaining(JSON.stringify(text));
    expect(parsed).toMatchObject({ kind: "malformed", message });
  });

  test.each([
    "",
    VM,
    `${POOL}/${VM}`,
    `xenorchestra2://${POOL}/${VM}`,
    `XenOrchestra://${POOL}/${VM}`,
    `x-xenorchestra://${POOL}/${VM}`,
    "aws:///us-east-1a/i-0123",
  ])("C-01 calls %p foreign", (text) => {
    expect(parseProviderId(text)).toEqual({ kind: "foreign" });
  });
});
