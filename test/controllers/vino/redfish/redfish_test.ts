import { expect, test } from "bun:test";
import { RefusedPowerError } from "../../../../lib/cloud/capabilities/machine_power.ts";
import { createRedfish } from "../../../../lib/controllers/vino/redfish/redfish.ts";
import {
  judgeRedfishFlags,
  readRedfishSettings,
  REDFISH_ADDRESS_FLAG,
  REDFISH_FLAGS,
  REDFISH_POD_IP_FLAG,
  REDFISH_SERVICE_FLAG,
  REDFISH_URL_FLAG,
  type RedfishSettings,
  toBmcAddress,
  toManagementPlace,
} from "../../../../lib/controllers/vino/redfish/flags.ts";
import type { Vino } from "../../../../lib/controllers/vino/resource/vino.ts";
import { ALONE, Fence } from "../../../../lib/core/fence.ts";
import { createLogger, silentLogger } from "../../../../lib/core/log.ts";
import { MachinePowerDouble, makeMachine } from "../../../support/cloud/machine_power_double.ts";
import { ManualClock } from "../../../support/manual_clock.ts";
import { loginOf, ManagementRig, SecretsDouble } from "../../../support/vino/management_rig.ts";
import { OWNER, toWanted } from "../../../support/vino/wanted_hosts.ts";
import {
  runLeaderEndpoint,
  toEndpointSlice,
} from "../../../../lib/controllers/vino/redfish/leader_endpoint.ts";
import { KubeError } from "../../../../lib/kube/api/errors.ts";
import { ScriptedKubeClient } from "../../../support/kube/scripted_kube_client.ts";
import {
  HostCredentialsSource,
  SecretCache,
} from "../../../../lib/controllers/vino/redfish/credentials.ts";

const { signal } = new AbortController();
const LOGIN = { username: "admin", password: "p" };
const SETTINGS: RedfishSettings = {
  address: "0.0.0.0:8443",
  url: new URL("https://redfish.metal.svc:8443"),
};

function create(spec: Vino["spec"] = {}, settings = SETTINGS) {
  const { namespace, name, uid } = OWNER;
  const wanted = toWanted(0);
  const machine = { name: wanted.machineName, role: "worker", index: 0, machineId: "vm-0" };
  const vino: Vino = { metadata: { namespace, name, uid }, spec };
  const objects = {
    find: () => undefined,
    listEntries: () => [{ ...machine, state: "Ready" as const }],
  };
  const vinoes = new Map([[`${namespace}/${name}`, vino]]);
  const secrets = new SecretsDouble();
  const power = new MachinePowerDouble([makeMachine("vm-0", { name: wanted.machineName })]);
  const events: string[] = [];
  const clock = new ManualClock();
  const redfish = createRedfish({
    settings,
    vinoes,
    objects,
    power,
    client: secrets,
    fence: new Fence(ALONE),
    clock,
    log: silentLogger,
    events: { record: (_object, { reason, message }) => void events.push(`${reason}: ${message}`) },
  });
  const addBmcs = (hosts = [wanted]) =>
    Promise.all(hosts.map((one) => redfish.bmcs.add(one, OWNER, signal)));
  return { redfish, secrets, power, addBmcs, events, clock };
}

test("createRedfish() gives each host its management controller", async () => {
  const { addBmcs } = create({ bmcCredentials: LOGIN });
  const hosts = await addBmcs([toWanted(0), toWanted(1)]);
  expect(hosts.map(({ bmc }) => bmc)).toEqual(
    ["vm-0", "vm-1"].map((id) => ({
      address: `redfish+https://redfish.metal.svc:8443/redfish/v1/Systems/${id}`,
      ...LOGIN,
      skipsCertificateCheck: true,
    })),
  );
});

