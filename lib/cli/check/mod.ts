/**
 * `landfall check`: checks settings, cloud, cluster, permissions and Nodes, and says what is wrong. Writes nothing.
 * @module
 */
import type { Needs } from "../../app/rights.ts";
import { type Inspection, isNothingSeen } from "../../cloud/inspection.ts";
import type { Inventory } from "../../cloud/inventory/inventory.ts";
import { NODE_SELECTION } from "../../cloud/settings/sections.ts";
import type { Provider } from "../../cloud/provider.ts";
import type { ProviderDefinition } from "../../cloud/provider_definition.ts";
import { findSettings, type SectionValues } from "../../cloud/settings/schema.ts";
import type { LabelSelector } from "../../core/text/label.ts";
import {
  type ControllerDefinition,
  isSeparable,
  listSections,
  needsCloud,
  needsSections,
} from "../../controllers/definition.ts";
import { CONTROLLERS } from "../../controllers/mod.ts";
import { nodeOutOfServiceController } from "../../controllers/node_out_of_service/definition.ts";
import { systemClock } from "../../core/clock.ts";
import { watchSignals } from "../../host/signals.ts";
import type { KubeClient } from "../../kube/api/client.ts";
import { KubeError } from "../../kube/api/errors.ts";
import { type Node, NODES } from "../../kube/kinds/node.ts";
import { requireProvider } from "../../providers/mod.ts";
import { type Acting, toActing } from "./outlook/acting.ts";
import { readOtherAddresses } from "./address_uses.ts";
import { checkCloud, countNodes } from "./cloud.ts";
import { fit } from "./controllers/fitting.ts";
import { inTime } from "./deadline.ts";
import { type CheckFlags, parseCheckFlags } from "./flags.ts";
import { listMissingKinds } from "./kinds.ts";
import { type CheckedKubernetes, checkKubernetes } from "./kubernetes.ts";
import { toInstalledLease } from "./leases/other_leaders.ts";
import { checkLeases, type LeasesSearch } from "./leases/mod.ts";
import { findStrangers, listNodePlans } from "./nodes.ts";
import { findRightsManifest, type RightsManifest } from "./manifests.ts";
import { checkPermissions } from "./permissions.ts";
import { listReplicaFindings, type ReplicaPlace } from "./replicas.ts";
import {
  addFindings,
  type CheckFinding,
  type CheckReport,
  type KubernetesStep,
  type NodesStep,
  type PermissionsStep,
  toReport,
  toSkipped,
  toStatus,
} from "./report.ts";
import { addLoadBalancers } from "./controllers/load_balancers.ts";
import { addMachines, checkManagement } from "./controllers/machines.ts";
import { type CheckedServices, checkServices } from "./controllers/services.ts";
import { inspectControllers } from "./controllers/inspection.ts";
import { listMissingNamespaces } from "./controllers/namespaces.ts";
import { checkSettings } from "./settings.ts";
import { listShifts } from "./shifts.ts";
import { listTaintFindings } from "./taints.ts";
import { inspectObjects, listUnknownKeys } from "./own_objects.ts";
import { formatReport } from "./text.ts";
import type { CommandContext } from "../command.ts";
import { printHelp } from "../help.ts";
import { toJson } from "../look.ts";
import { findWidth } from "../terminal.ts";
import { VERSION } from "../version.ts";
import { listObjects } from "../listing.ts";

/**
 * Runs the check.
 *
 * @returns Exit code: 1 when there is a problem, or with `--fail-on=warn` a warning; else 0
 * @throws {ConfigError} when the flags cannot be used
 */
export async function check(argv: readonly string[], context: CommandContext): Promise<number> {
  const { controllers: registry = CONTROLLERS } = context;
  const flags = parseCheckFlags(argv, registry);
  if (flags.settings.isHelpWanted) return await printHelp(context, "check");
  if (flags.settings.isVersionWanted) {
    context.print(`landfall ${VERSION}\n`);
    return 0;
  }
  using stop = watchSignals();
  const report = await inspect({ ...flags, registry }, context, stop.signal);
  const { isProblemsOnly, isEach, isStrict } = flags;
  context.print(
    flags.output === "json"
      ? toJson(report)
      : formatReport(report, { width: findWidth(context), isProblemsOnly, isEach }),
  );
  const isFailed = report.status === "failure" || (isStrict && report.status === "warning");
  return isFailed ? 1 : 0;
}

