/**
 * Reads the Nodes from the API server and their machines from the cloud, as a process would see them after its start.
 * @module
 */
import { CloudError } from "../../cloud/errors.ts";
import { isSelected } from "../../cloud/inventory/resolver.ts";
import { NODE_SELECTION } from "../../cloud/settings/sections.ts";
import type { Provider } from "../../cloud/provider.ts";
import type { ProviderRegistry } from "../../cloud/provider_definition.ts";
import { findSettings, type SettingsSection } from "../../cloud/settings/schema.ts";
import { readyStatus, toIdentity } from "../../controllers/identity.ts";
import { describeNode } from "../../controllers/node_view.ts";
import { ConfigError } from "../../core/errors.ts";
import type { LabelSelector } from "../../core/text/label.ts";
import type { NodeView } from "../../http/views.ts";
import { type Node, NODES } from "../../kube/kinds/node.ts";
import { requireProvider } from "../../providers/mod.ts";
import { createCheckClient, loadCheckedCredentials } from "../check/kubernetes.ts";
import { type OtherAddresses, readOtherAddresses, toAddressUses } from "../check/address_uses.ts";
import { matchNodes } from "../check/nodes.ts";
import { checkSettings } from "../check/settings.ts";
import type { CommandContext } from "../command.ts";
import type { Settings } from "../flags/mod.ts";
import { listAll } from "../../kube/cache/watcher.ts";

const NODES_PER_PAGE = 500;

/** Where {@linkcode lookAtNodes} looks. */
interface LookSources {
  readonly settings: Pick<Settings, "cloudProvider" | "cloudConfig" | "kubeconfig" | "master">;
  /** The only Node whose machine is looked for; the others are left undescribed. @default {all} */
  readonly name: string | undefined;
  readonly env: CommandContext["env"];
  readonly providers: ProviderRegistry | undefined;
  /** Sections of the settings file that controllers bring. */
  readonly sections: readonly SettingsSection[];
}

/**
 * Reads and matches the Nodes, sorted by name.
 *
 * @throws {ConfigError} when settings or credentials cannot be used
 * @throws {KubeError} when the API server does not list the Nodes
 * @throws {Error} when the cloud does not answer
 * @throws the signal's reason
 */
export async function lookAtNodes(
  { settings, name, env, providers, sections }: LookSources,
  signal: AbortSignal,
): Promise<NodeView[]> {
  const definition = await requireProvider(settings.cloudProvider, providers);
  const ended = new AbortController();
  const both = AbortSignal.any([signal, ended.signal]);
  const reading = { definition, hasCloud: true, sections, settings };
  const sources = { ...reading, warnings: [], env, registry: providers, signal: both };
  const { provider, step, sections: values } = await checkSettings(sources);
  if (provider === undefined) {
    throw new ConfigError(step.findings.filter(({ level }) => level === "failure"));
  }
  const client = createCheckClient(await loadCheckedCredentials(settings, env));
  try {
    const { items } = await listAll(client, NODES, { limit: NODES_PER_PAGE }, signal);
    const only = items.filter(({ metadata }) => metadata.name === name);
    // The names of the others help to find a misspelt one.
    const wanted = only.length === 0 ? items : only;
    const { selector } = findSettings(NODE_SELECTION, values) ?? NODE_SELECTION.standard;
    const others = await readOtherAddresses(client, values, signal);
    return await describe(wanted, { provider, selector, others }, signal);
  } finally {
    client.close();
    ended.abort(new Error("the look is over"));
  }
}

interface WantedLook {
  readonly provider: Provider;
  readonly selector: LabelSelector;
  readonly others: OtherAddresses;
}

async function describe(
  nodes: readonly Node[],
  { provider, selector, others }: WantedLook,
  signal: AbortSignal,
): Promise<NodeView[]> {
  try {
    const interest = nodes.map(toIdentity).filter((node) => isSelected(node, selector));
    const inventory = await provider.listInventory(interest, signal);
    const matched = await matchNodes(nodes, { provider, inventory, selector }, signal);
    const uses = toAddressUses(matched, others);
    return matched.map(({ node, presence }) => ({
      ...describeNode(node, presence, provider, uses),
      lastReconcile: null,
      ready: readyStatus(node),
    }));
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof CloudError)) throw error;
    const message = `${error.message}; landfall check with the same flags says what to do`;
    throw new Error(message, { cause: error });
  }
}
