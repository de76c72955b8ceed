import { describe, expect, test } from "bun:test";
import {
  formatProviderId,
  parseProviderId,
} from "../../../../lib/providers/cloudstack/model/provider_id.ts";

const VM = "0a1b2c3d-0000-4000-8000-00000000000f";
const OURS = { kind: "ours", vmId: VM } as const;

describe("parseProviderId()", () => {
  test("reads what formatProviderId() writes", () => {
    expect(formatProviderId(VM)).toBe(`external-cloudstack://${VM}`);
    expect(parseProviderId(formatProviderId(VM))).toEqual(OURS);
  });

  test.each([
    [`external-cloudstack://${VM.toUpperCase()}`],
    [`cloudstack:///${VM}`],
    [`cloudstack://region-1/${VM}`],
  ])("reads %s", (text) => {
    expect(parseProviderId(text)).toEqual(OURS);
  });

  test("knows what version 1.1 of the Apache provider wrote, which names no VM", () => {
    expect(parseProviderId("external-cloudstack")).toEqual({ kind: "nameless" });
  });

  test.each([
    "external-cloudstack:",
    "external-cloudstack://",
    "external-cloudstack://node-1",
    `external-cloudstack:///${VM}`,
    `external-cloudstack://a/${VM}`,
    `cloudstack://${VM}`,
    `cloudstack://a/b/${VM}`,
    "cloudstack://region/",
  ])("cannot read %s, and says what to do", (text) => {
    const parsed = parseProviderId(text);
    expect(parsed).toMatchObject({ kind: "malformed" });
    expect(JSON.stringify(parsed)).toContain("delete the Node");
  });

  test.each([
    "",
    "aws:///eu-west-3a/i-0abc",
    "xenorchestra://a/b",
    `cloudstackx:///${VM}`,
    "cloudstack",
  ])("leaves %p to another cloud", (text) => {
    expect(parseProviderId(text)).toEqual({ kind: "foreign" });
  });
});
