import { describe, expect, test } from "bun:test";
import { announceFirstFailure } from "../../lib/app/first_check.ts";

/** A source of inventories; `tell` is the end of a refresh. */
function createSource(): {
  lastError: Error | undefined;
  subscribe: (listener: () => void) => () => void;
  tell: () => void;
} {
  const listeners = new Set<() => void>();
  return {
    lastError: undefined,
    subscribe: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    tell: () => {
      for (const listener of listeners) listener();
    },
  };
}

describe("announceFirstFailure()", () => {
  test("says nothing when the first inventory was taken, whatever comes later", () => {
    const said: string[] = [];
    const source = createSource();
    announceFirstFailure(source, { announce: (_word, text) => void said.push(text) }, "static");
    source.tell();
    source.lastError = new Error("connection refused");
    source.tell();
    expect(said).toEqual([]);
  });
});
