/**
 * Plans OIDC providers: Dex, and what the API servers of a tenant must know to trust it.
 *
 * Landfall writes no connector and no client: users keep the configuration of Dex in a Secret of their own. It must
 * have the same `issuer` as the entry, a client with the ID of the entry, `storage` of type `kubernetes` with
 * `inCluster: true`, and in `web` the files of the certificate in /etc/dex/tls.
 *
 * Dex keeps its state in kinds of its own. It would create them, but may not: a right on CustomResourceDefinitions is
 * one on the whole cluster. An administrator installs them once.
 * @module
 */
import { isIP } from "node:net";
import { CONDITION_WORDS, SERVICE_FAILURE } from "../../resource/words.ts";
import { type WholeAuth, toWhole } from "./entry.ts";
import { planPod } from "./pod.ts";
import type { AuthFacts } from "./secrets.ts";
import { type DexStore, findRival } from "./store.ts";
import {
  CA_FILE,
  CONFIG_KEY,
  DEFAULT_CLIENT_ID,
  DEFAULT_IMAGE,
  DEX,
  DEX_GROUP,
  DEX_RULE,
  TLS_KEYS,
} from "./words.ts";
import { type LabelledMeta, planBudget, planNodePorts, planReplicas } from "../common_objects.ts";
import { toAccountName, toLabels, toObjectName } from "../names.ts";
import { CONFIG_MAPS, ROLES, ROLE_BINDINGS, SERVICE_ACCOUNTS, toOwned } from "../owned_kinds.ts";
import type { OwnedObject, ServiceInput, ServicePlan } from "../types.ts";
import { hashContent } from "../../../../core/text/label.ts";

/** What both are made from. */
interface OidcInput {
  readonly issuerURL: string;
  readonly clientID: string;
  /** The certificates of the CA, as PEM. Absent: one that machines trust anyway signed the provider's. */
  readonly ca?: string | undefined;
}

/** Names have it, so that no one from outside is an account or group of Kubernetes, such as `system:masters`. */
const PREFIX = "oidc:";
const CLAIMS = { username: "email", groups: "groups" } as const;

/** The `data` of the ConfigMap for a tenant. Flags and file say the same. */
function toOidcData(input: OidcInput): Record<string, string> {
  const { issuerURL, clientID, ca } = input;
  const flags = [
    `--oidc-issuer-url=${issuerURL}`,
    `--oidc-client-id=${clientID}`,
    `--oidc-username-claim=${CLAIMS.username}`,
    `--oidc-username-prefix=${PREFIX}`,
    `--oidc-groups-claim=${CLAIMS.groups}`,
    `--oidc-groups-prefix=${PREFIX}`,
    ...(ca === undefined ? [] : [`--oidc-ca-file=${CA_FILE}`]),
  ];
  return {
    ...(ca !== undefined && { "ca.crt": ca }),
    "authentication-configuration": toAuthenticationConfiguration(input),
    "client-id": clientID,
    "issuer-url": issuerURL,
    "kube-apiserver-flags": flags.map((flag) => `${flag}\n`).join(""),
  };
}

/** JSON, which is YAML, too. */
function toAuthenticationConfiguration({ issuerURL, clientID, ca }: OidcInput): string {
  const config = {
    apiVersion: "apiserver.config.k8s.io/v1",
    kind: "AuthenticationConfiguration",
    jwt: [
      {
        issuer: {
          url: issuerURL,
          audiences: [clientID],
          ...(ca !== undefined && { certificateAuthority: ca }),
        },
        claimMappings: {
          username: { claim: CLAIMS.username, prefix: PREFIX },
          groups: { claim: CLAIMS.groups, prefix: PREFIX },
        },
      },
    ],
  };
  return `${JSON.stringify(config, null, 2)}\n`;
}

