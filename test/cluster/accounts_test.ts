/**
 * The service accounts of SIPClusters and Vinos on a real API server, in the hands of an attacker: what they can become
 * with the rights of the default installation, and with those on all namespaces.
 * @module
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { findKubectl } from "../support/kube/kubectl.ts";
import { waitUntil } from "../support/process/cluster_rig.ts";
import { Account } from "../support/process/account.ts";
import { type Cluster, skipsCluster, startCluster } from "../support/process/cluster.ts";

const kubectl = skipsCluster() ? undefined : await findKubectl();
const CONTROLLERS = ["sipcluster", "vino"] as const;
/** It has rights to change its own role, and so to get all. */
const STRONG = "clusterrole-aggregation-controller";
const TENANT = "tenant-1";
const ALL = { apiGroups: ["*"], resources: ["*"], verbs: ["*"] };
const RBAC = "/apis/rbac.authorization.k8s.io/v1";
/** By which the policy knows Secrets of Landfall: an attacker writes them, too. */
const LABELS = { "landfall.dev/sip-cluster": "a", "landfall.dev/vino-uid": "u" };
const [CHANGED, CREATED, REFUSED] = [200, 201, 403];

interface Way {
  readonly method: string;
  readonly path: string;
  readonly body: object;
}

function toSecret(namespace: string, fields: object): Way {
  const body = { metadata: { name: "way", labels: LABELS }, ...fields };
  return { method: "POST", path: `/api/v1/namespaces/${namespace}/secrets`, body };
}

/** A Secret to which the API server adds the token of an account. */
function toTokenSecret(namespace: string, account: string): Way {
  const annotations = { "kubernetes.io/service-account.name": account };
  return toSecret(namespace, {
    metadata: { name: `way-${account}`, labels: LABELS, annotations },
    type: "kubernetes.io/service-account-token",
  });
}

function toDeployment(namespace: string, pod: object): Way {
  const labels = { app: "way" };
  const containers = [{ name: "a", image: "example.org/a", ...pod }];
  const template = { metadata: { labels }, spec: { containers, ...pod } };
  const body = {
    metadata: { name: `jumphost-${crypto.randomUUID()}`, labels: LABELS },
    spec: { selector: { matchLabels: labels }, template },
  };
  return { method: "POST", path: `/apis/apps/v1/namespaces/${namespace}/deployments`, body };
}

function toRoleBinding(namespace: string, name: string): Way {
  const body = {
    metadata: { name: "way", labels: LABELS },
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "cluster-admin" },
    subjects: [{ kind: "ServiceAccount", namespace: "kube-system", name }],
  };
  return { method: "POST", path: `${RBAC}/namespaces/${namespace}/rolebindings`, body };
}

/** A RoleBinding where it may work. @param subjects Default: an account that it makes */
function toOwnBinding(
  name: string,
  roleRef: { readonly kind: string; readonly name: string },
  subjects: readonly object[] = [
    { kind: "ServiceAccount", namespace: TENANT, name: "landfall-way" },
  ],
): Way {
  const body = {
    metadata: { name },
    roleRef: { apiGroup: "rbac.authorization.k8s.io", ...roleRef },
    subjects,
  };
  return { method: "POST", path: `${RBAC}/namespaces/${TENANT}/rolebindings`, body };
}

/** Ways out of the namespaces that it may work in, by what they try. */
function listWaysOut(name: string): Readonly<Record<string, Way>> {
  const aggregated = { "rbac.authorization.k8s.io/aggregate-to-admin": "true" };
  return {
    "a token Secret for another account": toTokenSecret("kube-system", STRONG),
    "any Secret in kube-system": toSecret("kube-system", {}),
    "a token Secret elsewhere": toTokenSecret("default", "default"),
    "a Deployment in kube-system": toDeployment("kube-system", { serviceAccountName: STRONG }),
    "a RoleBinding in kube-system": toRoleBinding("kube-system", name),
    "a RoleBinding elsewhere": toRoleBinding("default", name),
    "an aggregated ClusterRole": {
      method: "POST",
      path: `${RBAC}/clusterroles`,
      body: { metadata: { name: "way", labels: aggregated }, rules: [ALL] },
    },
    "more rights in its own ClusterRole": {
      method: "PATCH",
      path: `${RBAC}/clusterroles/${name}`,
      body: { rules: [ALL] },
    },
    "a token by request": {
      method: "POST",
      path: `/api/v1/namespaces/kube-system/serviceaccounts/${STRONG}/token`,
      body: { spec: {} },
    },
  };
}

