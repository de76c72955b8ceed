import { beforeEach, describe, expect, test } from "bun:test";
import type { SipCluster } from "../../../../../lib/controllers/sipcluster/resource/sip_cluster.ts";
import {
  HOST_KEY,
  createOpensshKey,
  ensureHostKeys,
  findPublicKey,
} from "../../../../../lib/controllers/sipcluster/services/jump_host/host_keys.ts";
import { toSecretData } from "../../../../../lib/kube/kinds/secret.ts";
import { systemClock } from "../../../../../lib/core/clock.ts";
import { KubeError } from "../../../../../lib/kube/api/errors.ts";
import { ScriptedKubeClient } from "../../../../support/kube/scripted_kube_client.ts";

const SIGNAL = new AbortController().signal;
const NAME = "jumphost-tenant-host-keys";
const ENTRY = { image: "i", nodePort: 0, nodeInterfaceId: "oam", nodeSSHPrivateKeys: "keys" };

function toCluster(count: number): SipCluster {
  return {
    metadata: { name: "tenant", namespace: "infra", uid: "u1" },
    spec: { services: { jumpHost: Array.from({ length: count }, () => ENTRY) } },
  };
}

type Secrets = Map<string, Readonly<Record<string, unknown>>>;

describe("ensureHostKeys()", () => {
  let client: ScriptedKubeClient;
  let secrets: Secrets;

  beforeEach(() => {
    client = new ScriptedKubeClient(systemClock);
    secrets = new Map();
    client.answerRead = ({ namespace, name }) => {
      const found = secrets.get(`${namespace}/${name}`);
      if (found === undefined) throw new KubeError("notFound", "it is not there");
      return found;
    };
    client.onWrite = ({ path, body }) => {
      const { name } = body["metadata"] as { name: string };
      if (secrets.has(`${path.namespace}/${name}`)) {
        throw new KubeError("alreadyExists", "it is there");
      }
      secrets.set(`${path.namespace}/${name}`, body);
      return body;
    };
  });

  const ensure = (count = 1): ReturnType<typeof ensureHostKeys> =>
    ensureHostKeys(client, toCluster(count), SIGNAL);
  /** The private key that is in the Secret. */
  const readKey = (name = NAME): string => {
    const { data } = { data: {}, ...secrets.get(`infra/${name}`) };
    return Buffer.from(Object.entries(data)[0]?.[1] as string, "base64").toString();
  };

  test("makes a Secret that belongs to the cluster and never changes", async () => {
    const keys = await ensure();
    expect(keys).toEqual(new Map([[NAME, { publicKey: findPublicKey(readKey()) ?? "" }]]));
    expect(secrets.get(`infra/${NAME}`)).toMatchObject({
      apiVersion: "v1",
      kind: "Secret",
      metadata: {
        name: NAME,
        labels: { "app.kubernetes.io/part-of": "sip", "landfall.dev/sip-cluster": "tenant" },
        ownerReferences: [{ kind: "SIPCluster", name: "tenant", uid: "u1", controller: true }],
      },
      type: "Opaque",
      immutable: true,
      data: { [HOST_KEY]: expect.any(String) },
    });
  });

  test("keeps the key from then on, and writes nothing", async () => {
    const first = await ensure();
    const { length } = client.writes;
    expect(await ensure()).toEqual(first);
    expect(client.writes).toHaveLength(length);
  });

  test("gives each jump host a key of its own", async () => {
    const keys = await ensure(2);
    expect([...keys.keys()]).toEqual([NAME, "jumphost-tenant-2-host-keys"]);
    expect(new Set([...keys.values()].map((key) => JSON.stringify(key))).size).toBe(2);
  });

  test("takes the key of another process that was faster", async () => {
    const theirs = createOpensshKey("theirs");
    const write = client.onWrite;
    client.onWrite = (asked) => {
      const data = toSecretData({ [HOST_KEY]: theirs });
      secrets.set(`infra/${NAME}`, { metadata: { name: NAME }, data });
      return write(asked);
    };
    expect(await ensure()).toEqual(new Map([[NAME, { publicKey: findPublicKey(theirs) ?? "" }]]));
    expect(readKey()).toBe(theirs);
  });

  test("keeps a Secret without a usable key, and says what to do", async () => {
    for (const data of [undefined, null, {}, { [HOST_KEY]: 7 }, { [HOST_KEY]: "c2VjcmV0" }]) {
      const secret = { metadata: { name: NAME }, data };
      secrets.set(`infra/${NAME}`, secret);
      const key = (await ensure()).get(NAME);
      expect(key).toEqual({ problem: expect.stringMatching(/delete the Secret(?!.*c2VjcmV0)/) });
      expect(secrets.get(`infra/${NAME}`)).toBe(secret);
    }
  });

  test("makes none while the API server does not answer whether there is one", async () => {
    client.answerRead = () => {
      throw new KubeError("unavailable", "it is away");
    };
    await expect(ensure()).rejects.toThrow("it is away");
    expect(client.writes).toEqual([]);
  });

  test("says which Secret a missing right or a quota prevents", async () => {
    client.onWrite = () => {
      throw new KubeError("forbidden", "exceeded quota");
    };
    const problem = `Secret ${NAME} cannot be read or made: exceeded quota`;
    expect(await ensure()).toEqual(new Map([[NAME, { problem }]]));
  });

  test("asks for nothing without a jump host", async () => {
    client.answerRead = () => {
      throw new TypeError("asked");
    };
    expect(await ensure(0)).toEqual(new Map());
    expect(await ensureHostKeys(client, { metadata: { name: "a" } }, SIGNAL)).toEqual(new Map());
  });
});
