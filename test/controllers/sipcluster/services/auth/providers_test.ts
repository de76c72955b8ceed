import { describe, expect, test } from "bun:test";
import { planAuth } from "../../../../../lib/controllers/sipcluster/services/auth/providers.ts";
import type { AuthFacts } from "../../../../../lib/controllers/sipcluster/services/auth/secrets.ts";
import type { DexStore } from "../../../../../lib/controllers/sipcluster/services/auth/store.ts";
import type { ServicePlan } from "../../../../../lib/controllers/sipcluster/services/types.ts";
import type { Auth } from "../../../../../lib/controllers/sipcluster/resource/sip_cluster.ts";
import { toPolicy } from "../../../../../lib/app/rights.ts";
import { listRights } from "../../../../../lib/controllers/sipcluster/rights.ts";
import { createProviderPems, toAuthFacts } from "../../../../support/sipcluster/auth_facts.ts";
import { listModelProblems } from "../../../../support/kube/kube_model.ts";

const WHOLE: Auth = {
  nodePort: 30556,
  issuerURL: "https://dex.example.com:30556",
  configSecret: "dex-config",
  tlsSecret: "dex-tls",
};
/** As the manifests of the original operator had it for a few months. */
const OLD: Auth = {
  image: "quay.io/dexidp/dex:v2.20.0",
  nodeInterfaceId: "oam-ipv4",
  nodePort: 30556,
  caSecret: "dex-ca-key-pair",
};
const PEMS = await createProviderPems("DNS:dex.example.com");
const CA = PEMS.ca;
const MADE = toAuthFacts(PEMS.crt, { config: "dex-config", tls: "dex-tls" });
const CA_FACTS = { version: "w/1", keys: ["tls.crt", "tls.key"], isPair: false, ca: CA };
const FACTS: AuthFacts = {
  ...MADE,
  secrets: new Map([...MADE.secrets, ["dex-ca-key-pair", CA_FACTS]]),
};
const OWNER = { cluster: "acme", name: "dex-acme" };
const HOUR_MS = 3_600_000;

function plan(
  auth: readonly Auth[],
  facts: AuthFacts = FACTS,
  store: DexStore = { owner: OWNER },
): readonly ServicePlan[] {
  const metadata = { name: "acme", namespace: "tenant", uid: "u" };
  const cluster = { metadata, spec: { services: { auth } } };
  return planAuth({ cluster, machines: [], tolerations: [], facts, store });
}

/** The facts so long after the certificate began. */
function after(hours: number): AuthFacts {
  return { ...FACTS, nowMs: FACTS.nowMs + hours * HOUR_MS };
}

/** The objects of the only plan, by kind and name. */
function toObjects(auth: Auth, facts?: AuthFacts): Readonly<Record<string, object>> {
  const [only] = plan([auth], facts);
  const entries = only?.objects.map(({ body }) => [`${body.kind}/${body.metadata.name}`, body]);
  return Object.fromEntries(entries ?? []);
}

function withSecret(
  name: string,
  over: Partial<{ version: string; isPair: boolean; ca: string; damagedCa: string }>,
): AuthFacts {
  const before = FACTS.secrets.get(name) ?? { version: "x/1", keys: [], isPair: false };
  return { ...FACTS, secrets: new Map([...FACTS.secrets, [name, { ...before, ...over }]]) };
}

/** When the certificate is so many hours old, as conditions say it. */
function toDate(hours: number): string {
  return new Date(after(hours).nowMs).toISOString().replace(".000Z", "Z");
}

