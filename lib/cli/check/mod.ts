/**
 * `landfall check`: looks at settings, cloud, cluster, rights and Nodes, and says what is wrong. Writes nothing.
 * @module
 */
import type { Needs } from "../../app/rights.ts";
import { inspectPlainly, type Inspection, isNothingSeen } from "../../cloud/inspection.ts";
import type { Inventory } from "../../cloud/inventory/inventory.ts";
import type { Provider } from "../../cloud/provider.ts";
import type { ProviderDefinition } from "../../cloud/provider_definition.ts";
import type { ControllerDefinition } from "../../controllers/definition.ts";
import { fitControllers } from "../../controllers/fitting.ts";
import { listSections, needsCloud, needsSections } from "../../controllers/load.ts";
import { CONTROLLERS } from "../../controllers/mod.ts";
import { withDeadline } from "../../core/clock.ts";
import { escapeInvisible } from "../../core/text/printable.ts";
import { watchSignals } from "../../host/signals.ts";
import type { KubeClient } from "../../kube/api/client.ts";
import { KubeError } from "../../kube/api/errors.ts";
import { listAll } from "../../kube/cache/list_all.ts";
import { type Node, NODES } from "../../kube/kinds/node.ts";
import { requireProvider } from "../../providers/mod.ts";
import { formatCheckHelp, parseCheckFlags } from "./flags.ts";
import { listMissingKinds } from "./kinds.ts";
import { type CheckedKubernetes, checkKubernetes } from "./kubernetes.ts";
import { listNodePlans } from "./nodes.ts";
import { checkPermissions } from "./permissions.ts";
import { listReplicaFindings } from "./replicas.ts";
import {
  type CheckFinding,
  type CheckReport,
  type CloudStep,
  type KubernetesStep,
  type NodesStep,
  type PermissionsStep,
  type SettingsStep,
  toReport,
  toSkipped,
  toStatus,
} from "./report.ts";
import { type CheckedSettings, checkSettings } from "./settings.ts";
import { listShifts } from "./shifts.ts";
import { formatReport } from "./text.ts";
import type { CommandContext } from "../command.ts";
import type { ParsedFlags } from "../flags/mod.ts";
import { hintAtProxy } from "../proxy_hint.ts";
import { VERSION } from "../version.ts";

/** Longest time for each step, in milliseconds. Each request has a shorter one of its own. */
const STEP_MS = 60_000;
const NODES_PER_PAGE = 500;

/**
 * Runs the check.
 *
 * @returns Exit code: 0 when all is well or merely odd, 1 when something is wrong
 * @throws {ConfigError} when the flags cannot be used
 */
export async function check(argv: readonly string[], context: CommandContext): Promise<number> {
  const { controllers: registry = CONTROLLERS } = context;
  const { output, ...flags } = parseCheckFlags(argv, registry);
  if (flags.settings.isHelpWanted) {
    context.print(formatCheckHelp(registry));
    return 0;
  }
  if (flags.settings.isVersionWanted) {
    context.print(`landfall ${VERSION}\n`);
    return 0;
  }
  using stop = watchSignals();
  const report = await inspect({ ...flags, registry }, context, stop.signal);
  const isJson = output === "json";
  context.print(
    isJson ? `${escapeInvisible(JSON.stringify(report, undefined, 2))}\n` : formatReport(report),
  );
  return report.status === "failure" ? 1 : 0;
}

async function inspect(
  { settings, warnings, named, registry }: ParsedFlags & Pick<Needs, "registry">,
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
    signal: both,
  });
  const { fitting, step } = fit(chosen, { ...checked, provider, named });
  let kubernetes: Awaited<ReturnType<typeof checkKubernetes>> | undefined;
  try {
    const [cloud, cluster] = await Promise.all([
      hasCloud ? checkCloud(provider, env, signal) : { step: toSkipped(NO_CLOUD) },
      checkKubernetes(settings, env, signal).then(async (checked) => {
        kubernetes = checked;
        const controllers = new Set(fitting.map(({ name }) => name));
        const needs = toNeeds(settings, { registry, controllers, ...(sections && { sections }) });
        const [step, permissions] = await Promise.all([
          checkKinds(checked, fitting, signal),
          checkRights(checked.client, needs, signal),
        ]);
        return { ...checked, step, permissions };
      }),
    ]);
    const nodes =
      hasCloud && definition
        ? await checkNodes(cluster.client, { definition, provider, ...cloud }, signal)
        : { ...toSkipped(NO_CLOUD), nodes: [] };
    return toReport(VERSION, {
      settings: step,
      cloud: cloud.step,
      kubernetes: cluster.step,
      permissions: cluster.permissions,
      nodes,
    });
  } finally {
    ended.abort(new Error("the check is over"));
    kubernetes?.client?.close();
  }
}

/** Leaves out controllers that the cloud is not enough for, and says so among the settings. */
function fit(
  chosen: readonly ControllerDefinition[],
  options: Pick<ParsedFlags, "named"> &
    Pick<CheckedSettings, "step"> & { readonly provider: Provider | undefined },
): { readonly fitting: readonly ControllerDefinition[]; readonly step: SettingsStep } {
  const { step, provider, named } = options;
  if (provider === undefined) return { fitting: chosen, step };
  const { fitting, leftOut, refusals } = fitControllers(chosen, { provider, named });
  const toFinding = (level: CheckFinding["level"], message: string): CheckFinding => {
    return { level, code: "capability", message, source: "--controllers" };
  };
  const findings = [
    ...step.findings,
    ...refusals.map((why) => toFinding("failure", why)),
    ...leftOut.map((why) => toFinding("ok", `${why}, so it does not run`)),
  ];
  return { fitting, step: { ...step, status: toStatus(findings), findings } };
}

