/**
 * Every form of provider ID that was ever accepted.
 * @module
 */
import { describe, expect, test } from "bun:test";
import {
  formatProviderId,
  parseProviderId,
} from "../../../../lib/providers/xenorchestra/model/provider_id.ts";

const POOL = "536ef866-bc2b-4a02-a05c-9d87caf8b89f";
const VM = "cf910379-9c51-46ef-af3f-4a51129ecb9e";

describe("formatProviderId()", () => {
  test("gives the form that the CSI driver reads", () => {
    expect(formatProviderId(POOL, VM)).toBe(`xenorchestra://${POOL}/${VM}`);
  });
});

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
