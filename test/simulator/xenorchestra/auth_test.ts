import { beforeEach, describe, expect, test } from "bun:test";
import { Auth, AuthError } from "../../../lib/simulator/xenorchestra/auth.ts";
import { ManualClock } from "../../support/manual_clock.ts";

const user = { id: "u-1", username: "ccm", password: "pass:word" };
const basic = (password: string): string => `Basic ${btoa(`ccm:${password}`)}`;

describe("Auth", () => {
  let clock: ManualClock;
  let auth: Auth;
  beforeEach(() => {
    clock = new ManualClock();
    auth = new Auth(clock, [user]);
  });
  const identify = (cookie?: string, authorization?: string) =>
    auth.identify({ cookie, authorization });
  const refusal = (act: () => unknown): unknown => {
    try {
      act();
      return "accepted";
    } catch (error) {
      return error instanceof AuthError ? [error.status, error.message] : error;
    }
  };

  test("identify() accepts both cookie names and Basic, and nobody without either", () => {
    auth.addToken("t", user);
    expect(identify("a=b; authenticationToken=t")).toBe(user);
    expect(identify("token=t")).toBe(user);
    expect(identify(undefined, basic("pass:word"))).toBe(user);
    expect(identify("other=t")).toBeUndefined();
  });

  test("identify() takes no expired, revoked or unknown token", async () => {
    auth.addToken("t", user, 60_000);
    auth.addToken("r", user);
    auth.revoke("r");
    await clock.advance(59_999);
    expect(identify("token=t")).toBe(user);
    await clock.advance(1);
    for (const id of ["t", "r", "x"]) {
      expect(refusal(() => identify(`token=${id}`))).toEqual([401, "invalid credentials"]);
    }
  });

  test("remake() gives a user another ID, keeps the password and takes the tokens", () => {
    auth.addToken("t", user);
    auth.remake("ccm", "u-2");
    expect(identify(undefined, basic("pass:word"))).toEqual({ ...user, id: "u-2" });
    expect(refusal(() => identify("token=t"))).toEqual([401, "invalid credentials"]);
  });

  test("identify() brakes Basic for two seconds after a wrong password, the right one too", async () => {
    expect(refusal(() => identify(undefined, basic("no")))).toEqual([401, "invalid credentials"]);
    await clock.advance(1_999);
    const braked = refusal(() => identify(undefined, basic("pass:word")));
    expect(braked).toEqual([500, "too fast authentication tries"]);
    await clock.advance(1);
    expect(identify(undefined, basic("pass:word"))).toBe(user);
  });

  test("mint() renews the token of the same client, with a new expiration", async () => {
    const first = { ...auth.mint(user, { client: { id: "c" }, expiresIn: "30 days" }) };
    await clock.advance(1_000);
    const again = auth.mint(user, { client: { id: "c" }, expiresIn: 120_000, description: "d" });
    expect(again).toMatchObject({ id: first.id, created_at: first.created_at, description: "d" });
    expect(again.expiration).toBe(clock.now() + 120_000);
    expect(first.expiration).toBe(first.created_at + 30 * 86_400_000);
    expect(auth.mint(user, {}).id).not.toBe(first.id);
    expect(first.id).toHaveLength(43);
    expect(auth.tokens.size).toBe(2);
  });

  test.each([
    ["59 s", "invalid expiresIn duration: 59 s"],
    ["soon", "invalid expiresIn duration: soon"],
    ["1 year", "too high expiresIn duration: 1 year"],
  ])("mint() refuses a validity of %p", (expiresIn, message) => {
    expect(refusal(() => auth.mint(user, { expiresIn }))).toEqual([500, message]);
  });
});
