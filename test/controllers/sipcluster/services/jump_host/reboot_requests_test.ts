import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import {
  handleRebootRequests,
  type RebootOptions,
  type RebootPass,
} from "../../../../../lib/controllers/sipcluster/services/jump_host/reboot_requests.ts";
import type { ConfigMap } from "../../../../../lib/controllers/sipcluster/services/owned_kinds.ts";
import type { BareMetalHost } from "../../../../../lib/kube/kinds/bare_metal_host.ts";
import type { SipCluster } from "../../../../../lib/controllers/sipcluster/resource/sip_cluster.ts";
import { ManualClock } from "../../../../support/manual_clock.ts";
import {
  type HostServer,
  startHostServer,
  toClaimLabels,
} from "../../../../support/sipcluster/hosts.ts";

const SIGNAL = new AbortController().signal;
const ENTRY = { image: "i", nodePort: 0, nodeInterfaceId: "oam", nodeSSHPrivateKeys: "keys" };
const CLUSTER: SipCluster = {
  metadata: { name: "a", namespace: "tenant" },
  spec: { services: { jumpHost: [ENTRY, ENTRY] } },
};
const MAP = { namespace: "tenant", name: "jumphost-a-requests" };
const REBOOT = "reboot.metal3.io";
const LAST = "landfall.dev/reboot-request";
const ID = "00000000-0000-4000-8000-000000000001";
const OTHER_ID = "00000000-0000-4000-8000-000000000002";

