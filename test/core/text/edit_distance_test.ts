/**
 * What someone probably meant to write.
 * @module
 */
import { expect, test } from "bun:test";
import { findClosest } from "../../../lib/core/text/edit_distance.ts";

const WORDS = [
  "check",
  "cloud-config",
  "cloud-provider",
  "kubeconfig",
  "node-status-update-frequency",
];
const guesses: readonly [string, string | undefined][] = [
  ["cloud-confg", "cloud-config"],
  ["cloudconfig", "cloud-config"],
  ["chekc", "check"],
  ["chcek", "check"],
  ["ckech", undefined],
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
