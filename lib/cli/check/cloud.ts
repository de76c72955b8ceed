/**
 * The step of `landfall check` that reaches the cloud.
 * @module
 */
import { inspectPlainly, type Inspection } from "../../cloud/inspection.ts";
import type { Inventory } from "../../cloud/inventory/inventory.ts";
import type { Provider } from "../../cloud/provider.ts";
import type { CommandContext } from "../command.ts";
import { hintAtProxy } from "../proxy_hint.ts";
import { inTime } from "./deadline.ts";
import {
  type CheckFinding,
  type CloudStep,
  type NodesStep,
  toSkipped,
  toStatus,
} from "./report.ts";

/** The step, and what Nodes are compared with. */
interface CheckedCloud extends Pick<Inspection, "strangersAdvice"> {
  readonly step: CloudStep;
  /** Of all instances; absent when the cloud cannot be used. */
  readonly inventory?: Inventory;
}

/**
 * Looks at the cloud.
 *
 * @param provider Absent: the settings cannot be used
 * @throws the signal's reason
 */
export async function checkCloud(
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
    const { findings: found, inventory, strangersAdvice, ...facts } = inspection;
    const findings = found.map((finding) => hintAtProxy(finding, facts.endpoint, env));
    const step = { status: toStatus(findings), findings, ...facts };
    return {
      step,
      ...(inventory === undefined ? {} : { inventory }),
      ...(strangersAdvice === undefined ? {} : { strangersAdvice }),
    };
  });
}

function inspectCloud(provider: Provider, signal: AbortSignal): Promise<Inspection> {
  if (provider.inspect) return provider.inspect(signal);
  const listInventory = (both: AbortSignal): Promise<Inventory> => provider.listInventory([], both);
  return inspectPlainly({ endpoint: provider.name, listInventory }, signal);
}

/** Says how many of the machines are Nodes, where it says how many there are. */
export function countNodes(step: CloudStep, { nodes, status }: NodesStep): CloudStep {
  if (status === "skipped") return step;
  const machines = new Set(nodes.flatMap(({ instance }) => instance?.id ?? []));
  const findings = step.findings.map((finding) => {
    if (finding.code !== "instances") return finding;
    const verb = machines.size === 1 ? "matches" : "match";
    return { ...finding, message: `${finding.message}, ${machines.size} of them ${verb} a Node` };
  });
  return { ...step, findings };
}