describe("handleRebootRequests()", () => {
  let server: HostServer;
  let clock: ManualClock;
  /** What the store shows; the server has it otherwise. */
  let stale: ConfigMap | undefined;

  beforeEach(async () => {
    clock = new ManualClock();
    stale = undefined;
    server = await startHostServer(clock);
    server.kubernetes.objects.create("namespaces", { metadata: { name: "tenant" } });
    server.kubernetes.objects.create("configmaps", { metadata: MAP });
    server.create("one", { labels: toClaimLabels("a") });
    server.create("theirs", { labels: toClaimLabels("b") });
    server.create("free");
  });
  afterEach(() => server[Symbol.asyncDispose]());

  const readMap = (): ConfigMap | undefined => {
    const object = server.kubernetes.objects.get("configmaps", MAP);
    return object && (structuredClone(object) as object as ConfigMap);
  };
  const handle = (client: RebootOptions["client"] = server.client): Promise<RebootPass> => {
    const findConfigMap = (key: string): ConfigMap | undefined =>
      key === `${MAP.namespace}/${MAP.name}` ? (stale ?? readMap()) : undefined;
    return handleRebootRequests({ client, clock, findConfigMap, isOwn }, CLUSTER, SIGNAL);
  };
  const isOwn = ({ metadata }: BareMetalHost): boolean => metadata.name === "one";
  const ask = (host: string, id = ID): void => {
    const request = JSON.stringify({ host, time: clock.now() / 1_000 });
    server.kubernetes.objects.patch("configmaps", MAP, { data: { [`request.${id}`]: request } });
  };
  const readAnswer = (id = ID): { state: string; message: string } | undefined => {
    const text = readMap()?.data?.[`answer.${id}`];
    return text === undefined
      ? undefined
      : (JSON.parse(text) as { state: string; message: string });
  };
  const readAnnotations = (name: string): Readonly<Record<string, string>> => {
    const object = server.kubernetes.objects.get("baremetalhosts", { namespace: "metal3", name });
    const host = object as object as BareMetalHost | undefined;
    return host?.metadata.annotations ?? {};
  };
  /** What the operator of the host does. */
  const finishReboot = (): void => {
    server.change("one", { metadata: { annotations: { [REBOOT]: null } } });
  };

  test("asks for nothing while there is no request", async () => {
    expect(await handle()).toEqual({ outcomes: [] });
    expect(server.takeRequests()).toEqual([]);
  });

  test("sets the annotation on a host of the cluster, answers, and removes the request", async () => {
    ask("metal3/one");
    const { outcomes } = await handle();
    expect(outcomes).toMatchObject([{ host: "metal3/one", isDone: true }]);
    expect(readAnnotations("one")).toEqual({ [REBOOT]: '{"mode":"soft"}', [LAST]: ID });
    expect(readAnswer()?.state).toBe("done");
    expect(Object.keys(readMap()?.data ?? {})).toEqual([`answer.${ID}`]);
  });

  test("answers each request once, also when the store shows it again", async () => {
    ask("metal3/one");
    stale = readMap();
    await handle();
    finishReboot();
    expect((await handle()).outcomes).toEqual([]);
    expect(readAnnotations("one")).toEqual({ [LAST]: ID });
  });

  test("reboots a host once, also if it ended before it wrote the answer", async () => {
    ask("metal3/one");
    await expect(handle(failingAt("configmaps"))).rejects.toThrow("cut off");
    expect(readAnnotations("one")[LAST]).toBe(ID);
    finishReboot();
    expect((await handle()).outcomes).toMatchObject([{ isDone: true }]);
    expect(readAnnotations("one")).toEqual({ [LAST]: ID });
    expect(readAnswer()?.state).toBe("done");
  });

  test("reboots a host again for another request", async () => {
    ask("metal3/one");
    await handle();
    finishReboot();
    ask("metal3/one", OTHER_ID);
    await handle();
    expect(readAnnotations("one")).toEqual({ [REBOOT]: '{"mode":"soft"}', [LAST]: OTHER_ID });
  });

  test("keeps the annotation of another program that asked for a reboot", async () => {
    server.change("one", { metadata: { annotations: { [REBOOT]: '{"mode":"hard"}' } } });
    ask("metal3/one");
    await handle();
    expect(readAnnotations("one")).toEqual({ [REBOOT]: '{"mode":"hard"}', [LAST]: ID });
  });

  test("gives the same answer for hosts of others, free ones, and hosts that do not exist", async () => {
    for (const host of ["metal3/theirs", "metal3/free", "metal3/none", "nowhere/one"]) {
      ask(host);
      const { outcomes } = await handle();
      const message = "Landfall refused: the host does not belong to this cluster";
      expect(outcomes).toEqual([{ host, isDone: false, message }]);
      expect(readAnswer()).toMatchObject({ state: "refused", message });
      server.kubernetes.objects.patch("configmaps", MAP, { data: null });
    }
    expect([readAnnotations("theirs"), readAnnotations("free")]).toEqual([{}, {}]);
  });

  test("tries again when another program wrote the host meanwhile", async () => {
    ask("metal3/one");
    const client = racing(() => server.change("one", { metadata: { labels: { rack: "r1" } } }));
    expect((await handle(client)).outcomes).toMatchObject([{ isDone: true }]);
    expect(readAnnotations("one")[LAST]).toBe(ID);
  });

  for (const [annotation, word] of [
    ["baremetalhost.metal3.io/paused", "paused"],
    ["baremetalhost.metal3.io/detached", "detached"],
  ]) {
    test(`refuses a host that is ${word}`, async () => {
      server.change("one", { metadata: { annotations: { [annotation ?? ""]: "" } } });
      ask("metal3/one");
      expect((await handle()).outcomes[0]?.message).toBe(`Landfall refused: the host is ${word}`);
      expect(Object.keys(readAnnotations("one"))).toEqual([annotation ?? ""]);
    });
  }

  test("removes junk, and answers the request beside it", async () => {
    const junk = { data: { junk: "x".repeat(10_000) }, binaryData: { more: "AAAA" } };
    server.kubernetes.objects.patch("configmaps", MAP, junk);
    ask("metal3/one");
    await handle();
    expect(Object.keys(readMap()?.data ?? {})).toEqual([`answer.${ID}`]);
    expect(readMap()).not.toHaveProperty("binaryData");
  });

  test("deletes a ConfigMap that was made immutable, so that it is made again", async () => {
    server.kubernetes.objects.patch("configmaps", MAP, { immutable: true });
    expect(await handle()).toEqual({ outcomes: [] });
    expect(readMap()).toBeUndefined();
    expect(await handle()).toEqual({ outcomes: [] });
  });

  test("forgets a request whose ConfigMap is gone", async () => {
    ask("metal3/one");
    stale = readMap();
    server.kubernetes.objects.delete("configmaps", MAP);
    expect(await handle()).toEqual({ outcomes: [] });
  });

  test("says when the next answer must be removed, and removes it then", async () => {
    ask("metal3/one");
    await handle();
    await clock.advance(60_000);
    expect(await handle()).toEqual({ outcomes: [], recheckMs: 540_000 });
    await clock.advance(541_000);
    await handle();
    expect(readMap()?.data ?? {}).toEqual({});
  });

  /** The client, but every write of a kind fails. */
  function failingAt(plural: string): RebootOptions["client"] {
    return withPatch((asked) => {
      if (asked === plural) throw new Error("cut off");
    });
  }

  /** The client, but something happens right before the first write of a host. */
  function racing(happen: () => unknown): RebootOptions["client"] {
    let isFirst = true;
    return withPatch((asked) => {
      if (asked === "baremetalhosts" && isFirst) {
        isFirst = false;
        happen();
      }
    });
  }

  function withPatch(before: (plural: string) => void): RebootOptions["client"] {
    const { client } = server;
    return {
      read: (resource, path, signal) => client.read(resource, path, signal),
      delete: (resource, path, options, signal) => client.delete(resource, path, options, signal),
      patch: async (resource, path, patch, signal) => {
        before(resource.plural);
        return await client.patch(resource, path, patch, signal);
      },
    };
  }
});
