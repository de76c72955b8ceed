/**
 * The whole command for the controller of Vinos, on simulated servers.
 * @module
 */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { check } from "../../../../lib/cli/check/mod.ts";
import type { CheckReport } from "../../../../lib/cli/check/report.ts";
import { vinoController } from "../../../../lib/controllers/vino/definition.ts";
import { VINOES } from "../../../../lib/controllers/vino/resource/vino.ts";
import { systemClock } from "../../../../lib/core/clock.ts";
import {
  formatPrivilege,
  PRIVILEGES,
} from "../../../../lib/providers/xenorchestra/machines/privileges.ts";
import {
  createMachineSite,
  startXenOrchestraSimulator,
  type XenOrchestraSimulator,
} from "../../../../lib/simulator/xenorchestra/mod.ts";
import { startBareServer } from "../../../support/process/bare_server.ts";

const USER = { id: "5d0ec9d6-0c0c-4c0c-8c0c-000000000001", username: "vino", password: "pw" };
const KINDS = ["vinoes.airship", "ippools.airship", "baremetalhosts.metal3"];

let cluster: Awaited<ReturnType<typeof startBareServer>>;
let cloud: XenOrchestraSimulator;

beforeEach(async () => {
  cluster = await startBareServer();
  const { world } = createMachineSite();
  cloud = await startXenOrchestraSimulator({ clock: systemClock, world, users: [USER] });
});
afterEach(() => Promise.all([cluster.stop(), cloud.stop()]));

/** @param without Privileges of the role that the user does not have */
function report(...without: readonly string[]): Promise<CheckReport & { code: number }> {
  return reportWith([], without);
}

async function reportWith(
  flags: readonly string[],
  without: readonly string[] = [],
): Promise<CheckReport & { code: number }> {
  const role = PRIVILEGES.filter((one) => !without.includes(formatPrivilege(one)));
  cloud.auth.setPrivileges(USER.username, role);
  let out = "";
  const print = (text: string): void => {
    out += text;
  };
  const argv = [
    `--kubeconfig=${cluster.kubeconfig}`,
    "--controllers=vino",
    "--output=json",
    ...flags,
  ];
  const env = { XOA_URL: cloud.url, XOA_TOKEN: cloud.token };
  const code = await check(argv, { env, print, complain: print });
  return { ...JSON.parse(out), code };
}

function listBad({ findings }: Pick<CheckReport["cloud"], "findings">): string[] {
  return findings.filter(({ level }) => level !== "ok").map(({ message }) => message);
}

test("check() finds nothing wrong in Xen Orchestra with the least role, and says what it sees", async () => {
  const { cloud: found } = await report();
  expect(listBad(found)).toEqual([]);
  const seen = found.findings.map(({ message }) => message);
  expect(seen).toEqual(
    expect.arrayContaining([
      expect.stringMatching(/^Machines: \d+ templates are visible$/),
      expect.stringMatching(/^Machines: \d+ storage repositories are visible$/),
      expect.stringMatching(/^Machines: \d+ networks are visible$/),
    ]),
  );
});

test("check() names each privilege that is missing, what it is for, and where to find it", async () => {
  const { cloud: found, code } = await report("vif create", "sr import:vdi");
  expect(code).toBe(1);
  expect(listBad(found)).toEqual([
    "Machines: the user lacks the privilege vif create, to connect VMs to networks",
    "Machines: the user lacks the privilege sr import:vdi, to upload the disk with data for cloud-init",
  ]);
  expect(JSON.stringify(found.findings)).toContain("deploy/xenorchestra/vino-role.json");
});

test("check() names the kinds that the cluster lacks", async () => {
  const { kubernetes: found } = await report();
  const bad = listBad(found);
  for (const kind of KINDS) expect(bad.join("\n")).toContain(kind);
  for (const kind of vinoController.watches) cluster.kubernetes.installKind(kind);
  expect(listBad((await report()).kubernetes)).toEqual([]);
});

test("check() looks whether the namespace of IPPools exists, and says if it cannot know", async () => {
  const { objects, faults } = cluster.kubernetes;
  const flag = "--ip-pool-namespace=ipam";
  const findBad = async (): Promise<string[]> => {
    const { findings } = (await reportWith([flag])).kubernetes;
    return findings.flatMap(({ level, code, message, advice }) =>
      message.includes("ipam") ? [`${level} ${code}: ${message}; ${advice}`] : [],
    );
  };
  expect(await findBad()).toEqual([
    "failure missingNamespace: namespace ipam does not exist, and Landfall needs it for all IPPools; " +
      "correct --ip-pool-namespace, or run kubectl create namespace ipam",
  ]);
  objects.create("namespaces", { metadata: { name: "ipam" } });
  expect(await findBad()).toEqual([]);
  faults.deny({ verb: "get", resource: "namespaces" });
  expect(await findBad()).toEqual([
    expect.stringMatching(
      /^warning forbidden: cannot find out whether namespace ipam exists, .*403.*; run kubectl get namespace ipam$/,
    ),
  ]);
});