test("createRedfish() lets metal3 check a certificate that is in files", async () => {
  const files = { certFile: "/tls/tls.crt", keyFile: "/tls/tls.key" };
  const { redfish, addBmcs } = create({ bmcCredentials: LOGIN }, { ...SETTINGS, ...files });
  expect(await addBmcs()).toMatchObject([{ bmc: { skipsCertificateCheck: false } }]);
  expect(redfish.listener).toMatchObject({ ...files, names: ["redfish.metal.svc"] });
});

test("createRedfish() gives a host none, and says so, if there are no credentials", async () => {
  const { addBmcs } = create({ bmcCredentials: { secretRef: { name: "missing" } } });
  const [host] = await addBmcs();
  expect(host?.bmc).toBeUndefined();
  expect(host?.bmcProblem).toBe('bmcCredentials: there is no Secret "missing"');
});

test("createRedfish() opens a machine to those who know the Secret of its host", async () => {
  const { redfish, secrets, power } = create({ bmcCredentials: LOGIN });
  const { management, address, flags } = redfish.listener;
  expect([address, flags.address]).toEqual(["0.0.0.0:8443", "--vino-redfish-address"]);
  expect(await management.findSystems(LOGIN, signal)).toEqual({ kind: "done", value: [] });
  secrets.set("edge-worker-0-bmc-credentials", LOGIN);
  const other = create({ bmcCredentials: LOGIN });
  other.secrets.set("edge-worker-0-bmc-credentials", LOGIN);
  const { management: later } = other.redfish.listener;
  expect(await later.findSystems(LOGIN, signal)).toEqual({ kind: "done", value: ["vm-0"] });
  expect(await management.reset("vm-0", "on", signal)).toMatchObject({ kind: "done" });
  expect(power.starts).toEqual(["vm-0 disk"]);
});

test("createRedfish() takes back the management controller of a host that is gone", async () => {
  const { redfish, secrets, power, clock } = create();
  secrets.set("edge-worker-0-bmc-credentials", LOGIN);
  const { management } = redfish.listener;
  const set = management.setBoot("vm-0", { device: "network", duration: "once" }, signal);
  await clock.advance(5_000);
  expect(await set).toMatchObject({ kind: "done" });
  expect(await redfish.bmcs.release("edge-worker-1", OWNER, signal)).toBeUndefined();
  expect(secrets.override("edge-worker-0")).toBeDefined();
  const released = redfish.bmcs.release("edge-worker-0", OWNER, signal);
  await clock.advance(5_000);
  expect(await released).toBeUndefined();
  expect(secrets.override("edge-worker-0")).toBeUndefined();
  expect(power.get("vm-0").bootOrder[0]).toBe("disk");
});

test("createRedfish() tells the Vino about a machine that would start from the wrong device", async () => {
  const { redfish, secrets, power, clock, events } = create();
  secrets.set("edge-worker-0-bmc-credentials", LOGIN);
  const { management } = redfish.listener;
  const set = management.setBoot("vm-0", { device: "network", duration: "once" }, signal);
  await clock.advance(5_000);
  expect(await set).toMatchObject({ kind: "done" });
  power.onCall = (call) => {
    if (call.startsWith("order")) throw new RefusedPowerError("denied", "no right");
  };
  power.start("vm-0");
  const ended = new AbortController();
  const running = redfish.run(ended.signal);
  await clock.advance(60 * 60_000);
  ended.abort();
  await running;
  expect(events).toHaveLength(1);
  expect(events[0]).toStartWith("BootOverrideStuck: Machine ");
});

test("createRedfish() runs until its signal aborts", async () => {
  const { redfish } = create();
  const ended = new AbortController();
  const running = redfish.run(ended.signal);
  ended.abort();
  await running;
});

const ADDRESS = { "vino-redfish-address": "0.0.0.0:8443" };
const URL_FLAG = { "vino-redfish-url": "https://redfish.metal.svc:8443" };
const FILES = {
  "vino-redfish-tls-cert-file": "/tls/tls.crt",
  "vino-redfish-tls-private-key-file": "/tls/tls.key",
};

test("readRedfishSettings() is off without an address", () => {
  expect(readRedfishSettings({})).toBeUndefined();
  expect(readRedfishSettings({ ...URL_FLAG, ...FILES })).toBeUndefined();
});

