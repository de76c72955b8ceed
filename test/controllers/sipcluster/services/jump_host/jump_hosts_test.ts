import { describe, expect, test } from "bun:test";
import { SERVICE_DEFAULTS } from "../../../../../lib/controllers/sipcluster/services/pod_parts.ts";
import type { JumpHost } from "../../../../../lib/controllers/sipcluster/resource/sip_cluster.ts";
import { planJumpHosts } from "../../../../../lib/controllers/sipcluster/services/jump_host/jump_hosts.ts";
import type { HostKey } from "../../../../../lib/controllers/sipcluster/services/jump_host/host_keys.ts";
import type {
  Machine,
  OwnedObject,
  ServicePlan,
} from "../../../../../lib/controllers/sipcluster/services/types.ts";
import { CONFIG_HASH } from "../../../../../lib/controllers/sipcluster/words.ts";
import { createSshKeyPair } from "../../../../support/ssh/keys.ts";

const AUTHORISED = createSshKeyPair(["-t", "ed25519"]).publicKey;
const HOST_KEYS: ReadonlyMap<string, HostKey> = new Map([
  ["jumphost-tenant-host-keys", { publicKey: "ssh-ed25519 AAAA" }],
  ["jumphost-tenant-2-host-keys", { publicKey: "ssh-ed25519 BBBB" }],
]);
const MACHINES: readonly Machine[] = ["one", "two"].map((name, at) => ({
  uid: `uid-${name}`,
  namespace: "infra",
  name,
  role: "Worker",
  standby: at === 1,
  addresses: new Map([["oam", `10.0.0.${at + 1}`]]),
}));
const ENTRY: JumpHost = {
  image: "registry.example/jump-host:1",
  nodePort: 30_000,
  nodeInterfaceId: "oam",
  nodeSSHPrivateKeys: "node-keys",
  sshAuthorizedKeys: [AUTHORISED],
};

/** Plans one jump host that differs from the usual one. */
function plan(
  entry: Partial<JumpHost> = {},
  machines = MACHINES,
  hostKeys = HOST_KEYS,
): ServicePlan {
  const [only] = planAll([{ ...ENTRY, ...entry }], machines, hostKeys);
  if (only === undefined) throw new Error("nothing planned");
  return only;
}

function planAll(
  jumpHost: readonly JumpHost[],
  machines = MACHINES,
  hostKeys = HOST_KEYS,
): ServicePlan[] {
  const metadata = { name: "tenant", namespace: "infra" };
  return planJumpHosts({
    cluster: { metadata, spec: { services: { jumpHost } } },
    machines,
    tolerations: [],
    hostKeys,
  });
}

function find(
  { objects }: ServicePlan,
  kind: string,
  name = "jumphost-tenant",
): OwnedObject["body"] {
  const found = objects.find(({ body }) => body.kind === kind && body.metadata.name === name);
  if (found === undefined) throw new Error(`no ${kind} ${name}`);
  return found.body;
}