/** Landfall says so long before that a certificate ends; of a shorter one, in the last quarter of its life. */
const NOTICE_MS = 7 * 86_400_000;
const NOTICE_SHARE = 1 / 4;

/** Why no client can trust the provider; `undefined` if clients that trust its CA can. */
function findCertificateProblem(
  { tlsSecret, issuerURL }: WholeAuth,
  { secrets, nowMs }: AuthFacts,
): string | undefined {
  const { certificate, isPair } = secrets.get(tlsSecret) ?? {};
  const what = `Secret ${tlsSecret}: the certificate in tls.crt`;
  if (certificate === undefined) return `${what} cannot be read`;
  if (isPair !== true) return `Secret ${tlsSecret}: tls.key is not the key of the certificate`;
  const { validFromDate: from, validToDate: to } = certificate;
  if (nowMs < from.getTime()) return `${what} is valid from ${formatDate(from)} on`;
  if (nowMs > to.getTime()) return `${what} ended on ${formatDate(to)}. Renew it`;
  const host = new URL(issuerURL).hostname.replace(/^\[(.*)\]$/, "$1");
  const isFor =
    isIP(host) === 0
      ? certificate.checkHost(host, { subject: "never" })
      : certificate.checkIP(host);
  if (isFor !== undefined) return undefined;
  return `${what} is not for ${host}, the host of issuerURL: it has no such subjectAltName`;
}

/** What to know of a certificate that ends soon. */
function findCertificateNotice(
  { tlsSecret }: WholeAuth,
  { secrets, nowMs }: AuthFacts,
): ServicePlan["notice"] {
  const { certificate } = secrets.get(tlsSecret) ?? {};
  if (certificate === undefined) return undefined;
  const { validFromDate: from, validToDate: to } = certificate;
  const lifeMs = to.getTime() - from.getTime();
  if (to.getTime() - nowMs >= Math.min(NOTICE_MS, lifeMs * NOTICE_SHARE)) return undefined;
  const { reason } = CONDITION_WORDS.ServicesReady.certificateEnds;
  const message = `Secret ${tlsSecret}: the certificate in tls.crt ends on ${formatDate(to)}. Renew it`;
  return { reason, message };
}

/** `2027-01-31T12:00:00Z` */
function formatDate(date: Date): string {
  return date.toISOString().replace(".000Z", "Z");
}

/** What OIDC providers are planned from. */
interface AuthInput extends ServiceInput {
  readonly facts: AuthFacts;
  /** `undefined`: no provider of the namespace can run. */
  readonly store: DexStore | undefined;
}

/** The first version with the flags and probes that are used here, and with kinds of apiextensions.k8s.io/v1. */
const OLDEST_MINOR = 30;
const HTTPS_PORT = 443;

/** One plan for each entry of `spec.services.auth`, in their order. */
export function planAuth(input: AuthInput): ServicePlan[] {
  const entries = input.cluster.spec?.services.auth ?? [];
  return entries.map((entry, index) => {
    const service = index === 0 ? "auth" : `auth[${index}]`;
    const name = toObjectName(DEX, input.cluster.metadata.name, index);
    const whole = toWhole(entry);
    const fail = (message: string): ServicePlan => {
      return { service, objects: [], problem: { reason: SERVICE_FAILURE, message } };
    };
    if ("missing" in whole) return fail(whole.missing);
    const rival = findRival(input.store, { cluster: input.cluster.metadata.name, name });
    // Its Pods go, too, if it runs: the others must not be less safe for it.
    if (rival !== undefined) return { ...fail(rival), mustEnd: true };
    const problem = findProblem(whole, input.facts) ?? input.store?.obstacle;
    if (problem !== undefined) return fail(problem);
    const objects = planObjects(input, whole, name);
    const notice = findCertificateNotice(whole, input.facts);
    return { service, objects, deployment: name, ...(notice && { notice }) };
  });
}

