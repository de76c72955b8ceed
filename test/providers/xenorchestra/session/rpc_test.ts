/**
 * Calls by JSON-RPC on the wire, and errors in replies.
 * @module
 */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { ALONE, Fence } from "../../../../lib/core/fence.ts";
import { RpcError, sendRpc } from "../../../../lib/providers/xenorchestra/session/rpc.ts";
import { Session } from "../../../../lib/providers/xenorchestra/session/session.ts";
import { systemClock } from "../../../../lib/core/clock.ts";
import {
  startXenOrchestraSimulator,
  type XenOrchestraSimulator,
} from "../../../../lib/simulator/xenorchestra/mod.ts";
import { FakeXenOrchestra, loadCapture, toDeps, toSettings } from "../fake_server.ts";
import type { Reply } from "../../../../lib/cloud_http/client.ts";
import { createClient } from "../../../cloud_http/fake_server.ts";
import {
  isUnknownRoute,
  toReplyError,
} from "../../../../lib/providers/xenorchestra/session/reply_error.ts";

const { signal } = new AbortController();
const leading = new Fence(ALONE);
const VERSION = { operation: "read_version", method: "system.getServerVersion", params: {} };
const names = {
  server: "XO",
  process: "xo",
  url: "url",
  caFile: "ca",
  certificateFingerprint: "fp",
};

let xo: XenOrchestraSimulator;

function open(token = xo.token): Session {
  return new Session(toSettings(xo.url, { token }), toDeps());
}

/** A socket that answers each message with the next of these. */
function toClient(answers: readonly unknown[]) {
  const sent: unknown[] = [];
  const left = answers.map((one) => (typeof one === "string" ? one : JSON.stringify(one)));
  let isClosed = false;
  const socket = {
    status: 101,
    send: (text: string) => void sent.push(JSON.parse(text)),
    receive: () => Promise.resolve(left.shift() ?? ""),
    close: () => void (isClosed = true),
  };
  const client = { openWebSocket: () => Promise.resolve(socket) };
  const route = { url: "https://xo", client, token: "t0ken", fence: leading, names };
  return { sent, route, isClosed: () => isClosed };
}

describe("rpc", () => {
  beforeEach(async () => {
    xo = await startXenOrchestraSimulator({ clock: systemClock });
  });
  afterEach(() => xo.stop());

  test("Session.callRpc() signs in with the token, and returns the result", async () => {
    expect(await open().callRpc(VERSION, leading, signal)).toBe("5.207.2");
  });

  test("Session.callRpc() says that the token is refused", async () => {
    await expect(open("wrong").callRpc(VERSION, leading, signal)).rejects.toMatchObject({
      kind: "denied",
    });
  });

  test("Session.callRpc() throws what Xen Orchestra refuses, with its code", async () => {
    const call = { ...VERSION, method: "vm.create" };
    const failed = open().callRpc(call, leading, signal);
    await expect(failed).rejects.toBeInstanceOf(RpcError);
    await expect(failed).rejects.toMatchObject({ code: -32_601 });
  });

  test("Session.callRpc() sends nothing unless this process leads", async () => {
    const failed = open().callRpc(VERSION, new Fence(), signal);
    await expect(failed).rejects.toThrow("this process does not lead");
  });

  test("sendRpc() ignores messages about other things, and closes the connection", async () => {
    const { sent, route, isClosed } = toClient([
      { jsonrpc: "2.0", method: "all", params: {} },
      { jsonrpc: "2.0", id: 1, result: {} },
      { jsonrpc: "2.0", method: "all", params: {} },
      { jsonrpc: "2.0", id: 2, result: true },
    ]);
    expect(await sendRpc(VERSION, route, signal)).toEqual({ status: 200, result: true });
    expect(sent).toMatchObject([
      { id: 1, method: "session.signIn", params: { token: "t0ken" } },
      { id: 2, method: VERSION.method },
    ]);
    expect(isClosed()).toBe(true);
  });

  test("sendRpc() asks the fence again after it signed in", async () => {
    let isHeld = true;
    const fence = new Fence({ signal, isHeld: () => isHeld });
    const { sent, route } = toClient([{ id: 1, result: {} }]);
    const { openWebSocket } = route.client;
    const client = {
      openWebSocket: () => {
        isHeld = false;
        return openWebSocket();
      },
    };
    await expect(sendRpc(VERSION, { ...route, client, fence }, signal)).rejects.toThrow("lead");
    expect(sent).toHaveLength(1);
  });

  test("sendRpc() tells a refused sign-in from other refusals", async () => {
    const refused = toClient([{ id: 1, error: { code: 3, message: "invalid credentials" } }]);
    expect(await sendRpc(VERSION, refused.route, signal)).toEqual({ status: 401 });
    const other = toClient([
      { id: 1, error: { code: 11, message: "x".repeat(1_000), data: null } },
    ]);
    const failed = sendRpc(VERSION, other.route, signal);
    await expect(failed).rejects.toMatchObject({ code: 11, message: "x".repeat(200) });
  });

  test("sendRpc() passes on the reason of the hypervisor", async () => {
    const error = { code: -32_000, message: "busy", data: { code: "OTHER_OPERATION_IN_PROGRESS" } };
    const { route } = toClient([
      { id: 1, result: {} },
      { id: 2, error },
    ]);
    await expect(sendRpc(VERSION, route, signal)).rejects.toMatchObject({
      reason: "OTHER_OPERATION_IN_PROGRESS",
    });
  });

  test.each(["<html>", "5", ""])("sendRpc() takes no answer like %j", async (text) => {
    const { route } = toClient([text]);
    await expect(sendRpc(VERSION, route, signal)).rejects.toMatchObject({ kind: "protocol" });
  });
});