test("readRedfishSettings() reads the flags together", () => {
  const url = new URL("https://redfish.metal.svc:8443");
  expect(readRedfishSettings({ ...ADDRESS, ...URL_FLAG })).toEqual({
    address: "0.0.0.0:8443",
    url,
  });
  expect(readRedfishSettings({ ...ADDRESS, ...URL_FLAG, ...FILES })).toEqual({
    address: "0.0.0.0:8443",
    url,
    certFile: "/tls/tls.crt",
    keyFile: "/tls/tls.key",
  });
});

test.each([
  [ADDRESS, "--vino-redfish-url: must be an https URL, because hosts have it as their address"],
  [
    { ...ADDRESS, ...URL_FLAG, "vino-redfish-tls-cert-file": "/tls/tls.crt" },
    "--vino-redfish-tls-private-key-file: required together with --vino-redfish-tls-cert-file",
  ],
  [
    { ...ADDRESS, ...URL_FLAG, "vino-redfish-tls-private-key-file": "/tls/tls.key" },
    "--vino-redfish-tls-cert-file: required together with --vino-redfish-tls-private-key-file",
  ],
  [
    { ...ADDRESS, ...URL_FLAG, "vino-redfish-service": "metal/redfish" },
    "--vino-redfish-pod-ip: required together with --vino-redfish-service",
  ],
  [
    { ...ADDRESS, ...URL_FLAG, "vino-redfish-pod-ip": "10.0.0.1" },
    "--vino-redfish-service: required together with --vino-redfish-pod-ip",
  ],
])("readRedfishSettings() refuses %j", (values, message) => {
  expect(() => readRedfishSettings(values)).toThrow(message);
});

test.each([
  ["", undefined],
  ["https://a", undefined],
  ["https://a:8443/", undefined],
  ["https://[fd00::1]:8443", undefined],
  ["http://a", "an https URL without a path"],
  ["https://a/redfish", "an https URL without a path"],
  ["https://u:p@a", "an https URL without a path"],
  ["a:8443", "an https URL without a path"],
])("REDFISH_URL_FLAG takes %j: %s", (text, problem) => {
  expect(REDFISH_URL_FLAG.findProblem(text)).toBe(problem);
});

test("readRedfishSettings() points a Service to the port of the address", () => {
  const more = { "vino-redfish-service": "metal/redfish", "vino-redfish-pod-ip": "FD00::1" };
  expect(readRedfishSettings({ ...ADDRESS, ...URL_FLAG, ...more })).toMatchObject({
    endpoint: { namespace: "metal", service: "redfish", ip: "fd00::1", port: 8443 },
  });
});

test.each([
  ["", undefined],
  ["kube-system/landfall-redfish", undefined],
  ["landfall-redfish", "the namespace and the name of a Service: a/b"],
  ["a/b/c", "the namespace and the name of a Service: a/b"],
  ["a/B", "the namespace and the name of a Service: a/b"],
])("REDFISH_SERVICE_FLAG takes %j: %s", (text, problem) => {
  expect(REDFISH_SERVICE_FLAG.findProblem(text)).toBe(problem);
});

test("REDFISH_POD_IP_FLAG takes an address alone", () => {
  expect(REDFISH_POD_IP_FLAG.findProblem("fd00::1")).toBeUndefined();
  expect(REDFISH_POD_IP_FLAG.findProblem("10.0.0.1:8443")).toBe("an IP address");
});

test("toBmcAddress() is an address for metal3", () => {
  const url = new URL("https://redfish.metal.svc:8443/");
  expect(toBmcAddress({ url }, "a1")).toBe(
    "redfish+https://redfish.metal.svc:8443/redfish/v1/Systems/a1",
  );
});

test("REDFISH_FLAGS are all off by default", () => {
  expect(REDFISH_FLAGS.map((flag) => [flag.default, flag.findProblem("")])).toEqual(
    REDFISH_FLAGS.map(() => ["", undefined]),
  );
});

