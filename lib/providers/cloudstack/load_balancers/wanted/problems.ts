/**
 * Why a load balancer is not as its Service asks. The reasons are words of Events, and frozen.
 * @module
 */
import type { LoadBalancerProblem } from "../../../../cloud/capabilities/load_balancers.ts";

/** Reasons of Events about load balancers of CloudStack. */
type ProblemReason =
  | "InvalidAnnotation"
  | "UnsupportedService"
  | "NetworkNotUsable"
  | "NodesInOtherNetworks"
  | "AddressNotUsable"
  | "AddressNotOurs"
  | "AddressKept"
  | "PortInUse"
  | "SourceRangesNotPossible"
  | "StickinessNotPossible"
  | "UnreadableObject"
  | "NotKnown";

/** What each reason means, for the documentation. */
export const PROBLEM_REASONS: Readonly<Record<ProblemReason, string>> = {
  InvalidAnnotation: "An annotation has a value that Landfall does not understand.",
  UnsupportedService: "The Service asks for something that CloudStack's load balancers cannot do.",
  NetworkNotUsable: "The network of the Nodes cannot have the load balancer.",
  NodesInOtherNetworks: "Nodes are not in the network of the load balancer.",
  AddressNotUsable: "The public IP address that the Service names, or has, cannot be used.",
  AddressNotOurs:
    "Landfall leaves a public IP address alone, because it may belong to another user or Service.",
  AddressKept: "A public IP address stays, because another Service or something else uses it.",
  PortInUse: "Another Service, or something else, uses a port that it needs.",
  SourceRangesNotPossible: "Clients cannot be restricted as the Service asks.",
  StickinessNotPossible: "Stickiness cannot be set as the Service asks.",
  UnreadableObject:
    "CloudStack shows an object that may be of this Service, and Landfall cannot read it.",
  NotKnown: "CloudStack did not show a part that the plan needs.",
};

/** A problem for which the Service must wait. */
export function toWaiting(reason: ProblemReason, message: string): LoadBalancerProblem {
  return { reason, message, isWaiting: true };
}

/** A problem that is only worth knowing. */
export function toNotice(reason: ProblemReason, message: string): LoadBalancerProblem {
  return { reason, message, isWaiting: false };
}

/** Whether a Service must wait for one of these. */
export function isWaiting(problems: readonly LoadBalancerProblem[]): boolean {
  return problems.some((one) => one.isWaiting ?? true);
}