let fake: FakeXenOrchestra;

function send(path: string): Promise<Reply> {
  const { signal } = new AbortController();
  const headers = { cookie: "authenticationToken=geheim" };
  const url = `${fake.url}/rest/v0${path}`;
  const request = { operation: "ask", method: "GET", url, headers } as const;
  return createClient({ url: fake.url }).request(request, signal);
}

describe("reply error", () => {
  beforeEach(() => {
    fake = new FakeXenOrchestra();
  });
  afterEach(() => fake.stop());

  describe("toReplyError()", () => {
    test("shows no more than a part of a long question", () => {
      const reply = { status: 404, contentType: "application/json", json: { value: {} } };
      const { message } = toReplyError(reply, `GET /hosts/${"x".repeat(5_000)}`);
      expect(message.length).toBeLessThan(500);
      expect(message).toContain("x…");
    });

    test.each([["auth-both", "protocol", "adds an Authorization header"]])(
      "reads the capture %s as %s",
      (name, kind, text) => {
        const { status, headers, body } = loadCapture(name);
        const json = body === undefined ? {} : { json: { value: body } };
        const reply = { status, contentType: headers["content-type"] ?? "", ...json };
        expect(toReplyError(reply, "GET /vms")).toMatchObject({
          kind,
          message: expect.stringContaining(text),
        });
      },
    );

    test("says what to do about a 404 of something else, and of a server that is too old", async () => {
      const json = { value: { message: "no Route matched" } };
      const gateway = toReplyError({ status: 404, contentType: "application/json", json }, "x");
      expect(gateway.message).toContain("a proxy in between");
      const page = toReplyError({ status: 404, contentType: "text/html" }, "x");
      expect(page.message).toContain("a proxy in between");
      const old = await send("/nope");
      expect([old.status, isUnknownRoute(old)]).toEqual([404, true]);
      expect(toReplyError(old, "x").message).toContain("update Xen Orchestra to 5.112");
    });

    test("shows the parameters of an error that is an object", () => {
      const json = { value: { error: { limit: { message: "no" } } } };
      expect(toReplyError({ status: 422, contentType: "", json }, "x").message).toContain("limit");
    });
  });
});

test.each([false, true])(
  "a session keeps the prefix of the URL, and leaves nothing behind if it is transient: %p",
  async (isTransient) => {
    const server = new FakeXenOrchestra();
    const password = { token: null, username: "ccm@local", password: "pa:ss" };
    const more = isTransient ? password : {};
    const session = new Session(toSettings(`${server.url}/prefix`, more), toDeps({ isTransient }));
    await session.get({ operation: "list_vms", path: "/vms", isList: true }, signal);
    const seen = server.seen.map(({ path, headers }) => [
      path,
      headers.get("cookie") ?? headers.get("authorization"),
    ]);
    const auth = isTransient ? `Basic ${btoa("ccm@local:pa:ss")}` : "authenticationToken=t0ken";
    expect(seen).toEqual([["/prefix/vms", auth]]);
    await server.stop();
  },
);
