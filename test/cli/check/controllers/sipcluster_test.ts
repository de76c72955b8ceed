/**
 * The whole command for the controller of SIPClusters, on a simulated API server.
 * @module
 */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { check } from "../../../../lib/cli/check/mod.ts";
import type { CheckReport } from "../../../../lib/cli/check/report.ts";
import { sipClusterController } from "../../../../lib/controllers/sipcluster/definition.ts";
import { startBareServer } from "../../../support/process/bare_server.ts";
import { toClaimLabels } from "../../../support/sipcluster/hosts.ts";

let cluster: Awaited<ReturnType<typeof startBareServer>>;

beforeEach(async () => {
  cluster = await startBareServer();
  const { kubernetes } = cluster;
  for (const kind of sipClusterController.watches) {
    if (kind.apiVersion.includes("airship") || kind.apiVersion.includes("metal3")) {
      kubernetes.installKind(kind);
    }
  }
  for (const name of ["tenant", "metal"]) {
    kubernetes.objects.create("namespaces", { metadata: { name } });
  }
  const spec = {
    nodes: { Worker: { labelSelector: { matchLabels: { flavor: "w" } }, count: { active: 1 } } },
    services: {},
  };
  kubernetes.objects.create("sipclusters", { metadata: { namespace: "tenant", name: "a" }, spec });
});
afterEach(() => cluster.stop());

async function report(...flags: readonly string[]): Promise<CheckReport> {
  let out = "";
  const print = (text: string): void => {
    out += text;
  };
  const argv = [`--kubeconfig=${cluster.kubeconfig}`, "--controllers=sipcluster", "--output=json"];
  await check([...argv, ...flags], { env: {}, print, complain: print });
  return JSON.parse(out);
}

async function listBad(...flags: readonly string[]): Promise<string[]> {
  const { kubernetes } = await report(...flags);
  return kubernetes.findings
    .filter(({ code }) => code === "hostNamespaces")
    .map(({ level, message, advice }) => `${level}: ${message}; ${advice}`);
}

test("names annotations of a SIPCluster that are misspelt", async () => {
  const path = { namespace: "tenant", name: "a" };
  const metadata = { annotations: { "landfall.dev/force-releas": "true" } };
  cluster.kubernetes.objects.patch("sipclusters", path, { metadata });
  let out = "";
  const print = (text: string): void => void (out += text);
  const argv = [`--kubeconfig=${cluster.kubeconfig}`, "--controllers=sipcluster"];
  await check(argv, { env: {}, print, complain: print });
  expect(out).toContain("SIPCluster tenant/a: the annotation");
  expect(out).toContain("did you mean landfall.dev/force-release?");
});

const ALLOW = "if you trust all who may write hosts there, add to --sip-host-namespaces: metal";

test.each([
  [
    "match a SIPCluster that lacks some",
    { flavor: "w" },
    "warning: SIPClusters tenant/a lack hosts, and hosts that match are in namespaces that are not allowed: metal",
  ],
  [
    "have the labels of a SIPCluster without a record",
    toClaimLabels("a"),
    "failure: SIPClusters tenant/a have hosts by their labels, whose namespaces are not allowed, so Landfall changes " +
      "nothing there: metal",
  ],
])(
  "check() says that hosts that %s are in a namespace that is not allowed",
  async (_what, labels, says) => {
    const { objects } = cluster.kubernetes;
    objects.create("baremetalhosts", { metadata: { namespace: "metal", name: "h", labels } });
    // As the original operator leaves it.
    const old = {
      conditions: [{ type: "Ready", status: "True", reason: "ReconciliationSucceeded" }],
    };
    const path = { namespace: "tenant", name: "a", subresource: "status" };
    objects.patch("sipclusters", path, { status: old });
    expect(await listBad()).toEqual([`${says}; ${ALLOW}`]);
    expect(await listBad("--sip-host-namespaces=metal")).toEqual([]);
    const status = {
      hosts: [],
      conditions: [{ type: "Scheduled", status: "True", reason: "HostsLabelled" }],
    };
    objects.patch("sipclusters", path, { status });
    expect(await listBad()).toEqual([]);
  },
);

