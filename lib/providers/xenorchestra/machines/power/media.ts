/**
 * Images of CDs in a storage repository (SR) for ISOs, and the drives of VMs.
 * @module
 */
import type {
  MachineMedia,
  MediaContent,
  MediaImage,
  MediaStorage,
} from "../../../../cloud/capabilities/machine_media.ts";
import { RefusedPowerError } from "../../../../cloud/capabilities/machine_power.ts";
import type { Fence } from "../../../../core/fence.ts";
import { quote } from "../../../../core/text/printable.ts";
import type { Session } from "../../session/session.ts";
import { Changes } from "../wire/changes.ts";
import type { MachinesApi } from "../wire/machines_api.ts";
import type { RawStorage, RawVbd, RawVdi } from "../wire/objects.ts";
import { type OwnChanges, toChanged, withoutText, withText } from "../wire/own_changes.ts";
import { type Acting, toPowerRefusal } from "./actions.ts";
import type { JsonRpcChanges } from "./rpc_changes.ts";

/** What {@linkcode XenOrchestraMedia} needs. */
interface MediaOptions {
  readonly api: MachinesApi;
  readonly session: Pick<Session, "change">;
  readonly own: OwnChanges;
  readonly rpc: Pick<JsonRpcChanges, "ejectCd" | "insertCd">;
  /** Finds a complete VM of ours. @throws {RefusedPowerError} if there is none */
  readonly begin: (id: string, fence: Fence, signal: AbortSignal) => Promise<Acting>;
}

/** See {@linkcode MachineMedia}. */
export class XenOrchestraMedia implements MachineMedia {
  readonly #options: MediaOptions;

  constructor(options: MediaOptions) {
    this.#options = options;
  }

  async findStorage(
    machineId: string,
    nameOrId: string,
    signal: AbortSignal,
  ): Promise<MediaStorage> {
    const { api } = this.#options;
    const [vm, { objects }] = await Promise.all([
      api.readVm(machineId, signal),
      api.list("srs", signal),
    ]);
    const poolId = vm.kind === "found" ? vm.value.$pool : undefined;
    const found = findIsoStorages(objects, poolId, nameOrId);
    const [only] = found;
    if (only && poolId && found.length === 1) return { id: only.id, poolId };
    const count = found.length === 0 ? "no storage" : "several storages";
    const message = `The pool of VM ${machineId} has ${count} for ISOs with the name or ID ${quote(nameOrId)}`;
    throw new RefusedPowerError("unsupported", message);
  }

  async listImages(
    { id: storageId }: MediaStorage,
    prefix: string,
    signal: AbortSignal,
  ): Promise<readonly MediaImage[]> {
    const { objects } = await this.#options.api.list("vdis", signal, `$SR:${storageId}`);
    return objects
      .filter((one) => one.$SR === storageId && one.name_label?.startsWith(prefix))
      .map(toImage);
  }

  async upload(
    storage: MediaStorage,
    name: string,
    content: MediaContent,
    fence: Fence,
    signal: AbortSignal,
  ): Promise<string> {
    const names = { name, description: "A CD for a machine of Landfall's controller vino" };
    try {
      return await this.#change(fence, signal).uploadDisk(storage, names, content);
    } catch (error) {
      throw toPowerRefusal(error, "upload the image");
    }
  }

  async deleteImage(id: string, fence: Fence, signal: AbortSignal): Promise<void> {
    try {
      await this.#change(fence, signal).deleteDisk(id);
    } catch (error) {
      throw toPowerRefusal(error, "delete the image");
    }
  }

  async readDrive(machineId: string, signal: AbortSignal): Promise<MediaImage | undefined> {
    const diskId = (await this.#findDrive(machineId, signal))?.VDI;
    if (!diskId) return undefined;
    const read = await this.#options.api.readDisk(diskId, signal);
    return read.kind === "found" ? toImage(read.value) : { id: diskId, name: "", isInUse: true };
  }

  async insert(
    machineId: string,
    imageId: string,
    fence: Fence,
    signal: AbortSignal,
  ): Promise<void> {
    const { vm } = await this.#options.begin(machineId, fence, signal);
    const drive = await this.#findDrive(vm.id, signal);
    await this.#options.rpc.insertCd(vm.id, imageId, fence, signal);
    if (drive) this.#note(drive, imageId);
  }

  async eject(machineId: string, fence: Fence, signal: AbortSignal): Promise<void> {
    const { vm } = await this.#options.begin(machineId, fence, signal);
    const drive = await this.#findDrive(vm.id, signal);
    if (!drive?.VDI) return;
    await this.#options.rpc.ejectCd(vm.id, fence, signal);
    this.#note(drive, undefined);
  }

  async #findDrive(machineId: string, signal: AbortSignal): Promise<RawVbd | undefined> {
    const { objects } = await this.#options.api.list("vbds", signal, `VM:${machineId}`);
    return objects.find(({ VM, is_cd_drive: isCd }) => VM === machineId && isCd === true);
  }

  /** Notes what is in a drive now, which reads show a moment later. */
  #note({ id, VDI: before }: RawVbd, imageId: string | undefined): void {
    const { own } = this.#options;
    own.note(
      "vbds",
      id,
      toChanged((drive) => ({ ...drive, VDI: imageId })),
    );
    if (before) own.note("vdis", before, toChanged(toLinked((links) => withoutText(links, id))));
    if (imageId) own.note("vdis", imageId, toChanged(toLinked((links) => withText(links, id))));
  }

  #change(fence: Fence, signal: AbortSignal): Changes {
    const { session, own } = this.#options;
    return new Changes({ session, own, fence, signal });
  }
}

/** The storages for ISOs of a pool with a name or an ID: there should be one. */
export function findIsoStorages(
  storages: readonly RawStorage[],
  poolId: string | null | undefined,
  nameOrId: string,
): readonly RawStorage[] {
  return storages.filter(
    ({ id, name_label: name, $pool, content_type: type }) =>
      $pool === poolId && type === "iso" && (id === nameOrId || name === nameOrId),
  );
}

function toLinked(change: (links: RawVdi["$VBDs"]) => string[]): (disk: RawVdi) => RawVdi {
  return (disk) => ({ ...disk, $VBDs: change(disk.$VBDs) });
}

function toImage({ id, name_label: name, $VBDs: links }: RawVdi): MediaImage {
  return { id, name: name ?? "", isInUse: (links ?? []).length > 0 };
}
