import { expect, test } from "bun:test";
import {
  ApiError,
  toEnvelopeKey,
  toErrorBody,
  toHtml,
  toInvalid,
  toListBody,
  toReply,
  toUnknownEntity,
  toUnverified,
} from "../../../lib/simulator/cloudstack/replies.ts";

const JSON_REPLY = { format: "json", jsonType: "application/json; charset=UTF-8", nowMs: 0 };

test.each([
  [{ key: "zone", count: 0, items: [] }, {}],
  [{ key: "zone", count: 3, items: [] }, { count: 3 }],
  [
    { key: "zone", count: 3, items: [{ id: "a" }] },
    { count: 3, zone: [{ id: "a" }] },
  ],
])("toListBody(%j)", (page, body) => {
  expect(toListBody(page)).toEqual(body);
});

test("toReply() has one key, the type of JSON, and the date of the server's clock", async () => {
  const response = toReply("listzonesresponse", { count: 1 }, JSON_REPLY);
  expect([response.status, response.headers.get("content-type")]).toEqual([
    200,
    JSON_REPLY.jsonType,
  ]);
  expect(response.headers.get("date")).toBe("Thu, 01 Jan 1970 00:00:00 GMT");
  expect(await response.json()).toEqual({ listzonesresponse: { count: 1 } });
});

test("toReply() is XML for a client that does not ask for JSON", async () => {
  const body = { count: 2, zone: [{ name: "a<b" }, { name: "c" }] };
  const response = toReply("r", body, { ...JSON_REPLY, format: undefined });
  expect(response.headers.get("content-type")).toBe("text/xml; charset=UTF-8");
  expect(await response.text()).toBe(
    '<?xml version="1.0" encoding="UTF-8"?>' +
      "<r><count>2</count><zone><name>a&lt;b</name></zone><zone><name>c</name></zone></r>",
  );
});

test.each<[string, ApiError, number, object]>([
  ["toUnverified()", toUnverified(), 401, { uuidList: [], errorcode: 401 }],
  ["toInvalid()", toInvalid("no"), 431, { cserrorcode: 4350, errortext: "no" }],
  [
    "toUnknownEntity()",
    toUnknownEntity("listVirtualMachines", "id", "x"),
    431,
    {
      cserrorcode: 9999,
      errortext: expect.stringMatching(
        /command listvirtualmachines due to invalid value\. Invalid parameter id value=x due to incorrect long/,
      ),
    },
  ],
])("%s has the server's code and text", (_name, error, code, body) => {
  expect(error.code).toBe(code);
  expect(toErrorBody(error)).toMatchObject(body);
  const response = toReply("errorresponse", toErrorBody(error), JSON_REPLY, code);
  expect([response.status, response.headers.get("x-description")]).toEqual([code, error.message]);
});

test("toErrorBody() of a 401 names no class of exception", () => {
  expect(toErrorBody(toUnverified())).not.toHaveProperty("cserrorcode");
});

test("toReply() keeps its header legal, whatever the text", () => {
  const body = toErrorBody(new ApiError(530, "größer\nals"));
  const response = toReply("errorresponse", body, JSON_REPLY, 530);
  expect(response.headers.get("x-description")).toBe("gr??er?als");
});

test("toHtml() and toEnvelopeKey()", async () => {
  const page = toHtml(502, "502 Bad Gateway");
  expect([page.status, page.headers.get("content-type")]).toEqual([502, "text/html"]);
  expect(await page.text()).toContain("<h1>502 Bad Gateway</h1>");
  expect(toEnvelopeKey("listVirtualMachines")).toBe("listvirtualmachinesresponse");
});
