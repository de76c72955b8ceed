/**
 * Settings from files and environment variables, the Go controller's among them.
 * @module
 */
import { describe, expect, test } from "bun:test";
import { isInCidr } from "../../../lib/core/net/ip.ts";
import {
  explainToken,
  explainUrl,
  parseUrl,
  parseXenOrchestraConfig,
  SETTINGS,
  toUnmanaged,
} from "../../../lib/providers/xenorchestra/settings.ts";

const FILE = { url: "https://xoa.example.com", token: "s3cret" };
const FINGERPRINT =
  "26:D3:34:E0:B4:C4:23:0D:00:96:53:00:C0:A2:94:69:F2:A5:09:31:D7:C3:2C:B3:FE:3A:59:87:FE:3C:D3:27";

describe("parseXenOrchestraConfig()", () => {
  test("fills in the defaults", () => {
    expect(parseXenOrchestraConfig(FILE, {})).toEqual({
      settings: {
        url: "https://xoa.example.com",
        insecure: false,
        credentials: { kind: "token", token: "s3cret" },
        refreshIntervalMs: 30_000,
        addresses: { exclude: [], externalCidrs: [], mainIpAsExternal: false },
        leavesAddresses: false,
        zoneLabelFrom: { kind: "host" },
      },
      issues: [],
      warnings: [],
    });
  });

  test("reads every key", () => {
    const { settings, issues } = parseXenOrchestraConfig(
      {
        url: "https://xoa.example.com:8443/xo/",
        username: "ccm",
        password: "pa ss",
        clientTimeout: "1m",
        caFile: "/ca.pem",
        certificateFingerprint: FINGERPRINT,
        refreshInterval: "1m30s",
        addresses: {
          exclude: ["10.0.0.200", "10.1.0.0/16"],
          externalCIDRs: ["172.20.0.0/16"],
          mainIpAsExternal: true,
          network: "k8s",
        },
        zoneLabelFrom: "hostTag:rack=",
        instanceTypeTag: "type=",
      },
      {},
    );
    expect(issues).toEqual([]);
    expect(settings).toMatchObject({
      url: "https://xoa.example.com:8443/xo",
      credentials: { kind: "password", username: "ccm", password: "pa ss" },
      clientTimeoutMs: 60_000,
      caFile: "/ca.pem",
      certificateFingerprint: FINGERPRINT.replaceAll(":", "").toLowerCase(),
      refreshIntervalMs: 90_000,
      addresses: { mainIpAsExternal: true, network: "k8s" },
      zoneLabelFrom: { kind: "hostTag", prefix: "rack=" },
      instanceTypeTag: "type=",
    });
    expect(settings?.addresses.exclude.some((cidr) => isInCidr("10.1.2.3", cidr))).toBe(true);
  });

  test("reads the Go controller's variables without a file", () => {
    const env = {
      XOA_URL: "http://localhost:8080",
      XOA_INSECURE: "T",
      XOA_USER: "ccm",
      XOA_PASSWORD: "pw",
      XOA_CLIENT_TIMEOUT: "60s",
    };
    expect(parseXenOrchestraConfig(undefined, env)).toMatchObject({
      settings: {
        url: "http://localhost:8080",
        insecure: true,
        credentials: { kind: "password", username: "ccm", password: "pw" },
        clientTimeoutMs: 60_000,
      },
      warnings: [],
    });
  });

  test("lets the file win over the environment, key by key", () => {
    const env = { XOA_URL: "https://other", XOA_TOKEN: "other", XOA_INSECURE: "true" };
    const { settings } = parseXenOrchestraConfig({ ...FILE, insecure: false }, env);
    expect(settings).toMatchObject({
      url: FILE.url,
      insecure: false,
      credentials: { token: "s3cret" },
    });
    const mixed = parseXenOrchestraConfig({ url: FILE.url, token: "" }, env);
    expect(mixed.settings).toMatchObject({
      url: FILE.url,
      insecure: true,
      credentials: { token: "other" },
    });
  });

  test("does not look at credentials of the environment when the file has its own", () => {
    const file = { url: FILE.url, username: "u", password: "p" };
    const { settings } = parseXenOrchestraConfig(file, { XOA_TOKEN: "left over" });
    expect(settings?.credentials.kind).toBe("password");
    const half = parseXenOrchestraConfig({ url: FILE.url, username: "u" }, { XOA_PASSWORD: "p" });
    expect(half.settings?.credentials.kind).toBe("password");
  });

  test.each([
    ["a user without password", "username", "ignored without password: Landfall uses token"],
    ["a password without user", "password", "ignored without username: Landfall uses token"],
  ])("a token beside %s wins, as in the Go controller, with a warning", (_title, key, message) => {
    const { settings, warnings } = parseXenOrchestraConfig({ ...FILE, [key]: "u" }, {});
    expect(settings?.credentials).toEqual({ kind: "token", token: "s3cret" });
    expect(warnings).toEqual([{ path: key, message }]);
  });

  test("warns of the variable when the ignored half stands in one", () => {
    const env = { XOA_TOKEN: "t", XOA_PASSWORD: "p" };
    const { settings, warnings } = parseXenOrchestraConfig({ url: FILE.url }, env);
    expect(settings?.credentials.kind).toBe("token");
    expect(warnings).toMatchObject([{ source: "XOA_PASSWORD" }]);
  });

  test("describes username as it treats it", () => {
    const { description } = SETTINGS.find(({ path }) => path === "username") ?? {};
    expect(description).toContain("If a token is set as well, that is an error.");
    expect(description).toContain("beside a token, Landfall warns and ignores it.");
  });

  test.each([
    [{ token: "s3cret" }, "url", "in the file of --cloud-config or in XOA_URL"],
    [{ url: FILE.url, username: "u" }, "password", "required with username"],
    [{ url: FILE.url, password: "s3cret" }, "username", "required with password"],
    [{ ...FILE, url: "https://u:s3cret@xoa" }, "url", "holds a user or password"],
    [{ ...FILE, url: "https://xoa?a=s3cret" }, "url", "holds a query"],
    [{ ...FILE, token: "s3cr\u00e9t" }, "token", "not ASCII"],
    [{ ...FILE, clientTimeout: "1ns" }, "clientTimeout", "from 100ms to 10m,"],
  ])("says exactly what is wrong with %#", (file, path, message) => {
    const { issues } = parseXenOrchestraConfig(file, {});
    expect(issues).toMatchObject([{ path, message: expect.stringContaining(message) }]);
    expect(JSON.stringify(issues)).not.toContain("s3c");
  });

  test.each([
    ["0", undefined],
    ["0s", undefined],
    ["100ms", 100],
    ["10m", 600_000],
  ])("reads clientTimeout %j as %p", (clientTimeout, ms) => {
    const { settings, issues } = parseXenOrchestraConfig({ ...FILE, clientTimeout }, {});
    expect(issues).toEqual([]);
    expect(settings?.clientTimeoutMs).toBe(ms);
  });

  test.each([
    ["token with username and password", { ...FILE, username: "u", password: "p" }, "token"],
    ["token with tokenFile", { ...FILE, tokenFile: "/t" }, "token"],
    [
      "tokenFile with a password",
      { url: FILE.url, tokenFile: "/t", username: "u", password: "p" },
      "tokenFile",
    ],
    ["no credentials", { url: FILE.url }, "token"],
    ["a token with a line break inside", { ...FILE, token: "s3c\nret" }, "token"],
    ["a token that is a number", { ...FILE, token: 12345 }, "token"],
    ["insecure as text", { ...FILE, insecure: "yes" }, "insecure"],
    [
      "insecure with a pin",
      { ...FILE, insecure: true, certificateFingerprint: FINGERPRINT },
      "insecure",
    ],
    ["a short fingerprint", { ...FILE, certificateFingerprint: "26:D3" }, "certificateFingerprint"],
    ["a negative duration", { ...FILE, clientTimeout: "-1s" }, "clientTimeout"],
    [
      "a bad CIDR",
      { ...FILE, addresses: { exclude: ["10.0.0.0/8", "10.0.0.0/33"] } },
      "addresses.exclude.1",
    ],
    ["CIDRs as text", { ...FILE, addresses: { exclude: "10.0.0.0/8" } }, "addresses.exclude"],
    ["an empty host tag", { ...FILE, zoneLabelFrom: "hostTag:" }, "zoneLabelFrom"],
  ] as const)("refuses %s, and shows no value", (_title, file, path) => {
    const { settings, issues } = parseXenOrchestraConfig(file, {});
    expect(settings).toBeUndefined();
    expect(issues.map((issue) => issue.path)).toContain(path);
    expect(JSON.stringify(issues)).not.toMatch(/s3c|12345/);
  });

  test.each([
    ["XOA_INSECURE", { XOA_INSECURE: "yes" }],
    ["XOA_URL", { XOA_URL: "ftp://xoa" }],
    ["XOA_CLIENT_TIMEOUT", { XOA_CLIENT_TIMEOUT: "soon" }],
  ])("blames %s when it is wrong", (source, env) => {
    const { issues } = parseXenOrchestraConfig(undefined, {
      XOA_URL: "https://x",
      XOA_TOKEN: "t",
      ...env,
    });
    expect(issues).toEqual([{ source, message: expect.any(String) }]);
  });

  test("reports everything at once", () => {
    const file = { url: "x", clientTimeout: "x", addresses: { exclude: ["x"] } };
    const paths = parseXenOrchestraConfig(file, {}).issues.map(({ path }) => path);
    expect(paths.sort()).toEqual(["addresses.exclude.0", "clientTimeout", "token", "url"]);
  });

  test("warns of plain http and goes on", () => {
    const { settings, warnings } = parseXenOrchestraConfig({ ...FILE, url: "http://xoa" }, {});
    expect(settings).toBeDefined();
    expect(warnings.map(({ path }) => path)).toEqual(["url"]);
  });

  test.each([
    ["token", { token: "/etc/landfall/token" }],
    ["token", { token: "${XOA_TOKEN}" }],
    ["certificateFingerprint", { url: "http://127.0.0.1", certificateFingerprint: FINGERPRINT }],
  ])("warns of a %s that cannot be meant so: %p", (path, change) => {
    const { settings, warnings } = parseXenOrchestraConfig({ ...FILE, ...change }, {});
    expect(settings).toBeDefined();
    expect(warnings).toEqual([{ path, message: expect.any(String) }]);
    expect(warnings[0]?.message).not.toContain("etc");
  });

  test.each([[[]], ["text"], [7]])("refuses a file that holds %p", (raw) => {
    expect(parseXenOrchestraConfig(raw, {}).issues).toHaveLength(1);
  });

  test("takes empty keys as not set", () => {
    const file = { ...FILE, username: null, password: "", addresses: { network: null } };
    expect(parseXenOrchestraConfig(file, {}).issues).toEqual([]);
  });
});

