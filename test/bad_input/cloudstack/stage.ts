/**
 * The provider of CloudStack on a server in memory of which every reply can be bent.
 * @module
 */
import { spyOn } from "bun:test";
import { CloudError } from "../../../lib/cloud/errors.ts";
import type { Inventory } from "../../../lib/cloud/inventory/inventory.ts";
import type { NodeIdentity } from "../../../lib/cloud/instance.ts";
import type { Provider } from "../../../lib/cloud/provider.ts";
import { cloudStack } from "../../../lib/providers/cloudstack/mod.ts";
import { CloudStack } from "../../../lib/simulator/cloudstack/cloudstack.ts";
import { createDemoWorld } from "../../../lib/simulator/cloudstack/mod.ts";
import { KEYS, toDeps, toSettings } from "../../providers/cloudstack/fake_server.ts";
import { checkReason } from "../mishap.ts";

const never = new AbortController().signal;
const URL_TEXT = "http://cloudstack.test/client/api";

/** What becomes of a reply to a command; the text is that of its body. */
type Bend = (command: string, reply: Response, text: string) => Response;

/** A stage with the world of the demo. `using` takes it down. */
export class CloudStackStage implements AsyncDisposable {
  readonly server: CloudStack;
  readonly provider: Provider;
  readonly clock: ReturnType<typeof toDeps>["clock"];
  bend: Bend = (_command, reply) => reply;
  readonly #stop = new AbortController();
  readonly #fetch: { mockRestore(): void };

  constructor(settings: object = {}) {
    const deps = toDeps({ signal: this.#stop.signal });
    const { clock } = deps;
    this.clock = clock;
    this.server = new CloudStack({ clock, world: createDemoWorld().world, signal: never });
    Object.assign(this.server.user, KEYS);
    this.provider = cloudStack.create(toSettings(URL_TEXT, settings), deps);
    const answer = async (input: unknown): Promise<Response> => {
      const outcome = await this.server.answer(new Request(String(input)));
      if (outcome.kind !== "reply") throw new TypeError("The server does not answer");
      const text = await outcome.response.clone().text();
      const command = new URL(String(input)).searchParams.get("command") ?? "";
      return this.bend(command, outcome.response, text);
    };
    this.#fetch = spyOn(globalThis, "fetch").mockImplementation(
      Object.assign(answer, { preconnect: () => {} }),
    );
  }

  /** The account's VMs as Nodes. */
  listNodes(): NodeIdentity[] {
    const { user, state } = this.server;
    return [...state.vms.values()]
      .filter(({ accountId }) => accountId === user.accountId)
      .map(({ id, name }) => ({ name, providerId: `external-cloudstack://${id}` }));
  }

  /** An inventory, or why there is none; anything else that is thrown is a bug. */
  async list(nodes: readonly NodeIdentity[]): Promise<Inventory | CloudError> {
    try {
      return await this.provider.listInventory(nodes, never);
    } catch (error) {
      if (error instanceof CloudError) return checkWords(error);
      throw error;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#fetch.mockRestore();
    this.#stop.abort(new Error("the test is over"));
    await Promise.resolve();
  }
}

/** Makes sure that a failure has a reason, a short one, without keys. */
export function checkWords<E extends Error>(error: E): E {
  return checkReason(error, Object.values(KEYS));
}
