import { expect, test } from "bun:test";
import {
  type BodyShape,
  checkBody,
  readBody,
} from "../../../../../lib/simulator/xenorchestra/writes/routes/bodies.ts";

const SHAPE: BodyShape = {
  name: { type: "string", isRequired: true },
  size: { type: "number", isNullable: true },
  parts: { type: "array", of: { id: { type: "string" } } },
};

async function read(text: string) {
  const request = new Request("http://x.example", { method: "POST", body: text });
  const outcome = await readBody(request);
  const refusal = "refusal" in outcome ? outcome.refusal : checkBody(outcome.body, SHAPE);
  if (refusal !== undefined) return [refusal.status, await refusal.text()];
  return "body" in outcome ? outcome.body : undefined;
}

test("checkBody() takes what it knows", async () => {
  const body = { name: "a", size: null, parts: [{ id: "b" }] };
  expect(await read(JSON.stringify(body))).toEqual(body);
});

test.each([
  ["{}", 422, "'name' is required"],
  ['{"name":"a","tags":[]}', 422, '\\"tags\\" is an excess property'],
  ['{"name":"a","parts":[{"x":1}]}', 422, "body.parts.$0.x"],
  ['{"name":1}', 422, "invalid string value"],
  ["[]", 422, "invalid object"],
  ["{", 500, "JSON"],
])("readBody() and checkBody() refuse %s: %p", async (text, status, words) => {
  const [actual, reply] = (await read(text)) as [number, string];
  expect([actual, reply]).toEqual([status, expect.stringContaining(words)]);
});

test("readBody() takes 100 KiB, not more", async () => {
  const fitting = JSON.stringify({ name: "x".repeat(100 * 1024 - 11) });
  expect(await read(fitting)).toMatchObject({ name: expect.any(String) });
  expect(await read(fitting.replace("x", "xx"))).toEqual([
    500,
    expect.stringContaining("request entity too large"),
  ]);
});
