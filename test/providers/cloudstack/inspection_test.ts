/**
 * What `landfall check` says about each failure of CloudStack: one sentence on what is wrong, one on what to do.
 * @module
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { inspectCloudStack } from "../../../lib/providers/cloudstack/inspection/inspect.ts";
import { CloudError } from "../../../lib/cloud/errors.ts";
import type { Finding, Inspection } from "../../../lib/cloud/inspection.ts";
import type { Inventory } from "../../../lib/cloud/inventory/inventory.ts";
import { toInstance, toInventory } from "../../support/cloud/instances.ts";
import { toDeps, toSettings } from "./fake_server.ts";
import { createServer, type Socket } from "node:net";
import { cloudStack } from "../../../lib/providers/cloudstack/mod.ts";
import { toAccount, toProject, toUser } from "../../../lib/simulator/cloudstack/access/accounts.ts";
import {
  type CloudStackSimulator,
  createDemoWorld,
  type Fault,
  startCloudStackSimulator,
} from "../../../lib/simulator/cloudstack/mod.ts";
import { readTls, type TlsFixture, tlsPath } from "../../support/net/tls_fixtures.ts";
import { ManualClock } from "../../support/manual_clock.ts";

const KEYS = { apiKey: "the-key", secretKey: "the-secret" };
const URL = "https://cloud.invalid/client/api";

/** Looks at a cloud that answers with this. */
function inspect(answer: Inventory | Error, over: object = {}): Promise<Inspection> {
  const listInventory = (): Promise<Inventory> =>
    answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer);
  const settings = { ...toSettings(URL, KEYS), ...DEFAULTS, ...over };
  return inspectCloudStack({ settings, listInventory }, new AbortController().signal);
}

const DEFAULTS = {
  refreshIntervalMs: 30_000,
  instanceTypeStyle: "squeezed",
  addresses: { exclude: [], externalCidrs: [] },
  trustsEmptyAnswer: true,
} as const;

describe("inspectCloudStack()", () => {
  test("says that the API answers, and what is visible", async () => {
    const { findings, counts, endpoint } = await inspect(toInventory([toInstance("a")]));
    expect(findings.map(({ level, code }) => [level, code])).toEqual([
      ["ok", "answers"],
      ["ok", "partComplete"],
      ["ok", "instances"],
    ]);
    expect([endpoint, counts]).toEqual(["cloud.invalid:443", { zones: 1, vms: 1 }]);
  });

  test("fails when no VM is visible, and gives the inventory as it is", async () => {
    const empty = toInventory([]);
    const { findings, inventory, parts } = await inspect(empty);
    const failures = findings.filter(({ level }) => level === "failure");
    expect(failures.map(({ code }) => code)).toEqual(["noInstances"]);
    expect(inventory).toBe(empty);
    expect(parts).toEqual([]);
  });

  test("warns of a network for addresses that no VM has", async () => {
    const inventory = { ...toInventory([toInstance("a")]), lacksNetwork: true };
    const addresses = { exclude: [], externalCidrs: [], network: "nosuch" };
    const { findings } = await inspect(inventory, { addresses });
    expect(findings.filter(({ level }) => level === "warning")).toMatchObject([
      { code: "noNetwork", message: expect.stringContaining('"nosuch"') },
    ]);
  });

  test("warns when the certificate is not checked", async () => {
    const { findings } = await inspect(toInventory([toInstance("a")]), { insecure: true });
    const warnings = findings.filter(({ level }) => level === "warning");
    expect(warnings.map(({ code }) => code)).toEqual(["insecure"]);
    for (const { advice = "" } of warnings) expect(advice).not.toBe("");
  });

  test("advises on an answer that cannot be read", async () => {
    const error = new CloudError("protocol", "CloudStack did not answer listZones with a list");
    const [finding] = (await inspect(error)).findings;
    expect(finding).toMatchObject({ code: "protocol", message: error.message });
    expect(finding?.advice).toContain("report it");
  });

  test("rejects with an error that is none of the cloud's", async () => {
    const bug = new TypeError("a bug");
    await expect(inspect(bug)).rejects.toBe(bug);
  });
});

const signal = new AbortController().signal;
const FINGERPRINT = /SHA-256 (?:is )?(?:[0-9A-F]{2}:){31}[0-9A-F]{2}/;
const HOUR_MS = 3_600_000;
const OTHER_KEY = "x".repeat(86);

