/**
 * The report of `landfall check`: the shape of `--output=json`, and the status that decides the exit code. Pure.
 * @module
 */
import type { Finding, FindingLevel, InspectedPart } from "../../cloud/inspection.ts";
import type { Access, AccessAnswer } from "../../kube/access/rights.ts";
import type { NodePlan } from "./nodes.ts";

/** Begins a line of advice that is a command. */
export const COMMAND_MARK = "  ";

/** A finding, and its place in the settings, if it has one. */
export interface CheckFinding extends Finding {
  /** File, flag or environment variable. */
  readonly source?: string;
  /** Path of the setting: `addresses.exclude.0`. */
  readonly path?: string;
  /** From 1. */
  readonly line?: number;
  /** From 1. */
  readonly column?: number;
}

/** One step of the check. */
export interface CheckStep {
  /** The worst level found; `skipped`: see the reason in `skipped`. */
  readonly status: FindingLevel | "skipped";
  readonly skipped?: string;
  readonly findings: readonly CheckFinding[];
}

/** The settings: flags, the file of the cloud, the environment. */
export interface SettingsStep extends CheckStep {
  /** As given by `--cloud-provider`; absent: no chosen controller needs a cloud. */
  readonly provider?: string;
  /** As given by `--cloud-config`. */
  readonly file?: string;
}

/** The cloud, as {@linkcode Inspection} describes it. */
export interface CloudStep extends CheckStep {
  readonly endpoint?: string;
  readonly counts?: Readonly<Record<string, number>>;
  readonly parts?: readonly InspectedPart[];
}

/** The API server. */
export interface KubernetesStep extends CheckStep {
  /** Scheme, host and port. */
  readonly server?: string;
  /** As the server reports it: `v1.35.0`. */
  readonly version?: string;
}

/** One permission that Landfall needs, and whether it has it. */
export interface PermissionAnswer extends Access, AccessAnswer {
  readonly level: FindingLevel;
  /** What Landfall needs it for. */
  readonly purpose: string;
  /** Whether Landfall cannot work without it. */
  readonly mandatory: boolean;
}

/** The permissions. */
export interface PermissionsStep extends CheckStep {
  /** The user of `--as`; absent: the user of the credentials. */
  readonly user?: string;
  readonly permissions: readonly PermissionAnswer[];
  /** How to grant what is missing; a line that begins with {@linkcode COMMAND_MARK} is a command. */
  readonly advice?: string;
}

/** The Nodes. */
export interface NodesStep extends CheckStep {
  /** By name. */
  readonly nodes: readonly NodePlan[];
}

/** Everything that `landfall check` found, as `--output=json` prints it. Names and codes are stable; texts are not. */
export interface CheckReport {
  /** Of Landfall. */
  readonly version: string;
  /** The worst level of all steps; `failure` makes the exit code 1. */
  readonly status: FindingLevel;
  /** How many problems, warnings and things in order were found. */
  readonly failures: number;
  readonly warnings: number;
  readonly passed: number;
  readonly settings: SettingsStep;
  readonly cloud: CloudStep;
  readonly kubernetes: KubernetesStep;
  readonly permissions: PermissionsStep;
  readonly nodes: NodesStep;
}

/** The steps of a {@linkcode CheckReport}. */
export type CheckSteps = Pick<
  CheckReport,
  "settings" | "cloud" | "kubernetes" | "permissions" | "nodes"
>;

/** The worst level; `ok` for an empty list. */
export function toStatus(found: readonly { readonly level: FindingLevel }[]): FindingLevel {
  if (found.some(({ level }) => level === "failure")) return "failure";
  return found.some(({ level }) => level === "warning") ? "warning" : "ok";
}

/** A step with more findings, and their status. A part that fails as the step did says nothing new. */
export function addFindings<T extends CheckStep>(step: T, more: readonly CheckFinding[]): T {
  const failures = step.findings.filter(({ level }) => level === "failure");
  const added = more.filter(
    ({ message }) => !failures.some((one) => message.startsWith(one.message)),
  );
  const findings = [...step.findings, ...added];
  return { ...step, status: toStatus(findings), findings };
}

/** A skipped step. */
export function toSkipped(reason: string): CheckStep & { readonly status: "skipped" } {
  return { status: "skipped", skipped: reason, findings: [] };
}

/** Combines the steps and counts their findings. */
export function toReport(version: string, steps: CheckSteps): CheckReport {
  const { settings, cloud, kubernetes, permissions, nodes } = steps;
  const all = [
    ...[settings, cloud, kubernetes, permissions, nodes].flatMap(({ findings }) => findings),
    ...permissions.permissions,
    ...nodes.nodes,
  ];
  const count = (wanted: FindingLevel): number =>
    all.filter(({ level }) => level === wanted).length;
  return {
    version,
    status: toStatus(all),
    failures: count("failure"),
    warnings: count("warning"),
    passed: count("ok"),
    settings,
    cloud,
    kubernetes,
    permissions,
    nodes,
  };
}
