import { expect, test } from "bun:test";
import {
  noSuchObject,
  SocketError,
  toErrorReply,
  toTaskResult,
  XapiError,
} from "../../../../lib/simulator/xenorchestra/writes/errors.ts";

const FULL = new XapiError(
  "SR_BACKEND_FAILURE_44",
  ["", "There is insufficient space", ""],
  "VDI.create",
);

const REPLIES: [string, Error, number, object][] = [
  [
    "an unknown VM",
    noSuchObject("a", "VM"),
    404,
    { error: "no such VM a", data: { id: "a", type: "VM" } },
  ],
  ["an unknown object", noSuchObject("a"), 404, { error: "no such object a", data: { id: "a" } }],
  [
    "a full repository",
    FULL,
    500,
    {
      error: "SR_BACKEND_FAILURE_44(, There is insufficient space, )",
      info: "This is a XenServer/XCP-ng error, not an XO error",
    },
  ],
  ["a lost connection", new SocketError(), 500, { error: "other side closed" }],
];

test.each(REPLIES)("toErrorReply() answers %s", async (_name, error, status, body) => {
  const reply = toErrorReply(error);
  expect([reply.status, await reply.json()]).toEqual([status, body]);
});

test("toTaskResult() tells more about a call than about anything else", () => {
  expect(toTaskResult(FULL)).toMatchObject({
    code: "SR_BACKEND_FAILURE_44",
    call: { method: "VDI.create" },
    name: "XapiError",
  });
  expect(toTaskResult(new SocketError())).toMatchObject({
    name: "SocketError",
    code: "UND_ERR_SOCKET",
    message: "other side closed",
  });
  expect(toTaskResult(noSuchObject("a"))).toMatchObject({ message: "no such object a" });
});
