/**
 * Instance types as the Go controller formats them.
 * @module
 */
import { describe, expect, test } from "bun:test";
import {
  findTagValue,
  formatInstanceType,
} from "../../../../lib/providers/xenorchestra/model/instance_type.ts";

const GIB = 2 ** 30;

describe("formatInstanceType()", () => {
  test.each([
    [4, 8, "4vCPU-8GB"],
    [1, 0.5, "1vCPU-0GB"],
    [1, 1.5, "1vCPU-2GB"],
    [2, 2.5, "2vCPU-2GB"],
    [2, 4.5, "2vCPU-4GB"],
    [2, 4.500001, "2vCPU-5GB"],
    [16, 15.9, "16vCPU-16GB"],
    [128, 1024, "128vCPU-1024GB"],
  ])("%d CPUs and %d GiB are rounded half to even", (cpus, gib, expected) => {
    expect(formatInstanceType(cpus, gib * GIB)).toBe(expected);
  });
});

describe("findTagValue()", () => {
  test.each([
    [["a", "type=big", "type=aaa"], "aaa"],
    [["type="], undefined],
    [["my-type=x"], undefined],
    [[], undefined],
  ])("of %p is %p", (tags, expected) => {
    expect(findTagValue(tags, "type=")).toBe(expected);
  });
});
