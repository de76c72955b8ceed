/**
 * Names of regions and zones, and labels from tags: settings that only some stories have. They draw from a stream of
 * their own, so that the other stories stay as they are.
 * @module
 */
import { drawFrom, type Random, type Seed } from "../../support/random.ts";
import type { LabelSettings } from "../world/settings_file.ts";

/** How many stories have such settings. */
const SHARE = 0.25;
const SALT = 0x7a65;
/** Begins the keys of tags that become labels. */
export const TAG_PREFIX = "tags.example/";
/** The labels that they become. */
export const TAG_LABELS: readonly string[] = ["a", "b", "c"].map((key) => TAG_PREFIX + key);

/** What the settings of a story say of such names and labels. */
export class OwnLabels {
  readonly #random: Random;
  readonly #isOn: boolean;

  constructor(seed: Seed) {
    this.#random = drawFrom(seed, SALT);
    this.#isOn = this.#random.chance(SHARE);
  }

  /** These settings with such names or without, whatever they had. @param pools IDs of all pools */
  draw({ zoneFrom = "host", typeTag }: LabelSettings, pools: readonly string[]): LabelSettings {
    const plain = { zoneFrom, ...(typeTag !== undefined && { typeTag }) };
    if (!this.#isOn) return plain;
    const chance = (): boolean => this.#random.chance(0.6);
    const toNames = (what: string): Record<string, string> =>
      Object.fromEntries(pools.map((id, at) => [id, `${what}-${at >> 1}`]));
    return {
      ...plain,
      ...(chance() && { regions: toNames("region") }),
      ...(chance() && { zones: toNames("zone") }),
      ...(chance() && { tagPrefix: TAG_PREFIX }),
      ...(this.#random.chance(0.15) && { zoneFrom: "none" }),
    };
  }

  /** Tags of a machine; none in other stories. */
  drawTags(): string[] {
    if (!this.#isOn) return [];
    const chosen = TAG_LABELS.filter(() => this.#random.chance(0.5));
    return chosen.map((key) => `${key}=${this.#random.pick(["1", "2"])}`);
  }
}