async function inspect(
  { settings, warnings, named, registry, ...flags }: CheckFlags & Pick<Needs, "registry">,
  { env, providers }: CommandContext,
  signal: AbortSignal,
): Promise<CheckReport> {
  const chosen = registry.filter(({ name }) => settings.controllers.has(name));
  const hasCloud = needsCloud(chosen);
  const isFileRead = hasCloud || (settings.cloudConfig !== undefined && needsSections(chosen));
  const definition = isFileRead
    ? await requireProvider(settings.cloudProvider, providers)
    : undefined;
  const ended = new AbortController();
  const both = AbortSignal.any([signal, ended.signal]);
  const { provider, sections, ...checked } = await checkSettings({
    definition,
    hasCloud,
    sections: listSections(registry),
    settings,
    warnings,
    env,
    registry: providers,
    signal: both,
  });
  const known = { ...checked, provider, sections, named, known: listSections(registry) };
  const { fitting, step } = fit(chosen, known);
  const { impersonation } = flags;
  let kubernetes: CheckedKubernetes | undefined;
  try {
    const [cloud, cluster] = await Promise.all([
      hasCloud ? checkCloud(provider, env, signal) : { step: toSkipped(NO_CLOUD) },
      checkKubernetes({ ...settings, impersonation }, env, signal).then(async (checked) => {
        kubernetes = checked;
        const controllers = new Set(fitting.map(({ name }) => name));
        const needs = toNeeds(settings, { registry, controllers, ...(sections && { sections }) });
        const { ownLease, isLeaseNamed } = flags;
        const installed = toInstalledLease(definition ?? { name: settings.cloudProvider });
        const lease = { own: ownLease, isNamed: isLeaseNamed, installed, chosen: fitting };
        const install = definition?.install;
        const manifest = findRightsManifest({
          registry,
          chosen: fitting,
          install,
          lease: ownLease.name,
        });
        const user = impersonation?.user;
        const [kinds, rights] = await Promise.all([
          checkKinds(checked, { chosen: fitting, install, settings }, signal),
          checkRights(checked, { needs, lease, manifest, user }, signal),
        ]);
        return { ...checked, ...kinds, ...rights };
      }),
    ]);
    const { selector } = findSettings(NODE_SELECTION, sections) ?? NODE_SELECTION.standard;
    const acting = toActing({ fitting, sections, flags: settings.flags });
    const nodes =
      hasCloud && definition
        ? await checkNodes(
            cluster.client,
            {
              definition,
              provider,
              ...cloud,
              fitting,
              acting,
              selector,
              sections,
              isLed: cluster.isLed,
            },
            signal,
          )
        : { ...toSkipped(NO_CLOUD), nodes: [] };
    const { served, client } = cluster;
    const inventory = "inventory" in cloud ? cloud.inventory : undefined;
    const search = { provider, sections, chosen, served, nodes: nodes.nodes, client, inventory };
    const balanced = await addLoadBalancers(countNodes(cloud.step, nodes), search, signal);
    return toReport(VERSION, {
      settings: addFindings(step, await checkManagement(fitting, settings.flags)),
      cloud: await addMachines(balanced, { provider, fitting, flags: settings.flags }, signal),
      kubernetes: cluster.step,
      permissions: cluster.permissions,
      nodes,
    });
  } finally {
    ended.abort(new Error("the check is over"));
    for (const client of [kubernetes?.client, kubernetes?.reviewer]) client?.close();
  }
}

function toNeeds(
  { election, secure, flags }: CheckFlags["settings"],
  rest: Pick<Needs, "controllers" | "registry" | "sections">,
): Needs {
  return {
    ...rest,
    flags,
    hasSecurePort: secure !== undefined,
    ...(election && { lease: election }),
  };
}

interface WantedKinds extends Pick<CheckFlags, "settings"> {
  readonly chosen: readonly ControllerDefinition[];
  readonly install: ProviderDefinition["install"];
}

/** Adds the kinds that controllers watch and the API server lacks, and who serves Services of type LoadBalancer. */
async function checkKinds(
  { client, step }: CheckedKubernetes,
  { chosen, install, settings: { election, flags } }: WantedKinds,
  signal: AbortSignal,
): Promise<{ readonly step: KubernetesStep; readonly served: CheckedServices["served"] }> {
  if (client === undefined) return { step, served: [] };
  const late = (finding: CheckFinding): CheckedServices => ({ findings: [finding], served: [] });
  const { findings, served } = await inTime(signal, late, async (deadline) => {
    const lacking = [
      ...(await listMissingKinds(client, chosen, deadline)),
      ...(await listMissingNamespaces(client, chosen, flags, deadline)),
      ...(await inspectControllers(client, chosen, flags, deadline)),
      ...(await inspectObjects(client, chosen, deadline)),
    ];
    const { namespace } = election ?? { namespace: "kube-system" };
    const search = { client, chosen, install, flags, namespace, nowMs: systemClock.now() };
    const services = await checkServices(search, deadline);
    return { ...services, findings: [...lacking, ...services.findings] };
  });
  return { step: addFindings(step, findings), served };
}

interface WantedRights {
  readonly needs: Needs;
  readonly lease: Pick<LeasesSearch, "chosen" | "installed" | "isNamed" | "own">;
  /** The manifest that grants the permissions. */
  readonly manifest: RightsManifest;
  /** The user whose permissions are checked; absent: the user of the credentials. */
  readonly user: string | undefined;
}

