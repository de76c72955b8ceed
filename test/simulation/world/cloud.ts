/**
 * What every story needs of the cloud that it is told of.
 * @module
 */
import type { DeletionSettings } from "../../../lib/cloud/deletion/guard.ts";
import type { OutOfServiceSettings } from "../../../lib/cloud/deletion/streak.ts";
import type { ProviderDefinition } from "../../../lib/cloud/provider_definition.ts";
import type { Node } from "../../../lib/kube/kinds/node.ts";
import type { Service } from "../../../lib/kube/kinds/service.ts";
import type { Outcome } from "../../../lib/simulator/loopback.ts";
import type { Random, Seed } from "../../support/random.ts";
import type { Timeline } from "../timeline.ts";
import type { Asked } from "../crash_points.ts";
import type { Trace } from "../trace.ts";
import type { ApiServer, ServiceChange } from "./api_server.ts";
import type { ElectionTimes } from "./program.ts";
import type { Incarnation } from "./replica.ts";
import type { LabelSettings, Said } from "./settings_file.ts";

/** What differs from seed to seed. */
export interface WorldSettings {
  /** What the settings files say at first. */
  readonly deletion: DeletionSettings;
  readonly refreshIntervalMs: number;
  /** How many processes run at a time: one or two. */
  readonly replicas: number;
  readonly pools: number;
  readonly nodes: number;
  /** @default {those of Kubernetes} */
  readonly election?: ElectionTimes;
  /** How careful whoever takes Nodes out of service is. @default {drawn, where the cloud can prove that a VM is off} */
  readonly outOfService?: OutOfServiceSettings | undefined;
}

/** Where a cloud is, for what acts in it and for what judges. */
export interface Surroundings {
  readonly timeline: Timeline;
  readonly trace: Trace;
  readonly server: ApiServer;
  readonly cloud: Cloud;
  readonly truth: Truth;
  /** Machines by the name of the Node that they are, or are to be. */
  readonly machines: ReadonlyMap<string, string>;
  /** What people want the settings files to say, in the end. */
  readonly said: Said;
  readonly invariants: Judges;
  /** A process that is or was. @throws {RangeError} when there is none of that name */
  findProcess(name: string): Incarnation;
  /** The settings that a process is under; those that people want while it could use none. */
  findSaid(name: string): Said;
  /** A Node, if there is one of that name. */
  findNode(name: string): Node | undefined;
  /** Whether a Node is of another cloud. */
  isForeign(name: string): boolean;
}

/** What judges tell each other. */
interface Judges {
  readonly evidence: Evidence;
  readonly proofs: {
    /** Takes in what a list of the cloud shows to a process. */
    noteList(asker: string, isShown: (vmId: string) => boolean): void;
    /** Takes in that a process could not list. */
    noteFailure(asker: string): void;
  };
  readonly known: {
    /** What a process may believe of the machine of a Node. */
    toSpan(author: string, name: string): Span;
  };
}

/** What a cloud is made from. */
export interface Origin {
  readonly seed: Seed;
  /** The source of chance of the whole story. */
  readonly random: Random;
  readonly timeline: Timeline;
  readonly trace: Trace;
  readonly settings: WorldSettings;
}

/** From when on a judge may believe something, and under which settings, one of which is in use. */
export interface Span {
  /** Monotonic milliseconds. */
  readonly sinceMs: number;
  readonly labels: readonly LabelSettings[];
  /** Every settings there ever were. */
  readonly past: readonly LabelSettings[];
}

/** What is true of machines: an oracle that shares no code with what it judges. */
export interface Truth {
  /** Whether there is such a machine, whether it shows just now or not. */
  has(vmId: string): boolean;
  /** Whether a machine is gone for good. */
  isGone(vmId: string): boolean;
  isRunning(vmId: string): boolean;
  /** Takes in what is true now. To be called after each change. */
  note(): void;
  /** Whether a label of ours was true of a machine, or that it had none, at some moment of a span that ends now. */
  wasTrue(vmId: string, key: string, value: string | undefined, span: Span): boolean;
  /** The labels that are true of a machine now. */
  toLabels(vmId: string, settings: LabelSettings): Readonly<Record<string, string>>;
  /** The IPv4 address that a machine has; absent when it has none. */
  findAddress(vmId: string): string | undefined;
}

/** What speaks for the deletion of a Node and against it, by what the cloud told each process. */
export interface Evidence {
  /** Takes in an answer of the cloud. */
  noteAnswer(asker: string, answer: Answer): void;
  /** Takes in that a process failed to take an inventory. */
  noteFailure(asker: string): void;
  /** Says what speaks against a deletion that a process sends. @param wasShown Whether it ever saw the machine */
  listDoubts(author: string, node: Node, vmId: string, wasShown: boolean): string[];
  /** Whether a process could not know better than that a machine is gone that exists. */
  isExcused(author: string, vmId: string): boolean;
  /** Says what speaks against the taints that a process gave a Node. */
  listTaintDoubts(author: string, before: Node, after: Node): string[];
}

/** An answer that a cloud gave, right or wrong. */
export interface Answer {
  readonly request: Request;
  readonly response: Response;
  /** The body of the response; empty for clouds whose judges do without. */
  readonly text: string;
}

