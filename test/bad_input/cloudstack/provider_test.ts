/**
 * Whatever CloudStack, or something in between, answers: what was said well, or a reason; never another machine, and
 * never that one is gone.
 * @module
 */
import { describe, expect, test } from "bun:test";
import { isDeepStrictEqual } from "node:util";
import fc from "fast-check";
import { CloudError } from "../../../lib/cloud/errors.ts";
import type { Inventory } from "../../../lib/cloud/inventory/inventory.ts";
import type { Instance, NodeIdentity } from "../../../lib/cloud/instance.ts";
import type { Presence } from "../../../lib/cloud/provider.ts";
import { parseIp } from "../../../lib/core/net/ip.ts";
import { isLabelValue } from "../../../lib/core/text/label.ts";
import { parseUuid } from "../../../lib/core/text/values.ts";
import { createDemoWorld } from "../../../lib/simulator/cloudstack/mod.ts";
import { KEYS } from "../../providers/cloudstack/fake_server.ts";
import { tries } from "../../support/extent.ts";
import { applyDamage, type Damage, damage } from "../damage.ts";
import { bendReply, type Mishap, toMishaps, withText } from "../mishap.ts";
import { checkWords, CloudStackStage } from "./stage.ts";
import { longTest } from "../../support/long_tests.ts";

const never = new AbortController().signal;
const { projectId, accountIds } = createDemoWorld();
const LIST = "listVirtualMachines";

/** Nothing on it that Kubernetes refuses, or that nobody said. */
function checkSound(instance: Instance, id: string, said: string): void {
  const { providerId, region = "", zone = "", instanceType = "", labels } = instance;
  expect(providerId).toBe(`external-cloudstack://${parseUuid(id)}`);
  for (const value of [region, zone, instanceType, ...Object.values(labels)])
    expect(isLabelValue(value)).toBe(true);
  for (const { address } of instance.addresses) {
    expect(parseIp(address)?.text).toBe(address);
    expect(said).toContain(address);
  }
  // The server says MiB.
  const { memory = "0 GiB", ...details } = instance.details;
  expect(memory).toMatch(/^\d+(?:\.\d{1,2})? GiB$/);
  for (const value of Object.values(details)) {
    expect(said).toContain(JSON.stringify(value).slice(1, -1));
  }
}

/** A reply after all of these damages. */
function damageAll(text: string, damages: readonly Damage[]): unknown {
  return damages.reduce<unknown>((value, one) => applyDamage(value, one).value, JSON.parse(text));
}

/** The ID of a Node's VM. */
function toVmId({ providerId = "" }: NodeIdentity): string {
  return providerId.split("/").at(-1) ?? "";
}

describe("CloudStackProvider.listInventory()", () => {
  test("keeps what is well formed, and shows nothing of what is not", async () => {
    await using good = new CloudStackStage();
    const nodes = good.listNodes();
    const names = nodes.map(({ name }) => ({ name: name.toLowerCase() }));
    const whole = await good.list(nodes);
    if (whole instanceof CloudError) throw whole;
    await fc.assert(
      fc.asyncProperty(fc.array(damage, { minLength: 1, maxLength: 8 }), async (damages) => {
        await using stage = new CloudStackStage();
        let said = "";
        stage.bend = (_command, reply, text) => {
          const bent = damageAll(text, damages);
          said = JSON.stringify(bent);
          return withText(reply, said);
        };
        const result = await stage.list(names);
        if (result instanceof CloudError) return;
        for (const [id, instance] of result.instances) checkSound(instance, id, said);
        const provided = nodes.map((node) => stage.provider.findInstance(result, node));
        const named = names.map((node) => stage.provider.findInstance(result, node));
        for (const [at, presence] of [...provided, ...named].entries()) {
          expect(presence.kind).not.toBe("absent");
          if (presence.kind === "present")
            expect(presence.instance.id).toBe(toVmId(nodes[at % nodes.length] ?? { name: "" }));
          else checkWords(new Error("message" in presence ? presence.message : ""));
        }
      }),
      tries(150),
    );
  });

  test("believes no reply that is cut off, wherever, nor one in which a byte is no UTF-8", async () => {
    await using stage = new CloudStackStage();
    const nodes = stage.listNodes();
    await fc.assert(
      fc.asyncProperty(fc.nat(), fc.boolean(), async (place, isCut) => {
        stage.bend = (_command, reply, text) => {
          const bytes = new TextEncoder().encode(text);
          const at = place % bytes.length;
          if (isCut) return withText(reply, bytes.slice(0, at));
          bytes[at] = 0xff;
          return withText(reply, bytes);
        };
        expect(await stage.list(nodes)).toMatchObject({ name: "CloudError", kind: "protocol" });
      }),
      tries(60),
    );
  });

  test("takes no damaged answer about projects for the ID of another one", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(damage, { minLength: 1, maxLength: 3 }), async (damages) => {
        await using stage = new CloudStackStage({ projectId: "platform" });
        const asked: string[] = [];
        stage.bend = (command, reply, text) => {
          asked.push(command);
          if (command !== "listProjects") return reply;
          const bent = damageAll(text, damages);
          return withText(reply, JSON.stringify(bent));
        };
        await stage.list([{ name: "runner" }]);
        const projects = stage.server.requests.entries
          .filter(({ command }) => command === LIST)
          .map(({ parameters }) => parameters.get("projectid"));
        for (const one of projects) expect(one).toBe(projectId);
      }),
      tries(60),
    );
  });

  longTest(
    "holds out against lists that are huge, deep, or never end",
    async () => {
      await using stage = new CloudStackStage();
      const nodes = stage.listNodes();
      const page = (count: number): object => ({
        listvirtualmachinesresponse: {
          count,
          virtualmachine: Array.from({ length: 500 }, () => ({})),
        },
      });
      const bodies = [
        `{"listvirtualmachinesresponse":${"[".repeat(200_000)}${"]".repeat(200_000)}}`,
        `{"listvirtualmachinesresponse":${'{"a":'.repeat(100_000)}1${"}".repeat(100_000)}}`,
        JSON.stringify({
          listvirtualmachinesresponse: { count: 1, virtualmachine: "x".repeat(9e6) },
        }),
        JSON.stringify(page(Number.MAX_SAFE_INTEGER)),
      ];
      for (const body of bodies) {
        stage.bend = (_command, reply) => withText(reply, body);
        const result = await stage.list(nodes);
        if (result instanceof CloudError) continue;
        for (const node of nodes) {
          expect(stage.provider.findInstance(result, node)).toMatchObject({ kind: "unknown" });
        }
      }
    },
    30_000,
  );
});