test("check() says nothing about hosts that it may not list: the right is named as missing", async () => {
  cluster.kubernetes.faults.deny({ verb: "list", resource: "baremetalhosts" });
  expect(await listBad()).toEqual([]);
});

test.each([
  ["", false, []],
  ["metal", false, ["failure metal"]],
  ["metal, nonexist,tenant", false, ["failure metal", "failure nonexist"]],
  ["*", false, []],
  ["", true, []],
  ["*", true, ["warning metal"]],
  ["*,metal", true, ["failure metal"]],
])(
  "check() with --sip-host-namespaces=%s asks for the rights on hosts there, with hosts: %p",
  async (flag, hasHosts, expected) => {
    const { faults, objects } = cluster.kubernetes;
    for (const namespace of ["", "metal", "nonexist"])
      faults.deny({ verb: "patch", resource: "baremetalhosts", namespace });
    if (hasHosts) objects.create("baremetalhosts", { metadata: { namespace: "metal", name: "h" } });
    const { permissions, kubernetes } = await report(`--sip-host-namespaces=${flag}`);
    const bad = permissions.permissions.filter(({ level }) => level !== "ok");
    expect(bad.map(({ level, namespace }) => `${level} ${namespace}`)).toEqual(expected);
    const asked = permissions.permissions.flatMap(({ namespace, verb, resource }) =>
      verb === "patch" && resource === "baremetalhosts" ? [namespace] : [],
    );
    expect(asked).toContain("tenant");
    const advice = "kubectl -n metal create rolebinding landfall-user-sipcluster-hosts";
    expect(permissions.advice?.includes(advice) ?? false).toBe(expected.length > 0);
    const missing = kubernetes.findings.filter(({ code }) => code === "missingNamespace");
    const message =
      "namespace nonexist does not exist, and Landfall needs it for the hosts of SIPClusters";
    expect(missing.map((one) => `${one.level}: ${one.message}`)).toEqual(
      flag.includes("nonexist") ? [`failure: ${message}`] : [],
    );
  },
);

test("check() says how many namespaces it left out", async () => {
  const { faults, objects } = cluster.kubernetes;
  for (let at = 0; at < 24; at += 1) {
    objects.create("namespaces", { metadata: { name: `t${at}` } });
    objects.create("sipclusters", { metadata: { namespace: `t${at}`, name: "a" } });
  }
  // The rights of one namespace are left out together, and count once.
  for (const resource of ["services", "configmaps"])
    faults.deny({ verb: "create", resource, namespace: "" });
  const { permissions } = await report();
  const asked = permissions.permissions.filter(
    ({ verb, resource }) => verb === "create" && resource === "services",
  );
  expect(asked).toHaveLength(20);
  // There is one of the world, too.
  expect(permissions.findings.filter(({ level }) => level !== "ok")).toMatchObject([
    {
      code: "namespacesLeftOut",
      message:
        "rights were checked in the first 20 namespaces only: 5 other namespaces were left out",
    },
  ]);
});

test("check() asks for the rights on hosts in a named namespace before there is a SIPCluster", async () => {
  const { faults, objects } = cluster.kubernetes;
  objects.delete("sipclusters", { namespace: "tenant", name: "a" });
  for (const namespace of ["", "metal"])
    faults.deny({ verb: "get", resource: "secrets", namespace });
  const { permissions } = await report("--sip-host-namespaces=metal");
  expect(permissions.permissions.filter(({ level }) => level !== "ok")).toMatchObject([
    { level: "failure", verb: "get", resource: "secrets", namespace: "metal" },
  ]);
  expect(permissions.findings.map(({ code }) => code)).toContain("noTenants");
});
