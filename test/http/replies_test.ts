import { expect, test } from "bun:test";
import { Hono } from "hono";
import { inPieces } from "../../lib/http/pieces.ts";
import { showList, showView } from "../../lib/http/replies.ts";

const routes = new Hono();
const toText = (): string => "text\n";
routes.get("/view", (context) => showView(context, { a: "\u202e" }, toText));
routes.get("/list", (context) => {
  const pieces = inPieces([{ a: 1 }, { a: 2 }]);
  return showList(context, { name: "things", pieces, toText });
});
routes.get("/more", (context) => {
  const more = { others: [{ b: "\u202e" }], none: [] };
  return showList(context, { name: "things", pieces: inPieces([{ a: 1 }]), more, toText });
});
routes.get("/empty", (context) =>
  showList(context, { name: "things", pieces: inPieces([]), toText }),
);

test.each([
  ["/view", '{\n  "a": "\\u202e"\n}\n'],
  ["/list", `${JSON.stringify({ things: [{ a: 1 }, { a: 2 }] }, undefined, 2)}\n`],
  [
    "/more",
    `${JSON.stringify({ things: [{ a: 1 }], others: [{ b: "%" }], none: [] }, undefined, 2).replace("%", "\\u202e")}\n`,
  ],
  ["/empty", `${JSON.stringify({ things: [] }, undefined, 2)}\n`],
])("showView() and showList() reply with indented JSON at %s", async (path, expected) => {
  const response = await routes.request(path);
  expect(response.headers.get("content-type")).toBe("application/json");
  expect(await response.text()).toBe(expected);
});

test.each(["/view", "/list"])(
  "text is a format of its own, another is refused, at %s",
  async (path) => {
    const text = await routes.request(`${path}?format=text`);
    expect(await text.text()).toBe("text\n");
    expect((await routes.request(`${path}?format=xml`)).status).toBe(400);
  },
);
