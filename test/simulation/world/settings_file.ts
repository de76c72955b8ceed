/**
 * The settings file of a replica, and what it says.
 * @module
 */
import type { DeletionSettings } from "../../../lib/cloud/deletion/guard.ts";
import { ConfigError } from "../../../lib/core/errors.ts";
import type { LabelSettings } from "../judges/truth.ts";

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
export function toSaying(said: Said, note: string = ""): Saying {
  const { deletion, refreshIntervalMs, labels, leavesAddresses, token } = said;
  const { enabled, confirmations, holdOffMs, fleetShare, fleetWindowMs, whileOtherPartsAreLost } =
    deletion;
  const lines = [
    `# ${note}`,
    `token: ${token}`,
    `refreshInterval: ${refreshIntervalMs}ms`,
    `zoneLabelFrom: ${labels.zoneFrom}`,
    ...(labels.typeTag === undefined ? [] : [`instanceTypeTag: ${labels.typeTag}`]),
    ...toBlock("regions:", labels.regions),
    ...toBlock("zones:", labels.zones),
    ...toBlock("nodeLabelsFromTags:", labels.tagPrefix && { prefixes: `[${labels.tagPrefix}]` }),
    ...toBlock("addresses:", leavesAddresses ? { mode: "leave" } : undefined),
    "deletion:",
    `  enabled: ${enabled}`,
    `  confirmations: ${confirmations}`,
    `  holdOff: ${holdOffMs}ms`,
    `  fleetShare: ${fleetShare}`,
    `  fleetWindow: ${fleetWindowMs}ms`,
    `  whileOtherPoolsAreLost: ${whileOtherPartsAreLost}`,
  ];
  return { text: `${lines.join("\n")}\n`, said };
}

function toBlock(
  key: string,
  entries: Readonly<Record<string, string>> | "" | undefined,
): string[] {
  if (!entries) return [];
  return [key, ...Object.entries(entries).map(([name, value]) => `  ${name}: ${value}`)];
}

/** A file of one replica. */
export class SettingsFile {
  #saying: Saying;

  constructor(said: Said) {
    this.#saying = toSaying(said);
  }

  /** What stands there now. */
  get saying(): Saying {
    return this.#saying;
  }

  /** Writes something else. */
  write(saying: Saying): void {
    this.#saying = saying;
  }

  /** @throws {ConfigError} when it is not there */
  read(): string {
    const { text } = this.#saying;
    if (text !== undefined) return text;
    throw new ConfigError([{ source: SETTINGS_PATH, message: "Cannot read the file: it is gone" }]);
  }
}
