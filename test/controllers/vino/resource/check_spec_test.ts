import { describe, expect, test } from "bun:test";
import {
  checkPoolSpec,
  checkSpec,
  checkVino,
} from "../../../../lib/controllers/vino/resource/check_spec.ts";
import { describeProblems } from "../../../../lib/controllers/kinds/problems.ts";
import { RIGHT_VINOS, WRONG_POOLS, WRONG_VINOS } from "../../../support/vino/spec_cases.ts";

describe("checkSpec() accepts", () => {
  for (const { title, spec } of RIGHT_VINOS) {
    test(title, () => {
      const checked: unknown = checkSpec(spec);
      expect(checked).toEqual({ isValid: true, spec });
    });
  }
});

describe("checkSpec() refuses", () => {
  for (const { title, spec, problem } of WRONG_VINOS) {
    test(title, () => {
      const checked = checkSpec(spec);
      expect(checked.isValid ? "no problem" : describeProblems(checked.problems)).toBe(problem);
    });
  }
});

describe("checkPoolSpec() refuses", () => {
  for (const { title, spec, problem } of WRONG_POOLS) {
    test(title, () => {
      const checked = checkPoolSpec(spec);
      expect(checked.isValid ? "no problem" : describeProblems(checked.problems)).toBe(problem);
    });
  }
});

test("checkSpec() never shows a password, whatever it is", () => {
  for (const password of [42, "secret-word".repeat(100), ["secret-word"], { a: "secret-word" }]) {
    const checked = checkSpec({ bmcCredentials: { username: "admin", password } });
    const said = checked.isValid ? "valid" : describeProblems(checked.problems);
    expect(said).toMatch(/^spec\.bmcCredentials\.password: must (be text|have at most 1024 char)/);
    expect(said).not.toMatch(/secret-word|42/);
  }
});

test("checkVino() refuses a name that cannot be the value of a label", () => {
  const check = (name: string): unknown => checkVino({ metadata: { name }, spec: {} });
  expect(check("a".repeat(63))).toMatchObject({ isValid: true });
  expect(check("a".repeat(64))).toMatchObject({
    isValid: false,
    problems: [{ path: "metadata.name" }],
  });
});

test("the longest name of a machine is a DNS label", () => {
  const name = (length: number) => `vino-12345678-${"a".repeat(length)}-99999`;
  const accepts = (length: number): boolean =>
    checkSpec({ nodes: [{ name: "a".repeat(length) }] }).isValid;
  const longest = Array.from({ length: 64 }, (_, length) => length).findLast(accepts) ?? 0;
  expect(longest).toBe(32);
  expect(name(longest).length).toBeLessThanOrEqual(63);
});
