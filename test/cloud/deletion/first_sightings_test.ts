import { describe, expect, test } from "bun:test";
import {
  explainNeverSeen,
  NEVER_SEEN_WAIT_MS,
  NO_SIGHTINGS,
  noteShown,
  noteSightings,
  type Sighting,
} from "../../../lib/cloud/deletion/first_sightings.ts";

function toFleet(...sightings: readonly Sighting[]): { uid: string; sighting: Sighting }[] {
  return sightings.map((sighting, at) => ({ uid: `n${at}`, sighting }));
}

describe("noteSightings()", () => {
  test("begins with the first inventory that shows any instance", () => {
    const blind = noteSightings(NO_SIGHTINGS, toFleet("unknown", "unknown"), 5);
    expect(blind).toBe(NO_SIGHTINGS);
    expect(noteSightings(blind, [], 6)).toBe(NO_SIGHTINGS);
    const first = noteSightings(blind, toFleet("unknown", "missing"), 7);
    expect(first).toEqual({ sinceMs: 7, shown: new Set() });
    expect(noteSightings(first, toFleet("present"), 8)).toEqual({
      sinceMs: 7,
      shown: new Set(["n0"]),
    });
  });

  test("keeps who was seen, whatever comes after, and changes nothing that it was given", () => {
    const first = noteSightings(NO_SIGHTINGS, toFleet("present", "missing"), 0);
    const second = noteSightings(first, toFleet("missing", "present"), 1);
    expect([...second.shown]).toEqual(["n0", "n1"]);
    expect([...first.shown]).toEqual(["n0"]);
    expect(noteSightings(second, toFleet("unknown", "present"), 2)).toBe(second);
    expect(noteSightings(second, [], 3)).toBe(second);
  });

  test("forgets everybody when the wait is over, once", () => {
    const first = noteSightings(NO_SIGHTINGS, toFleet("present"), 0);
    const over = noteSightings(first, toFleet("present", "present"), NEVER_SEEN_WAIT_MS);
    expect(over).toEqual({ sinceMs: 0, shown: new Set() });
    expect(noteSightings(over, toFleet("present"), 2 * NEVER_SEEN_WAIT_MS)).toBe(over);
  });
});

describe("noteShown()", () => {
  test("adds Nodes, once each, and only while that matters", () => {
    const first = noteSightings(NO_SIGHTINGS, toFleet("missing"), 0);
    const second = noteShown(first, ["n0", "n1"], 1);
    expect(second).toEqual({ sinceMs: 0, shown: new Set(["n0", "n1"]) });
    expect(noteShown(second, ["n1", "n0"], 2)).toBe(second);
    expect(noteShown(second, [], 2)).toBe(second);
    expect(noteShown(first, ["n0"], NEVER_SEEN_WAIT_MS)).toBe(first);
    expect(noteShown(NO_SIGHTINGS, ["n0"], -Infinity).shown).toEqual(new Set(["n0"]));
    expect(NO_SIGHTINGS.shown.size).toBe(0);
  });
});

describe("explainNeverSeen()", () => {
  const shown = new Set(["n0"]);
  test.each<[string, number | undefined, string, number, boolean]>([
    ["was seen", 0, "n0", 1, false],
    ["was not seen", 0, "n1", 1, true],
    ["was not seen, just before the end", 0, "n1", NEVER_SEEN_WAIT_MS - 1, true],
    ["was not seen, at the end", 0, "n1", NEVER_SEEN_WAIT_MS, false],
    ["was not seen, long after", 0, "n1", Infinity, false],
    ["was not seen, before anything was", undefined, "n1", 1, true],
    ["was not seen, at no time", Number.NaN, "n1", 1, true],
  ])("of one that %s", (_what, sinceMs, uid, observedAtMs, isDoubted) => {
    const doubt = explainNeverSeen({ sinceMs, shown }, uid, observedAtMs);
    expect(doubt !== undefined).toBe(isDoubted);
  });
});