describe("settings of labels and addresses", () => {
  const read = (more: object) => parseXenOrchestraConfig({ ...FILE, ...more }, {});
  const POOL = "381C8869-4BAE-437C-A265-780BE87906BA";

  test("become what the provider works with", () => {
    const { settings, issues, warnings } = read({
      zones: { [POOL]: "a", " xcp 1 ": "b" },
      regions: { paris: "eu" },
      nodeLabelsFromTags: { prefixes: ["example.com/"] },
      addresses: { mode: "leave" },
    });
    expect([issues, warnings]).toEqual([[], []]);
    expect(settings).toMatchObject({
      zones: new Map([
        [POOL.toLowerCase(), "a"],
        ["xcp 1", "b"],
      ]),
      regions: new Map([["paris", "eu"]]),
      tagPrefixes: ["example.com/"],
      leavesAddresses: true,
    });
    expect([...(settings ? toUnmanaged(settings) : [])]).toEqual(["addresses"]);
  });

  test("are as before when they are empty, or say the default", () => {
    const { settings: plain } = read({});
    const empty = { zones: {}, regions: { paris: "" }, nodeLabelsFromTags: { prefixes: [] } };
    expect(read({ ...empty, addresses: { mode: "manage" } })).toEqual({
      ...read({}),
      ...(plain && { settings: plain }),
    });
    expect(plain && toUnmanaged(plain)).toEqual(new Set());
  });

  const LABEL = "must be a label value";
  test.each([
    [{ zones: { a: "b c" } }, "zones.a", LABEL],
    [{ regions: { a: "-" } }, "regions.a", LABEL],
    [{ regions: { a: POOL } }, "regions.a", "must be a name, not a UUID"],
    [{ zones: { a: 1 } }, "zones.a", "must be text"],
    [{ zones: "a" }, "zones", "must be entries (UUID or name: label)"],
    [{ zones: ["a"] }, "zones", "but is a list"],
    [{ addresses: ["leave"] }, "addresses", "but is a list"],
    [{ addresses: { mode: "off" } }, "addresses.mode", "must be manage or leave"],
    [{ nodeLabelsFromTags: ["a"] }, "nodeLabelsFromTags", "but is a list"],
    [{ nodeLabelsFromTags: "a" }, "nodeLabelsFromTags", "must be a block of settings"],
    [
      { nodeLabelsFromTags: { prefixes: "a" } },
      "nodeLabelsFromTags.prefixes",
      "must be a list, for example [example.com/]",
    ],
    [{ pools: "paris" }, "pools", "must be a list, for example [paris]"],
    [{ nodeLabelsFromTags: { prefixes: ["a", ""] } }, "nodeLabelsFromTags.prefixes.1", "beginning"],
    [
      { nodeLabelsFromTags: { prefixes: ["k8s.io/"] } },
      "nodeLabelsFromTags.prefixes.0",
      "reserved",
    ],
  ])("refuse %j", (more, path, message) => {
    expect(read(more).issues).toEqual([{ path, message: expect.stringContaining(message) }]);
  });

  test("warn of those that others make useless", () => {
    const addresses = { mode: "leave", network: "k8s", exclude: [] };
    const { warnings, settings } = read({ addresses, zones: { a: "b" }, zoneLabelFrom: "none" });
    expect(warnings).toEqual([
      { path: "addresses.exclude", message: "has no effect with addresses.mode: leave" },
      { path: "addresses.network", message: "has no effect with addresses.mode: leave" },
      { path: "zones", message: "has no effect with zoneLabelFrom: none" },
    ]);
    // Networks are not even asked for.
    expect(settings?.addresses.network).toBeUndefined();
    expect(settings && toUnmanaged(settings)).toEqual(new Set(["addresses", "zone"]));
  });
});