const clock = new ManualClock();
const { world } = createDemoWorld();
const [domain] = world.domains ?? [];
const [acme] = world.accounts ?? [];
if (domain === undefined || acme === undefined) throw new Error("the world has no account");
const loner = toAccount({ name: "loner", domain });
const secluded = toProject("secluded", domain, []);
const twin = toProject("twins", domain, [acme]);
const lonely = toUser({ username: "loner", account: loner });

let cloud: CloudStackSimulator;
const servers: Bun.Server<undefined>[] = [];
const sockets = new Set<Socket>();
const urls = new Map<string, string>();

function serveTls(name: string): void {
  const [cert, key]: readonly TlsFixture[] =
    name === "named" ? ["named_server.crt", "named_server.key"] : ["server.crt", "server.key"];
  if (cert === undefined || key === undefined) return;
  const tls = { cert: readTls(cert), key: readTls(key) };
  const fetch = (): Response => new Response();
  const server = Bun.serve({ port: 0, hostname: "127.0.0.1", tls, fetch });
  servers.push(server);
  urls.set(name, `https://127.0.0.1:${server.port}/client/api`);
}

interface Case {
  readonly url?: string | undefined;
  readonly settings?: object;
  readonly fault?: Fault;
  /** Changes the server; what is returned changes it back. */
  readonly change?: () => () => void;
}

/** The failures of one look. */
async function look({ url, settings, fault, change }: Case): Promise<readonly Finding[]> {
  const { apiKey, secretKey } = cloud;
  const raw = { apiUrl: url ?? cloud.url, apiKey, secretKey, ...settings };
  const parsed = cloudStack.parseConfig(raw, {});
  if (parsed.settings === undefined) throw new Error(JSON.stringify(parsed.issues));
  const restore = [fault && cloud.faults.set(fault), change?.()];
  try {
    const provider = cloudStack.create(parsed.settings, { ...toDeps(), isTransient: true, clock });
    const { findings = [] } = (await provider.inspect?.(signal)) ?? {};
    for (const secret of [apiKey, secretKey, OTHER_KEY]) {
      expect(JSON.stringify(findings)).not.toContain(secret);
    }
    return findings.filter(({ level }) => level === "failure");
  } finally {
    for (const one of restore) one?.();
  }
}

function set<T extends object>(target: T, changes: Partial<T>): () => () => void {
  return () => {
    const before = Object.fromEntries(
      Object.entries(target).filter(([key]) => Object.hasOwn(changes, key)),
    );
    Object.assign(target, changes);
    return () => Object.assign(target, before);
  };
}

/** Code, what is wrong, what to do. */
type Desired = readonly [code: string, message: string | RegExp, advice: string];

const WRONG_KEYS: Desired = [
  "unauthorized",
  "CloudStack answered 401 to listVirtualMachines: the keys or the signature are wrong, or a clock is: a signed " +
    "request is valid for ten minutes, and the answer has no date",
  "check api-key and secret-key, or their files; if that does not help, compare this machine's clock with the server's",
];
const NO_API: Desired = [
  "wrongService",
  /^The server answered \d+ with \S+ to listVirtualMachines: this is not CloudStack's API$/,
  "check api-url, which usually ends in /client/api",
];

