/**
 * Images of CDs for single machines: what the virtual media of a management controller (BMC) need.
 * @module
 */
import type { Fence } from "../../core/fence.ts";

/** Where images are. */
export interface MediaStorage {
  readonly id: string;
  readonly poolId: string;
}

/** An image. */
export interface MediaImage {
  readonly id: string;
  readonly name: string;
  /** Whether a machine has it in its drive. */
  readonly isInUse: boolean;
}

/** What becomes an image, as it comes. */
export interface MediaContent {
  readonly stream: ReadableStream<Uint8Array>;
  /** In bytes. */
  readonly length: number;
  /** Milliseconds for all of it. */
  readonly timeoutMs: number;
}

/**
 * Images and drives. Drives only of complete machines of ours.
 *
 * Each method throws {@linkcode RefusedPowerError} if it cannot be done, and {@linkcode CloudError} when the cloud
 * cannot answer: then a change may have been carried out all the same.
 */
export interface MachineMedia {
  /** Finds the storage of a name or ID in the pool of a machine. */
  findStorage(machineId: string, nameOrId: string, signal: AbortSignal): Promise<MediaStorage>;
  /** Lists the images whose names begin so. */
  listImages(
    storage: MediaStorage,
    prefix: string,
    signal: AbortSignal,
  ): Promise<readonly MediaImage[]>;
  /** Makes an image. What is not complete is not kept. @returns Its ID */
  upload(
    storage: MediaStorage,
    name: string,
    content: MediaContent,
    fence: Fence,
    signal: AbortSignal,
  ): Promise<string>;
  /** Deletes an image, or finds that it does not exist. */
  deleteImage(id: string, fence: Fence, signal: AbortSignal): Promise<void>;
  /** What is in the drive of a machine. @returns `undefined` for nothing */
  readDrive(machineId: string, signal: AbortSignal): Promise<MediaImage | undefined>;
  /** Puts an image into the drive of a machine, in place of another one. */
  insert(machineId: string, imageId: string, fence: Fence, signal: AbortSignal): Promise<void>;
  /** Empties the drive of a machine. */
  eject(machineId: string, fence: Fence, signal: AbortSignal): Promise<void>;
}
