/**
 * Command lines: anything but good ones ends with 2 and names each flag, in plain text and without a secret.
 * @module
 */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { parseCheckFlags } from "../../lib/cli/check/flags.ts";
import { FLAGS } from "../../lib/cli/flags/table.ts";
import { parseFlags } from "../../lib/cli/flags/mod.ts";
import { ConfigError } from "../../lib/core/errors.ts";
import { sample, tries } from "../support/extent.ts";
import { anySecret, anyText, isPolluted } from "../support/net/hostile.ts";
import { runMain } from "./run_main.ts";
import { longTest } from "../support/long_tests.ts";

const name = fc.oneof(fc.constantFrom(...FLAGS.map((flag) => flag.name)), anyText);
const dashes = fc.constantFrom("--", "-", "", "---");
const value = fc.oneof(
  anyText,
  fc.constantFrom(
    "true",
    "0",
    "-1",
    "1e9",
    "99999999999999999999",
    "1h",
    "*,-",
    ",,,",
    "NaN",
    "0x10",
  ),
);
const argument = fc.oneof(
  fc.tuple(dashes, name, value).map(([lead, flag, one]) => `${lead}${flag}=${one}`),
  fc.tuple(dashes, name).map(([lead, flag]) => `${lead}${flag}`),
  value,
);

longTest("parseFlags() and parseCheckFlags() give settings, or say what is wrong", () => {
  fc.assert(
    fc.property(fc.array(argument, { maxLength: 6 }), (argv) => {
      for (const parse of [parseFlags, parseCheckFlags]) {
        try {
          const { settings } = parse(argv);
          expect(Object.values(settings.flags).every(isSetting)).toBe(true);
        } catch (error) {
          expect(error).toBeInstanceOf(ConfigError);
          expect((error as ConfigError).issues.length).toBeGreaterThan(0);
        }
      }
    }),
    tries(300),
  );
  expect(isPolluted()).toBe(false);
});

function isSetting(value: number | string): boolean {
  return typeof value === "string" || Number.isFinite(value);
}

/** What it is, the arguments, what must be said; no argument is good. */
const CORPUS: readonly [string, readonly string[], RegExp][] = [
  ["a name that every object has", ["--constructor=1", "--__proto__=1"], /--constructor: unknown/],
  ["a flag of 100,000 characters", [`--${"a".repeat(100_000)}`], /unknown flag/],
  ["100,000 dashes", ["-".repeat(100_000)], /unknown flag/],
  ["10,000 flags", Array.from({ length: 10_000 }, () => "--v=x"), /--v: must be a whole/],
  ["10,000 controllers", [`--controllers=${"x,".repeat(10_000)}`], /unknown controller/],
  ["colours", ["--v=\u001b[31m\u202e"], /--v: must be a whole/],
  ["another line", ["--v=1\nlandfall: all is well"], /--v: must be a whole/],
  ["a command of colours", ["\u001b[31mrun"], /unknown command/],
  ["a number that overflows", ["--concurrent-node-syncs=999999999999999"], /must be from 1 to/],
  ["a negative duration", ["--node-monitor-period=-1h"], /must be from 100ms/],
  ["a duration that overflows", ["--node-monitor-period=9999999999999h"], /must be a duration/],
  ["a port that is none", ["--secure-port=65536"], /must be from 0 to 65535/],
  ["an address that is none", ["--bind-address=256.0.0.1"], /must be an IP address/],
  ["a debug address that all clients reach", ["--debug-address=0.0.0.0:1"], /must be a loopback/],
  ["a socket with a long path", [`--debug-address=/${"x".repeat(200)}`], /at most 107/],
  [
    "a Lease that no server takes",
    ["--leader-elect-resource-name=A b"],
    /must be a Kubernetes name/,
  ],
  [
    "a provider that every object has",
    ["--cloud-provider=toString"],
    /unknown provider "toString"/,
  ],
];

describe("main()", () => {
  test.each(sample(CORPUS))(
    "ends with 2 and a sentence in plain text for %s",
    async (_what, argv, reason) => {
      const { code, said, ms } = await runMain(argv);
      expect(code).toBe(2);
      expect(said).toMatch(reason);
      // oxlint-disable-next-line no-control-regex -- these are what is looked for
      expect(said).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/);
      expect(said).not.toMatch(/^landfall: all is well/m);
      expect(ms).toBeLessThan(3_000);
    },
  );

  test("never repeats the value of a flag that it does not know", async () => {
    const form = fc.constantFrom(
      "--token=S",
      "--token S",
      "-token S",
      "--xoa-token=S",
      "--password S",
    );
    await fc.assert(
      fc.asyncProperty(form, anySecret, async (words, secret) => {
        const { code, said } = await runMain(words.replace("S", secret).split(" "));
        expect(code).toBe(2);
        expect(said).not.toContain(secret);
      }),
      tries(20),
    );
  });
});
