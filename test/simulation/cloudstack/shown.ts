/**
 * What an answer of CloudStack about machines shows, read for judges.
 * @module
 */

/** What an answer shows. */
export interface Shown {
  /** Who owns each machine that is not being expunged, by its ID. */
  readonly owners: ReadonlyMap<string, string>;
  /** The state of each machine, by its ID. */
  readonly states: ReadonlyMap<string, string>;
  /** How many machines it has, readable or not. */
  readonly size: number;
  /** How many machines there are on all pages; absent when it does not say. */
  readonly count?: number;
  /** The code of a refusal. */
  readonly code?: number;
  /** The ID of which a refusal says that nothing has it. */
  readonly unknownId?: string;
}

interface Entry {
  readonly id?: unknown;
  readonly state?: unknown;
  readonly account?: unknown;
  readonly domainid?: unknown;
  readonly projectid?: unknown;
}

interface Body {
  readonly errorcode?: number;
  readonly errortext?: string;
  readonly count?: number;
  readonly virtualmachine?: readonly Entry[];
}

/** Reads an answer; `undefined` for one that is not CloudStack's. */
export function readShown({ headers }: Response, text: string): Shown | undefined {
  const type = headers.get("content-type") ?? "";
  if (!type.startsWith("application/json") && !type.startsWith("text/javascript")) return undefined;
  const [body] = Object.values(toObject<Record<string, Body>>(JSON.parse(text)));
  if (typeof body !== "object") return undefined;
  const { errorcode: code, errortext = "", count, virtualmachine: all = [] } = toObject<Body>(body);
  const unknownId = /value=(\S+) due to .*entity does not exist/.exec(errortext)?.[1];
  return {
    owners: new Map(
      all
        .filter(({ state }) => state !== "Expunging")
        .map((one) => [String(one.id), toOwner(one)] as const),
    ),
    states: new Map(all.map((one) => [String(one.id), String(one.state)])),
    size: all.length,
    ...(count !== undefined && { count }),
    ...(code !== undefined && { code }),
    ...(unknownId !== undefined && { unknownId }),
  };
}

function toOwner({ account, domainid, projectid }: Entry): string {
  return projectid === undefined ? `${account} ${domainid}` : `project ${projectid}`;
}

/** The simulator sends what it was told to: a value of another form shows nothing. */
function toObject<T extends object>(value: T | null | undefined | string): Partial<T> {
  return typeof value === "object" && value !== null ? value : {};
}