test("judgeRedfishFlags() says what does not fit together, and what does nothing", () => {
  expect(judgeRedfishFlags({})).toEqual({ issues: [], warnings: [] });
  expect(judgeRedfishFlags({ ...ADDRESS, ...URL_FLAG })).toEqual({ issues: [], warnings: [] });
  const { issues, warnings } = judgeRedfishFlags({ ...ADDRESS, "vino-redfish-pod-ip": "10.0.0.1" });
  expect(issues.map(({ source }) => source)).toEqual([
    "--vino-redfish-url",
    "--vino-redfish-service",
  ]);
  expect(warnings).toEqual([]);
  expect(judgeRedfishFlags({ ...URL_FLAG, ...FILES }).warnings).toEqual([
    "flags without effect: --vino-redfish-url --vino-redfish-tls-cert-file " +
      "--vino-redfish-tls-private-key-file (without --vino-redfish-address, Landfall serves no Redfish)",
  ]);
});

test.each([
  ["", true],
  ["0.0.0.0:8443", true],
  ["[::]:8443", true],
  ["localhost:8443", true],
  ["nonsense", false],
  ["8443", false],
  ["0.0.0.0:99999", false],
  ["/run/redfish.sock", false],
])("REDFISH_ADDRESS_FLAG takes %j: %s", (text, isTaken) => {
  expect(REDFISH_ADDRESS_FLAG.findProblem(text) === undefined).toBe(isTaken);
});

test("toManagementPlace() names the host of the URL, and files only if there are both", () => {
  const place = { address: "0.0.0.0:8443", url: new URL("https://[fd00::1]:8443") };
  const files = { certFile: "/tls/tls.crt", keyFile: "/tls/tls.key" };
  expect(toManagementPlace(place)).toMatchObject({ address: place.address, names: ["fd00::1"] });
  expect(toManagementPlace(place)).not.toHaveProperty("certFile");
  expect(toManagementPlace({ ...place, ...files })).toMatchObject(files);
});

const ENDPOINT = { namespace: "metal", service: "redfish", ip: "10.0.0.7", port: 8443 } as const;

function start() {
  const clock = new ManualClock();
  const client = new ScriptedKubeClient(clock);
  const lines: string[] = [];
  const log = createLogger({ format: "text", write: (line) => lines.push(line), now: () => 0 });
  const ended = new AbortController();
  const running = runLeaderEndpoint({ client, endpoint: ENDPOINT, clock, log }, ended.signal);
  return { clock, client, lines, running, stop: () => ended.abort() };
}

test("toEndpointSlice() is the only endpoint of the Service, or none", () => {
  expect(toEndpointSlice(ENDPOINT, true)).toEqual({
    apiVersion: "discovery.k8s.io/v1",
    kind: "EndpointSlice",
    metadata: {
      namespace: "metal",
      name: "redfish-ipv4",
      labels: {
        "kubernetes.io/service-name": "redfish",
        "endpointslice.kubernetes.io/managed-by": "landfall-vino-redfish",
      },
    },
    addressType: "IPv4",
    endpoints: [{ addresses: ["10.0.0.7"], conditions: { ready: true } }],
    ports: [{ name: "redfish", protocol: "TCP", port: 8443 }],
  });
  expect(toEndpointSlice({ ...ENDPOINT, ip: "fd00::7" }, false)).toMatchObject({
    metadata: { name: "redfish-ipv6" },
    addressType: "IPv6",
    endpoints: [],
  });
});

test("runLeaderEndpoint() writes the endpoint once a minute, and takes it back at the end", async () => {
  const { clock, client, running, stop } = start();
  await clock.advance(61_000);
  expect(client.writes.map(({ verb, type, path, body }) => [verb, type, path, body])).toEqual(
    [true, true].map(() => [
      "patch",
      "apply",
      { namespace: "metal", name: "redfish-ipv4" },
      toEndpointSlice(ENDPOINT, true),
    ]),
  );
  stop();
  await running;
  expect(client.writes.at(-1)?.body).toEqual(toEndpointSlice(ENDPOINT, false));
});

