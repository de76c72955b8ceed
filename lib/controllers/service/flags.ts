/**
 * Flags of the controller of Services. The first is one of the Go controller.
 * @module
 */
import { isLabelKey } from "../../core/text/label.ts";
import { parseBool } from "../../core/text/values.ts";
import {
  type FlagsJudgement,
  type FlagValues,
  type NumberFlag,
  readTextFlag,
  type TextFlag,
} from "../definition.ts";
import type { ServedClasses } from "./spec.ts";

/** How many Services are worked on at once. */
export const SYNCS_FLAG: NumberFlag = {
  name: "concurrent-service-syncs",
  type: "int",
  default: "5",
  help: "How many Services are worked on at once; those that wait for the cloud do not count",
  range: [1, 1_000],
};

/** How often every load balancer is compared with what it must be. */
export const SYNC_PERIOD_FLAG: NumberFlag = {
  name: "service-sync-period",
  type: "duration",
  default: "10m0s",
  help: "How often Landfall compares every load balancer with its Service, even without a change",
  range: [10_000, 24 * 3_600_000],
};

/** The class of Services that Landfall serves. */
export const CLASS_FLAG: TextFlag = {
  name: "load-balancer-class",
  type: "string",
  default: "",
  help: "Serve Services with this spec.loadBalancerClass; empty: only those without a class",
  findProblem: (text) =>
    text === "" || isLabelKey(text) ? undefined : "a class such as example.com/name",
};

/** Whether Landfall serves Services without a class. */
export const CLASSLESS_FLAG: TextFlag = {
  name: "serve-services-without-class",
  type: "string",
  default: "",
  help: `Serve Services without spec.loadBalancerClass; empty: true, unless --${CLASS_FLAG.name} is set`,
  findProblem: (text) =>
    text === "" || parseBool(text) !== undefined ? undefined : "true, false or empty",
};

/** Reads which Services Landfall serves. */
export function readClasses(values: FlagValues): ServedClasses {
  const ownClass = readTextFlag(values, CLASS_FLAG) || undefined;
  const servesClassless = parseBool(readTextFlag(values, CLASSLESS_FLAG)) ?? ownClass === undefined;
  return { ownClass, servesClassless };
}

/** Says that no Service is served with these flags. */
export function judgeServiceFlags(values: FlagValues): FlagsJudgement {
  const { ownClass, servesClassless } = readClasses(values);
  if (servesClassless || ownClass !== undefined) return { issues: [], warnings: [] };
  const warning = `no Service is served: --${CLASSLESS_FLAG.name} is false, and there is no --${CLASS_FLAG.name}`;
  return { issues: [], warnings: [warning] };
}
