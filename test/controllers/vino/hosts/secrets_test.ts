import { describe, expect, test } from "bun:test";
import {
  judgeSecret,
  toSecretBody,
  toSecrets,
  type WantedSecret,
} from "../../../../lib/controllers/vino/hosts/secrets.ts";
import type { Secret } from "../../../../lib/kube/kinds/secret.ts";
import { BMC, OWNER, toWanted } from "../../../support/vino/wanted_hosts.ts";

const input = { owner: OWNER, host: toWanted(0, { bmc: BMC }), networkData: "{}" };

function toWantedSecret(hostUid?: string): WantedSecret {
  const [secret] = toSecrets({ ...input, hostUid });
  if (secret === undefined) throw new Error("no Secret");
  return secret;
}

/** The Secret as it was made for a host, with changes since. */
function toLive(metadata: Partial<Secret["metadata"]> = {}, data?: Secret["data"]): Secret {
  const made = toSecretBody(toWantedSecret("u1")) as Secret;
  return {
    ...made,
    metadata: { ...made.metadata, resourceVersion: "7", ...metadata },
    ...(data && { data }),
  };
}

const OF_HOST = { apiVersion: "metal3.io/v1alpha1", kind: "BareMetalHost", name: "edge-worker-0" };
const OF_VINO = {
  apiVersion: "airship.airshipit.org/v1",
  kind: "Vino",
  name: "edge",
  uid: OWNER.uid,
};
const OTHER = { apiVersion: "v1", kind: "ConfigMap", name: "c", uid: "c" };

describe("toSecrets()", () => {
  test("belong to the Vino, and to the host as soon as there is one", () => {
    const owners = [undefined, "u1"].map((uid) => toWantedSecret(uid).owner);
    expect(owners).toEqual([OF_VINO, { ...OF_HOST, uid: "u1" }]);
  });

  test("have the keys that metal3 reads", () => {
    const secrets = toSecrets({ ...input, hostUid: "u1" });
    const texts = secrets.map(({ name, data }) => [
      name,
      Object.fromEntries(Object.entries(data).map(([key, text]) => [key, atob(text)])),
    ]);
    expect(texts).toEqual([
      ["edge-worker-0-network-data", { networkData: "{}" }],
      ["edge-worker-0-bmc-credentials", { username: "admin", password: BMC.password }],
    ]);
    const { bmc: _none, ...host } = input.host;
    expect(toSecrets({ ...input, host, hostUid: "u1" })).toHaveLength(1);
  });
});

describe("judgeSecret()", () => {
  type Case = readonly [what: string, live: Secret | undefined, kind: string];
  const cases: readonly Case[] = [
    ["that does not exist", undefined, "create"],
    ["as it was made", toLive(), "asWanted"],
    ["with another label", toLive({ labels: { ...toLive().metadata.labels, a: "b" } }), "asWanted"],
    [
      "with another owner, too",
      toLive({ ownerReferences: [{ ...OF_HOST, uid: "u1" }, OTHER] }),
      "asWanted",
    ],
    [
      "whose owner metal3 wrote",
      toLive({ ownerReferences: [{ ...OF_HOST, uid: "u1", controller: false }] }),
      "asWanted",
    ],
    ["with other data", toLive({}, { networkData: "eA==" }), "patch"],
    ["with another key, too", toLive({}, { ...toLive().data, more: "eA==" }), "asWanted"],
    ["of the Vino", toLive({ ownerReferences: [OF_VINO] }), "patch"],
    ["of an earlier host", toLive({ ownerReferences: [{ ...OF_HOST, uid: "u0" }] }), "patch"],
    ["of nothing", toLive({ ownerReferences: [] }), "patch"],
    ["of something else", toLive({ labels: {} }), "taken"],
    ["of another Vino", toLive({ labels: { "landfall.dev/vino-uid": "v2" } }), "taken"],
    ["that is being deleted", toLive({ deletionTimestamp: "2026-01-01T00:00:00Z" }), "deleting"],
  ];
  test.each(cases)("of a Secret %s", (_what, live, kind) => {
    expect<string>(judgeSecret(live, toWantedSecret("u1")).kind).toBe(kind);
  });

  test("replaces its own owners and keeps the others, for the version that was read", () => {
    const live = toLive({ ownerReferences: [OTHER, OF_VINO, { ...OF_HOST, uid: "u0" }] });
    const verdict = judgeSecret(live, toWantedSecret("u1"));
    expect(verdict).toMatchObject({
      body: {
        metadata: { resourceVersion: "7", ownerReferences: [OTHER, { ...OF_HOST, uid: "u1" }] },
      },
    });
  });
});
