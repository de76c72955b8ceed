import { describe, expect, test } from "bun:test";
import type { Reply } from "../../../../lib/cloud_http/http.ts";
import {
  createMint,
  OWN_CLIENT,
  toBasic,
  toMinted,
} from "../../../../lib/providers/xenorchestra/session/mint.ts";
import { toDeps } from "../fake_server.ts";

const USER = { kind: "password", username: "ccm@local", password: "canary:ss" } as const;
const URL = "https://xo.example.org";
const json = (value: unknown, status = 201): Reply => ({
  status,
  contentType: "application/json",
  json: { value },
});
const TOKEN = json({ token: { id: "canary-token", expiration: 5 } });

/** @param replies One a request */
function createBench(...replies: Reply[]): { mint: () => Promise<unknown>; sent: unknown[] } {
  const sent: unknown[] = [];
  const post = (request: { url: string; body: string }): Promise<Reply> => {
    sent.push([request.url, JSON.parse(request.body).client.id]);
    return Promise.resolve(replies.shift() ?? TOKEN);
  };
  const options = { settings: { url: URL }, deps: toDeps(), timeoutMs: 1_000, post };
  return { mint: createMint(options, USER), sent };
}

describe("createMint()", () => {
  test("follows the redirect to the user's own path, and goes there at once the next time", async () => {
    const own = `${URL}/rest/v0/users/u-1/authentication_tokens`;
    const { mint, sent } = createBench({ status: 307, contentType: "", redirectUrl: own });
    expect(await mint()).toEqual({ token: "canary-token", expiresAtMs: 5 });
    await mint();
    const id = expect.stringMatching(new RegExp(`^${OWN_CLIENT}[0-9a-f]{12}$`));
    expect(sent).toEqual([
      [`${URL}/rest/v0/users/me/authentication_tokens`, id],
      [own, id],
      [own, id],
    ]);
  });

  const own = `${URL}/rest/v0/users/u-1/authentication_tokens`;
  const me = `${URL}/rest/v0/users/me/authentication_tokens`;
  const another = `${URL}/rest/v0/users/u-2/authentication_tokens`;
  const toRedirect = (redirectUrl: string): Reply => ({
    status: 307,
    contentType: "",
    redirectUrl,
  });
  const urls = (sent: unknown[]): unknown[] => sent.map((one) => (one as string[])[0]);

  test.each([403, 404])(
    "asks who it is again when its old path is answered with %d",
    async (status) => {
      const { mint, sent } = createBench(
        toRedirect(own),
        TOKEN,
        json({ error: "no" }, status),
        toRedirect(another),
      );
      await mint();
      expect(await mint()).toEqual({ token: "canary-token", expiresAtMs: 5 });
      await mint();
      expect(urls(sent)).toEqual([me, own, own, me, another, another]);
    },
  );

  test("asks who it is with the next try after a 401, for a second one at once would be held back", async () => {
    const { mint, sent } = createBench(
      toRedirect(own),
      TOKEN,
      json({ error: "invalid credentials" }, 401),
      toRedirect(another),
    );
    await mint();
    await expect(mint()).rejects.toThrow("the username or the password is wrong");
    expect(await mint()).toEqual({ token: "canary-token", expiresAtMs: 5 });
    expect(urls(sent)).toEqual([me, own, own, me, another]);
  });

  test("keeps its path after trouble of the server, and forgets one that never worked", async () => {
    const { mint, sent } = createBench(
      toRedirect(own),
      json({}, 403),
      toRedirect(own),
      TOKEN,
      json({}, 500),
    );
    await expect(mint()).rejects.toThrow("403");
    await mint();
    await expect(mint()).rejects.toThrow("500");
    await mint();
    expect(urls(sent)).toEqual([me, own, me, own, own, own]);
  });

  test("asks for the same client every time, so that a token is renewed and not added", async () => {
    const [one, other] = [createBench(), createBench()];
    await one.mint();
    await other.mint();
    expect(one.sent).toEqual(other.sent);
  });

  test("says that the password is wrong, without showing it", async () => {
    const { mint } = createBench(json({ error: "invalid credentials" }, 401));
    await expect(mint()).rejects.toThrow("the username or the password is wrong");
    await expect(createBench(json({}, 500)).mint()).rejects.not.toThrow("canary");
  });
});

describe("toMinted()", () => {
  test("takes a token without an end, and nothing that is no token", () => {
    expect(toMinted(json({ token: { id: "a" } }))).toEqual({ token: "a" });
    expect(() => toMinted(json({ token: { id: "a" } }, 403))).toThrow("403");
    expect(() => toMinted(json({ id: "a" }))).toThrow("did not expect");
  });

  test.each(["", "geheim\r\nx: y", "geheim;x", "gehe im", "geheimé", '"geheim"'])(
    "refuses %j, which no header could carry, without showing it",
    (id) => {
      const error = (): unknown => toMinted(json({ token: { id } }));
      expect(error).toThrow("Xen Orchestra gave an unusable token");
      expect(error).not.toThrow(/gehe/);
    },
  );

  test.each([1e308, Infinity, -1, 0, null])("takes an end of %p for none", (expiration) => {
    expect(toMinted(json({ token: { id: "a", expiration } }))).toEqual({ token: "a" });
  });
});

describe("toBasic()", () => {
  test("keeps colons of a password", () => {
    expect(atob(toBasic(USER))).toBe("ccm@local:canary:ss");
  });
});