test("check() names the rights in the cluster that are missing, and the manifest that grants them", async () => {
  cluster.kubernetes.faults.deny({ verb: "patch", resource: "ippools" });
  const { permissions, code } = await report();
  expect(code).toBe(1);
  const missing = permissions.permissions.filter(({ level }) => level === "failure");
  expect(missing.map(({ verb, resource }) => `${verb} ${resource}`)).toEqual(["patch ippools"]);
  expect(permissions.advice).toContain("deploy/manifests/vino/rbac-user.yaml");
});

test("check() asks for rights on Secrets only where Vinos are, and says how to give them there", async () => {
  cluster.kubernetes.installKind(VINOES);
  const { faults, objects } = cluster.kubernetes;
  // The user has the right in one namespace, and in no other.
  for (const namespace of ["", "unnamed"])
    faults.deny({ verb: "create", resource: "secrets", namespace });
  const without = await report();
  expect(without.code).toBe(0);
  expect(without.permissions.findings.map(({ code }) => code)).toContain("noTenants");
  expect(without.permissions.permissions.map(({ level }) => level)).not.toContain("failure");
  for (const name of ["named", "unnamed"]) {
    objects.create("namespaces", { metadata: { name } });
    objects.create(VINOES.plural, { metadata: { name: "edge", namespace: name }, spec: {} });
  }
  const { permissions, code } = await report();
  expect(code).toBe(1);
  const missing = permissions.permissions.filter(({ level }) => level === "failure");
  expect(missing).toMatchObject([
    { verb: "create", resource: "secrets", namespace: "unnamed", allowed: "no" },
  ]);
  expect(permissions.advice).toContain(
    "kubectl -n unnamed create rolebinding landfall-user-vino-tenant --clusterrole=landfall-user-vino-tenant",
  );
});

const REDFISH = [
  "--vino-redfish-address=0.0.0.0:8443",
  "--vino-redfish-url=https://redfish.metal.svc",
];

test.each([
  [["--vino-redfish-address=nonsense"], "--vino-redfish-address: must be host:port"],
  [["--vino-redfish-address=0.0.0.0:8443"], "--vino-redfish-url: must be an https URL"],
  [[...REDFISH, "--vino-redfish-tls-cert-file=/nope"], "--vino-redfish-tls-private-key-file: req"],
  [[...REDFISH, "--vino-redfish-service=metal/redfish"], "--vino-redfish-pod-ip: required"],
])("check() refuses flags of Redfish with which run does not start: %j", async (flags, text) => {
  await expect(reportWith(flags)).rejects.toThrow(text);
});

test("check() reads the files of Redfish, and says which flag has one that is missing", async () => {
  const { settings, code } = await reportWith([
    ...REDFISH,
    "--vino-redfish-tls-cert-file=/nope/tls.crt",
    "--vino-redfish-tls-private-key-file=/nope/tls.key",
  ]);
  expect(code).toBe(1);
  const bad = settings.findings.filter(({ level }) => level === "failure");
  expect(bad.map(({ source, message }) => `${source}: ${message}`)).toEqual([
    expect.stringContaining("--vino-redfish-tls-cert-file: /nope/tls.crt: "),
    expect.stringContaining("--vino-redfish-tls-private-key-file: /nope/tls.key: "),
  ]);
});

test("check() warns of flags of Redfish that do nothing", async () => {
  const { settings } = await reportWith(["--vino-redfish-url=https://redfish.metal.svc"]);
  expect(listBad(settings)).toContain(
    "flags without effect: --vino-redfish-url (without --vino-redfish-address, Landfall serves no Redfish)",
  );
});

test("check() says which Vinos are not ready, and why", async () => {
  for (const kind of vinoController.watches) {
    if (/airship|metal3/.test(kind.apiVersion)) cluster.kubernetes.installKind(kind);
  }
  const message = 'The cloud does not show pool "pari". Did you mean paris? It shows: paris (1)';
  const conditions = [{ type: "Ready", status: "False", reason: "PoolNotFound", message }];
  for (const name of ["edge", "core"]) {
    cluster.kubernetes.objects.create("vinoes", { metadata: { name, namespace: "default" } });
    const path = { namespace: "default", name, subresource: "status" };
    cluster.kubernetes.objects.patch("vinoes", path, { status: { conditions } });
  }
  const { kubernetes: found } = await report();
  expect(listBad(found)).toContain(
    `2 Vinos default/core, default/edge: not ready: PoolNotFound: ${message}`,
  );
});
