import { describe, expect, test } from "bun:test";
import { Announcer, PROCESS_EVENTS, toOwnObject } from "../../lib/app/announcer.ts";

const { configRefused, configApplied } = PROCESS_EVENTS;

describe("toOwnObject()", () => {
  test("is the Pod that the environment names", () => {
    const env = { POD_NAME: "landfall-0", POD_NAMESPACE: "infra", POD_UID: "u-1" };
    expect(toOwnObject(env, "xenorchestra")).toEqual({
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name: "landfall-0", namespace: "infra", uid: "u-1" },
    });
  });

  test("is a Component in kube-system where there is no Pod, or in the namespace that is known", () => {
    const named = { kind: "Component", metadata: { name: "static", namespace: "kube-system" } };
    expect(toOwnObject({}, "static")).toEqual(named);
    expect(toOwnObject({ POD_NAME: "", POD_NAMESPACE: "infra" }, "static").metadata).toEqual({
      name: "static",
      namespace: "infra",
    });
    expect(toOwnObject({ POD_NAME: "p" }, "static").metadata.namespace).toBe("kube-system");
  });
});

describe("Announcer", () => {
  const object = toOwnObject({}, "static");

  test("keeps what is said before it is connected, and says it first", () => {
    const said: unknown[] = [];
    const announcer = new Announcer(object);
    announcer.announce(configRefused, "one");
    announcer.connect({
      record: (about, { reason, message }) => said.push([about, reason, message]),
    });
    announcer.announce(configApplied, "two");
    expect(said).toEqual([
      [object, "ConfigRefused", "one"],
      [object, "ConfigApplied", "two"],
    ]);
  });

  test("keeps no more than a few, and cuts what is too long", () => {
    const said: string[] = [];
    const announcer = new Announcer(object);
    for (let count = 0; count < 100; count += 1) announcer.announce(configRefused, `${count}`);
    announcer.connect({ record: (_about, { message }) => said.push(message) });
    expect(said).toHaveLength(20);
    announcer.announce(configRefused, "x".repeat(5_000));
    expect(said.at(-1)).toHaveLength(1_024);
    announcer.announce(configRefused, "🚢".repeat(5_000));
    expect(said.at(-1)?.isWellFormed()).toBe(true);
  });
});

test("PROCESS_EVENTS are frozen", () => {
  const words = Object.values(PROCESS_EVENTS).map(({ reason, type }) => `${type} ${reason}`);
  expect(words).toEqual([
    "Warning FailedToCheckClient",
    "Normal ConfigApplied",
    "Warning ConfigRefused",
    "Warning CloudCredentialExpires",
  ]);
});
