import { describe, expect, test } from "bun:test";
import { DEFAULT_DELETION } from "../../../lib/cloud/deletion/guard.ts";
import { DELETION } from "../../../lib/cloud/settings/sections.ts";
import { listRights, needAll, type Needs } from "../../../lib/app/rights.ts";
import { checkPermissions, formatResource } from "../../../lib/cli/check/permissions.ts";
import type { PermissionsStep } from "../../../lib/cli/check/report.ts";
import { vinoController } from "../../../lib/controllers/vino/definition.ts";
import { TWIN_LEASE, TWIN_NAME, twinController } from "../../support/galleries/definition.ts";
import { ManualClock } from "../../support/manual_clock.ts";
import { ScriptedKubeClient } from "../../support/kube/scripted_kube_client.ts";

const ALL: Needs = needAll({ namespace: "kube-system", name: "lease" });
const RIGHTS = listRights(ALL);
const SERVICE_ACCOUNT = "system:serviceaccount:kube-system:landfall-m";
const MANIFEST = {
  granting: "kubectl apply -f m/rbac-user.yaml",
  isForLease: false,
  path: "m/rbac-user.yaml",
  controllers: ALL.controllers,
  installing: "kubectl apply -k m",
  serviceAccount: SERVICE_ACCOUNT,
};

/** Asks a server that denies these rights: `verb resource`. */
function check(
  denied: readonly string[],
  needs: Needs & { readonly user?: string } = ALL,
): Promise<PermissionsStep> {
  const client = new ScriptedKubeClient(new ManualClock());
  client.onWrite = ({ body }) => {
    const { resourceAttributes: wanted } = body["spec"] as { resourceAttributes: never };
    const { verb } = wanted;
    return {
      metadata: {},
      status: { allowed: !denied.includes(`${verb} ${formatResource(wanted)}`) },
    };
  };
  return checkPermissions(client, { ...needs, manifest: MANIFEST }, new AbortController().signal);
}

/** The commands that the advice prints. */
function listCommands(advice = ""): string[] {
  return [...advice.matchAll(/kubectl create .*? \| kubectl auth reconcile -f -/g)].map(
    ([one]) => one,
  );
}

