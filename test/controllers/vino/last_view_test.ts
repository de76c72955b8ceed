import { expect, test } from "bun:test";
import type { MachinesQuestion } from "../../../lib/cloud/capabilities/machines.ts";
import { CloudError } from "../../../lib/cloud/errors.ts";
import { readLastView } from "../../../lib/controllers/vino/last_view.ts";
import { toView } from "../../support/vino/known.ts";

const { signal } = new AbortController();

test("readLastView() asks for no look at the cloud", async () => {
  const asked: MachinesQuestion[] = [];
  const view = toView([]);
  const observe = async (question: MachinesQuestion) => {
    asked.push(question);
    return view;
  };
  expect(await readLastView({ observe }, signal)).toBe(view);
  expect(asked).toEqual([{ isForChange: false }]);
});

test("readLastView() has nothing before the first inventory, and hides no bug", async () => {
  const failing = (error: Error) => ({
    observe: async () => {
      throw error;
    },
  });
  const early = failing(new CloudError("unreachable", "Waiting for the first inventory"));
  expect(await readLastView(early, signal)).toBeUndefined();
  await expect(readLastView(failing(new TypeError("bug")), signal)).rejects.toThrow("bug");
});
