/**
 * Objects of CloudStack's answers, reduced to the fields that are used.
 * @module
 */
import * as v from "valibot";
import { FLAG, ID, TEXT, WHOLE_NUMBER } from "./fields.ts";

/** A virtual machine, as `details=min,nics,servoff` shows it. */
export interface Vm {
  readonly id: string;
  readonly name?: string | null | undefined;
  readonly displayname?: string | null | undefined;
  /** `Running`, `Stopped` … */
  readonly state?: string | null | undefined;
  readonly zoneid?: string | null | undefined;
  readonly zonename?: string | null | undefined;
  readonly serviceofferingname?: string | null | undefined;
  /** Whose it is. In a project, the account is absent. */
  readonly account?: string | null | undefined;
  readonly domainid?: string | null | undefined;
  readonly projectid?: string | null | undefined;
  /** Address of its static NAT. */
  readonly publicip?: string | null | undefined;
  /** In no order. */
  readonly nic?: readonly Nic[] | null | undefined;
}

/** A network interface of a VM. */
export interface Nic {
  readonly networkid?: string | null | undefined;
  readonly networkname?: string | null | undefined;
  readonly ipaddress?: string | null | undefined;
  readonly ip6address?: string | null | undefined;
  readonly isdefault?: boolean | null | undefined;
  /** Its place in the VM: `0`, `1` … */
  readonly deviceid?: string | number | null | undefined;
}

/** A project. */
export interface Project {
  readonly id: string;
  readonly name?: string | null | undefined;
  /** `Active`, `Disabled`, `Suspended` … */
  readonly state?: string | null | undefined;
}

/** What a server says about itself to every user. */
interface Capabilities {
  /** `4.22.0.0` */
  readonly cloudstackversion?: string | null | undefined;
}

/** The state of a job. */
interface Job {
  /** 0 while it runs, 1 when it succeeded; anything else is a failure. */
  readonly jobstatus: number;
  /** What it made, or why it failed. Absent while it runs. */
  readonly jobresult?: unknown;
}

/** That a command did what it should. */
interface Success {
  readonly success: boolean;
}

/** Readers of answers, by what they read. Other fields are dropped. */
export const SCHEMAS: {
  readonly vm: v.GenericSchema<unknown, Vm>;
  readonly project: v.GenericSchema<unknown, Project>;
  readonly capabilities: v.GenericSchema<unknown, Capabilities>;
  readonly job: v.GenericSchema<unknown, Job>;
  readonly success: v.GenericSchema<unknown, Success>;
} = {
  vm: v.object({
    // It becomes the provider ID, which is written for good.
    id: ID,
    name: TEXT,
    displayname: TEXT,
    state: TEXT,
    zoneid: TEXT,
    zonename: TEXT,
    serviceofferingname: TEXT,
    account: TEXT,
    domainid: TEXT,
    projectid: TEXT,
    publicip: TEXT,
    nic: v.nullish(
      v.array(
        v.object({
          networkid: TEXT,
          networkname: TEXT,
          ipaddress: TEXT,
          ip6address: TEXT,
          isdefault: v.nullish(FLAG),
          deviceid: v.nullish(v.union([v.string(), v.number()])),
        }),
      ),
    ),
  }),
  project: v.object({ id: ID, name: TEXT, state: TEXT }),
  capabilities: v.object({ cloudstackversion: TEXT }),
  job: v.object({ jobstatus: WHOLE_NUMBER, jobresult: v.optional(v.unknown()) }),
  success: v.object({ success: FLAG }),
};