test("runLeaderEndpoint() tries again, and says once why it cannot", async () => {
  const { clock, client, lines, running, stop } = start();
  client.onWrite = () => {
    throw new KubeError("forbidden", "endpointslices is forbidden");
  };
  await clock.advance(70_000);
  expect(client.writes.length).toBeGreaterThan(2);
  expect(lines).toHaveLength(1);
  expect(lines[0]).toContain("endpointslices is forbidden");
  stop();
  await running;
});

test("runLeaderEndpoint() does not wait for an API server that is silent at the end", async () => {
  const { clock, client, running, stop } = start();
  await clock.advance(0);
  client.onWrite = () => new Promise(() => {});
  stop();
  await clock.advance(2_000);
  await running;
});

const SECRET = "a-bmc-credentials";

function createBook(ids = ["a", "b"]): {
  readonly rig: ManagementRig;
  readonly secrets: SecretCache;
} {
  const rig = new ManagementRig(new MachinePowerDouble(ids.map((id) => makeMachine(id))));
  return { rig, secrets: new SecretCache({ client: rig.secrets, clock: rig.clock }) };
}

async function findIds(
  secrets: SecretCache,
  ...args: Parameters<SecretCache["findMachines"]>
): Promise<readonly string[]> {
  return (await secrets.findMachines(...args)).map(({ id }) => id);
}

test("SecretCache finds every machine with a user and password, and no other", async () => {
  const { rig, secrets } = createBook(["a", "b", "c"]);
  rig.secrets.set("c-bmc-credentials", loginOf("a"));
  const { machines } = rig;
  expect(await findIds(secrets, machines, loginOf("a"), signal)).toEqual(["a", "c"]);
  const mixed = { username: loginOf("a").username, password: loginOf("b").password };
  expect(await findIds(secrets, machines, mixed, signal)).toEqual([]);
});

test.each<[title: string, texts: Record<string, string> | undefined]>([
  ["does not exist", undefined],
  ["is empty", {}],
  ["has no password", { username: "u" }],
  ["has an empty password", { username: "u", password: "" }],
])("SecretCache lets nobody in if the Secret %s", async (_title, texts) => {
  const { rig, secrets } = createBook(["a"]);
  if (texts === undefined) rig.secrets.delete(SECRET);
  else rig.secrets.set(SECRET, texts);
  for (const login of [
    { username: "u", password: "" },
    { username: "", password: "" },
  ]) {
    expect(await findIds(secrets, rig.machines, login, signal)).toEqual([]);
  }
});

test("SecretCache reads each Secret once, and again only after five minutes of use", async () => {
  const { rig, secrets } = createBook();
  for (let at = 0; at < 5; at += 1) await findIds(secrets, rig.machines, loginOf("a"), signal);
  expect(rig.secrets.reads).toBe(2);
  await rig.clock.advance(300_000);
  await findIds(secrets, rig.machines, loginOf("a"), signal);
  expect(rig.secrets.reads).toBe(3);
});

test("SecretCache notices a new password at once, and takes an old one for at most five minutes", async () => {
  const { rig, secrets } = createBook(["a"]);
  const fresh = { ...loginOf("a"), password: "new" };
  const find = (login: typeof fresh, id?: string) =>
    findIds(secrets, rig.machines, login, signal, id);
  expect(await find(loginOf("a"))).toEqual(["a"]);
  rig.secrets.set(SECRET, fresh);
  expect(await find(fresh, "a")).toEqual(["a"]);
  expect(await find(loginOf("a"), "a")).toEqual([]);
  rig.secrets.set(SECRET, loginOf("a"));
  await rig.clock.advance(2_000);
  expect(await find(loginOf("a"))).toEqual(["a"]);
  rig.secrets.set(SECRET, fresh);
  await rig.clock.advance(300_000);
  expect(await find(loginOf("a"))).toEqual([]);
});

