/**
 * What `landfall check` found: the shape of `--output=json`, and what it means for the exit code. Pure.
 * @module
 */
import type { Finding, FindingLevel, InspectedPart } from "../../cloud/inspection.ts";
import type { Access, AccessAnswer } from "../../kube/access/review.ts";
import type { NodePlan } from "./nodes.ts";

/** A finding, and the place in the settings that it is about, if it is about one. */
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
  /** The gravest of what was found; `skipped`: not done, for the reason in `skipped`. */
  readonly status: FindingLevel | "skipped";
  readonly skipped?: string;
  readonly findings: readonly CheckFinding[];
}

/** The settings: flags, the file of the cloud, the environment. */
export interface SettingsStep extends CheckStep {
  /** As given by `--cloud-provider`; absent: no controller that runs needs a cloud. */
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
  /** As the server tells it: `v1.35.0`. */
  readonly version?: string;
}

/** One right that Landfall needs, and whether it has it. */
export interface PermissionAnswer extends Access, AccessAnswer {
  readonly level: FindingLevel;
  /** What it is needed for. */
  readonly purpose: string;
  /** Whether Landfall cannot do its work without it. */
  readonly mandatory: boolean;
}

/** The rights. */
export interface PermissionsStep extends CheckStep {
  readonly permissions: readonly PermissionAnswer[];
  /** What to do about those that are missing. */
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
  /** The gravest of all steps; `failure` makes the exit code 1. */
  readonly status: FindingLevel;
  /** How many things are wrong, and how many look odd. */
  readonly failures: number;
  readonly warnings: number;
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

/** The gravest level; `ok` of none. */
export function toStatus(found: readonly { readonly level: FindingLevel }[]): FindingLevel {
  if (found.some(({ level }) => level === "failure")) return "failure";
  return found.some(({ level }) => level === "warning") ? "warning" : "ok";
}

/** A step that was not done. */
export function toSkipped(reason: string): CheckStep & { readonly status: "skipped" } {
  return { status: "skipped", skipped: reason, findings: [] };
}

/** Puts the steps together and counts. */
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
    settings,
    cloud,
    kubernetes,
    permissions,
    nodes,
  };
}
