/**
 * Objects of the answers of CloudStack, reduced to the fields that are used, and how fields are read.
 * @module
 */
import * as v from "valibot";
import { formatCidrs, parseCidr } from "../../../core/net/ip.ts";
import { parseUuid } from "../../../core/text/values.ts";

/** Reads one field. */
export type Field<T> = v.GenericSchema<unknown, T>;

/** A text that may be missing. */
export const TEXT: Field<string | null | undefined> = v.nullish(v.string());

/** A text; empty if it is missing. Only a default lets a missing field be transformed, too. */
export const NAME: Field<string> = v.nullish(v.string(), "");

/** The ID of the object itself, in lower case. */
export const ID: Field<string> = v.pipe(
  v.string(),
  v.transform((one) => one.toLowerCase()),
  v.check((one) => parseUuid(one) === one, "a UUID"),
);

/** Some servers write booleans and numbers as texts. */
export const FLAG: Field<boolean> = v.union([
  v.boolean(),
  v.pipe(
    v.picklist(["true", "false"]),
    v.transform((one) => one === "true"),
  ),
]);

/** A whole number, at least 0 if it is a text. */
export const WHOLE_NUMBER: Field<number> = v.union([
  v.pipe(v.number(), v.integer()),
  v.pipe(v.string(), v.regex(/^\d{1,9}$/, "a number"), v.transform(Number)),
]);

/** A number that is only shown; `undefined` if it cannot be read. */
const SHOWN_NUMBER: Field<number | undefined> = v.fallback(v.optional(WHOLE_NUMBER), undefined);

/** A port, as a number or a text. */
export const PORT: Field<number> = v.pipe(
  WHOLE_NUMBER,
  v.check((one) => one >= 0 && one <= 65_535, "a port"),
);

/** The ID of another object, in lower case; `undefined` without one. */
export const REFERENCE: Field<string | undefined> = v.pipe(
  v.nullish(v.string(), ""),
  v.transform((one) => one.toLowerCase() || undefined),
);

/**
 * A list of blocks or addresses, canonical and sorted; `undefined` if an entry cannot be read. Blanks or commas are
 * between them: some versions join what is created with blanks, and what is updated with commas.
 */
export const CIDRS: Field<readonly string[] | undefined> = v.pipe(
  v.nullish(v.string(), ""),
  v.transform((text) => {
    const entries = text.split(/[\s,]+/).filter((one) => one !== "");
    const blocks = entries.flatMap((one) => parseCidr(one) ?? []);
    if (blocks.length < entries.length) return undefined;
    return formatCidrs(blocks);
  }),
);

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
  readonly cpunumber?: number | undefined;
  /** In MiB. */
  readonly memory?: number | undefined;
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
    cpunumber: SHOWN_NUMBER,
    memory: SHOWN_NUMBER,
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