describe("planAuth() of a whole entry", () => {
  const objects = toObjects(WHOLE);

  test("plans all that Dex needs, in the form that Kubernetes takes", () => {
    expect(Object.keys(objects)).toEqual([
      "ServiceAccount/landfall-dex-acme",
      "Role/landfall-dex-acme",
      "RoleBinding/landfall-dex-acme",
      "ConfigMap/dex-acme-oidc",
      "Service/dex-acme",
      "Deployment/dex-acme",
      "PodDisruptionBudget/dex-acme",
    ]);
    for (const body of Object.values(objects)) {
      const problems = listModelProblems({ kind: "", ...body });
      expect(problems).toEqual([]);
    }
    expect(plan([WHOLE])).toMatchObject([
      {
        service: "auth",
        deployment: "dex-acme",
      },
    ]);
  });

  test("is the same each time", () => {
    expect(JSON.stringify(plan([WHOLE]))).toBe(JSON.stringify(plan([{ ...WHOLE }])));
  });

  test("runs two Pods without privileges, of an image with a version", () => {
    const pod = {
      serviceAccountName: "landfall-dex-acme",
      securityContext: { runAsNonRoot: true },
      containers: [
        {
          image: expect.stringMatching(/^ghcr\.io\/dexidp\/dex:v2\.\d+\.\d+$/),
          securityContext: {
            allowPrivilegeEscalation: false,
            capabilities: { drop: ["ALL"] },
            readOnlyRootFilesystem: true,
          },
          readinessProbe: { httpGet: { path: "/healthz/ready", port: "telemetry" } },
          livenessProbe: { httpGet: { path: "/healthz/live", port: "telemetry" } },
          // Dex was seen to end 40 ms after the signal, while Kubernetes still sends logins to it.
          lifecycle: { preStop: { exec: { command: ["sleep", "10"] } } },
        },
      ],
      volumes: [{ secret: { secretName: "dex-config" } }, { secret: { secretName: "dex-tls" } }],
    };
    expect(objects["Deployment/dex-acme"]).toMatchObject({
      // A login begun at an old Pod ends at a new one, as it was seen: Dex keeps it in its kinds.
      spec: {
        replicas: 2,
        strategy: { rollingUpdate: { maxUnavailable: 0 } },
        template: { spec: pod },
      },
    });
  });

  test("keeps a dollar sign in a secret of a connector as it is", () => {
    const env = { name: "DEX_EXPAND_ENV", value: "false" };
    expect(JSON.stringify(objects["Deployment/dex-acme"])).toContain(JSON.stringify(env));
  });

  test("gives Dex only rights in its namespace, and only those that Landfall has", () => {
    const role: object = objects["Role/landfall-dex-acme"] ?? {};
    const rules: readonly { resources: string[]; verbs: string[] }[] =
      "rules" in role && Array.isArray(role.rules) ? role.rules : [];
    expect(rules).toHaveLength(1);
    const { clusterRules } = toPolicy(listRights());
    for (const { resources, verbs } of rules) {
      for (const resource of resources) {
        const own = clusterRules.find(
          (rule) => rule.apiGroups.includes("dex.coreos.com") && rule.resources.includes(resource),
        );
        expect([resource, own?.verbs]).toEqual([resource, expect.arrayContaining(verbs)]);
      }
    }
  });
});

test("planAuth() rolls the Pods when the configuration or the certificate differs, and only then", () => {
  const read = (facts?: AuthFacts): string =>
    JSON.stringify(toObjects(WHOLE, facts)["Deployment/dex-acme"]);
  expect(read(withSecret("dex-config", { version: "u/2" }))).not.toBe(read());
  expect(read(withSecret("dex-tls", { version: "v/2" }))).not.toBe(read());
  expect(read(withSecret("other", { version: "o/2" }))).toBe(read());
});

describe("planAuth() tells a tenant", () => {
  const read = (auth: Auth, facts?: AuthFacts): object =>
    toObjects(auth, facts)["ConfigMap/dex-acme-oidc"] ?? {};
  const FLAGS =
    "--oidc-issuer-url=https://dex.example.com:30556\n--oidc-client-id=kubernetes\n" +
    "--oidc-username-claim=email\n--oidc-username-prefix=oidc:\n" +
    "--oidc-groups-claim=groups\n--oidc-groups-prefix=oidc:\n";

  test("the flags of its API servers", () => {
    expect(read(WHOLE)).toMatchObject({
      data: {
        "issuer-url": "https://dex.example.com:30556",
        "client-id": "kubernetes",
        "kube-apiserver-flags": FLAGS,
      },
    });
    expect(JSON.stringify(read({ ...WHOLE, clientID: "acme" }))).toContain("--oidc-client-id=acme");
  });

  test("the same as a file", () => {
    const { data } = Object(read({ ...WHOLE, caSecret: "dex-ca-key-pair" }));
    expect(JSON.parse(data["authentication-configuration"])).toMatchObject({
      apiVersion: "apiserver.config.k8s.io/v1",
      kind: "AuthenticationConfiguration",
      jwt: [
        {
          issuer: {
            url: "https://dex.example.com:30556",
            audiences: ["kubernetes"],
            certificateAuthority: CA,
          },
          claimMappings: {
            username: { claim: "email", prefix: "oidc:" },
            groups: { claim: "groups", prefix: "oidc:" },
          },
        },
      ],
    });
  });

  test.each([
    ["caSecret", { ...WHOLE, caSecret: "dex-ca-key-pair" }, FACTS],
    ["tlsSecret", WHOLE, withSecret("dex-tls", { ca: CA })],
  ])("the CA of %s", (_what, auth, facts) => {
    expect(read(auth, facts)).toMatchObject({
      data: {
        "ca.crt": CA,
        "kube-apiserver-flags": `${FLAGS}--oidc-ca-file=/etc/kubernetes/pki/oidc-ca.crt\n`,
      },
    });
  });
});

