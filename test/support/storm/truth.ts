/**
 * What is true of the Nodes of a storm once it is over.
 * @module
 */
import type { Node } from "../../../lib/kube/kinds/node.ts";
import { UNINITIALIZED } from "../process/cluster_rig.ts";
import type { Span } from "./calm.ts";

/** The label of the zone. */
export const ZONE = "topology.kubernetes.io/zone";
/** The label of the name of the machine. */
export const VM_NAME = "vm.k8s.xenorchestra/name_label";

/** A machine and its Node. */
export interface Member {
  readonly name: string;
  readonly vmId: string;
  readonly address: string;
  poolId: string;
  hostId: string;
  vmName: string;
  /** `gone`: its machine is deleted, so its Node must follow · `left`: a person deleted the Node. */
  state: "running" | "halted" | "gone" | "left";
  isReady: boolean;
  /** When the machine was deleted, in milliseconds since the epoch. */
  goneAtMs?: number;
  /** When the Node was last registered, likewise: one that comes again is another one. */
  registeredAtMs: number;
  /** When the machine was between two pools. */
  readonly gaps: Span[];
  /** Every pool that it was ever in. */
  readonly poolIds: Set<string>;
  /** Something goes on that ends by itself. */
  isBusy: boolean;
  /** What others put on the Node. */
  readonly labels: Map<string, string>;
  readonly taints: Set<string>;
  /** What happened to its machine, each with its time. */
  readonly history: string[];
}

/** What of a Node is not as it should be, in words; nothing when all is. */
export function describeUntruth(member: Member, node: Node | undefined): readonly string[] {
  const { name, state } = member;
  const { spec, metadata, status } = node ?? {};
  const taints = (spec?.taints ?? []).map(({ key }) => key);
  // A machine that went before its Node was looked at is none that anybody can prove gone; one that was halted by then
  // may be a copy, so its Node waits until it runs.
  const isNobodys = spec?.providerID === undefined && taints.includes(UNINITIALIZED.key);
  if ((state === "gone" || state === "halted") && isNobodys) return [];
  if (state === "left" || state === "gone") return node ? [`${name} is ${state}, but there`] : [];
  if (metadata === undefined) return [`${name} is missing`];
  const ours = taints.filter((key) => key.startsWith("node.cloudprovider.kubernetes.io/"));
  const theirs = taints.filter((key) => !ours.includes(key));
  const labels = metadata.labels ?? {};
  const untrue: string[] = [];
  const expect = (what: string, is: unknown, wanted: unknown): void => {
    if (JSON.stringify(is) !== JSON.stringify(wanted))
      untrue.push(`${name}: ${what} is ${JSON.stringify(is)}, not ${JSON.stringify(wanted)}`);
  };
  const wanted = state === "halted" ? ["node.cloudprovider.kubernetes.io/shutdown"] : [];
  expect("taints of ours", ours, wanted);
  expect("taints of others", theirs.toSorted(), [...member.taints].toSorted());
  const foreign = Object.entries(labels).filter(([key]) => /^(example\.com\/|storm$)/.test(key));
  expect("labels of others", foreign.toSorted(), [...member.labels].toSorted());
  expect("machine", spec?.providerID?.split("/").at(-1), member.vmId);
  expect("region", labels["topology.kubernetes.io/region"], member.poolId);
  expect("name of the machine", labels[VM_NAME], member.vmName);
  if (state !== "running") return untrue;
  expect("zone", labels[ZONE], member.hostId);
  const address = status?.addresses?.find(({ type }) => type === "InternalIP")?.address;
  expect("address", address, member.address);
  return untrue;
}