describe("landfall check on CloudStack names what is wrong, and what to do, about", () => {
  beforeAll(async () => {
    cloud = await startCloudStackSimulator({
      clock,
      world: {
        ...world,
        accounts: [...(world.accounts ?? []), loner, secluded.account, twin.account],
        projects: [
          ...(world.projects ?? []),
          secluded.project,
          twin.project,
          { ...twin.project, id: crypto.randomUUID() },
        ],
        users: [...(world.users ?? []), lonely],
      },
    });
    serveTls("known");
    serveTls("named");
    // As nginx answers http on a port for https.
    const fetch = (): Response =>
      new Response("<html>", { status: 400, headers: { "content-type": "text/html" } });
    const page = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch });
    servers.push(page);
    urls.set("page 400", `http://127.0.0.1:${page.port}/client/api`);
  });
  afterAll(async () => {
    for (const socket of sockets) socket.destroy();
    await Promise.all([cloud.stop(), ...servers.map((server) => server.stop(true))]);
  });

  test.each<[string, () => Case, Desired]>([
    [
      "a name without an address",
      () => ({ url: "https://cloud.nowhere.invalid/client/api" }),
      ["dns", /the name "cloud\.nowhere\.invalid" has no address/, "check api-url"],
    ],
    [
      "a port where nothing listens",
      () => ({ url: "http://127.0.0.1:1/client/api" }),
      ["refused", /^Cannot reach CloudStack at 127\.0\.0\.1:1: connection refused$/, "api-url"],
    ],
    [
      "https on a port for http",
      () => ({ url: cloud.url.replace("http:", "https:") }),
      ["notTls", /this port does not use TLS$/, "use http:// in api-url"],
    ],
    [
      "http on a port for https",
      () => ({ url: urls.get("known")?.replace("https:", "http:") }),
      ["tlsPort", /this port uses TLS$/, "use https:// in api-url"],
    ],
    [
      "an unknown certificate authority",
      () => ({ url: urls.get("known") }),
      ["tlsAuthority", FINGERPRINT, "set ca-file to the file of its authority"],
    ],
    [
      "a certificate for other names",
      () => ({ url: urls.get("named"), settings: { caFile: tlsPath("ca.crt") } }),
      ["tlsName", /it is for other names: DNS:/, "use a name of the certificate in api-url"],
    ],
    [
      "another certificate than the pinned one",
      () => ({
        url: urls.get("known"),
        settings: { certificateFingerprint: "AA".repeat(32) },
      }),
      ["tlsFingerprint", FINGERPRINT, "if you replaced it, change the setting"],
    ],
    ["a wrong key", () => ({ settings: { apiKey: OTHER_KEY } }), WRONG_KEYS],
    ["a wrong secret key", () => ({ settings: { secretKey: OTHER_KEY } }), WRONG_KEYS],
    ["a disabled user", () => ({ change: set(cloud.user, { isEnabled: false }) }), WRONG_KEYS],
    [
      "a wrong key, behind a proxy that tells the time",
      () => ({
        settings: { apiKey: OTHER_KEY },
        change: set(cloud.settings, { sendsDate: true }),
      }),
      ["unauthorized", /the keys or the signature are wrong$/, "api-key and secret-key"],
    ],
    [
      "a clock that is ahead",
      () => ({ change: set(cloud.settings, { clockSkewMs: HOUR_MS }) }),
      WRONG_KEYS,
    ],
    [
      "a clock that is ahead, behind a proxy that tells the time",
      () => ({ change: set(cloud.settings, { clockSkewMs: HOUR_MS, sendsDate: true }) }),
      [
        "unauthorized",
        "CloudStack answered 401 to listVirtualMachines: its clock is 1h0m0s ahead of this machine's " +
          "(Date: Thu, 01 Jan 2026 01:00:00 GMT), and a signed request is valid for ten minutes",
        "correct the clocks; if that does not help, check api-key and secret-key, or their files",
      ],
    ],
    [
      "a clock that is behind, behind a proxy that tells the time",
      () => ({
        change: set(cloud.settings, {
          sendsDate: true,
          clockSkewMs: -HOUR_MS,
          enforcesPostAndTimestamps: true,
        }),
      }),
      ["unauthorized", /its clock is 1h0m0s behind this machine's \(Date: /, "correct the clocks"],
    ],
    ...([432, 401] as const).map((code): [string, () => Case, Desired] => [
      `a role without the command, ${code}`,
      () => ({
        change: () => {
          const back = [
            set(cloud.user.role, { commands: ["listZones"] })(),
            set(cloud.settings, { refusesBy: code })(),
          ];
          return () => {
            for (const one of back) one();
          };
        },
      }),
      [
        "forbidden",
        `CloudStack answered ${code} to listVirtualMachines: the role of the account has no listVirtualMachines`,
        "add a rule that allows it",
      ],
    ]),
    [
      "a role that may not look for the project",
      () => ({
        settings: { projectId: "platform" },
        change: set(cloud.user.role, { commands: ["listVirtualMachines"] }),
      }),
      ["forbidden", /the role of the account has no listProjects$/, "add a rule that allows it"],
    ],
    [
      "an ID that no project has",
      () => ({ settings: { projectId: crypto.randomUUID() } }),
      [
        "noProject",
        "CloudStack answered 431 to listVirtualMachines: there is no project with this ID",
        "check project-id",
      ],
    ],
    ...([432, 401] as const).map((code): [string, () => Case, Desired] => [
      `the project of others, ${code}`,
      () => ({
        settings: { projectId: secluded.project.id },
        change: set(cloud.settings, { refusesBy: code }),
      }),
      [
        "forbidden",
        `CloudStack answered ${code} to listVirtualMachines: the account is no member of the project`,
        "make it a member, or correct project-id",
      ],
    ]),
    [
      "a name that no project has",
      () => ({ settings: { projectId: "nope" } }),
      [
        "noProject",
        'CloudStack shows this account no project with the name "nope"',
        "check project-id",
      ],
    ],
    [
      "a name that two projects have",
      () => ({ settings: { projectId: "twins" } }),
      [
        "ambiguousProject",
        'CloudStack shows 2 projects with the name "twins"',
        "give the UUID in project-id",
      ],
    ],
    ["the address of the web page", () => ({ url: cloud.url.replace(/\/api$/, "") }), NO_API],
    ["a web page", () => ({ fault: { kind: "html", status: 200 } }), NO_API],
    ["a server for http that answers 400", () => ({ url: urls.get("page 400") }), NO_API],
    ["the JSON of another server", () => ({ fault: { kind: "json", body: { a: 1 } } }), NO_API],
    [
      "a sign-in page of a proxy",
      () => ({ fault: { kind: "html", status: 403 } }),
      [
        "denied",
        /not CloudStack but something on the way refuses$/,
        "check api-url, and the proxy",
      ],
    ],
    [
      "a proxy without the management server",
      () => ({ fault: { kind: "html", status: 502 } }),
      ["serverError", /no answer of the management server$/, "try again later"],
    ],
    [
      "a redirect to another server",
      () => ({ fault: { kind: "redirect", location: "https://login.example.org/" } }),
      [
        "redirect",
        /redirects to https:\/\/login\.example\.org, /,
        "api-url must be that of the API",
      ],
    ],
    [
      "an answer that is cut off",
      () => ({ fault: { kind: "halfBody" } }),
      ["closed", /closed the connection before it answered$/, "read the log"],
    ],
    [
      "too many requests",
      () => ({ fault: { kind: "error", code: 429, text: "retry after [900000] ms" } }),
      ["throttled", /: too many requests$/, "api.throttling.max"],
    ],
    [
      "a server that shuts down",
      () => ({ fault: { kind: "error", code: 503 } }),
      ["serverError", /the management server shuts down or starts$/, "try again later"],
    ],
    [
      "a command that failed, with the server's reason",
      () => ({ fault: { kind: "error", code: 530, text: "Unable to plug" } }),
      [
        "serverError",
        /\(Unable to plug\).*: the command failed for the reason in parentheses$/,
        "remove the reason; the log of the management server",
      ],
    ],
    ...["", undefined].map((text): [string, () => Case, Desired] => [
      `an internal error, ${text === undefined ? "in words without a reason" : "without words"}`,
      () => ({ fault: { kind: "error", code: 530, ...(text !== undefined && { text }) } }),
      ["serverError", /: an internal error$/, "the log of the management server says more"],
    ]),
    [
      "an account with two factors",
      () => ({ fault: { kind: "error", code: 411 } }),
      ["twoFactors", /must sign in with two factors$/, "use the keys of an account that need not"],
    ],
  ])("%s", async (_what, toCase, [code, message, advice]) => {
    const [finding, ...others] = await look(toCase());
    expect(others).toEqual([]);
    expect(finding?.code).toBe(code);
    if (typeof message === "string") expect(finding?.message).toBe(message);
    else expect(finding?.message).toMatch(message);
    expect(finding?.advice).toContain(advice);
    expect(`${finding?.message}${finding?.advice}`).not.toMatch(/undefined|\.$/);
  });

  test.each<[string, () => Case]>([
    [
      "the keys of an account without VMs",
      () => ({
        settings: { apiKey: lonely.apiKey, secretKey: lonely.secretKey },
      }),
    ],
    ["an empty list", () => ({ fault: { kind: "emptyList" } })],
  ])("%s: nothing is visible", async (_what, toCase) => {
    const failures = await look(toCase());
    expect(failures.map(({ code }) => code)).toEqual(["noInstances"]);
    expect(failures.at(-1)?.advice).toContain("the domain of that account, and project-id");
  });

  test("a server that takes the connection and says nothing", async () => {
    const silent = createServer((socket) => sockets.add(socket));
    await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve));
    const address = silent.address();
    const port = typeof address === "object" ? address?.port : undefined;
    const looking = look({ url: `http://127.0.0.1:${port}/client/api` });
    while (Bun.peek.status(looking) === "pending" && sockets.size === 0) await Bun.sleep(1);
    await clock.advance(60_000);
    expect(await looking).toMatchObject([{ code: "noAnswer" }]);
    silent.close();
  });

  test("nothing, when all is well", async () => {
    expect(await look({})).toEqual([]);
  });
});