describe("planAuth() plans nothing and says why", () => {
  test.each<[what: string, auth: Auth, facts: AuthFacts, says: string]>([
    [
      "of an entry of the old form",
      OLD,
      FACTS,
      "an OIDC provider needs issuerURL, configSecret, tlsSecret. The original operator made a ClusterIssuer " +
        "of cert-manager from caSecret, and no OIDC provider",
    ],
    [
      "of an entry without a certificate",
      { nodePort: 1, issuerURL: "https://a", configSecret: "c" },
      FACTS,
      "an OIDC provider needs tlsSecret",
    ],
    [
      "of an entry with the image of the old form",
      { ...WHOLE, ...OLD },
      FACTS,
      "image quay.io/dexidp/dex:v2.20.0 is too old: Dex 2.30 or later is needed",
    ],
    [
      "without the kinds of Dex",
      WHOLE,
      { ...FACTS, hasDexKinds: false },
      "the API server does not know the kinds of dex.coreos.com. Apply dex_crds.yaml of the manifests once",
    ],
    ["without the Secret", { ...WHOLE, configSecret: "gone" }, FACTS, "Secret gone does not exist"],
    [
      "with another Secret",
      { ...WHOLE, configSecret: "dex-tls" },
      FACTS,
      "Secret dex-tls has no config.yaml",
    ],
    [
      "with a Secret without a certificate",
      { ...WHOLE, tlsSecret: "dex-config" },
      FACTS,
      "Secret dex-config has no tls.crt, tls.key",
    ],
    [
      "with a Secret without a CA",
      { ...WHOLE, caSecret: "dex-config" },
      FACTS,
      "Secret dex-config has no certificate in ca.crt or tls.crt",
    ],
    [
      "with a CA with which no API server starts",
      WHOLE,
      withSecret("dex-tls", { ca: CA, damagedCa: "certificate 2 of 2" }),
      "Secret dex-tls: certificate 2 of 2 of the CA cannot be read. API servers do not start with it",
    ],
    [
      "with an empty certificate",
      { ...WHOLE, tlsSecret: "dex-ca-key-pair" },
      FACTS,
      "Secret dex-ca-key-pair: the certificate in tls.crt cannot be read",
    ],
    [
      "with the key of another certificate",
      WHOLE,
      withSecret("dex-tls", { isPair: false }),
      "Secret dex-tls: tls.key is not the key of the certificate",
    ],
    [
      "with a certificate for another host",
      { ...WHOLE, issuerURL: "https://dex.example.org:30556/a" },
      FACTS,
      "Secret dex-tls: the certificate in tls.crt is not for dex.example.org, the host of issuerURL: it has no such " +
        "subjectAltName",
    ],
    [
      "with a certificate for no address",
      { ...WHOLE, issuerURL: "https://[fd00::1]" },
      FACTS,
      "Secret dex-tls: the certificate in tls.crt is not for fd00::1, the host of issuerURL: it has no such " +
        "subjectAltName",
    ],
    [
      "with a certificate that begins later",
      WHOLE,
      after(-1),
      `Secret dex-tls: the certificate in tls.crt is valid from ${toDate(0)} on`,
    ],
    [
      "with a certificate that ended",
      WHOLE,
      after(25),
      `Secret dex-tls: the certificate in tls.crt ended on ${toDate(24)}. Renew it`,
    ],
  ])("%s", (_what, auth, facts, message) => {
    expect(plan([auth], facts)).toEqual([
      {
        service: "auth",
        objects: [],
        problem: { reason: "InfraServiceFailure", message },
      },
    ]);
  });
});

test("planAuth() tells of a certificate that ends soon, and serves", () => {
  expect(plan([WHOLE], after(17))[0]?.notice).toBeUndefined();
  expect(plan([WHOLE], after(19))[0]).toMatchObject({
    deployment: "dex-acme",
    notice: {
      reason: "CertificateEnds",
      message: `Secret dex-tls: the certificate in tls.crt ends on ${toDate(24)}. Renew it`,
    },
  });
});

test("planAuth() gives the second entry names of its own, beside a first one that lacks something", () => {
  const owner = { ...OWNER, name: "dex-acme-2" };
  const [first, second] = plan([OLD, WHOLE], FACTS, { owner });
  expect(first?.problem).toBeDefined();
  expect(second).toMatchObject({ service: "auth[1]", deployment: "dex-acme-2" });
});

test("planAuth() ends a provider beside the one that has the store of Dex", () => {
  const [first, second] = plan([WHOLE, WHOLE]);
  expect(first?.problem).toBeUndefined();
  expect(second).toMatchObject({ service: "auth[1]", objects: [], mustEnd: true });
  expect(second?.problem?.message).toStartWith(
    "Dex has one store in each namespace, and here it belongs to dex-acme of SIPCluster acme. ",
  );
});
