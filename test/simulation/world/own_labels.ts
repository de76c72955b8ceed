/**
 * Names of regions and zones, labels from tags, and addresses left alone: settings that only some stories have. They
 * draw from streams of their own, so that the other stories stay as they are.
 * @module
 */
import { Random } from "../../support/random.ts";
import type { LabelSettings } from "../judges/truth.ts";

/** How many stories have such settings. */
const SHARE = 0.25;
const SALT = 0x7a65;
/** In how many stories addresses may be left alone, and how often they are in these. */
const LEAVING_STORIES = 0.2;
const LEAVING_SHARE = 0.6;
const LEAVING_SALT = 0xadd2;
/** Begins the keys of tags that become labels. */
export const TAG_PREFIX = "tags.example/";
/** The labels that they become. */
export const TAG_LABELS: readonly string[] = ["a", "b", "c"].map((key) => TAG_PREFIX + key);

/** What the settings of a story say of such names and labels. */
export class OwnLabels {
  readonly #random: Random;
  readonly #isOn: boolean;

  constructor(seed: number) {
    this.#random = new Random(seed ^ SALT);
    this.#isOn = this.#random.chance(SHARE);
  }

  /** These settings with such names or without, whatever they had. @param pools IDs of all pools */
  draw({ zoneFrom, typeTag }: LabelSettings, pools: readonly string[]): LabelSettings {
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

/** Whether `addresses.mode` is `leave`. */
export class LeftAddresses {
  readonly #random: Random;
  readonly #isOn: boolean;

  constructor(seed: number) {
    this.#random = new Random(seed ^ LEAVING_SALT);
    this.#isOn = this.#random.chance(LEAVING_STORIES);
  }

  /** Whether the next settings leave addresses alone; never in most stories. */
  draw(): boolean {
    return this.#isOn && this.#random.chance(LEAVING_SHARE);
  }
}