describe("CloudStackProvider.readInstance()", () => {
  /** Each is a world in which it is not proven that the VM is gone. */
  const WORLDS: Readonly<Record<string, (stage: CloudStackStage, vmId: string) => void>> = {
    "the VM is there": () => {},
    "it is off": ({ server }, vmId) => server.state.setState(vmId, "Stopped"),
    "it is in another project": ({ server }, vmId) => {
      const project = server.state.projects.get(projectId);
      server.state.assign(vmId, project?.accountId ?? "");
    },
    "the user sees nothing any more": ({ server }) => {
      for (const { id } of server.state.vms.values()) server.state.assign(id, accountIds.ops);
    },
    "it was purged, and never seen to be removed": ({ server }, vmId) => server.state.purge(vmId),
    "the role lost the command": ({ server }) => {
      server.user.role.commands = ["listProjects"];
    },
    "the server answers every list with nothing": ({ server }) => {
      server.faults.set({ kind: "emptyList" });
    },
  };

  /** Answers that are about something else, or by somebody else. */
  const OTHERS: readonly unknown[] = [
    "<html>",
    null,
    [],
    {},
    { listvirtualmachinesresponse: [] },
    { listvirtualmachinesresponse: { count: 1 } },
    { listvirtualmachinesresponse: { virtualmachine: [{ state: "Expunging" }] } },
    { errorresponse: { errorcode: 431, errortext: "no such VM" } },
    { errorresponse: { errorcode: 431, errortext: "value=x entity does not exist" } },
    { listzonesresponse: {}, listvirtualmachinesresponse: {} },
  ];

  const mishap = toMishaps({
    statuses: [201, 202, 206, 302, 400, 404, 410, 431, 432, 500, 503, 530, 599],
    pageStatuses: [200, 401, 403, 404, 431, 500, 502],
    others: OTHERS,
  });

  function bend(one: Mishap, reply: Response, text: string): Response {
    if (one.kind === "damage") {
      const { value } = applyDamage(JSON.parse(text), one.damage);
      // This is what the server says of a VM that it does not show: no damage, but another answer.
      if (Object.values(Object(value)).some((inner) => isDeepStrictEqual(inner, {}))) return reply;
    }
    return bendReply(one, { reply, text, otherStatus: 431 });
  }

  /** Reads the first Node after a whole inventory, and what then becomes of the world. */
  async function readAfter(
    stage: CloudStackStage,
    change: (stage: CloudStackStage, vmId: string) => void,
    spoil: () => void,
  ): Promise<Presence> {
    const nodes = stage.listNodes();
    const [node = { name: "" }] = nodes;
    const before = await stage.list(nodes);
    if (before instanceof CloudError) throw before;
    change(stage, toVmId(node));
    spoil();
    const after = await stage.list(nodes);
    const inventory: Inventory = after instanceof CloudError ? before : after;
    return await stage.provider.readInstance(inventory, node, never);
  }

  test.each(Object.keys(WORLDS))("never says absent by a damaged reply while %s", async (world) => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(fc.nat(5), mishap), { minLength: 1, maxLength: 3 }),
        async (mishaps) => {
          await using stage = new CloudStackStage();
          let count = 0;
          const spoil = (): void => {
            stage.bend = (_command, reply, text) => {
              const one = mishaps.find(([at]) => at === count)?.[1];
              count += 1;
              return one === undefined ? reply : bend(one, reply, text);
            };
          };
          const presence = await readAfter(stage, WORLDS[world] ?? (() => {}), spoil);
          expect(presence.kind).not.toBe("absent");
          if (presence.kind === "unknown") checkWords(new Error(presence.message));
        },
      ),
      tries(40),
    );
  });

  test("says absent when nothing is damaged, so that the others prove something", async () => {
    await using stage = new CloudStackStage();
    const presence = await readAfter(
      stage,
      ({ server }, vmId) => server.state.expunge(vmId),
      () => {},
    );
    expect(presence.kind).toBe("absent");
  });

  test("shows no key and no signature, whatever repeats the request", async () => {
    await using stage = new CloudStackStage();
    const nodes = stage.listNodes();
    for (const code of [400, 401, 403, 404, 405, 429, 431, 432, 500, 503, 530, 531]) {
      let signature = "";
      const { answer } = stage.server;
      stage.server.answer = (request, onWait) => {
        signature = new URL(request.url).searchParams.get("signature") ?? "";
        return answer.call(stage.server, request, onWait);
      };
      const errortext = (): string => `bad ${KEYS.apiKey} ${KEYS.secretKey} ${signature}`;
      stage.bend = () =>
        Response.json(
          { errorresponse: { errorcode: code, errortext: errortext() } },
          { status: code },
        );
      const error = await stage.list(nodes);
      expect(error).toBeInstanceOf(CloudError);
      expect(String(error)).not.toContain(signature);
      await stage.clock.advance(120_000);
    }
  });
});
