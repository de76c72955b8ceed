/**
 * The changes that a plan may ask for. Each is one command of CloudStack, except where it says otherwise.
 * @module
 */
import type {
  LoadBalancerOwner,
  LoadBalancerStep,
} from "../../../cloud/capabilities/load_balancers.ts";
import type { KeptRecord, Place } from "./record.ts";

/** The parts of a rule that a command writes. */
interface RuleFields {
  readonly name: string;
  readonly description: string;
  readonly addressId: string;
  readonly networkId: string;
  readonly publicPort: number;
  readonly privatePort: number;
  readonly protocol: "tcp" | "udp" | "tcp-proxy";
  readonly algorithm: "roundrobin" | "source";
  /** Absent: the firewall or the ACL restricts clients, or nothing does. */
  readonly cidrs?: readonly string[];
}

/** The command that deletes an object of each kind. */
export const DELETIONS = {
  rule: "deleteLoadBalancerRule",
  firewallRule: "deleteFirewallRule",
  aclItem: "deleteNetworkACL",
  policy: "deleteLBStickinessPolicy",
} as const;

/** What each kind of change needs. IDs are CloudStack's. */
interface Changes {
  /** Takes a free address: records it, asks for exactly that one, tags it. Several commands, each safe to repeat. */
  readonly takeAddress: {
    readonly place: Place;
    /** The address that the Service names, which must be free. Absent: any. */
    readonly ip?: string;
  };
  readonly tagAddress: {
    readonly addressId: string;
    readonly tags: ReadonlyMap<string, string>;
    /** Whether it is the address that the record does not name, because CloudStack chose it. */
    readonly isUnseen?: true;
  };
  /** Asks once more what uses the address, right before. */
  readonly releaseAddress: { readonly addressId: string };
  readonly createRule: RuleFields;
  readonly updateRule: { readonly ruleId: string } & Partial<
    Pick<RuleFields, "name" | "description" | "protocol" | "algorithm" | "cidrs">
  >;
  /** Removes an object, or finds that there is none. With a rule go its backends and stickiness policies. */
  readonly delete: { readonly what: keyof typeof DELETIONS; readonly id: string };
  readonly addBackends: { readonly ruleId: string; readonly vmIds: readonly string[] };
  readonly removeBackends: { readonly ruleId: string; readonly vmIds: readonly string[] };
  readonly createFirewallRule: {
    readonly addressId: string;
    readonly protocol: "tcp" | "udp";
    readonly port: number;
    readonly cidrs: readonly string[];
  };
  readonly createAclItem: {
    readonly listId: string;
    readonly networkId: string;
    readonly protocol: "tcp" | "udp";
    readonly port: number;
    readonly cidrs: readonly string[];
    readonly reason: string;
    /** Its place. Absent: the last. */
    readonly number?: number;
  };
  readonly updateAclItem: {
    readonly itemId: string;
    readonly listId: string;
    readonly cidrs?: readonly string[];
    readonly reason?: string;
  };
  readonly createPolicy: {
    readonly ruleId: string;
    readonly name: string;
    readonly method: string;
    readonly params: ReadonlyMap<string, string>;
  };
  /** Names an address in the record that the Service uses together with others. */
  readonly keepShared: { readonly ip: string };
  /** Waits for a job that is in the record, such as one that an earlier process started. */
  readonly awaitJob: { readonly jobId: string; readonly command: string };
  /** Removes a record that says nothing that is still open. */
  readonly forgetRecord: object;
}

/** The change of one kind. */
export type ChangeOf<K extends keyof Changes> = {
  [P in K]: { readonly kind: P } & Changes[P];
}[K];

/** A change of any kind. */
export type Change = ChangeOf<keyof Changes>;

/** What carries out each kind of change. */
export type Acts<A> = {
  readonly [K in keyof Changes]: (change: ChangeOf<K>, acting: A) => Promise<void>;
};

/** A step of CloudStack. Its lock is that of the network. */
export type Step = LoadBalancerStep & {
  readonly change: Change;
  /** The Service, for tags, the record and Events. */
  readonly owner: LoadBalancerOwner;
  /** What the record of the Service says. Absent: nothing that can be read. */
  readonly record?: KeptRecord;
};
