/**
 * The INI file of the Apache provider, and the same settings in YAML.
 * @module
 */
import fc from "fast-check";
import { describe, expect, test } from "bun:test";
import { DELETION } from "../../../lib/cloud/settings/sections.ts";
import { parseProviderConfig } from "../../../lib/config/provider_config.ts";
import { ConfigError, formatConfigIssue } from "../../../lib/core/errors.ts";
import {
  type CloudStackSettings,
  describeSettings,
  parseCloudStackConfig,
} from "../../../lib/providers/cloudstack/settings/config.ts";
import { INI_SYNTAX, readIniLines } from "../../../lib/providers/cloudstack/settings/ini_syntax.ts";
import { longTest } from "../../support/long_tests.ts";

const PARSER = {
  settings: describeSettings(),
  parseConfig: parseCloudStackConfig,
  syntax: INI_SYNTAX,
};
const OPTIONS = { path: "FILE", env: {}, definition: PARSER, sections: [DELETION] };

async function read(text: string) {
  return await parseProviderConfig<CloudStackSettings>(text, OPTIONS);
}

async function listProblems(text: string): Promise<string[]> {
  try {
    await read(text);
  } catch (error) {
    if (error instanceof ConfigError) return error.issues.map(formatConfigIssue);
    throw error;
  }
  return [];
}

const APACHE = `[Global]
api-url = https://cs.example.com/client/api
api-key = plgWJfZK4gyS3mOMTVmjUVg-X-jlWlnfaUJ9GAbBbf9EdM
secret-key = VDaACYb0LV9eNjTetIOElcVQkvJck_J_QljX_FcHRj87ZK
project-id = 11111111-2222-4333-8444-555555555555
zone = Sandbox-simulator
ssl-no-verify = yes
`;

const EVERYTHING_INI = `; what 1.x does not know is below
[GLOBAL]
API-URL = "https://cs.example.com/client/api"
api-key-file = /keys/api-key
secret-key-file = /keys/secret-key
ssl-no-verify = off
ca-file = /ca.pem
project-id = Kube "team # 1"
region = north
version = 4.22.0.0
refresh-interval = 1m
instance-type-style = sanitised
[Addresses]
exclude = 10.0.0.9, 10.0.0.10
exclude = 10.0.1.0/24
external-cidrs = 10.1.0.0/16
network = k8s
[deletion]
enabled
hold-off = 2m
fleet-share = 0.2
confirmations = 5
trust-empty-answer = false
`;

const EVERYTHING_YAML = `
apiUrl: https://cs.example.com/client/api
apiKeyFile: /keys/api-key
secretKeyFile: /keys/secret-key
sslNoVerify: false
caFile: /ca.pem
projectId: "Kube team # 1"
region: north
version: 4.22.0.0
refreshInterval: 1m
instanceTypeStyle: sanitised
addresses:
  exclude: [10.0.0.9, 10.0.0.10, 10.0.1.0/24]
  externalCIDRs: [10.1.0.0/16]
  network: k8s
deletion:
  enabled: true
  holdOff: 2m
  fleetShare: 0.2
  confirmations: 5
  trustEmptyAnswer: false
`;

