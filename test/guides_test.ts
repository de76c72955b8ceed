/**
 * What people read against the program: links lead somewhere, and what is named is there.
 * @module
 */
import { CHART_VALUES } from "../deploy/values/chart_values.ts";
import type { ChartValues } from "../deploy/values/chart_value.ts";
import { Glob } from "bun";
import { describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { dirname, join, normalize } from "node:path";
import { listMetrics } from "../docs/generator/metrics_page.ts";
import { renderPages } from "../docs/generator/pages.ts";
import { COMMANDS } from "../lib/cli/commands.ts";
import { FLAGS } from "../lib/cli/flags/table.ts";
import { DELETION, OUT_OF_SERVICE } from "../lib/cloud/settings/sections.ts";
import { POOL_PROBLEMS } from "../lib/cloud/pools/problems.ts";
import { LOAD_BALANCERS } from "../lib/cloud/pools/settings.ts";
import type { UnknownReason } from "../lib/cloud/provider.ts";
import { parseProviderConfig } from "../lib/config/provider_config.ts";
import { nameReason } from "../lib/http/node_words.ts";
import { STATES } from "../lib/http/page/state.ts";
import { SUPPORTED_FROM, TESTED_WITH } from "../lib/kube/api/version.ts";
import { LB_COMMANDS, ROLE_COMMAND } from "../lib/providers/cloudstack/load_balancers/commands.ts";
import { loadProviders, requireProvider } from "../lib/providers/mod.ts";
import {
  listAnchors,
  listCode,
  listCodeBlocks,
  listRelativeLinks,
} from "./support/markdown_links.ts";
import { readRules } from "./support/deploy/monitoring.ts";
import { readSource, ROOT } from "./support/sources.ts";

/** Flags of other programs in the commands of the pages. */
const FOREIGN_FLAGS = {
  kubelet: "cloud-provider node-ip node-labels provider-id",
  "kube-apiserver": "authentication-config",
  kubectl:
    "all cascade cert certificate-authority client-certificate client-key cluster clusterrole dry-run embed-certs " +
    "field-manager field-selector for force-conflicts from-file group ignore-daemonsets ignore-not-found key " +
    "kubeconfig namespace non-resource-url patch replicas resource save-config selector server server-side " +
    "serviceaccount show-labels overwrite show-managed-fields subresource tail tcp timeout type user verb wait watch",
  cosign:
    "bundle certificate-identity certificate-oidc-issuer insecure-ignore-tlog key tlog-upload",
  gpg: "armor detach-sign verify",
  helm: "force-conflicts install no-hooks reuse-values set take-ownership values version",
  sha256sum: "check strict",
  skopeo: "all preserve-digests",
  systemctl: "now",
  journalctl: "unit",
  curl: "cookie data fail header insecure location output request show-error silent user",
  bun: "bytecode-order",
  buildah: "build-arg digestfile platform tag",
  docker: "file format output",
  k3s: "disable disable-cloud-controller kubelet-arg",
  "kube-router": "advertise-loadbalancer-ip",
  "kube-vip": "services",
  MetalLB: "lb-class",
  git: "sign",
  npm: "package-lock-only",
  "npm run": "cloud minutes only packages scenario scenarios seed sipclusters vinos",
} as const;
/** Words in the form of reasons that are other things' names. */
const OTHER_WORDS = new Set(
  (
    "CiliumLoadBalancerIPPool DenyServiceExternalIPs DomainAdmin ErrImagePull ExternalIP InitConfiguration " +
    "InternalIP JoinConfiguration PreferDualStack RequireDualStack SmallInstance"
  ).split(" "),
);
/** Words in the form of settings that are fields of Kubernetes or values of the chart. */
const OTHER_KEYS = new Set(
  (
    "allocateLoadBalancerNodePorts apiGroup apiVersion appProtocol bootMode checksumType " +
    "cloudProvider consumerRef enabledControllers existingConfigSecret " +
    "externalCloudProvider externalTrafficPolicy extraArgs extraEnvs extraVolumeMounts " +
    "extraVolumes flavorTemplates holderIdentity hostPath hostSelector imagePullSecrets ipAddressPools " +
    "inCluster ipFamilies ipMode kubeletExtraArgs leaderElection listProjects listVirtualMachines " +
    "loadBalancerIP loadBalancerSourceRanges networkData nodeRegistration redirectURIs " +
    "replicaCount resourceName resourceNames roleRef secretName serviceLoadBalancerIPs sessionAffinity " +
    "staticClients targetPort timeoutSeconds tlsCert tlsKey useHostNetwork"
  ).split(" "),
);
/** Every reason for an unknown machine: the compiler refuses one too many and one too few. */
const REASONS: Readonly<Record<UnknownReason | "otherCloud", true>> = {
  noInventory: true,
  notListed: true,
  notFound: true,
  notCovered: true,
  partLost: true,
  unreachable: true,
  throttled: true,
  denied: true,
  protocol: true,
  undecodable: true,
  ambiguous: true,
  malformedProviderId: true,
  noIdentity: true,
  otherCloud: true,
};

const pages = new Map<string, string>();
for (const folder of [
  "",
  "docs",
  "docs/guides",
  "docs/guides/sipclusters",
  "docs/guides/vino",
  "docs/explanation",
  "docs/reference",
  "docs/contributing",
  "deploy/systemd",
  "release",
]) {
  const names = await readdir(join(ROOT, folder)).catch(() => []);
  for (const name of names.filter((one) => one.endsWith(".md"))) {
    const path = join(folder, name);
    pages.set(path, await readSource(path));
  }
}
const GENERATED = new Set(["docs/contributing/acceptance.md"]);
/** Where a page sends readers to make the program. */
const SOURCES_OF_PROGRAM = /(README|install-cloudstack)\.md#(install|1-settings)$/;
/** Reference pages of kinds that Landfall defines. */
const KIND_PAGES = ["sipclusters", "vinoes", "vinomachines", "ippools"].map(
  (name) => pages.get(`docs/reference/${name}.md`) ?? "",
);
const written = [...pages].filter(
  ([path]) =>
    /^(docs\/(guides|explanation|contributing)|deploy|README|CONTRIBUTING|SECURITY)/.test(path) &&
    !GENERATED.has(path),
);

describe("pages for people", () => {
  test("guides name the oldest Kubernetes that the chart and check accept, and what is tested", () => {
    const named = [...pages].flatMap(([path, text]) =>
      [...text.matchAll(/Kubernetes (\d+\.\d+) or newer/g)].map(([, least]) => [path, least]),
    );
    expect(named).toEqual([
      ["README.md", SUPPORTED_FROM],
      ["docs/guides/install.md", SUPPORTED_FROM],
      ["docs/guides/sipclusters/guide.md", SUPPORTED_FROM],
      ["docs/guides/vino/guide.md", SUPPORTED_FROM],
    ]);
    for (const version of Object.values(TESTED_WITH)) {
      expect(pages.get("README.md")).toContain(version);
      expect(pages.get("docs/guides/install.md")).toContain(version);
    }
    expect(pages.get("docs/guides/install-cloudstack.md")).toContain(TESTED_WITH.newest);
  });

  test("docs/README.md leads to every page", async () => {
    const index = listRelativeLinks(await readSource("docs/README.md"));
    const all = [...pages.keys()].filter((path) => /^docs\/\w+\//.test(path));
    expect(all.filter((path) => !index.includes(path.replace("docs/", "")))).toEqual([]);
  });

  test("docs/guides/debug-page.md has every state with its meaning, the worst first", () => {
    const rows = (pages.get("docs/guides/debug-page.md") ?? "").matchAll(
      /^\| (.+?) +\| (.+?) +\|$/gm,
    );
    const states = Object.values(STATES).map(({ word, meaning }) => `${word}: ${meaning}`);
    const shown = [...rows].map(([, word, meaning]) => `${word}: ${meaning}`);
    expect(shown.filter((row) => states.includes(row))).toEqual(states);
  });

  test("docs/guides/debug-page.md says of each reason for an unknown machine what it means and what to do", () => {
    const guide = pages.get("docs/guides/debug-page.md") ?? "";
    const [, section = ""] = guide.split("\n## Why a machine is unknown\n");
    const rows = section.matchAll(/^\| (\S.*?) +\| `(\w+)` +\| \S.*?\. +\| \S.*?\. +\|$/gm);
    const shown = [...rows].map(([, words = "", reason = ""]) => [reason, words]);
    // What tables and pages show is not the code.
    expect(shown).toEqual(Object.keys(REASONS).map((reason) => [reason, nameReason(reason)]));
    for (const [reason, words] of shown) expect(words).not.toBe(reason);
  });

  test("every relative link leads to a file and a heading", async () => {
    const broken: string[] = [];
    for (const [path, text] of pages) {
      for (const link of listRelativeLinks(text)) {
        const [file = "", anchor] = link.split("#");
        const target = file === "" ? path : normalize(join(dirname(path), file));
        if (!existsSync(join(ROOT, target))) broken.push(`${path}: ${link}`);
        else if (anchor !== undefined) {
          const anchors = listAnchors(await readSource(target));
          if (!anchors.includes(anchor)) broken.push(`${path}: ${link}`);
        }
      }
    }
    expect(broken).toEqual([]);
  });

  test("every file of the project that is named is there", () => {
    const missing: string[] = [];
    for (const [path, text] of written) {
      for (const line of listCode(text)) {
        for (const [name] of line.matchAll(/(?<![\w./-])(deploy|docs|lib|test)\/[\w./-]*[\w]/g)) {
          if (!existsSync(join(ROOT, name)) && !isKubectlName(name))
            missing.push(`${path}: ${name}`);
        }
      }
    }
    expect(missing).toEqual([]);
  });

  test("every flag that is named is one of Landfall or of the program it is given to", () => {
    const own = COMMANDS.flatMap(({ flags = [] }) => flags);
    const ours = [...FLAGS, ...own].map(({ name }) => name);
    const known = new Set([...ours, ...Object.values(FOREIGN_FLAGS).join(" ").split(" ")]);
    expect(listNames(/(?<![\w-])--([a-z][a-z-]+)/g).filter(([, name]) => !known.has(name))).toEqual(
      [],
    );
  });

  test("commands use the cluster that kubectl beside them uses", () => {
    const named = written.filter(([, text]) => /--kubeconfig=("?\$|~)/.test(text));
    expect(named.map(([path]) => path)).toEqual([]);
  });

  test("every page with a command of landfall says where the program comes from", () => {
    const calling = written.filter(([, text]) =>
      listCodeBlocks(text, "sh").some((block) => /^ *landfall /m.test(block)),
    );
    expect(calling.length).toBeGreaterThan(10);
    const silent = calling.filter(
      ([, text]) =>
        !text.includes("The guides call it `landfall`") &&
        !listRelativeLinks(text).some((link) => SOURCES_OF_PROGRAM.test(link)),
    );
    expect(silent.map(([path]) => path)).toEqual([]);
  });

  test("kubectl apply finds no Namespace that it did not make: samples have it, too", async () => {
    const samples = [...new Glob("deploy/manifests/*/samples/*.yaml").scanSync(ROOT)];
    const texts = await Promise.all(samples.map((path) => readSource(path)));
    const shared = texts.flatMap((text) =>
      [...text.matchAll(/^kind: Namespace\nmetadata:\n {2}name: (\S+)$/gm)].map(([, name]) => name),
    );
    expect(shared).toContain("metal");
    const made = written.flatMap(([path, text]) =>
      [...text.matchAll(/kubectl create namespace (\S+)(.*)/g)].map(([line, name, more]) => ({
        line: `${path}: ${line}`,
        isBad: shared.includes(name) && !more?.includes("--save-config"),
      })),
    );
    expect(made.length).toBeGreaterThan(3);
    expect(made.filter(({ isBad }) => isBad).map(({ line }) => line)).toEqual([]);
  });

  test("every setting that is named is one", async () => {
    const settings = [
      DELETION.settings,
      OUT_OF_SERVICE.settings,
      LOAD_BALANCERS.settings,
      ...(await loadProviders()).map((one) => one.settings),
    ].flat();
    const known = new Set([
      ...settings.flatMap(({ path }) => [path, ...path.split(".")]),
      ...Object.keys(REASONS),
      ...listKindFields(),
      ...listValues(CHART_VALUES),
    ]);
    const named = listNames(/^((?:[a-z]+\.)?[a-z]+(?:[A-Z]+[a-z]*)+|deletion\.\w+)(?=$|:)/g);
    expect(named.length).toBeGreaterThan(10);
    // Fields of Kubernetes and commands of CloudStack are no settings.
    const commands = new Set([ROLE_COMMAND, ...LB_COMMANDS.map(({ name }) => name)]);
    const isField = (name: string): boolean =>
      /^(?:spec|status)\./.test(name) || commands.has(name);
    const unknown = named.filter(
      ([, name]) => !known.has(name) && !OTHER_KEYS.has(name) && !isField(name),
    );
    expect(unknown).toEqual([]);
  });

  test("every variable of the environment that is named is read", () => {
    const page = renderPages().get("config.md") ?? "";
    const named = listNames(/\b(XOA_[A-Z_]*[A-Z])\b/g);
    expect(named.filter(([, name]) => !page.includes(`\`${name}\``))).toEqual([]);
  });

  test("every metric that is named is registered", () => {
    const known = new Set(listMetrics().map(({ name }) => name));
    const named = listNames(/\b((?:landfall|leader_election|workqueue|process)_[a-z_]+[a-z])\b/g);
    expect(named.filter(([, name]) => !known.has(name))).toEqual([]);
  });

  test("every reason and alert that is named is one", async () => {
    const events = renderPages().get("events.md") ?? "";
    const kinds = KIND_PAGES.join("");
    const { groups } = await readRules();
    const alerts = new Set(groups.flatMap(({ rules }) => rules.map(({ alert }) => alert)));
    const named = listNames(/^([A-Z][a-z]+(?:[A-Z]+[a-z]*)+)$/g);
    expect(named.length).toBeGreaterThan(20);
    const unknown = named.filter(
      ([, name]) =>
        !events.includes(`\`${name}\``) &&
        !kinds.includes(`\`${name}\``) &&
        !alerts.has(name) &&
        !OTHER_WORDS.has(name) &&
        !Object.hasOwn(POOL_PROBLEMS, name),
    );
    expect(unknown).toEqual([]);
  });

  test("every example of settings is accepted without a word", async () => {
    const examples = [...pages]
      .filter(([path]) => path.startsWith("docs/guides/"))
      .flatMap(([, text]) => listCodeBlocks(text, "yaml"))
      .filter((text) => /^(url|instances|deletion|region):/m.test(text));
    expect(examples.length).toBeGreaterThan(2);
    for (const text of examples) {
      const definition = await requireProvider(
        text.includes("instances:") ? "static" : "xenorchestra",
      );
      // An example may be of a part: the rest is as in the environment.
      const env = { XOA_URL: "https://xo", XOA_TOKEN: "t" };
      const options = { path: "example", env, definition, sections: [DELETION, LOAD_BALANCERS] };
      const { warnings } = await parseProviderConfig(text, options);
      expect(warnings, text).toEqual([]);
    }
  });
});

/** Pairs of page and name, each once, that match in code; the first group is the name. */
function listNames(pattern: RegExp): readonly (readonly [string, string])[] {
  const found = new Map<string, readonly [string, string]>();
  for (const [path, text] of written) {
    for (const line of listCode(text)) {
      for (const [, name = ""] of line.trim().matchAll(pattern)) {
        found.set(`${path} ${name}`, [path, name]);
      }
    }
  }
  return [...found.values()];
}

/** Fields of kinds that Landfall defines: each path below `spec` and `status`, and each of its parts. */
function listKindFields(): readonly string[] {
  const paths = KIND_PAGES.flatMap((page) => [...page.matchAll(/^\| `(?:spec|status)\.(\S+)`/gm)]);
  return paths.flatMap(([, path = ""]) => [
    path,
    ...path.split(".").map((part) => part.replace("[]", "")),
  ]);
}

/** `deploy/landfall`, as kubectl abbreviates a Deployment. */
function isKubectlName(name: string): boolean {
  return name === "deploy/landfall";
}

/** Values of the chart by their paths. */
function listValues(values: ChartValues): string[] {
  return Object.entries(values).flatMap(([key, one]) =>
    "values" in one ? listValues(one.values).map((path) => `${key}.${path}`) : [key],
  );
}
