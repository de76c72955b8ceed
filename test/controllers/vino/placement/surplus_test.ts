import { describe, expect, test } from "bun:test";
import type { KnownMachine } from "../../../../lib/controllers/vino/placement/known.ts";
import { pickSurplus } from "../../../../lib/controllers/vino/placement/surplus.ts";
import { toKnown, toMachine } from "../../../support/vino/known.ts";

const worker = (index: number, hostId?: string, change: Partial<KnownMachine> = {}): KnownMachine =>
  toKnown("worker", index, hostId, change);
const pick = (machines: readonly KnownMachine[], total: number): number[] =>
  pickSurplus(machines, { total }).map(({ index }) => index);

describe("pickSurplus()", () => {
  test("picks none if there are not too many", () => {
    expect(pick([worker(0), worker(1)], 2)).toEqual([]);
    expect(pick([], 3)).toEqual([]);
  });

  test("picks those that no object uses first", () => {
    const used = worker(5, "h1", { isConsumed: true });
    expect(pick([used, worker(0), worker(1)], 1)).toEqual([1, 0]);
  });

  test("picks those that are not complete before others", () => {
    const half = worker(0, "h1", { machine: toMachine("worker", 0, { isComplete: false }) });
    expect(pick([half, worker(1), worker(2)], 2)).toEqual([0]);
  });

  test("picks from the host with the most, one after the other", () => {
    const all = [
      worker(0, "h1"),
      worker(1, "h1"),
      worker(2, "h1"),
      worker(3, "h2"),
      worker(4, "h3"),
    ];
    expect(pick(all, 2)).toEqual([2, 1, 4]);
  });

  test("picks those whose removal has begun in any case", () => {
    expect(pick([worker(0, "h1", { isRemoving: true }), worker(1)], 2)).toEqual([0]);
  });

  test("picks by host, and leaves machines without a host unless there may be none", () => {
    const nowhere = { ...worker(9) };
    const { hostId: _none, ...homeless } = nowhere;
    const all = [worker(0, "h1"), worker(1, "h1"), worker(2, "h2"), homeless];
    const perHost = (hostId: string): number => (hostId === "h2" ? 0 : 1);
    expect(pickSurplus(all, { perHost, isNone: false }).map(({ index }) => index)).toEqual([2, 1]);
    const none = pickSurplus(all, { perHost: () => 0, isNone: true });
    expect(none.map(({ index }) => index)).toEqual([9, 2, 1, 0]);
  });
});
