/**
 * The provider of Xen Orchestra on a server in memory of which every reply can be bent.
 * @module
 */
import { spyOn } from "bun:test";
import { CloudError } from "../../../lib/cloud/errors.ts";
import type { Inventory } from "../../../lib/cloud/inventory/inventory.ts";
import type { NodeIdentity } from "../../../lib/cloud/instance.ts";
import type { Provider } from "../../../lib/cloud/provider.ts";
import { xenOrchestra } from "../../../lib/providers/xenorchestra/mod.ts";
import {
  FakeXenOrchestra,
  type Shown,
  toDeps,
  toSettings,
} from "../../providers/xenorchestra/fake_server.ts";
import { checkReason } from "../mishap.ts";

/** Secret that no message may hold. */
export const TOKEN = "geheim-token-43";

const never = new AbortController().signal;

/** What becomes of a reply; the text is that of its body. `path` begins after `/rest/v0`. */
type Bend = (path: string, reply: Response, text: string) => Response | Promise<Response>;

/** A stage. `using` takes it down. */
export class XoStage implements AsyncDisposable {
  readonly fake: FakeXenOrchestra = new FakeXenOrchestra();
  readonly provider: Provider;
  readonly clock: ReturnType<typeof toDeps>["clock"];
  bend: Bend = (_path, reply) => reply;
  readonly #fetch: { mockRestore(): void };

  constructor(settings: object = {}) {
    const deps = toDeps();
    this.clock = deps.clock;
    const url = "http://xo.test";
    this.provider = xenOrchestra.create(toSettings(url, { token: TOKEN, ...settings }), deps);
    const answer = async (input: unknown, init?: RequestInit): Promise<Response> => {
      const request = new Request(String(input), { headers: init?.headers ?? {} });
      const path = String(input).slice(`${url}/rest/v0`.length);
      const reply = await this.fake.handle(request);
      const text = await reply.clone().text();
      return this.bend(path, reply, text);
    };
    this.#fetch = spyOn(globalThis, "fetch").mockImplementation(
      Object.assign(answer, { preconnect: () => {} }),
    );
  }

  /** The VMs as Nodes. */
  listNodes(): NodeIdentity[] {
    return this.fake.list("vms").map((vm) => toNode(vm));
  }

  /** An inventory, or why there is none; anything else that is thrown is a bug. */
  async list(nodes: readonly NodeIdentity[] = []): Promise<Inventory | CloudError> {
    try {
      return await this.provider.listInventory(nodes, never);
    } catch (error) {
      if (error instanceof CloudError) return checkWords(error);
      throw error;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#fetch.mockRestore();
    await this.fake.stop();
  }
}

/** A VM as a Node. */
export function toNode({ id, $pool, name_label }: Shown): NodeIdentity {
  return { name: String(name_label), providerId: `xenorchestra://${String($pool)}/${id}` };
}

/** Makes sure that a failure has a reason, a short one, without secrets. */
export function checkWords<E extends Error>(error: E): E {
  return checkReason(error, [TOKEN]);
}
