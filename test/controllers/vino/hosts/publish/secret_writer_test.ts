import { expect, test } from "bun:test";
import { SecretWriter } from "../../../../../lib/controllers/vino/hosts/publish/secret_writer.ts";
import {
  toSecretBody,
  toSecrets,
  type WantedSecret,
} from "../../../../../lib/controllers/vino/hosts/secrets.ts";
import type { KubeClient } from "../../../../../lib/kube/api/client.ts";
import { KubeError, type KubeErrorKind } from "../../../../../lib/kube/api/errors.ts";
import { ManualClock } from "../../../../support/manual_clock.ts";
import { OWNER } from "../../../../support/vino/wanted_hosts.ts";

const { signal } = new AbortController();
const INPUT = { owner: OWNER, host: { name: "edge-worker-0" }, networkData: "{}" };

function toWantedSecret(hostUid: string): WantedSecret {
  const [secret] = toSecrets({ ...INPUT, hostUid });
  if (secret === undefined) throw new Error("there is no Secret");
  return secret;
}

/** @param answers What each request gets, in order: an object, or the kind of a refusal */
function start(answers: (object | KubeErrorKind)[]) {
  const calls: string[] = [];
  const answer = <T>(call: string): Promise<T> => {
    calls.push(call);
    const next = answers.shift() ?? {};
    const isRefused = typeof next === "string";
    return isRefused ? Promise.reject(new KubeError(next, "no")) : Promise.resolve(next as T);
  };
  const client: Pick<KubeClient, "create" | "patch" | "read"> = {
    create: () => answer("create"),
    patch: () => answer("patch"),
    read: () => answer("read"),
  };
  return { calls, writer: new SecretWriter(client, new ManualClock()) };
}

test("SecretWriter waits for a Secret that is deleted right before it is changed, and makes it again", async () => {
  const wanted = toWantedSecret("new");
  const { calls, writer } = start([toSecretBody(toWantedSecret("old")), "notFound", "notFound"]);
  expect(await writer.ensure(OWNER.uid, wanted, false, signal)).toEqual({
    state: "Publishing",
    message: "Secret edge-worker-0-network-data was deleted, and is made again",
  });
  expect(await writer.ensure(OWNER.uid, wanted, false, signal)).toBeUndefined();
  expect(calls).toEqual(["read", "patch", "read", "create"]);
});

test("SecretWriter takes it for a refusal that a namespace does not exist", async () => {
  const { writer } = start(["notFound", "notFound"]);
  const problem = await writer.ensure(OWNER.uid, toWantedSecret("u"), false, signal);
  expect(problem).toMatchObject({ state: "Refused" });
});
