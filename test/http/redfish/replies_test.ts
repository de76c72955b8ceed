import { expect, test } from "bun:test";
import type { ManagementAnswer } from "../../../lib/cloud/capabilities/machine_management.ts";
import {
  replyError,
  RedfishError,
  reply,
  replyDone,
  requireDone,
} from "../../../lib/http/redfish/replies.ts";

const message = "The guest has no tools; use ForceOff";

function refuse(answer: ManagementAnswer<unknown>): RedfishError {
  try {
    requireDone(answer);
  } catch (error) {
    if (error instanceof RedfishError) return error;
  }
  throw new Error("it was not refused");
}

test("requireDone() gives the value of what was done", () => {
  expect(requireDone({ kind: "done", value: 5 })).toBe(5);
});

test.each([
  ["state", 409, undefined],
  ["busy", 503, "5"],
  ["notGraceful", 409, undefined],
  ["blocked", 409, undefined],
  ["denied", 409, undefined],
  ["noRoom", 409, undefined],
  ["notOurs", 404, undefined],
  ["unsupported", 501, undefined],
  ["firmware", 400, undefined],
  ["incomplete", 400, undefined],
] as const)("requireDone() makes of the refusal %s the status %d", (refusal, status, retry) => {
  const refused = refuse({ kind: "refused", refusal, message });
  expect([refused.status, refused.message]).toEqual([status, message]);
  expect(refused.headers["retry-after"]).toBe(retry);
});

test("requireDone() makes of silence a reason to ask again", () => {
  const refused = refuse({ kind: "silent", message });
  expect([refused.status, refused.headers["retry-after"]]).toEqual([503, "5"]);
});

test("replyError() gives an error in the form of Redfish", async () => {
  const response = replyError(new RedfishError(409, "OperationNotAllowed", message));
  expect([response.status, response.headers.get("odata-version")]).toEqual([409, "4.0"]);
  expect(await response.json()).toEqual({
    error: {
      code: "Base.1.18.GeneralError",
      message: `${message}.`,
      "@Message.ExtendedInfo": [
        {
          "@odata.type": "#Message.v1_1_2.Message",
          MessageId: "Base.1.18.OperationNotAllowed",
          Message: `${message}.`,
          MessageArgs: [],
          Severity: "Warning",
          MessageSeverity: "Warning",
          Resolution: "None.",
        },
      ],
    },
  });
});

test("reply() and replyDone() let no cache keep an answer, and name the protocol", async () => {
  const response = reply({ a: 1 }, 201, { location: "/x" });
  expect([response.status, response.headers.get("location")]).toEqual([201, "/x"]);
  expect(response.headers.get("cache-control")).toBe("no-store");
  expect(await response.json()).toEqual({ a: 1 });
  const done = replyDone();
  expect([done.status, done.body, done.headers.get("odata-version")]).toEqual([204, null, "4.0"]);
});