describe("SETTINGS", () => {
  test("describes every setting in a sentence", () => {
    const settings = SETTINGS;
    expect(settings.map(({ path }) => path)).toEqual([
      "url",
      "insecure",
      "token",
      "tokenFile",
      "username",
      "password",
      "clientTimeout",
      "caFile",
      "certificateFingerprint",
      "refreshInterval",
      "zoneLabelFrom",
      "zones",
      "regions",
      "instanceTypeTag",
      "pools",
      "addresses.mode",
      "addresses.exclude",
      "addresses.externalCIDRs",
      "addresses.mainIpAsExternal",
      "addresses.network",
      "nodeLabelsFromTags.prefixes",
    ]);
    for (const { description } of settings) expect(description).toMatch(/^[A-Z].*\.$/);
    expect(settings.find(({ path }) => path === "refreshInterval")).toMatchObject({
      type: "duration",
      default: "30s",
    });
    const refresh = settings.find(({ path }) => path === "refreshInterval");
    expect(refresh?.description).toContain("three requests, or five with `addresses.network`");
    expect(settings.flatMap(({ variable = [] }) => variable)).toEqual([
      "XOA_URL",
      "XOA_INSECURE",
      "XOA_TOKEN",
      "XOA_USER",
      "XOA_PASSWORD",
      "XOA_CLIENT_TIMEOUT",
    ]);
  });
});