test("SecretCache leaves out blanks around texts, as metal3 does", async () => {
  const { rig, secrets } = createBook(["a"]);
  rig.secrets.set(SECRET, { username: " admin\n", password: "\tpa55 word\r\n" });
  for (const login of [
    { username: "admin", password: "pa55 word" },
    { username: "admin", password: "pa55 word\n" },
  ]) {
    expect(await findIds(secrets, rig.machines, login, signal)).toEqual(["a"]);
  }
});

test("SecretCache reads no Secret for a guess of a user that no machine has, and few for another", async () => {
  const ids = Array.from({ length: 50 }, (_one, at) => `m${at}`);
  const { rig, secrets } = createBook(ids);
  const guess = async (username: string, id?: string): Promise<number> => {
    const { reads } = rig.secrets;
    await findIds(secrets, rig.machines, { username, password: "guess" }, signal, id);
    return rig.secrets.reads - reads;
  };
  await guess("nobody");
  await rig.clock.advance(60_000);
  expect(await guess("nobody")).toBe(0);
  expect(await guess("user-m7")).toBe(1);
  expect(await guess("user-m7")).toBe(0);
  expect(await guess("nobody", "m3")).toBe(1);
  let reads = 0;
  for (let at = 0; at < 1_000; at += 1) reads += await guess("nobody", `m${at % 50}`);
  expect(reads).toBeLessThanOrEqual(300);
  expect(await findIds(secrets, rig.machines, loginOf("m9"), signal, "m9")).toEqual(["m9"]);
});

test("SecretCache knows nobody if a Secret cannot be read", async () => {
  const { rig, secrets } = createBook();
  rig.secrets.onCall = (call) => {
    if (call === "get b-bmc-credentials") throw new KubeError("forbidden", "no");
  };
  await expect(findIds(secrets, rig.machines, loginOf("a"), signal)).rejects.toThrow(KubeError);
});

test("SecretCache forgets machines that are gone", async () => {
  const { rig, secrets } = createBook();
  await findIds(secrets, rig.machines, loginOf("a"), signal);
  await findIds(secrets, rig.machines.slice(1), loginOf("b"), signal);
  const { reads } = rig.secrets;
  await findIds(secrets, rig.machines, loginOf("a"), signal);
  expect(rig.secrets.reads).toBe(reads + 1);
});

test("SecretCache reads the Secret of the machine that is asked for again before it leaves it out", async () => {
  const { rig, secrets } = createBook();
  const shared = { username: "admin", password: "shared" };
  const find = (id: string) => findIds(secrets, rig.machines, shared, signal, id);
  expect(await find("a")).toEqual([]);
  rig.secrets.set(SECRET, shared);
  expect(await find("a")).toEqual(["a"]);
  rig.secrets.set("b-bmc-credentials", shared);
  expect(await find("a")).toEqual(["a"]);
  expect(await find("b")).toEqual(["b"]);
  expect(await findIds(secrets, rig.machines, shared, signal)).toEqual(["a", "b"]);
  const { reads } = rig.secrets;
  expect(await find("b")).toEqual(["b"]);
  expect(rig.secrets.reads).toBe(reads);
});

const HOST = { namespace: "metal", host: "edge-worker-0" } as const;
const OWN = "edge-worker-0-bmc-credentials";

function createSource() {
  const secrets = new SecretsDouble();
  const clock = new ManualClock();
  return { secrets, clock, source: new HostCredentialsSource({ client: secrets, clock }) };
}

test("HostCredentialsSource takes both texts of an old manifest, and reads nothing", async () => {
  const { secrets, source } = createSource();
  expect(await source.find({ ...HOST, wanted: LOGIN }, signal)).toEqual(LOGIN);
  expect(secrets.reads).toBe(0);
});