/** What a cloud has for Services of type LoadBalancer: what is judged of it. */
export interface Balancing {
  /** Flags of every process. */
  readonly flags: Readonly<Record<string, number>>;
  /** Takes in a change of a Service. */
  noteChange(change: ServiceChange): void;
  /** Takes in Services that reached a process, as they were when they were sent. */
  noteShown(asker: string, services: readonly Service[]): void;
  /** Takes in a piece of a watch that reached a process. */
  notePiece(asker: string, piece: Uint8Array): void;
  /** Says what was broken in the cloud since the last time. */
  listBroken(): string[];
  /** Says what is not yet as Services ask. */
  listUntrue(world: Surroundings): string[];
  /**
   * How far the clocks were ahead that dated requests which may still come, in milliseconds: a server takes them by its
   * own clock for so much longer.
   */
  measureLead(world: Surroundings): number;
  /** Does what only people may, before all must come right and while it does. */
  decide(world: Surroundings): void;
}

/** Which labels may be ours. */
export interface LabelWords {
  readonly ours: ReadonlySet<string>;
  /** Those that people edit: they follow the machine. Others are never put right. */
  readonly edited: readonly string[];
  /** Those that may go again. */
  readonly passing: readonly string[];
}

/** A cloud in memory. */
export interface Cloud {
  readonly definition: ProviderDefinition;
  readonly truth: Truth;
  readonly labels: LabelWords;
  /** Reads the ID of a machine out of a provider ID. */
  readonly providerId: RegExp;
  /** What the settings say of labels at first. */
  readonly firstLabels: LabelSettings;
  /** The secret with which a process is let in at first. */
  readonly firstSecret: string;
  /** Whether a part of it was removed for good, which a process takes for lost. */
  readonly hasForgotten: boolean;
  /** How many streams of answers are open. */
  readonly streams: number;
  /** How many requests it was sent. */
  readonly requests: number;
  /** What Landfall says of Nodes that only people can decide about, whatever the settings are. */
  readonly undecided: readonly string[];
  /** Whether it can prove that a machine is off, so that Nodes may be taken out of service. */
  readonly provesOff: boolean;
  /** Whether only a process whose wall clock is about right is let in. */
  readonly needsRightClock: boolean;
  /** What it has for Services; absent: nothing, and no process looks at them. */
  readonly balancing?: Balancing;
  /** Told of each answer. */
  onAnswer: (asker: string, answer: Answer) => void;
  /** Answers a request of a process. */
  answer(asker: string, request: Request): Promise<Outcome>;
  /** A request that a crash may fall on; absent for one that says nothing of a load balancer. */
  toAsked?(request: Request): Promise<Asked | undefined>;
  createEvidence(world: Surroundings): Evidence;
  /** The machine that a request is about alone. */
  findAsked(request: Request): string | undefined;
  /** How many requests so many refreshes may take while nothing goes wrong. @param ms How long that is */
  toBudget(refreshes: number, ms: number): number;
  /** Creates a machine. @param part Where: the index of a pool or zone. @default {drawn} */
  addVm(name: string, id: string, address: string, part?: number): void;
  /** Deletes a machine for good. */
  removeVm(vmId: string): void;
  /** The name that a second Node has which claims the machine of the first. */
  toTwin(name: string): string;
  /** Writes settings down. In it `ASKER` stands for the name of the process that reads them. */
  toText(said: Said): string;
  /** Draws other settings of labels. */
  drawLabels(random: Random, before: LabelSettings): LabelSettings;
  /** Settings that cannot be used, made from those that can. */
  listSpoilt(text: string): readonly (string | undefined)[];
  /** Changes what else labels depend on, as the settings have changed. */
  retag(vmIds: Iterable<string>): void;
  /** Ends what is wrong with answers, rights included, and with what is shown. */
  endFaults(): void;
  /** Ends what people would not let go on, before all must come right. */
  tidyUp(world: Surroundings): void;
  /** Whether nobody but a person can say any more whether the machine of a Node is gone. */
  isBeyondProof(node: Node, vmId: string): boolean;
  /** Ends everything that still goes on in it. */
  stop(): void;
}

/** Of the region. */
export const REGION: readonly string[] = [
  "topology.kubernetes.io/region",
  "failure-domain.beta.kubernetes.io/region",
];
/** Of the zone. */
export const ZONE: readonly string[] = [
  "topology.kubernetes.io/zone",
  "failure-domain.beta.kubernetes.io/zone",
];
/** Of the type. */
export const TYPE: readonly string[] = [
  "node.kubernetes.io/instance-type",
  "beta.kubernetes.io/instance-type",
];

/** The twin of a label that goes before it where the cloud is silent; contract of `k8s.io/cloud-provider`. */
export function findBetaTwin(key: string): string | undefined {
  return [REGION, ZONE, TYPE].find(([stable]) => stable === key)?.[1];
}

/** The same value under all keys. */
export function toAll(keys: readonly string[], value: string): Record<string, string> {
  return Object.fromEntries(keys.map((key) => [key, value]));
}