describe("a setting that cannot be used", () => {
  const listIssues = (raw: object) => parseXenOrchestraConfig({ ...FILE, ...raw }, {}).issues;
  const interval = 'must be a duration from 1s to 1h, for example "30s"';
  const timeout = 'must be "0" for the default, or a duration from 100ms to 10m, for example "30s"';
  const refused: readonly [Record<string, unknown>, string][] = [
    [{ refreshInterval: 30 }, `${interval}, but is 30`],
    [{ refreshInterval: "30" }, `${interval}, but is "30"`],
    [{ refreshInterval: "2h" }, `${interval}, but is "2h"`],
    [{ clientTimeout: 60 }, `${timeout}, but is 60`],
    [{ clientTimeout: 0 }, `${timeout}, but is 0`],
    [{ zoneLabelFrom: 1 }, "must be host, pool, none, or hostTag:<prefix>, but is 1"],
    [{ username: 7 }, "must be text, but is a number; write it in quotes"],
  ];
  test.each(refused)("says of %j at once what will be accepted", (raw, message) => {
    expect(listIssues(raw)).toEqual([{ path: Object.keys(raw).join(), message }]);
  });

  test.each([[[""]], [["  "]], [["paris", ""]]])("refuses a pool without a name: %j", (pools) => {
    expect(listIssues({ pools })).toEqual([
      {
        path: `pools.${pools.length - 1}`,
        message: "must be a UUID or a name, but is empty",
      },
    ]);
  });
});