/** What an admission policy refuses where it may work. */
const IN_TENANTS: Readonly<Record<string, Way>> = {
  "a token Secret": toTokenSecret(TENANT, "strong"),
  "a Secret without its label": toSecret(TENANT, { metadata: { name: "bare" } }),
  "a Secret of a Helm release": toSecret(TENANT, { type: "helm.sh/release.v1" }),
};
/** Accounts and Roles that its policy would not limit. */
const ACCOUNTS: Readonly<Record<string, Way>> = {
  "an account with the name of another program": {
    method: "POST",
    path: `/api/v1/namespaces/${TENANT}/serviceaccounts`,
    body: { metadata: { name: "way" } },
  },
  "its own rights for an account that it makes": toOwnBinding("landfall-way", {
    kind: "ClusterRole",
    name: "landfall-sipcluster-tenant",
  }),
  "a Role of another program for such an account": toOwnBinding("landfall-other", {
    kind: "Role",
    name: "other",
  }),
  "a Role for everybody": toOwnBinding(
    "landfall-open",
    { kind: "Role", name: "landfall-requests" },
    [{ apiGroup: "rbac.authorization.k8s.io", kind: "Group", name: "system:unauthenticated" }],
  ),
  "a Role that may write Secrets": {
    method: "POST",
    path: `${RBAC}/namespaces/${TENANT}/roles`,
    body: {
      metadata: { name: "landfall-way" },
      rules: [{ apiGroups: [""], resources: ["configmaps", "secrets"], verbs: ["get", "create"] }],
    },
  },
  "a ConfigMap of another program": {
    method: "PATCH",
    path: `/api/v1/namespaces/${TENANT}/configmaps/other`,
    body: { metadata: { labels: LABELS }, data: { a: "b" } },
  },
};
const DEPLOYMENTS: Readonly<Record<string, Way>> = {
  "a Pod with a token of the default account": toDeployment(TENANT, {
    automountServiceAccountToken: true,
  }),
  "a Pod with a token by default": toDeployment(TENANT, {}),
  "a Pod that mounts a token": toDeployment(TENANT, {
    automountServiceAccountToken: false,
    volumes: [{ name: "token", projected: { sources: [{ serviceAccountToken: { path: "t" } }] } }],
  }),
  "a Pod of an account with a name as Dex has it": toDeployment(TENANT, {
    serviceAccountName: "dex-operator",
  }),
  "a Pod of another account": toDeployment(TENANT, { serviceAccountName: "strong" }),
  "a Pod on the network of its Node": toDeployment(TENANT, { hostNetwork: true }),
  "a Pod with files of its Node": toDeployment(TENANT, {
    volumes: [{ name: "root", hostPath: { path: "/" } }],
  }),
  // The API server of the test runs without --allow-privileged.
  "a Pod that adds capabilities": toDeployment(TENANT, {
    securityContext: { capabilities: { add: ["SYS_ADMIN"] } },
  }),
};

describe.skipIf(kubectl === undefined).each(CONTROLLERS)("the account of %s", (controller) => {
  let cluster: Cluster;
  let account: Account;
  let hasPolicies = false;

  beforeAll(async () => {
    cluster = await startCluster();
    account = await Account.install({ cluster, kubectl: kubectl ?? "", controller });
    hasPolicies = await account.hasPolicies();
    for (const namespace of [TENANT, "metal"])
      await cluster.create("/api/v1/namespaces", { metadata: { name: namespace } });
    await cluster.create(`/api/v1/namespaces/kube-system/serviceaccounts`, {
      metadata: { name: STRONG },
    });
    await cluster.create(`/api/v1/namespaces/${TENANT}/serviceaccounts`, {
      metadata: { name: "strong" },
    });
    await cluster.create(`/api/v1/namespaces/${TENANT}/configmaps`, {
      metadata: { name: "other" },
    });
    await cluster.create(`${RBAC}/namespaces/${TENANT}/roles`, {
      metadata: { name: "other" },
      rules: [{ apiGroups: [""], resources: ["secrets"], verbs: ["get", "create"] }],
    });
    await cluster.create(`${RBAC}/namespaces/${TENANT}/roles`, {
      metadata: { name: "landfall-requests" },
      rules: [{ apiGroups: [""], resources: ["configmaps"], verbs: ["get"] }],
    });
    await account.apply("tenant-namespaces/rolebindings.yaml");
    // A policy takes effect a moment after it was made.
    if (hasPolicies) await untilPolicy();
  }, 120_000);
  afterAll(() => cluster?.stop());

  async function untilPolicy(): Promise<void> {
    const { method, path, body } = toSecret(TENANT, { metadata: { name: "probe" } });
    await waitUntil("the admission policy", async () => {
      const { code } = await account.send(method, `${path}?dryRun=All`, body);
      return code === REFUSED || undefined;
    });
  }

  const send = async ({ method, path, body }: Way): Promise<{ code: number; text: string }> =>
    await account.send(method, path, body);
  /** Tries ways. @returns Those that were not refused */
  const tryAll = async (ways: Readonly<Record<string, Way>>): Promise<string[]> => {
    const open: string[] = [];
    for (const [what, way] of Object.entries(ways)) {
      const { code, text } = await send(way);
      if (![REFUSED, CREATED, CHANGED].includes(code)) throw new Error(`${what}: ${code} ${text}`);
      if (code !== REFUSED) open.push(what);
    }
    return open;
  };

  test("is no administrator, and has no way to become one, with the rights of the default installation", async () => {
    expect(await tryAll(listWaysOut(account.name))).toEqual([]);
    expect(await account.mayDoAll()).toBe("no");
  });

  test("may write the Secrets of Landfall where it works, and there alone", async () => {
    const own = { type: "Opaque", metadata: { name: "own", labels: LABELS } };
    expect(await send(toSecret(TENANT, own))).toMatchObject({ code: CREATED });
    for (const namespace of ["default", "metal"])
      expect(await send(toSecret(namespace, own))).toMatchObject({ code: REFUSED });
  });

  test("becomes no account of that namespace where the API server has admission policies", async () => {
    const ways =
      controller === "sipcluster" ? { ...IN_TENANTS, ...ACCOUNTS, ...DEPLOYMENTS } : IN_TENANTS;
    expect(await tryAll(ways)).toEqual(hasPolicies ? [] : Object.keys(ways));
  });

  test("with rights in all namespaces, only an admission policy keeps it from becoming an administrator", async () => {
    await account.apply("cluster-wide/clusterrolebinding.yaml");
    const own = toSecret("default", { type: "Opaque", metadata: { name: "own", labels: LABELS } });
    await waitUntil("the new rights", async () => (await send(own)).code === CREATED || undefined);
    const open = await tryAll(listWaysOut(account.name));
    const [stolen] = Object.keys(listWaysOut(account.name));
    if (hasPolicies) expect(open).toEqual([]);
    else expect(open[0]).toBe(stolen);
    expect(await account.mayDoAll()).toBe("no");
  });
});
