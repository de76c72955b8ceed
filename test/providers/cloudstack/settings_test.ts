/**
 * From a file's content to settings, with every problem.
 * @module
 */
import { describe, expect, test } from "bun:test";
import { formatConfigIssue } from "../../../lib/core/errors.ts";
import { parseCidr } from "../../../lib/core/net/ip.ts";
import {
  describeSettings,
  parseCloudStackConfig,
} from "../../../lib/providers/cloudstack/settings/config.ts";
import {
  explainOddPath,
  explainUrl,
  parseKey,
  parseUrl,
} from "../../../lib/providers/cloudstack/settings/ini_syntax.ts";

const URL = "https://cs.example.com/client/api";
const KEYS = { apiKey: "k", secretKey: "s" };
const FILES = { apiKeyFile: "/keys/api", secretKeyFile: "/keys/secret" };
const MINIMAL = { apiUrl: URL, ...KEYS };

function listProblems(raw: unknown): string[] {
  const { issues, settings } = parseCloudStackConfig(raw);
  expect(settings === undefined).toBe(issues.length > 0);
  return issues.map(formatConfigIssue);
}

function listWarnings(more: object): (string | undefined)[] {
  return parseCloudStackConfig({ ...MINIMAL, ...more }).warnings.map(({ path }) => path);
}

