/**
 * What someone probably meant to write.
 * @module
 */
import { expect, test } from "bun:test";
import { findClosest, toEditDistance } from "../../../lib/core/text/edit_distance.ts";

const distances: readonly [string, string, number][] = [
  ["", "", 0],
  ["", "abc", 3],
  ["abc", "", 3],
  ["abc", "abc", 0],
  ["kitten", "sitting", 3],
  ["ab", "ba", 1],
  ["chekc", "check", 1],
  ["abcd", "badc", 2],
];
test.each(distances)("toEditDistance() from %j to %j is %d", (from, to, distance) => {
  expect(toEditDistance(from, to)).toBe(distance);
});

const WORDS = ["cloud-config", "cloud-provider", "kubeconfig", "node-status-update-frequency"];
const guesses: readonly [string, string | undefined][] = [
  ["cloud-confg", "cloud-config"],
  ["cloudconfig", "cloud-config"],
  ["kubecfg", undefined],
  ["kubeconfg", "kubeconfig"],
  ["node-status", "node-status-update-frequency"],
  ["nod", undefined],
  ["quite-something-else", undefined],
  ["", undefined],
];
test.each(guesses)("findClosest() guesses for %j %j", (written, word) => {
  expect(findClosest(written, WORDS)).toBe(word);
});
