/**
 * The MAC addresses of a cloud, so that a new machine gets none that another one has.
 * @module
 */

/** The MAC address of a network interface, of ours or of others. */
export interface MachineMac {
  /** Six pairs of hexadecimal digits in lower case with colons. */
  readonly mac: string;
  /** Absent: it is of something else than one of our machines. */
  readonly machine?: {
    readonly name: string;
    /** Its place among the interfaces, from 0 on. */
    readonly device: number;
  };
}