interface CheckedRights {
  readonly permissions: PermissionsStep;
  /** Whether a process holds the Lease of the process. */
  readonly isLed: boolean;
}

async function checkRights(
  { client, reviewer }: CheckedKubernetes,
  { needs, lease, manifest, user }: WantedRights,
  signal: AbortSignal,
): Promise<CheckedRights> {
  if (!client || !reviewer) {
    return { permissions: { ...toSkipped(NO_KUBERNETES), permissions: [] }, isLed: false };
  }
  const late = (finding: CheckFinding): CheckedRights => ({
    permissions: { status: "failure", findings: [finding], permissions: [] },
    isLed: false,
  });
  return await inTime(signal, late, async (deadline) => {
    const isElected = needs.lease !== undefined;
    const search = { ...lease, isElected, client, reviewer, nowMs: systemClock.now() };
    const { findings, isHeld: isLed = false, ...found } = await checkLeases(search, deadline);
    const granting = { ...found, manifest, user };
    const step = await checkPermissions(reviewer, { ...needs, ...granting }, deadline);
    const all = [...step.findings, ...findings];
    const status = toStatus([...step.permissions, ...all]);
    const permissions = { ...step, status, findings: all, ...(user !== undefined && { user }) };
    return { permissions, isLed };
  });
}

const NO_CLOUD = "no chosen controller needs a cloud";
const NO_KUBERNETES = "the API server cannot be used";

interface NodeSources extends Pick<Inspection, "strangersAdvice"> {
  readonly definition: Pick<ProviderDefinition, "install" | "settings">;
  readonly provider: Provider | undefined;
  readonly inventory?: Inventory;
  /** The controllers that run. */
  readonly fitting: readonly ControllerDefinition[];
  readonly acting: Acting;
  readonly selector: LabelSelector;
  readonly sections: SectionValues | undefined;
  /** As in {@linkcode CheckedRights}. */
  readonly isLed: boolean;
}

async function checkNodes(
  client: KubeClient | undefined,
  {
    definition,
    provider,
    inventory,
    fitting,
    acting,
    selector,
    sections,
    isLed,
    ...cloud
  }: NodeSources,
  signal: AbortSignal,
): Promise<NodesStep> {
  if (fitting.length > 0 && fitting.every(isSeparable)) {
    return { ...toSkipped("no chosen controller works on Nodes"), nodes: [] };
  }
  if (client === undefined) return { ...toSkipped(NO_KUBERNETES), nodes: [] };
  if (provider === undefined || inventory === undefined) {
    return { ...toSkipped("the cloud cannot be used"), nodes: [] };
  }
  // Without the right to see machines every Node would look lost.
  if (isNothingSeen(inventory)) {
    return { ...toSkipped("the cloud shows nothing to compare them with"), nodes: [] };
  }
  const failed = (finding: CheckFinding): NodesStep => ({
    status: "failure",
    findings: [finding],
    nodes: [],
  });
  return await inTime(signal, failed, async (deadline) => {
    try {
      const items = await listObjects(client, NODES, deadline);
      const others = await readOtherAddresses(client, sections, deadline);
      const sources = { provider, inventory, acting, selector, others };
      const plans = await listNodePlans(items, sources, deadline);
      const strangers = findStrangers(plans, cloud.strangersAdvice);
      const nodes = strangers?.others ?? plans;
      const shifts = listShifts(nodes, definition.settings);
      const taints = fitting.includes(nodeOutOfServiceController) ? listTaintFindings(items) : [];
      const findings = [
        ...(strangers ? [strangers.finding] : []),
        ...listNodeFindings(plans, { items, install: definition.install, isLed }),
        ...shifts,
        ...taints,
        ...listUnknownKeys("Node", items),
      ];
      return { status: toStatus([...nodes, ...findings]), findings, nodes };
    } catch (error) {
      if (!(error instanceof KubeError)) throw error;
      return failed({ level: "failure", code: error.kind, message: error.message });
    }
  });
}

interface ListedNodes extends ReplicaPlace {
  readonly items: readonly Node[];
}

function listNodeFindings(
  nodes: NodesStep["nodes"],
  { items, ...place }: ListedNodes,
): CheckFinding[] {
  if (nodes.length === 0) return [{ level: "ok", code: "noNodes", message: "there are no Nodes" }];
  const foreign = nodes.filter(({ presence }) => presence === "foreign");
  if (foreign.length < nodes.length) {
    return listReplicaFindings(items, place);
  }
  const [{ message: why = "" } = {}] = foreign;
  const message = `Landfall manages none of the Nodes. Of the first one: ${why}`;
  const advice =
    "check --cloud-provider, and the settings that divide Nodes, such as nodes.selector and pools";
  return [{ level: "warning", code: "allForeign", message, advice }];
}