describe("INI_SYNTAX", () => {
  test("reads the file of the Apache provider as it is", async () => {
    const { settings, warnings, syntax } = await read(APACHE);
    expect(settings).toMatchObject({
      url: "https://cs.example.com/client/api",
      insecure: true,
      project: "11111111-2222-4333-8444-555555555555",
      keys: { kind: "pair", apiKey: expect.stringMatching(/^plg/) },
    });
    expect([warnings, syntax]).toEqual([[], "INI"]);
  });

  test("says the same as YAML, setting by setting, and which of the two was read", async () => {
    const ini = await read(EVERYTHING_INI);
    const yaml = await read(EVERYTHING_YAML);
    expect([ini.syntax, yaml.syntax]).toEqual(["INI", "YAML"]);
    expect(ini.settings).toEqual(yaml.settings);
    expect(ini.sections).toEqual(yaml.sections);
    expect(ini.settings.trustsEmptyAnswer).toBe(false);
    expect(ini.sections.get("deletion")).toMatchObject({ holdOffMs: 120_000, confirmations: 5 });
  });

  test.each([
    ["true", true],
    ["YES", true],
    ["on", true],
    ["1", true],
    ["false", false],
    ["No", false],
    ["off", false],
    ["0", false],
  ])("reads ssl-no-verify = %s as %p", async (word, insecure) => {
    const text = APACHE.replace("ssl-no-verify = yes", `ssl-no-verify = ${word}`);
    expect((await read(text)).settings.insecure).toBe(insecure);
  });

  test("a switch without = is on, and an empty value counts as not set", async () => {
    const on = APACHE.replace("ssl-no-verify = yes", "ssl-no-verify").replace(
      "zone = S",
      "zone = ;",
    );
    expect((await read(on)).settings.insecure).toBe(true);
    const off = APACHE.replace("ssl-no-verify = yes", "ssl-no-verify =");
    expect((await read(off)).settings.insecure).toBe(false);
  });

  test("the last of two values counts, as for the Apache provider, with a warning", async () => {
    const { settings, warnings } = await read(
      "[Global]\nregion = a\n" + APACHE + "[global]\nregion = b\n",
    );
    expect(settings.region).toBe("b");
    expect(warnings.map(formatConfigIssue)).toContainEqual(
      expect.stringMatching(
        /:\d+:1: region: set more than once: this line counts, and line 2 does not$/,
      ),
    );
  });

  test.each(["OutOfService", "outofservice", "Out-Of-Service"])(
    "reads the settings of every cloud, here those of [%s]",
    async (section) => {
      const { raw } = await INI_SYNTAX.parse(`[${section}]\ngrace-duration = 1m\n`, [
        { path: "outOfService.graceDuration", form: "string", type: "duration", description: "" },
      ]);
      expect(raw).toEqual({ outOfService: { graceDuration: "1m" } });
    },
  );

  test("a list may have several lines", async () => {
    const { warnings } = await read(
      `${APACHE}[Addresses]\nexclude = 10.0.0.1\nexclude = 10.0.0.2\n`,
    );
    expect(warnings.map(formatConfigIssue).filter((text) => text.includes("once"))).toEqual([]);
  });

  test("reads the keys of [Globl] as those of [Global], so that only the section is wrong", async () => {
    expect(await listProblems(APACHE.replace("[Global]", "[Globl]"))).toEqual([
      "FILE:1:1: [Globl]: unknown section; did you mean [Global]?",
    ]);
  });

  test("says of an empty file what is missing, in the words of an INI file", async () => {
    expect(await listProblems("; nothing yet\n")).toEqual([
      "FILE: api-url: required: the address of CloudStack's API, such as https://<host>/client/api",
      "FILE: api-key: required, or its file in api-key-file",
      "FILE: secret-key: required, or its file in secret-key-file",
    ]);
  });

  test("shows a long unknown key of a section", async () => {
    const text = `${APACHE}[Deletion]\nseconds-before-a-node-goes = 1\n`;
    expect(await listProblems(text)).toEqual([
      expect.stringContaining("[Deletion] seconds-before-a-node-goes: unknown key"),
    ]);
  });

  test("names every wrong setting with its line and key, in the words of the file", async () => {
    const text = [
      "[Global]",
      "api-url = cs.example.com",
      "api-key = k",
      "secret-kee = s",
      "ssl-no-verify = perhaps",
      "refresh-interval = 5",
      "deletion = x",
      "apiUrl = x",
      "hold-off = 1m",
      "[Adresses]",
      "exclude = 10.0.0.1",
      "[Addresses]",
      "exclude = 10.0.0.1, x",
      "modes = leave",
      "[Deletion]",
      "hold-of = 2m",
      "confirmations = some",
    ].join("\n");
    expect(await listProblems(text)).toEqual([
      "FILE:2:1: api-url: has no scheme: begin it with https://",
      "FILE:4:1: secret-kee: unknown key; did you mean secret-key?",
      "FILE:5:1: ssl-no-verify: must be true or false",
      'FILE:6:1: refresh-interval: must be a duration from 1s to 1h, for example "30s", but is "5"',
      "FILE:7:1: deletion: unknown key; correct or remove it",
      "FILE:8:1: apiUrl: unknown key; did you mean api-url?",
      "FILE:9:1: hold-off: unknown key; did you mean [Deletion] hold-off?",
      "FILE:10:1: [Adresses]: unknown key; did you mean [Addresses]?",
      "FILE:13:1: [Addresses] exclude: must be an IP address or a CIDR, for example 10.0.0.0/8",
      "FILE:14:1: [Addresses] modes: unknown key; did you mean [Addresses] mode?",
      "FILE:16:1: [Deletion] hold-of: unknown key; did you mean [Deletion] hold-off?",
      "FILE:17:1: [Deletion] confirmations: must be a whole number from 1 to 100, without quotes",
    ]);
  });

  test.each([
    ["[Addreses]", "[Addresses]"],
    ["[addressses]", "[Addresses]"],
  ])("knows which section %s was meant to be", async (written, meant) => {
    const text = `[Global]\napi-url = https://x/client/api\napi-key = k\nsecret-key = s\n${written}\n`;
    expect(await listProblems(text)).toEqual([
      `FILE:5:1: ${written}: unknown key; did you mean ${meant}?`,
    ]);
  });

  test("names single quotes, which no value has around it", async () => {
    const text = "[Global]\napi-url = 'https://x/client/api'\napi-key = 'k'\nsecret-key = s\n";
    expect(await listProblems(text)).toEqual([
      "FILE:2:1: api-url: begins with a single quote: use none, or double quotes",
      "FILE:2:1: warning: api-url: single quotes are part of the value: use none, or double quotes",
      "FILE:3:1: warning: api-key: single quotes are part of the value: use none, or double quotes",
    ]);
  });

  test("names every wrong line", async () => {
    const text = 'api-url = u\n[Global]\napi-key\nsecret-key = "s\nwhat is this\n';
    expect(await listProblems(text)).toEqual([
      "FILE:1:1: a key must stand below a section; write [Global] above it",
      "FILE:3:1: api-key: must have = and a value after it",
      "FILE:4:1: secret-key: a quotation mark is not closed",
      "FILE:5:1: must be key = value, a [Section] or a comment",
    ]);
  });

  test("finds the line of a setting that the provider refuses later", async () => {
    const { use } = await read(EVERYTHING_INI);
    const refuse = (): never => {
      throw new ConfigError([{ path: "caFile", message: "cannot be read" }]);
    };
    await expect(use(refuse)).rejects.toThrow("FILE:7:1: ca-file: cannot be read");
  });

  test("never shows a value", async () => {
    const secret = "VDaACYb0LV9eNjTetIOElcVQkvJck_J_QljX";
    for (const text of [
      `[Global]\n${secret}`,
      `[Global]\nsecret-key ${secret}`,
      `[Global]\napi-url = ${secret}\nversion = ${secret}`,
      `[${secret}\n`,
      `[Global]\nsecret-key = "${secret}`,
      `[Global "${secret}"]`,
    ]) {
      const problems = await listProblems(text);
      expect(problems).not.toEqual([]);
      expect(problems.join("\n")).not.toContain(secret);
    }
  });

  test.each([
    ["[Global]\n", true],
    ["# a\n\n  [Global]\n", true],
    ["; only INI has such comments", true],
    ["api-url = https://x", true],
    ["\ufeff[Global]", true],
    ["apiUrl: https://x/?a=b", false],
    ["# a\napiUrl: u", false],
    ['{"apiUrl": "u"}', false],
    ["---\napiUrl: u", false],
    ["", true],
    ["# nothing yet\n\n", true],
  ])("tells INI from YAML by the content: %j", (text, isIni) => {
    expect(INI_SYNTAX.accepts?.(text)).toBe(isIni);
  });

  test("a broken YAML file is reported as YAML", async () => {
    expect((await listProblems("apiUrl: [\n"))[0]).toContain("not closed");
    expect(await listProblems("apiUrl: https://x/client/api\napi-key: k\n")).toContain(
      "FILE:2:1: api-key: unknown key; did you mean apiKey?",
    );
  });
});

