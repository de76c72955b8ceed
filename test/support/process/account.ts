/**
 * A service account of the manifests on a real API server, and what can be tried with its token.
 * @module
 */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { POLICY_FROM } from "../../../deploy/admission_policy.ts";
import { findVersionText, isAtLeast, parseServerVersion } from "../../../lib/kube/api/version.ts";
import { runTool } from "../deploy/deploy_tools.ts";
import { ROOT } from "../sources.ts";
import type { Cluster } from "./cluster.ts";

/** A service account with its token. */
export class Account {
  readonly name: string;
  readonly #cluster: Cluster;
  readonly #kubectl: string;
  readonly #folder: string;
  readonly #token: string;

  private constructor({ cluster, kubectl, controller }: AccountOptions, token: string) {
    this.name = `landfall-${controller}`;
    this.#cluster = cluster;
    this.#kubectl = kubectl;
    this.#folder = join(ROOT, "deploy/manifests", controller);
    this.#token = token;
  }

  /** Installs the manifests of a controller, with the admission policy if the API server has it. */
  static async install(options: AccountOptions): Promise<Account> {
    const { cluster, controller } = options;
    const account = { namespace: "kube-system", name: `landfall-${controller}` };
    const token = await cluster.createServiceAccountToken(account, 3_600);
    const one = new Account(options, token);
    await one.apply("deployment.yaml");
    if (await one.hasPolicies()) await one.apply("admission-policy/policy.yaml");
    return one;
  }

  /** Whether the API server has admission policies. */
  async hasPolicies(): Promise<boolean> {
    const answer = await (await this.#cluster.adminFetch("/version")).json();
    const version = parseServerVersion(findVersionText(answer));
    return version !== undefined && isAtLeast(version, POLICY_FROM);
  }

  /** Applies a file of the manifests as an administrator. */
  async apply(file: string): Promise<void> {
    await this.#admin("apply", "-f", join(this.#folder, file));
  }

  /** Lets it work in a namespace, as the guides say. @param role `tenant` or `hosts` */
  async bind(namespace: string, role: string): Promise<void> {
    const name = `${this.name}-${role}`;
    const flags = [`--clusterrole=${name}`, `--serviceaccount=kube-system:${this.name}`];
    await this.#admin("-n", namespace, "create", "rolebinding", name, ...flags);
  }

  /** A kubeconfig with its token. @returns The path */
  writeKubeconfig(): Promise<string> {
    return this.#cluster.writeTokenKubeconfig(this.#token);
  }

  /** Sends a request with its token. @returns Status and body of the answer */
  async send(method: string, path: string, body: object): Promise<{ code: number; text: string }> {
    const type = method === "PATCH" ? "application/merge-patch+json" : "application/json";
    const response = await fetch(`${this.#cluster.url}${path}`, {
      method,
      headers: { authorization: `Bearer ${this.#token}`, "content-type": type },
      body: JSON.stringify(body),
      tls: { ca: await readFile(this.#cluster.caPath, "utf8") },
    });
    return { code: response.status, text: await response.text() };
  }

  /** What `kubectl auth can-i '*' '*' --all-namespaces` says: `yes` or `no`. */
  async mayDoAll(): Promise<string> {
    const kubeconfig = await this.writeKubeconfig();
    const args = [`--kubeconfig=${kubeconfig}`, "auth", "can-i", "*", "*", "--all-namespaces"];
    return (await runTool(this.#kubectl, args)).stdout.trim();
  }

  async #admin(...args: readonly string[]): Promise<void> {
    const kubeconfig = `--kubeconfig=${this.#cluster.adminKubeconfigPath}`;
    const { code, stderr } = await runTool(this.#kubectl, [kubeconfig, ...args]);
    if (code !== 0) throw new Error(`kubectl ${args.join(" ")}: ${stderr}`);
  }
}

interface AccountOptions {
  readonly cluster: Cluster;
  readonly kubectl: string;
  /** `sipcluster` */
  readonly controller: string;
}