function findProblem(entry: WholeAuth, facts: AuthFacts): string | undefined {
  const { secrets, hasDexKinds } = facts;
  const { configSecret, tlsSecret, caSecret, image = "" } = entry;
  const [, minor] = /:v2\.(\d+)\b/.exec(image) ?? [];
  if (minor !== undefined && Number(minor) < OLDEST_MINOR)
    return `image ${image} is too old: Dex 2.${OLDEST_MINOR} or later is needed`;
  if (!hasDexKinds)
    return `the API server does not know the kinds of ${DEX_GROUP}. Apply dex_crds.yaml of the manifests once`;
  const needs: readonly (readonly [name: string | undefined, keys: readonly string[]])[] = [
    [configSecret, [CONFIG_KEY]],
    [tlsSecret, TLS_KEYS],
    [caSecret, []],
  ];
  for (const [name, keys] of needs) {
    if (name === undefined) continue;
    const secret = secrets.get(name);
    if (secret === undefined) return `Secret ${name} does not exist`;
    const lacking = keys.filter((key) => !secret.keys.includes(key));
    if (lacking.length > 0) return `Secret ${name} has no ${lacking.join(", ")}`;
    if (secret.damagedCa !== undefined)
      return `Secret ${name}: ${secret.damagedCa} of the CA cannot be read. API servers do not start with it`;
  }
  if (caSecret !== undefined && secrets.get(caSecret)?.ca === undefined)
    return `Secret ${caSecret} has no certificate in ca.crt or tls.crt`;
  return findCertificateProblem(entry, facts);
}

function planObjects(
  { cluster, facts, tolerations }: AuthInput,
  entry: WholeAuth,
  name: string,
): readonly OwnedObject[] {
  const { namespace = "" } = cluster.metadata;
  const { nodePort, clusterIP, issuerURL, clientID = DEFAULT_CLIENT_ID } = entry;
  const labels = toLabels({ component: DEX, app: DEX, instance: name });
  const metadata = { name, namespace, labels };
  const ofAccount = { ...metadata, name: toAccountName(name) };
  const { apiGroup, resources, verbs } = DEX_RULE;
  const ca = facts.secrets.get(entry.caSecret ?? entry.tlsSecret)?.ca;
  return [
    toOwned(SERVICE_ACCOUNTS, ofAccount, { automountServiceAccountToken: false }),
    toOwned(ROLES, ofAccount, { rules: [{ apiGroups: [apiGroup], resources, verbs }] }),
    toOwned(ROLE_BINDINGS, ofAccount, {
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: ofAccount.name },
      subjects: [{ kind: "ServiceAccount", name: ofAccount.name, namespace }],
    }),
    toOwned(
      CONFIG_MAPS,
      { ...metadata, name: `${name}-oidc` },
      { data: toOidcData({ issuerURL, clientID, ca }) },
    ),
    planNodePorts(metadata, {
      ports: [{ name: "https", port: HTTPS_PORT, targetPort: "https", nodePort }],
      clusterIP,
    }),
    planDeployment(entry, metadata, { ...facts, tolerations }),
    planBudget(metadata),
  ];
}

/** Dex reads its files once, so its Pods roll when they differ. */
function planDeployment(
  entry: WholeAuth,
  metadata: LabelledMeta,
  { secrets, tolerations }: AuthFacts & Pick<ServiceInput, "tolerations">,
): OwnedObject {
  const { configSecret, tlsSecret, nodeLabels, image = "" } = entry;
  const versions = [configSecret, tlsSecret].map((name) => secrets.get(name)?.version);
  const pod = {
    account: toAccountName(metadata.name),
    image: image === "" ? DEFAULT_IMAGE : image,
    configSecret,
    tlsSecret,
    labels: metadata.labels,
    tolerations,
    ...(nodeLabels && { nodeLabels }),
  };
  return planReplicas(metadata, {
    configHash: hashContent(versions.join(" ")),
    pod: planPod(pod),
  });
}
