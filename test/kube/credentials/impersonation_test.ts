/**
 * Acting as another user.
 * @module
 */
import { describe, expect, test } from "bun:test";
import {
  actAs,
  type Credential,
  readImpersonation,
  toImpersonationHeaders,
} from "../../../lib/kube/credentials/credentials.ts";
import { Section } from "../../../lib/kube/credentials/setting.ts";

const place = (field: string): { source: string } => ({ source: `--${field}` });
const signal = new AbortController().signal;

describe("toImpersonationHeaders()", () => {
  test("names user, UID, group and further attributes, with keys that fit a header", () => {
    const extra = { "example.org/Scope": ["dev"] };
    const who = { user: "jane", uid: "7", groups: ["ops"], extra };
    expect(toImpersonationHeaders(who, place)).toEqual({
      "impersonate-user": "jane",
      "impersonate-uid": "7",
      "impersonate-group": "ops",
      "impersonate-extra-example.org%2fscope": "dev",
    });
  });

  test("keeps apart what has several values, for one header could not hold them", () => {
    const who = { user: "jane", groups: ["a", "b"], extra: { k: ["v", "w"], one: ["x"] } };
    expect(toImpersonationHeaders(who, place)).toEqual({
      "impersonate-user": "jane",
      "impersonate-extra-one": "x",
      "impersonate-group": ["a", "b"],
      "impersonate-extra-k": ["v", "w"],
    });
  });

  test.each([
    [{ user: "j\nx" }, "--user: must be printable ASCII"],
    [{ user: " j" }, "--user: must be printable ASCII"],
    [{ user: "" }, "--user: must be printable ASCII"],
    [{ user: "j", groups: ["a", "b\r\nx: y"] }, "--groups: must be printable ASCII"],
    [{ user: "j", extra: { a: ["x", ""] } }, "--extra: must be printable ASCII"],
  ])("refuses %j", (who, message) => {
    expect(() => toImpersonationHeaders(who, place)).toThrow(message);
  });
});

describe("readImpersonation()", () => {
  const read = (user: object): ReturnType<typeof readImpersonation> =>
    readImpersonation(new Section(user, "/kc", "users.u.user"));

  test("reads the fields of a kubeconfig", () => {
    expect(read({})).toEqual({});
    expect(read({ as: "", "as-groups": [] })).toEqual({});
    expect(
      read({ as: "jane", "as-uid": "7", "as-groups": ["g"], "as-user-extra": { k: ["v"] } }),
    ).toEqual({
      "impersonate-user": "jane",
      "impersonate-uid": "7",
      "impersonate-group": "g",
      "impersonate-extra-k": "v",
    });
  });

  test.each([
    [{ "as-uid": "7" }, "/kc: users.u.user.as-uid: needs `as`"],
    [{ "as-user-extra": { k: ["v"] } }, "/kc: users.u.user.as-user-extra: needs `as`"],
    [{ as: "j", "as-groups": ["a", " b"] }, "/kc: users.u.user.as-groups: must be printable"],
    [{ as: ["j"] }, "/kc: users.u.user.as: must be a string"],
  ])("refuses %j", (user, message) => {
    expect(() => read(user)).toThrow(message);
  });
});

test("actAs() adds the headers, in place of those of another user, and passes on what was refused", async () => {
  const first: Credential = {
    headers: {
      authorization: "Bearer t",
      "impersonate-user": "old",
      "impersonate-group": ["old", "older"],
    },
    tls: {},
    version: 1,
  };
  let own = first;
  const refused: Credential[] = [];
  const credentials = actAs(
    {
      server: "https://a",
      current: () => Promise.resolve(own),
      invalidate: (used) => refused.push(used),
    },
    { user: "jane" },
    place,
  );
  const shown = await credentials.current(signal);
  expect(shown).toEqual({
    tls: {},
    version: 1,
    headers: { authorization: "Bearer t", "impersonate-user": "jane" },
  });
  expect(await credentials.current(signal)).toBe(shown);
  credentials.invalidate(first);
  expect(refused).toEqual([]);
  credentials.invalidate(shown);
  expect(refused).toEqual([first]);
  own = { ...first, version: 2 };
  expect((await credentials.current(signal)).version).toBe(2);
});