describe("planJumpHosts()", () => {
  test("plans nothing without an entry", () => {
    expect(planAll([])).toEqual([]);
  });

  test("makes these objects, in the cluster's namespace, and no Secret", () => {
    const { objects, deployment, service, problem } = plan();
    expect(objects.map(({ body }) => `${body.kind} ${body.metadata.name}`)).toEqual([
      "ServiceAccount landfall-jumphost-tenant",
      "ConfigMap jumphost-tenant-requests",
      "Role landfall-jumphost-tenant",
      "RoleBinding landfall-jumphost-tenant",
      "ConfigMap jumphost-tenant",
      "Service jumphost-tenant",
      "Deployment jumphost-tenant",
    ]);
    expect(new Set(objects.map(({ body }) => body.metadata.namespace))).toEqual(new Set(["infra"]));
    expect(problem).toBeUndefined();
    expect([service, deployment]).toEqual(["jumpHost", "jumphost-tenant"]);
  });

  test("gives the second entry names of its own", () => {
    const [, second] = planAll([ENTRY, { ...ENTRY, nodePort: 30_001 }]);
    expect(second?.deployment).toBe("jumphost-tenant-2");
    expect(
      second?.objects.every(({ body }) =>
        /^(landfall-)?jumphost-tenant-2/.test(body.metadata.name),
      ),
    ).toBe(true);
  });

  test("lets the jump host read and patch the ConfigMap of its requests, and nothing else", () => {
    const planned = plan();
    expect(find(planned, "Role", "landfall-jumphost-tenant")).toMatchObject({
      rules: [
        {
          apiGroups: [""],
          resources: ["configmaps"],
          resourceNames: ["jumphost-tenant-requests"],
          verbs: ["get", "patch"],
        },
      ],
    });
    expect(find(planned, "RoleBinding", "landfall-jumphost-tenant")).toMatchObject({
      roleRef: {
        apiGroup: "rbac.authorization.k8s.io",
        kind: "Role",
        name: "landfall-jumphost-tenant",
      },
      subjects: [{ kind: "ServiceAccount", name: "landfall-jumphost-tenant", namespace: "infra" }],
    });
    // The fields of the requests belong to the jump host.
    expect(Object.keys(find(planned, "ConfigMap", "jumphost-tenant-requests"))).toEqual([
      "apiVersion",
      "kind",
      "metadata",
    ]);
  });

  test("writes the files of the jump host", () => {
    expect(find(plan(), "ConfigMap")).toMatchObject({
      data: {
        authorized_keys: `${AUTHORISED.trim()}\n`,
        known_hosts: "jumphost-tenant.infra ssh-ed25519 AAAA\n",
        requests: "/api/v1/namespaces/infra/configmaps/jumphost-tenant-requests",
        ssh_config: expect.stringContaining("Host one\n  HostName 10.0.0.1\n"),
        hosts: expect.stringContaining('"bareMetalHost":"two"'),
      },
    });
  });

  test("runs without root, rights and a writable root, with the keys mounted read-only", () => {
    expect(find(plan(), "Deployment")).toMatchObject({
      spec: {
        replicas: 1,
        template: {
          spec: {
            serviceAccountName: "landfall-jumphost-tenant",
            securityContext: { runAsNonRoot: true, runAsUser: 1_000, fsGroup: 1_000 },
            hostAliases: [
              { ip: "10.0.0.1", hostnames: ["one"] },
              { ip: "10.0.0.2", hostnames: ["two"] },
            ],
            containers: [
              {
                image: "registry.example/jump-host:1",
                readinessProbe: { tcpSocket: { port: "ssh" } },
                livenessProbe: { tcpSocket: { port: "ssh" } },
                securityContext: {
                  allowPrivilegeEscalation: false,
                  readOnlyRootFilesystem: true,
                  capabilities: { drop: ["ALL"] },
                },
                volumeMounts: expect.arrayContaining([
                  { name: "node-keys", mountPath: "/etc/opt/sip/ssh-private-keys", readOnly: true },
                  { name: "host-keys", mountPath: "/etc/opt/sip/host-keys", readOnly: true },
                ]),
              },
            ],
            volumes: expect.arrayContaining([
              { name: "node-keys", secret: { secretName: "node-keys", defaultMode: 0o440 } },
              {
                name: "host-keys",
                secret: { secretName: "jumphost-tenant-host-keys", defaultMode: 0o440 },
              },
            ]),
          },
        },
      },
    });
  });

  test("joins the names of machines with one address, which the API server wants once", () => {
    const machines = MACHINES.map((one) => ({ ...one, addresses: new Map([["oam", "10.0.0.9"]]) }));
    expect(find(plan({}, machines), "Deployment")).toMatchObject({
      spec: {
        template: { spec: { hostAliases: [{ ip: "10.0.0.9", hostnames: ["one", "two"] }] } },
      },
    });
  });

  test("writes nodePort, clusterIP and nodeLabels where they are set", () => {
    const ports = (nodePort?: number): object => ({
      ports: [
        {
          name: "ssh",
          port: 22,
          protocol: "TCP",
          targetPort: "ssh",
          ...(nodePort && { nodePort }),
        },
      ],
    });
    const set = plan({ clusterIP: "10.96.0.9", nodeLabels: { zone: "a" } });
    expect(find(set, "Service")).toMatchObject({
      spec: { type: "NodePort", clusterIP: "10.96.0.9", ...ports(30_000) },
    });
    expect(find(set, "Deployment")).toMatchObject({
      spec: { template: { spec: { nodeSelector: { zone: "a" } } } },
    });
    const { spec } = { spec: {}, ...find(plan({ nodePort: 0, clusterIP: "" }), "Service") };
    expect(spec).toEqual({
      type: "NodePort",
      ...SERVICE_DEFAULTS,
      selector: expect.anything(),
      ...ports(),
    });
    expect(JSON.stringify(find(plan(), "Deployment"))).not.toContain("nodeSelector");
  });

  test("keeps sessions from using a proxy unless bmc.proxy allows it", () => {
    const args = (bmc?: JumpHost["bmc"]): string =>
      JSON.stringify(find(plan(bmc && { bmc }), "Deployment"));
    expect(args()).toContain('{"name":"NO_PROXY","value":"*"}');
    expect(args({ proxy: false })).toContain('{"name":"NO_PROXY","value":"*"}');
    expect(args({ proxy: true })).not.toContain("NO_PROXY");
  });

  test("writes the same bytes from the same input, and another hash only when a file differs", () => {
    const hash = (planned: ServicePlan): string =>
      /"([^"]+)":"([0-9a-f]{16})"/.exec(JSON.stringify(find(planned, "Deployment")))?.[2] ?? "";
    expect(JSON.stringify(plan())).toBe(JSON.stringify(plan()));
    expect(JSON.stringify(find(plan(), "Deployment"))).toContain(CONFIG_HASH);
    const same = hash(plan());
    expect(same).toHaveLength(16);
    expect(hash(plan({ nodeLabels: { zone: "a" } }))).toBe(same);
    expect(hash(plan({}, MACHINES.slice(1)))).not.toBe(same);
    expect(hash(plan({ sshAuthorizedKeys: [] }))).not.toBe(same);
    const other = new Map([["jumphost-tenant-host-keys", { publicKey: "ssh-ed25519 CCCC" }]]);
    expect(hash(plan({}, MACHINES, other))).not.toBe(same);
  });

  const many = Array.from({ length: 20_000 }, (_, at) => ({
    ...MACHINES[0],
    uid: "u",
    namespace: "infra",
    name: `host-${at}`,
    role: "Worker" as const,
    standby: false,
    addresses: new Map<string, string>(),
  }));
  const problems: Readonly<Record<string, readonly [() => ServicePlan, RegExp]>> = {
    "without an image": [() => plan({ image: "" }), /Containerfile/],
    "without a Secret of the nodes' keys": [
      () => plan({ nodeSSHPrivateKeys: "" }),
      /nodeSSHPrivateKeys must name a Secret/,
    ],
    "with a bad key, named by its place": [
      () => plan({ sshAuthorizedKeys: [AUTHORISED, "ssh-rsa c2VjcmV0"] }),
      /^sshAuthorizedKeys\[1\] is refused: (?!.*c2VjcmV0)/,
    ],
    "before it has a host key": [
      () => plan({}, MACHINES, new Map()),
      /-host-keys does not exist yet/,
    ],
    "with a damaged host key": [
      () =>
        plan({}, MACHINES, new Map([["jumphost-tenant-host-keys", { problem: "it is broken" }]])),
      /it is broken/,
    ],
    "with more hosts than fit": [() => plan({}, many), /20000 hosts do not fit/],
  };
  for (const [what, [make, message]] of Object.entries(problems)) {
    test(`plans no object ${what}, and says so`, () => {
      const { objects, deployment, problem } = make();
      expect([objects, deployment]).toEqual([[], undefined]);
      expect(problem?.reason).toBe("InfraServiceFailure");
      expect(problem?.message).toMatch(message);
    });
  }
});