/** The value of the only key. */
function readValue(written: string): string | undefined {
  const { lines, issues } = readIniLines(`key${written}`);
  expect(issues).toEqual([]);
  const [line] = lines;
  expect(lines).toHaveLength(1);
  return line?.kind === "entry" ? line.value : undefined;
}

describe("readIniLines()", () => {
  test("finds sections and keys with their places, between comments and empty lines", () => {
    const text =
      "\ufeff; first\r\n\r\n[Global]\r\n  api-url = u # end\r\n# two\r\n[ Deletion ] ; x\nOn\n";
    expect(readIniLines(text)).toEqual({
      lines: [
        { kind: "section", name: "Global", line: 3, column: 1 },
        { kind: "entry", key: "api-url", value: "u", line: 4, column: 3 },
        { kind: "section", name: "Deletion", line: 6, column: 1 },
        { kind: "entry", key: "On", line: 7, column: 1 },
      ],
      issues: [],
    });
  });

  test.each([
    ["=value", "value"],
    ["\t =\t value \t", "value"],
    [" = two words", "two words"],
    [" = a=b==", "a=b=="],
    [" = https://host/client/api", "https://host/client/api"],
    [" = a;b", "a"],
    [" = a # b", "a"],
    [' = "a;b # c"', "a;b # c"],
    [' = " a "', " a "],
    [' = a" b "c', "a b c"],
    [' = "say \\"x\\" \\\\ \\n\\t."', 'say "x" \\ \n\t.'],
    [' = ""', ""],
    [" =", ""],
    [" = ; nothing", ""],
    ["", undefined],
    [" ; on", undefined],
    [" # on = 1", undefined],
    [" = a\\\n  b", "a  b"],
    [" = a \\\n;b", "a"],
  ])("reads key%j as %j", (written, value) => expect(readValue(written)).toBe(value));

  test.each([
    ["no key", 1],
    ["[Global", 1],
    ["[]", 1],
    ['[Global "one"]', 1],
    ["[Global] api-url = u", 1],
    ["1key = v", 1],
    ["_key = v", 1],
    ["= v", 1],
    ['key = "open', 1],
    ['key = "a\\q"', 1],
    ["key = C:\\path", 1],
    ["key: value", 1],
    ['ok = 1\nkey = "a\nb"', 2],
  ])("says what is wrong with %j, and where", (text, line) => {
    const { issues } = readIniLines(text);
    expect(issues[0]).toMatchObject({ line, column: 1 });
  });

  test("reads on after a line that is wrong, and never repeats one", () => {
    const { lines, issues } = readIniLines(
      '[Global]\nsecret-key = "s3cret\napi-key = k\n s3cret value\n',
    );
    expect(lines).toHaveLength(2);
    expect(issues.map(({ line }) => line)).toEqual([2, 4]);
    expect(JSON.stringify(issues)).not.toContain("s3cret");
  });

  test("a value in quotes keeps every character", () => {
    fc.assert(
      fc.property(
        fc.string({ unit: "grapheme" }).filter((text) => !/[\r\0]/.test(text)),
        (text) => {
          const quoted = text.replaceAll(/["\\]/g, "\\$&").replaceAll("\n", "\\n");
          expect(readValue(` = "${quoted}"`)).toBe(text);
        },
      ),
    );
  });

  longTest.each([
    ["blanks", `[a${" ".repeat(300_000)}`],
    ["backslashes", "key = \\\n".repeat(50_000)],
    ["quotes", `key = ${'"'.repeat(300_000)}x`],
    ["brackets", "[".repeat(300_000)],
    ["wrong lines", "?\n".repeat(100_000)],
    ["blanks before a comment", `key${" ".repeat(300_000)}x;`],
  ])("is done in time with very many %s", (_title, text) => {
    const startedMs = performance.now();
    expect(readIniLines(text).issues.length).toBeLessThanOrEqual(50);
    expect(performance.now() - startedMs).toBeLessThan(2_000);
  });
});
