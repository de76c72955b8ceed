/**
 * The INI file of CloudStack: whatever it holds, it is used or refused with a reason and its place, and no message
 * repeats a value.
 * @module
 */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { DELETION } from "../../../lib/cloud/settings/sections.ts";
import { type ProviderConfig, parseProviderConfig } from "../../../lib/config/provider_config.ts";
import { ConfigError, describeError, formatConfigIssue } from "../../../lib/core/errors.ts";
import { cloudStack } from "../../../lib/providers/cloudstack/mod.ts";
import type { CloudStackSettings } from "../../../lib/providers/cloudstack/settings/config.ts";
import { sample, tries } from "../../support/extent.ts";
import { anySecret, anyText, isPolluted, measureCpuMs } from "../../support/net/hostile.ts";
import { longTest } from "../../support/long_tests.ts";

const PATH = "/etc/landfall/cloud-config";
const SECRET = "Zq-the-secret-of-43-characters_QVtRk3xYpw9";
const GOOD = [
  "[Global]",
  "api-url = https://cloudstack.example.com/client/api",
  "api-key = abc",
  "secret-key = def",
  "[Deletion]",
  "enabled = true",
];

/** What is said of a text, and what it means. */
async function judge(
  text: string,
): Promise<{ readonly said: string; readonly config?: ProviderConfig<CloudStackSettings> }> {
  try {
    const options = { path: PATH, env: {}, definition: cloudStack, sections: [DELETION] };
    const config = await parseProviderConfig(text, options);
    return { said: config.warnings.map(formatConfigIssue).join("\n"), config };
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    for (const { message } of error.issues) expect(message).not.toBe("");
    return { said: describeError(error) };
  }
}

const key = fc.constantFrom(
  ...cloudStack.settings.map(({ path }) => path.split(".").at(-1) ?? ""),
  ..."api-url API-URL api_key secret-key ssl-no-verify constructor __proto__ x".split(" "),
);
const value = fc.oneof(
  anyText,
  anySecret,
  fc.constantFrom("", '"', '"open', '"a\\', "yes", "1e9", "\\", '"a"b', "a;b", "a#b", "0x10"),
);
const line = fc.oneof(
  fc.tuple(key, fc.constantFrom("=", " = ", ":", "", "=="), value).map((parts) => parts.join("")),
  fc.constantFrom("[Global]", "[global]", "[Deletion]", "[x]", "[a.b]", '[Global "x"]', "[", "[]"),
  fc.constantFrom("; note", "# note", "", "\t", "=", "= x", "\u0000", "\ufeff", "[Global] x = 1"),
  anyText,
);

describe("the INI file of CloudStack", () => {
  test("is used, or refused with reasons, whatever its lines are", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(fc.nat(GOOD.length), line), { minLength: 1, maxLength: 6 }),
        fc.constantFrom("\n", "\r\n"),
        async (lines, end) => {
          const all = lines.reduce((now, [at, one]) => now.toSpliced(at, 0, one), GOOD);
          const { config } = await judge(all.join(end));
          if (config === undefined) return;
          const { url, keys, refreshIntervalMs } = config.settings;
          expect(URL.parse(url)?.protocol).toMatch(/^https?:$/);
          expect(Object.values(keys).every((one) => typeof one === "string")).toBe(true);
          expect(refreshIntervalMs).toBeGreaterThanOrEqual(1_000);
        },
      ),
      tries(300),
    );
    expect(isPolluted()).toBe(false);
  });

  test("never shows a value, wherever it stands and however the text is torn", async () => {
    const place = fc.constantFrom("api-url", "api-key", "secret-key", "project-id", "x", "version");
    const tear = fc.tuple(fc.nat(200), fc.constantFrom("", '"', "\n", "[", "=", "\\", "; "));
    await fc.assert(
      fc.asyncProperty(anySecret, place, tear, async (secret, name, [at, mark]) => {
        const text = [...GOOD.slice(0, 4), `${name} = ${secret}`, ...GOOD.slice(4)].join("\n");
        for (const one of [text, text.slice(0, at) + mark + text.slice(at)]) {
          expect((await judge(one)).said).not.toContain(secret);
        }
      }),
      tries(200),
    );
  });

  const LARGE = 900_000;
  const CORPUS: readonly [string, string, RegExp][] = [
    ["a section alone", "[Global]", /api-url: required/],
    ["a section that is not closed", "[Global\napi-key = T", /./],
    ["keys above all sections", "api-key = T\n[Global]", /write \[Global\] above it/],
    ["a section nobody knows", "[Glob]\napi-key = T", /unknown/],
    ["a key nobody knows", `${GOOD.join("\n")}\napi-keys = T`, /unknown key/],
    ["a key twice", "[Global]\napi-key = T\napi-key = T", /twice|required/],
    ["a quote without its twin", '[Global]\nsecret-key = "T', /quotation mark is not closed/],
    ["a line without a meaning", "[Global]\n%T%", /./],
    ["a megabyte of quotes", `[Global]\nregion = ${'"'.repeat(LARGE)}`, /./],
    ["a megabyte of backslashes", `[Global]\nregion = "${"\\".repeat(LARGE)}`, /./],
    ["a megabyte of brackets", "[".repeat(LARGE), /./],
    ["100,000 sections", "[Global]\n".repeat(100_000), /api-url: required/],
    ["50,000 keys", `[Global]\n${"k = T\n".repeat(50_000)}`, /unknown key/],
    ["a long line of blanks", `[Global]\napi-key =${" ".repeat(LARGE)}T`, /required/],
  ];
  longTest.each(sample(CORPUS))(
    "says of %s what is wrong, soon and without a value",
    async (_what, text, reason) => {
      let said = "";
      const ms = await measureCpuMs(async () => {
        const judged = await judge(text.replaceAll("T", SECRET));
        expect(judged.config).toBeUndefined();
        ({ said } = judged);
      });
      expect(said).toMatch(reason);
      expect(said).toContain(PATH);
      expect(said).not.toContain(SECRET);
      expect(ms).toBeLessThan(5_000);
    },
  );
});