describe("parseUrl()", () => {
  test.each([
    [" https://xo.example.com/ ", "https://xo.example.com"],
    ["https://xo.example.com:443/sub//", "https://xo.example.com/sub"],
    ["http://xo/rest/v0", "http://xo"],
    ["http://xo//rest/v0/", "http://xo"],
    ["http://xo/sub/rest/v0", "http://xo/sub"],
    ["http://xo/rest/v0/vms", "http://xo/rest/v0/vms"],
    ["http://xo/interest/v0", "http://xo/interest/v0"],
    ["https://u:p@xo", undefined],
  ])("reads %j as %j", (text, url) => {
    expect(parseUrl(text)).toBe(url);
  });
});

describe("explainUrl()", () => {
  test.each([
    ["xo.example.com", "begin it with https://"],
    ["xo.example.com:8443", "begin it with https://"],
    ["localhost:8443/s3cret", "begin it with https://"],
    ["//xo.example.com", "begin it with https://"],
    ["wss://xo/s3cret", "is the address of a WebSocket: write https:// instead of wss://"],
    ["WS://xo", "is the address of a WebSocket: write http:// instead of ws://"],
    ["ftp://xo", "for example https://"],
    ["https://", "for example https://"],
    ["https://xo/v6", "remove /v6"],
    ["https://xo/v5", "remove /v5"],
    ["https://xo/sub/v6/pool/s3cret", "remove /v6"],
    ["https://xo/v6/#/pool/s3cret", "remove /v6"],
    ["https://user:s3cret@xo", "holds a user or password"],
    ["https://:s3cret@xo", "holds a user or password"],
    ["https://xo/?token=s3cret", "holds a query"],
    ["https://xo/#s3cret", "holds a fragment"],
  ])("says what is wrong with %j without repeating it", (text, problem) => {
    expect(explainUrl(text)).toContain(problem);
    expect(explainUrl(text)).not.toContain("s3cret");
  });

  test("has nothing against a good address", () => {
    for (const url of ["https://xo:8443/sub", "https://xo/v60", "http://v6.xo"]) {
      expect(explainUrl(url)).toBeUndefined();
    }
  });
});

describe("explainToken()", () => {
  test.each([
    ["s3c,ret", "a comma"],
    ["s3c;ret", "a semicolon"],
    ['"s3cret"', "a quotation mark"],
    ["s3c\\ret", "a backslash"],
  ])("says what is wrong with %j without repeating it", (text, problem) => {
    expect(explainToken(text)).toContain(problem);
    expect(explainToken(text)).not.toMatch(/s3c|ret/);
  });

  test("accepts every other visible ASCII character", () => {
    const all = Array.from({ length: 94 }, (_, at) => String.fromCharCode(0x21 + at)).join("");
    expect(explainToken(all.replaceAll(/[",;\\]/g, ""))).toBeUndefined();
  });
});