describe("parseCloudStackConfig()", () => {
  test("needs an address and keys, and has a default for everything else", () => {
    const parsed = parseCloudStackConfig(MINIMAL);
    expect(parsed).toEqual({
      settings: {
        url: URL,
        insecure: false,
        keys: { kind: "pair", ...KEYS },
        refreshIntervalMs: 30_000,
        instanceTypeStyle: "squeezed",
        addresses: { exclude: [], externalCidrs: [] },
        trustsEmptyAnswer: true,
      },
      issues: [],
      warnings: [],
    });
  });

  test("reads every setting", () => {
    const pin = "ab".repeat(32);
    const { settings, issues, warnings } = parseCloudStackConfig({
      apiUrl: `${URL}/`,
      ...FILES,
      sslNoVerify: false,
      caFile: "/ca.pem",
      certificateFingerprint: pin.toUpperCase(),
      projectId: "kube",
      zone: "zone1",
      region: "north",
      version: "4.22.0.0",
      refreshInterval: "1m",
      instanceTypeStyle: "sanitised",
      addresses: { exclude: ["10.0.0.9"], externalCIDRs: ["10.1.0.0/16"], network: "k8s" },
      deletion: { trustEmptyAnswer: false },
    });
    expect([issues, warnings]).toEqual([[], []]);
    expect(settings).toEqual({
      url: URL,
      insecure: false,
      keys: { kind: "files", ...FILES },
      caFile: "/ca.pem",
      certificateFingerprint: pin,
      project: "kube",
      region: "north",
      version: "4.22.0.0",
      refreshIntervalMs: 60_000,
      instanceTypeStyle: "sanitised",
      addresses: {
        exclude: ["10.0.0.9"].flatMap((text) => parseCidr(text) ?? []),
        externalCidrs: ["10.1.0.0/16"].flatMap((text) => parseCidr(text) ?? []),
        network: "k8s",
      },
      trustsEmptyAnswer: false,
    });
  });

  test("with the mode leave no network is looked for", () => {
    const addresses = { mode: "leave", network: "k8s" };
    const { settings, warnings } = parseCloudStackConfig({ ...MINIMAL, addresses });
    expect(settings).toMatchObject({ leavesAddresses: true });
    expect(settings?.addresses).toEqual({ exclude: [], externalCidrs: [] });
    expect(warnings.map(({ path }) => path)).toEqual(["addresses.network"]);
  });

  test("empty keys count as not set", () => {
    const raw = {
      ...MINIMAL,
      projectId: "",
      region: null,
      addresses: { network: "" },
      deletion: {},
    };
    expect(parseCloudStackConfig(raw)).toEqual(parseCloudStackConfig(MINIMAL));
  });

  test("names the flag and the cloud when there is no file", () => {
    expect(listProblems(undefined)).toEqual([
      "--cloud-config: required with --cloud-provider=external-cloudstack: the file with the settings of CloudStack",
    ]);
  });

  test.each([null, {}])("says what %j lacks", (raw) => {
    expect(listProblems(raw)).toEqual([
      "apiUrl: required: the address of CloudStack's API, such as https://<host>/client/api",
      "apiKey: required, or its file in api-key-file",
      "secretKey: required, or its file in secret-key-file",
    ]);
  });

  test.each([
    [{ apiKey: "k" }, ["secretKey: required, or its file in secret-key-file"]],
    [{ secretKey: "s" }, ["apiKey: required, or its file in api-key-file"]],
    [
      { apiKeyFile: "/a" },
      ["secretKeyFile: required with the file of the other key: the file of the secret key"],
    ],
    [
      { ...KEYS, apiKeyFile: "/a" },
      [
        "apiKeyFile: not allowed together with api-key: choose one",
        "secretKey: not allowed together with the file of the other key: give both keys or both files",
      ],
    ],
    [
      { ...KEYS, ...FILES },
      [
        "apiKeyFile: not allowed together with api-key: choose one",
        "secretKeyFile: not allowed together with secret-key: choose one",
      ],
    ],
    [
      { apiKey: "k", secretKeyFile: "/s" },
      ["apiKey: not allowed together with the file of the other key: give both keys or both files"],
    ],
  ])("wants one pair of keys, not %j", (keys, problems) => {
    expect(listProblems({ apiUrl: URL, ...keys })).toEqual(problems);
  });

  test("reports everything at once, and never a value", () => {
    const secret = "s3cret value";
    const problems = listProblems({
      apiUrl: `https://u:${secret}@x/`,
      apiKey: secret,
      secretKey: 7,
      sslNoVerify: "perhaps",
      certificateFingerprint: secret,
      version: secret,
      refreshInterval: "1ms",
      instanceTypeStyle: secret,
      addresses: { mode: secret, exclude: [secret], externalCIDRs: secret },
      deletion: { trustEmptyAnswer: secret },
    });
    expect(problems.map((one) => one.split(":")[0])).toEqual([
      "apiUrl",
      "apiKey",
      "secretKey",
      "sslNoVerify",
      "certificateFingerprint",
      "version",
      "refreshInterval",
      "instanceTypeStyle",
      "addresses.mode",
      "addresses.exclude.0",
      "addresses.externalCIDRs",
      "deletion.trustEmptyAnswer",
    ]);
    expect(problems.join("\n")).not.toContain(secret);
  });

  test.each([
    [{ sslNoVerify: true, certificateFingerprint: "ab".repeat(32) }, "sslNoVerify"],
    [{ addresses: [] }, "addresses"],
    [{ deletion: ["x"] }, "deletion"],
  ])("refuses %j", (more, path) => {
    expect(parseCloudStackConfig({ ...MINIMAL, ...more }).issues).toMatchObject([{ path }]);
  });

  test.each([["text"], [["a"]], [7]] as const)("refuses %j instead of settings", (raw) => {
    expect(listProblems(raw)).toEqual([
      expect.stringMatching(/^must be a block of settings \(key: value\)/),
    ]);
  });

  test.each([
    [{ apiUrl: "http://cs.example.com/client/api" }, ["apiUrl"]],
    [{ apiUrl: "http://127.0.0.1:8080/client/api" }, []],
    [{ apiUrl: "https://cs.example.com/client" }, ["apiUrl"]],
    [
      { apiUrl: "http://127.0.0.1/client/api", certificateFingerprint: "ab".repeat(32) },
      ["certificateFingerprint"],
    ],
    [{ sslNoVerify: true, caFile: "/ca.pem" }, ["sslNoVerify"]],
    [{ sslNoVerify: true }, []],
    [{ apiKey: "/etc/key", secretKey: "$SECRET" }, ["apiKey", "secretKey"]],
    [{ addresses: { mode: "leave", exclude: ["10.0.0.1"] } }, ["addresses.exclude"]],
  ])("warns of %j at %j", (more, paths) => expect(listWarnings(more)).toEqual(paths));
});