test("HostCredentialsSource leaves out blanks around texts, and says so", async () => {
  const { secrets, source } = createSource();
  secrets.set("shared", { username: "admin\n", password: "pa55word\n" });
  const found = await source.find({ ...HOST, wanted: { secretRef: { name: "shared" } } }, signal);
  const notice =
    'bmcCredentials: Secret "shared": Landfall leaves out blanks and ends of lines around texts, as metal3 does';
  expect(found).toEqual({ username: "admin", password: "pa55word", notice });
});

test("HostCredentialsSource reads the Secret of the Vino twice a minute", async () => {
  const { secrets, clock, source } = createSource();
  secrets.set("shared", LOGIN);
  const wanted = { secretRef: { name: "shared" } };
  for (let at = 0; at < 3; at += 1) {
    expect(await source.find({ ...HOST, wanted }, signal)).toEqual(LOGIN);
  }
  expect(secrets.reads).toBe(1);
  secrets.set("shared", { ...LOGIN, password: "new" });
  await clock.advance(25_000);
  expect(await source.find({ ...HOST, wanted }, signal)).toEqual({ ...LOGIN, password: "new" });
});

const IN_SECRET = 'bmcCredentials: Secret "shared"';
const COLON = "has a colon, and metal3 cannot sign in with such a name";

test.each([
  [undefined, 'bmcCredentials: there is no Secret "shared"'],
  [{}, `${IN_SECRET} has no "username" and "password", or an empty one`],
  [{ username: "admin" }, `${IN_SECRET} has no "password", or an empty one`],
  [{ username: "", password: "p" }, `${IN_SECRET} has no "username", or an empty one`],
  [{ username: "a:b", password: "p" }, `${IN_SECRET}: username ${COLON}`],
])(
  "HostCredentialsSource says why the Secret of the Vino cannot be used: %j",
  async (texts, problem) => {
    const { secrets, clock, source } = createSource();
    if (texts) secrets.set("shared", texts);
    const question = { ...HOST, wanted: { secretRef: { name: "shared" } } };
    expect(await source.find(question, signal)).toEqual({ problem });
    secrets.set("shared", { ...LOGIN, password: "p:q" });
    await clock.advance(30_000);
    expect(await source.find(question, signal)).toEqual({ ...LOGIN, password: "p:q" });
  },
);

test("HostCredentialsSource refuses a username with a colon in an old manifest", async () => {
  const wanted = { ...LOGIN, username: "a:b" };
  const problem = `bmcCredentials.username ${COLON}`;
  expect(await createSource().source.find({ ...HOST, wanted }, signal)).toEqual({ problem });
});

test("HostCredentialsSource replaces what a host cannot use of its own Secret", async () => {
  const { secrets, source } = createSource();
  secrets.set(OWN, { ...LOGIN, username: "a:b" });
  const made = await source.find({ ...HOST, wanted: undefined }, signal);
  expect(made).toMatchObject({ username: "edge-worker-0" });
});

test("HostCredentialsSource makes a password for each host, and keeps it", async () => {
  const { secrets, clock, source } = createSource();
  const made = await source.find({ ...HOST, wanted: undefined }, signal);
  if ("problem" in made) throw new Error(made.problem);
  expect(made.username).toBe("edge-worker-0");
  expect(made.password).toMatch(/^[\w-]{32}$/);
  expect(await source.find({ ...HOST, wanted: undefined }, signal)).toEqual(made);
  const other = await source.find({ ...HOST, host: "edge-worker-1", wanted: undefined }, signal);
  expect(other).not.toMatchObject({ password: made.password });
  secrets.set(OWN, { ...made });
  await clock.advance(600_000);
  expect(await source.find({ ...HOST, wanted: undefined }, signal)).toEqual(made);
  const later = new HostCredentialsSource({ client: secrets, clock });
  expect(await later.find({ ...HOST, wanted: undefined }, signal)).toEqual(made);
});

test("HostCredentialsSource makes no password while it does not know whether there is one", async () => {
  const { secrets, source } = createSource();
  secrets.onCall = () => {
    throw new KubeError("unavailable", "no answer");
  };
  await expect(source.find({ ...HOST, wanted: undefined }, signal)).rejects.toThrow(KubeError);
});
