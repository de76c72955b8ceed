/**
 * The settings file of a replica, and what it says.
 * @module
 */
import type { DeletionSettings } from "../../../lib/cloud/deletion/guard.ts";
import { ConfigError } from "../../../lib/core/errors.ts";
import { drawFrom, type Random, type Seed } from "../../support/random.ts";

/** Stands for a process in the text of settings. */
export const ASKER = "{asker}";

/** Settings that labels depend on. Each cloud reads its own. */
export interface LabelSettings {
  /** Xen Orchestra: where the zone comes from. */
  readonly zoneFrom?: "host" | "pool" | "none";
  /** Xen Orchestra: labels by the ID of the pool: of all pools, or absent. */
  readonly regions?: Readonly<Record<string, string>>;
  readonly zones?: Readonly<Record<string, string>>;
  /** Xen Orchestra: begins the keys of tags that become labels; absent: none do. */
  readonly tagPrefix?: string;
  /** Xen Orchestra: prefix of the tag that says the type of a machine; absent: it goes by its size alone. */
  readonly typeTag?: string;
  /** CloudStack: the region of every Node; absent: its zone. */
  readonly region?: string;
  /** CloudStack: how the name of a service offering becomes a type. */
  readonly typeStyle?: "squeezed" | "sanitised";
}

/** Settings that can be used. */
export interface Said {
  readonly deletion: DeletionSettings;
  readonly refreshIntervalMs: number;
  readonly labels: LabelSettings;
  /** Whether Landfall never writes addresses. */
  readonly leavesAddresses: boolean;
  /** A secret; a wrong one can be used, too, as far as anybody sees who only reads it. */
  readonly token: string;
}

/** What stands in a file. */
export interface Saying {
  /** Absent: there is no file. */
  readonly text: string | undefined;
  /** What it means; absent when it is to be refused. */
  readonly said: Said | undefined;
}

/** Where it would be. */
export const SETTINGS_PATH = "/etc/landfall/cloud.yaml";

/** Writes settings down. @param note A comment, which means nothing */
export function toSaying(
  cloud: { toText(said: Said): string },
  said: Said,
  note: string = "",
): Saying {
  return { text: `# ${note}\n${cloud.toText(said)}`, said };
}

/** What stands in the section about deletions, by its keys. */
export function toDeletionKeys(deletion: DeletionSettings): Readonly<Record<string, string>> {
  const { enabled, confirmations, holdOffMs, fleetShare, fleetWindowMs, whileOtherPartsAreLost } =
    deletion;
  return {
    enabled: String(enabled),
    confirmations: String(confirmations),
    holdOff: `${holdOffMs}ms`,
    fleetShare: String(fleetShare),
    fleetWindow: `${fleetWindowMs}ms`,
    whileOtherPoolsAreLost: String(whileOtherPartsAreLost),
  };
}

/** A file of one replica. */
export class SettingsFile {
  #saying: Saying;

  constructor(saying: Saying) {
    this.#saying = saying;
  }

  /** What stands there now. */
  get saying(): Saying {
    return this.#saying;
  }

  /** Writes something else. */
  write(saying: Saying): void {
    this.#saying = saying;
  }

  /** @param asker The process that reads it @throws {ConfigError} when it is not there */
  read(asker: string): string {
    const { text } = this.#saying;
    if (text !== undefined) return text.replaceAll(ASKER, asker);
    throw new ConfigError([{ source: SETTINGS_PATH, message: "Cannot read the file: it is gone" }]);
  }
}

/** In how many stories addresses may be left alone, and how often they are in these. */
const LEAVING_STORIES = 0.2;
const LEAVING_SHARE = 0.6;
const LEAVING_SALT = 0xadd2;

/** Whether `addresses.mode` is `leave`. */
export class LeftAddresses {
  readonly #random: Random;
  readonly #isOn: boolean;

  constructor(seed: Seed) {
    this.#random = drawFrom(seed, LEAVING_SALT);
    this.#isOn = this.#random.chance(LEAVING_STORIES);
  }

  /** Whether the next settings leave addresses alone; never in most stories. */
  draw(): boolean {
    return this.#isOn && this.#random.chance(LEAVING_SHARE);
  }
}