test("settings of Leaseweb's provider have no effect, and each says what to do", () => {
  const leaseweb = { apiRateLimitQps: 5, apiRateLimitBurst: 10, vmCacheTtl: "30s" };
  const plain = { apiUrl: URL, apiKeyFile: "/k", secretKeyFile: "/s" };
  const { settings, issues, warnings } = parseCloudStackConfig({ ...plain, ...leaseweb });
  expect([settings, issues]).toEqual([parseCloudStackConfig(plain).settings, []]);
  expect(warnings.map(({ path }) => path)).toEqual(Object.keys(leaseweb));
  for (const { message } of warnings) expect(message).toMatch(/^has no effect: .*; remove it$/);
});

describe("describeSettings()", () => {
  test("has every setting of the Apache provider, and those of Landfall", () => {
    const paths = describeSettings().map(({ path }) => path);
    for (const path of ["apiUrl", "apiKey", "secretKey", "sslNoVerify", "projectId", "zone"]) {
      expect(paths).toContain(path);
    }
    expect(paths).toContain("addresses.externalCIDRs");
    expect(paths.at(-1)).toBe("deletion.trustEmptyAnswer");
    expect(new Set(paths).size).toBe(paths.length);
  });

  test("every default is one that a file may have", () => {
    for (const { path, default: standard, form } of describeSettings()) {
      if (standard === undefined) continue;
      const value = form === "string" ? standard : JSON.parse(standard);
      const [block = "", key] = path.split(".");
      const raw = key === undefined ? { [block]: value } : { [block]: { [key]: value } };
      expect(listProblems({ ...MINIMAL, ...raw })).toEqual([]);
    }
  });
});

describe("parseUrl()", () => {
  test.each([
    ["https://cs.example.com/client/api", "https://cs.example.com/client/api"],
    [" https://CS.example.com:8443/client/api/ ", "https://cs.example.com:8443/client/api"],
    ["http://[2001:db8::1]:8080/client/api", "http://[2001:db8::1]:8080/client/api"],
  ])("takes %j", (text, url) => {
    expect(parseUrl(text)).toBe(url);
    expect(explainUrl(text)).toBeUndefined();
  });

  test.each([
    ["cs.example.com/client/api", "has no scheme"],
    ["ftp://cs.example.com", "must be an address"],
    ["https://", "must be an address"],
    ["https://user:pa55@cs.example.com/client/api", "holds a user or password"],
    ["https://cs.example.com/client/api?command=listZones", "holds a query"],
    ["https://cs.example.com/client/#/dashboard", "holds a fragment"],
    ["", "has no scheme"],
    ["'https://cs.example.com/client/api'", "begins with a single quote"],
  ])("refuses %j, because it %s", (text, why) => {
    expect(parseUrl(text)).toBeUndefined();
    expect(explainUrl(text)).toContain(why);
    expect(explainUrl(text)).not.toContain("pa55");
  });
});

describe("explainOddPath()", () => {
  test("finds the address of the web page odd", () => {
    expect(explainOddPath("https://cs.example.com/client/api")).toBeUndefined();
    expect(explainOddPath("https://cs.example.com/client")).toContain("/client/api");
    expect(explainOddPath("https://cs.example.com/")).toContain("/client/api");
  });
});

describe("parseKey()", () => {
  test("takes a key without the blanks around it", () => {
    expect(parseKey(" plgWJfZK4-_A\n")).toBe("plgWJfZK4-_A");
  });

  test.each(["", " \n", "two words", "line\nbreak", "schlüssel"])("refuses %j", (text) => {
    expect(parseKey(text)).toBeUndefined();
  });
});
