import { expect, test } from "bun:test";
import { toEvent } from "../../../lib/kube/events/words.ts";

test("toEvent() keeps what is for the reference page out of the Event", () => {
  const word = { reason: "Synced", type: "Normal", meaning: "The Node is initialised." } as const;
  expect(toEvent(word, "done")).toStrictEqual({
    type: "Normal",
    reason: "Synced",
    message: "done",
  });
});