describe("checkPermissions()", () => {
  test("is well when all is allowed, and then gives no advice", async () => {
    const step = await check([]);
    expect(step.status).toBe("ok");
    expect(step.advice).toBeUndefined();
    expect(step.permissions).toHaveLength(RIGHTS.length);
  });

  test.each(
    RIGHTS.map(({ access, mandatory }) => [
      `${access.verb} ${formatResource(access)}`,
      mandatory ? "failure" : "warning",
    ]),
  )("without %s it is a %s", async (right, level) => {
    const step = await check([right]);
    expect(step.status).toBe(level === "failure" ? "failure" : "warning");
    expect(step.permissions.filter((one) => one.level !== "ok")).toHaveLength(1);
    expect(step.advice).toContain("ClusterRole");
  });

  test("asks for rights that flags need, and gives commands for them, because no manifest has them", async () => {
    const controllers = new Set([vinoController.name]);
    const flags = {
      "vino-redfish-address": "0.0.0.0:8443",
      "vino-redfish-service": "metal/redfish",
    };
    const needs = { registry: [vinoController], controllers, hasSecurePort: false, flags };
    const slices = "endpointslices.discovery.k8s.io";
    const step = await check([`create ${slices}`, `patch ${slices}`], { ...needs, user: "u" });
    expect(step.status).toBe("failure");
    expect(step.permissions.filter(({ level }) => level !== "ok")).toMatchObject([
      { verb: "create", namespace: "metal" },
      { verb: "patch", namespace: "metal", name: "redfish-ipv4" },
    ]);
    expect(listCommands(step.advice)).toEqual([
      expect.stringContaining(`--verb=create --resource=${slices} --namespace=metal`),
      expect.stringContaining("kubectl create rolebinding"),
      expect.stringContaining(
        `--verb=patch --resource=${slices} --resource-name=redfish-ipv4 --namespace=metal`,
      ),
      expect.stringContaining("kubectl create rolebinding"),
    ]);
  });

  test("names the manifest that grants the rights, and the user that it is for", async () => {
    const apply = "kubectl apply -f m/rbac-user.yaml";
    const denied = ["list nodes"];
    const { advice } = await check(denied, { ...ALL, user: "landfall" });
    expect(advice).toBe(`grant what is missing to this user: ${apply}`);
    const installed = await check(denied, { ...ALL, user: SERVICE_ACCOUNT });
    expect(installed.advice).toBe("grant what is missing to this user: kubectl apply -k m");
    const other = await check(denied, { ...ALL, user: "someone" });
    expect(other.advice).toContain(`with a ClusterRole and its binding, as ${apply} does for`);
    expect(other.advice).toEndWith("the user landfall");
  });

  test("names the command of the manifest that the mode needs", async () => {
    const granting = "sed s/a/b/ m/rbac-user.yaml | kubectl apply -f -";
    const manifest = { ...MANIFEST, granting, isForLease: true };
    const client = new ScriptedKubeClient(new ManualClock());
    client.onWrite = () => ({ metadata: {}, status: { allowed: false } });
    const needs = { ...ALL, manifest, user: "landfall" };
    const { advice } = await checkPermissions(client, needs, new AbortController().signal);
    expect(advice).toBe(`grant what is missing to this user: ${granting}`);
  });

  describe("for rights of a controller that is off by default, which no manifest grants", () => {
    const controllers = new Set([...ALL.controllers, "cloud-node-out-of-service"]);
    const volumes = ["get", "list", "watch"].map(
      (verb) => `${verb} volumeattachments.storage.k8s.io`,
    );
    const role =
      "kubectl create clusterrole landfall-volumeattachments --verb=get,list,watch " +
      "--resource=volumeattachments.storage.k8s.io";
    const bind =
      "kubectl create clusterrolebinding landfall-volumeattachments " +
      "--clusterrole=landfall-volumeattachments --user=";

    test("prints the commands that grant them, and no manifest", async () => {
      const { advice } = await check(volumes, { ...ALL, controllers, user: "landfall" });
      expect(advice).toContain(role);
      expect(advice).toContain(`${bind}landfall`);
      expect(advice).not.toContain("rbac-user.yaml");
      const unnamed = await check(volumes, { ...ALL, controllers });
      expect(unnamed.advice).toContain(`${bind}NAME`);
    });

    test("names the manifest, too, if a right that it grants is missing", async () => {
      const denied = [...volumes, "list nodes"];
      const { advice } = await check(denied, { ...ALL, controllers, user: "landfall" });
      expect(advice).toContain("kubectl apply -f m/rbac-user.yaml");
      expect(advice).toContain(role);
    });
  });

  test("gives each role that no manifest grants its own name, and adds to those that exist", async () => {
    const services = [
      ...["list", "watch", "get"].map((verb) => `${verb} services`),
      "patch services/status",
      "get namespaces",
    ];
    const controllers = new Set([...ALL.controllers, "service"]);
    const { advice } = await check(services, { ...ALL, controllers, user: "landfall" });
    const add = "--dry-run=client -o yaml | kubectl auth reconcile -f -";
    const role = (name: string, rule: string): string =>
      `kubectl create clusterrole ${name} ${rule} ${add}`;
    const bind = (name: string): string =>
      `kubectl create clusterrolebinding ${name} --clusterrole=${name} --user=landfall ${add}`;
    const ofOne = "--verb=get --resource=namespaces --resource-name=kube-system";
    // The manifest grants to list and watch Services.
    expect(advice).toContain("kubectl apply -f m/rbac-user.yaml");
    // Each has a line of its own, to be copied.
    expect((advice ?? "").split("\n").filter((line) => line.startsWith("  "))).toHaveLength(6);
    expect(listCommands(advice).filter((one) => one.includes("create"))).toEqual([
      role("landfall-services", "--verb=get --resource=services"),
      bind("landfall-services"),
      role("landfall-services-status", "--verb=patch --resource=services/status"),
      bind("landfall-services-status"),
      role("landfall-namespaces", ofOne),
      bind("landfall-namespaces"),
    ]);
  });

  test("grants the Lease that a controller names by a Role in its namespace", async () => {
    const controllers = new Set([...ALL.controllers, TWIN_NAME]);
    const registry = [...ALL.registry, twinController];
    const client = new ScriptedKubeClient(new ManualClock());
    client.onWrite = ({ body }) => {
      const wanted = Object(body["spec"])["resourceAttributes"];
      return { metadata: {}, status: { allowed: wanted.name !== TWIN_LEASE } };
    };
    const { advice } = await checkPermissions(
      client,
      { ...ALL, registry, controllers, manifest: MANIFEST, user: "landfall" },
      new AbortController().signal,
    );
    const add = "--namespace=kube-system --dry-run=client -o yaml | kubectl auth reconcile -f -";
    const rule = `--verb=get,update --resource=leases.coordination.k8s.io --resource-name=${TWIN_LEASE}`;
    expect(listCommands(advice)).toEqual([
      `kubectl create role landfall-leases ${rule} ${add}`,
      `kubectl create rolebinding landfall-leases --role=landfall-leases --user=landfall ${add}`,
    ]);
    expect(advice).not.toContain("kubectl apply");
    // No flag names this Lease.
    expect(advice).not.toContain("--leader-elect-resource-name");
  });

  test("without a Lease, names its namespace and the flag for another one", async () => {
    const needs = needAll({ namespace: "clouds", name: "lease" });
    const step = await check(["get leases.coordination.k8s.io"], needs);
    expect(step.advice).toContain("Role in clouds");
    expect(step.advice).toContain("--leader-elect-resource-name");
    expect((await check(["list nodes"])).advice).not.toMatch(/lease|--/);
  });

  test("asks about a Lease by its name, but to create one without", async () => {
    const { permissions } = await check([]);
    const leases = permissions.filter(({ resource }) => resource === "leases");
    expect(leases.map(({ verb, namespace, name }) => [verb, namespace, name])).toEqual([
      ["get", "kube-system", "lease"],
      ["create", "kube-system", undefined],
      ["update", "kube-system", "lease"],
    ]);
  });

  test("asks for nothing that only others need", async () => {
    const { permissions } = await check([], {
      ...ALL,
      sections: new Map([[DELETION.key, { ...DEFAULT_DELETION, enabled: false }]]),
    });
    const rights = permissions.map((one) => `${one.verb} ${formatResource(one)}`);
    expect(rights).not.toContain("delete nodes");
    expect(rights).toContain("patch nodes/status");
  });
});
