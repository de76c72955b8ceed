/**
 * What the cloud offers for making machines, which rights its user lacks for that, and whether machines can be managed,
 * for `landfall check`.
 * @module
 */
import { checkManagementFiles } from "../../../app/serving/serving_certificate.ts";
import type { Machines } from "../../../cloud/capabilities/machines.ts";
import { CloudError } from "../../../cloud/errors.ts";
import type { Finding } from "../../../cloud/inspection.ts";
import type { ControllerDefinition, FlagValues } from "../../../controllers/definition.ts";
import { ConfigError } from "../../../core/errors.ts";
import { inTime } from "../deadline.ts";
import { addFindings, type CheckFinding, type CloudStep } from "../report.ts";

/** What {@linkcode addMachines} looks with. */
interface MachineSearch {
  /** Absent: the settings cannot be used. */
  readonly provider: { readonly machines?: Pick<Machines, "inspect"> } | undefined;
  /** The controllers that run. */
  readonly fitting: readonly Pick<ControllerDefinition, "findMachinesUse" | "needs">[];
  readonly flags: FlagValues;
}

/**
 * Adds what the cloud says about machines to its step. Asks nothing if no controller makes machines.
 *
 * @throws the signal's reason
 */
export async function addMachines(
  step: CloudStep,
  { provider, fitting, flags }: MachineSearch,
  signal: AbortSignal,
): Promise<CloudStep> {
  const machines = provider?.machines;
  if (machines?.inspect === undefined) return step;
  // After a failure, it would only say the same once more. If nothing is visible, it knows what the user lacks.
  if (step.findings.some(({ level, code }) => level === "failure" && !UNSEEN.has(code))) {
    return step;
  }
  if (!fitting.some(({ needs = [] }) => needs.includes("machines"))) return step;
  const uses = fitting.flatMap((one) => one.findMachinesUse?.(flags) ?? []);
  const use = uses.find(({ isManaged }) => isManaged) ?? { isManaged: false };
  const late = (finding: CheckFinding): readonly Finding[] => [finding];
  const findings = await inTime(signal, late, async (deadline) => {
    try {
      return (await machines.inspect?.(use, deadline)) ?? [];
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof CloudError)) throw error;
      const message = `Landfall cannot find out what the cloud offers for machines: ${error.message}`;
      return [{ level: "failure", code: "machines", message } as const];
    }
  });
  return addFindings(withoutAdvice(step, { fitting, findings }), findings);
}

/** Nothing of a kind is visible: the credentials lack rights. */
const UNSEEN: ReadonlySet<string> = new Set(["noParts", "noInstances"]);

/** If nothing but machines matters, what they need is the better advice. */
function withoutAdvice(
  step: CloudStep,
  { fitting, findings }: Pick<MachineSearch, "fitting"> & { readonly findings: readonly Finding[] },
): CloudStep {
  const isAlone = fitting.every(({ needs = [] }) => needs.includes("machines"));
  const isAdvised = findings.some(({ level, advice }) => level === "failure" && advice);
  if (!isAlone || !isAdvised) return step;
  const shown = step.findings.map((finding): CheckFinding => {
    const { advice: _forNodes, ...rest } = finding;
    return UNSEEN.has(finding.code) ? rest : finding;
  });
  return { ...step, findings: shown };
}

/** Reads the files of a listener for management controllers, and reports what prevents `run` from starting it. */
export async function checkManagement(
  fitting: readonly Pick<ControllerDefinition, "findManagementPlace">[],
  flags: FlagValues,
): Promise<CheckFinding[]> {
  const findings: CheckFinding[] = [];
  for (const one of fitting) {
    try {
      const place = one.findManagementPlace?.(flags);
      if (place) await checkManagementFiles(place);
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      const advice =
        "run check where Landfall runs, or without this flag, if the file is only there";
      for (const { source, message } of error.issues) {
        findings.push({
          level: "failure",
          code: "settings",
          message,
          advice,
          ...(source !== undefined && { source }),
        });
      }
    }
  }
  return findings;
}
