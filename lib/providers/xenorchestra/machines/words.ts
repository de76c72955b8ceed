/**
 * What Landfall writes on VMs and disks that it makes. Frozen: it must not change, because it says what is ours.
 * @module
 */
import { createHash } from "node:crypto";
import type { MachineIdentity, MachineSpec } from "../../../cloud/capabilities/machines.ts";

/** The tag of every VM of ours, for people. */
export const OWN_TAG = "vino";
/** Beginning of all tags with a meaning. */
export const TAG_PREFIX = "vino:";
const UID_TAG = "vino:uid=";
const READY_TAG = "vino:ready=";
/** The tag of a VM that is complete and not started yet. */
export const START_TAG = "vino:start";
/** Why a VM cannot be deleted by hand without a second thought. */
export const BLOCK_REASON = "managed by Landfall (ViNO)";

const MARK =
  /\bvino uid=(\S{1,64}) role=(\S{1,63}) index=(\d{1,6})(?: host=(\S{1,64}))?(?: hash=(\S{1,64}))?( ready)?/;
const DISK_MARK = /\bvino uid=(\S{1,64}) role=(\S{1,63}) index=(\d{1,6}) disk=(\S{1,63})/;
const HASH_LENGTH = 12;

/** What the description of a VM says. */
export interface Mark {
  readonly uid: string;
  readonly role: string;
  readonly index: number;
  readonly hostId?: string;
  /** Of what it was made from. */
  readonly hash?: string;
  /** Whether it was complete once. */
  readonly isReady: boolean;
}

/** What the description of a disk says. */
interface DiskMark extends Pick<Mark, "uid" | "role" | "index"> {
  readonly disk: string;
}

function formatIdentity({ owner, role, index }: MachineIdentity): string {
  return `vino uid=${owner.uid} role=${role} index=${index}`;
}

/** The description of a VM. @param isReady Whether it is complete */
export function formatMark(
  identity: MachineIdentity,
  made: Pick<Mark, "hostId" | "hash">,
  isReady: boolean,
): string {
  const host = made.hostId === undefined ? "" : ` host=${made.hostId}`;
  const hash = made.hash === undefined ? "" : ` hash=${made.hash}`;
  return `${formatIdentity(identity)}${host}${hash}${isReady ? " ready" : ""}`;
}

/** Reads the description of a VM. A person may have added text. @returns `undefined` if there is no mark */
export function parseMark(description: string): Mark | undefined {
  const [, uid, role, index, hostId, hash, ready] = MARK.exec(description) ?? [];
  if (uid === undefined || role === undefined || index === undefined) return undefined;
  return {
    uid,
    role,
    index: Number(index),
    ...(hostId !== undefined && { hostId }),
    ...(hash !== undefined && { hash }),
    isReady: ready !== undefined,
  };
}

/** The description of a disk. @param disk Its name in the specification, or {@linkcode SEED_DISK} */
export function formatDiskMark(identity: MachineIdentity, disk: string): string {
  return `${formatIdentity(identity)} disk=${disk}`;
}

/** Reads the description of a disk. @returns `undefined` if there is no mark */
export function parseDiskMark(description: string): DiskMark | undefined {
  const [, uid, role, index, disk] = DISK_MARK.exec(description) ?? [];
  if (uid === undefined || role === undefined || index === undefined || disk === undefined)
    return undefined;
  return { uid, role, index: Number(index), disk };
}

/** Whether a mark names a machine. */
export function isMarkOf(
  mark: Pick<Mark, "uid" | "role" | "index">,
  { owner, role, index }: MachineIdentity,
): boolean {
  return mark.uid === owner.uid && mark.role === role && mark.index === index;
}

/** The name in marks of the disk that a VM reads at its first start. No other disk has a name with a colon. */
export const SEED_DISK = ":cidata";

/** The name of a disk of something half-made that is about to be deleted. As that of the seed, no other disk has it. */
export const LEFT_DISK = ":left";

/** The name of a disk. A role has no dot, so it belongs to one VM only. */
export function toDiskName(machineName: string, disk: string): string {
  return disk === SEED_DISK ? `${machineName}-cidata` : `${machineName}.${disk}`;
}

/** Whether a disk has a name that only a disk of this VM has. */
export function isDiskNameOf(machineName: string, diskName: string): boolean {
  return diskName === toDiskName(machineName, SEED_DISK) || diskName.startsWith(`${machineName}.`);
}

/** The name of the only VM that can have a disk with this name. Any text for a name of another form. */
export function toNameOfOwner(diskName: string): string {
  const [name = ""] = diskName.split(".", 1);
  return name === diskName ? name.replace(/-cidata$/, "") : name;
}

/** The tag with the owner. */
export function toUidTag(uid: string): string {
  return UID_TAG + uid;
}

/** The owner that tags name, if any. */
export function findUidTag(tags: readonly string[]): string | undefined {
  return tags.find((tag) => tag.startsWith(UID_TAG))?.slice(UID_TAG.length);
}

/** The last tag: the VM is complete, as a specification with this hash wants it. */
export function toReadyTag(hash: string): string {
  return READY_TAG + hash;
}

/** The tags that say that a VM is complete. */
export function listReadyTags(tags: readonly string[]): string[] {
  return tags.filter((tag) => tag.startsWith(READY_TAG));
}

/** The tags that every VM of an owner has. */
export function listOwnTags(identity: MachineIdentity): [string, string] {
  return [OWN_TAG, toUidTag(identity.owner.uid)];
}

/** A short text that changes with everything of a specification that can be compared with a VM. */
export function toSpecHash(spec: MachineSpec): string {
  const { owner, role, index, poolId, template, cpus, memoryBytes, boot } = spec;
  const disks = spec.disks.map(({ name, sizeBytes, storage }) => [name, sizeBytes, storage ?? ""]);
  const interfaces = spec.interfaces.map((one) => [one.name, one.network, one.mac, one.mtu ?? 0]);
  const parts = [owner.uid, role, index, poolId, template, cpus, memoryBytes, boot];
  return toHash([...parts, disks, interfaces]);
}

/** A short text that changes with values of JSON. */
export function toHash(parts: readonly unknown[]): string {
  return createHash("sha256").update(JSON.stringify(parts)).digest("hex").slice(0, HASH_LENGTH);
}
