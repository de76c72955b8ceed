/**
 * The machine of a Node in a simulated cloud.
 * @module
 */

/** A machine as its kubelet sees it. */
export interface DemoMachine {
  /** Name of the Node: the host name of the guest, which is not always the name of the VM. */
  readonly nodeName: string;
  readonly vmId: string;
  /** What the kubelet reports as system UUID, which is not always the ID of the VM. */
  readonly systemUuid: string;
  /** Address of the first interface; absent when the cloud reports none. */
  readonly address?: string;
}