function toNeeds(
  { election, secure }: ParsedFlags["settings"],
  rest: Pick<Needs, "controllers" | "registry" | "sections">,
): Needs {
  return {
    ...rest,
    hasSecurePort: secure !== undefined,
    ...(election && { lease: election }),
  };
}

interface CheckedCloud {
  readonly step: CloudStep;
  readonly inventory?: Inventory;
}

async function checkCloud(
  provider: Provider | undefined,
  env: CommandContext["env"],
  signal: AbortSignal,
): Promise<CheckedCloud> {
  if (provider === undefined) return { step: toSkipped("the settings cannot be used") };
  const late = (finding: CheckFinding): CheckedCloud => ({
    step: { status: "failure", findings: [finding] },
  });
  return await inTime<CheckedCloud>(signal, late, async (deadline) => {
    const inspection = await inspectCloud(provider, deadline);
    const { findings: found, inventory, ...facts } = inspection;
    const findings = found.map((finding) => hintAtProxy(finding, facts.endpoint, env));
    const step = { status: toStatus(findings), findings, ...facts };
    return { step, ...(inventory === undefined ? {} : { inventory }) };
  });
}

function inspectCloud(provider: Provider, signal: AbortSignal): Promise<Inspection> {
  if (provider.inspect) return provider.inspect(signal);
  const listInventory = (both: AbortSignal): Promise<Inventory> => provider.listInventory([], both);
  return inspectPlainly({ endpoint: provider.name, listInventory }, signal);
}

/** Adds what is missing of the kinds that controllers watch. */
async function checkKinds(
  { client, step }: CheckedKubernetes,
  chosen: readonly ControllerDefinition[],
  signal: AbortSignal,
): Promise<KubernetesStep> {
  const kinds = new Set(chosen.flatMap(({ watches }) => watches));
  if (client === undefined || kinds.size === 0) return step;
  const late = (finding: CheckFinding): CheckFinding[] => [finding];
  const missing = await inTime(signal, late, (deadline) =>
    listMissingKinds(client, [...kinds], deadline),
  );
  const findings = [...step.findings, ...missing];
  return { ...step, status: toStatus(findings), findings };
}

async function checkRights(
  client: KubeClient | undefined,
  needs: Needs,
  signal: AbortSignal,
): Promise<PermissionsStep> {
  if (client === undefined) return { ...toSkipped(NO_KUBERNETES), permissions: [] };
  const late = (finding: CheckFinding): PermissionsStep => ({
    status: "failure",
    findings: [finding],
    permissions: [],
  });
  return await inTime(signal, late, (deadline) => checkPermissions(client, needs, deadline));
}

const NO_CLOUD = "no controller that runs needs a cloud";
const NO_KUBERNETES = "the API server cannot be used";

interface NodeSources {
  readonly definition: Pick<ProviderDefinition, "settings">;
  readonly provider: Provider | undefined;
  readonly inventory?: Inventory;
}

async function checkNodes(
  client: KubeClient | undefined,
  { definition, provider, inventory }: NodeSources,
  signal: AbortSignal,
): Promise<NodesStep> {
  if (client === undefined) return { ...toSkipped(NO_KUBERNETES), nodes: [] };
  if (provider === undefined || inventory === undefined) {
    return { ...toSkipped("the cloud cannot be used"), nodes: [] };
  }
  // What is not seen for want of rights would look lost, one Node after the other.
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
      const { items } = await listAll(client, NODES, { limit: NODES_PER_PAGE }, deadline);
      const nodes = await listNodePlans(items, { provider, inventory }, deadline);
      const shifts = listShifts(nodes, definition.settings);
      const findings = [...listNodeFindings(nodes, items), ...shifts];
      return { status: toStatus([...nodes, ...findings]), findings, nodes };
    } catch (error) {
      if (!(error instanceof KubeError)) throw error;
      return failed({ level: "failure", code: error.kind, message: error.message });
    }
  });
}

function listNodeFindings(nodes: NodesStep["nodes"], items: readonly Node[]): CheckFinding[] {
  if (nodes.length === 0) return [{ level: "ok", code: "noNodes", message: "there are no Nodes" }];
  const foreign = nodes.filter(({ presence }) => presence === "foreign");
  if (foreign.length < nodes.length) return listReplicaFindings(items);
  const message = "every Node has the provider ID of another cloud";
  const advice = "check --cloud-provider: there is nothing to do here";
  return [{ level: "warning", code: "allForeign", message, advice }];
}

/** Does a step within its time; a late one becomes a finding. */
async function inTime<T>(
  signal: AbortSignal,
  toLate: (finding: CheckFinding) => T,
  work: (deadline: AbortSignal) => Promise<T>,
): Promise<T> {
  const deadline = withDeadline(signal, STEP_MS);
  try {
    return await work(deadline);
  } catch (error) {
    signal.throwIfAborted();
    if (!deadline.aborted) throw error;
    const message = `this step was not done within ${STEP_MS / 1_000} s`;
    const advice = "try again; if it stays so, what is asked here is overloaded";
    return toLate({ level: "failure", code: "timeout", message, advice });
  }
}
