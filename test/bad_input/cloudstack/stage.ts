/**
 * The provider of CloudStack on a server in memory of which every reply can be bent, by its command.
 * @module
 */
import type { NodeIdentity } from "../../../lib/cloud/instance.ts";
import type { Provider } from "../../../lib/cloud/provider.ts";
import { cloudStack } from "../../../lib/providers/cloudstack/mod.ts";
import { CloudStack } from "../../../lib/simulator/cloudstack/cloudstack.ts";
import { createDemoWorld } from "../../../lib/simulator/cloudstack/mod.ts";
import { KEYS, toDeps, toSettings } from "../../providers/cloudstack/fake_server.ts";
import { checkReason } from "../mishap.ts";
import { ProviderStage } from "../stage.ts";

const SECRETS = Object.values(KEYS);
const URL_TEXT = "http://cloudstack.test/client/api";

/** A stage with the world of the demo. */
export class CloudStackStage extends ProviderStage {
  readonly server: CloudStack;
  readonly provider: Provider;
  readonly clock: ReturnType<typeof toDeps>["clock"];
  readonly #stop: AbortController;

  constructor(settings: object = {}) {
    super(SECRETS, async (request) => {
      const outcome = await this.server.answer(request);
      if (outcome.kind !== "reply") throw new TypeError("The server does not answer");
      const what = new URL(request.url).searchParams.get("command") ?? "";
      return { what, reply: outcome.response };
    });
    this.#stop = new AbortController();
    const { signal } = new AbortController();
    const deps = toDeps({ signal: this.#stop.signal });
    const { clock } = deps;
    this.clock = clock;
    this.server = new CloudStack({ clock, world: createDemoWorld().world, signal });
    Object.assign(this.server.user, KEYS);
    this.provider = cloudStack.create(toSettings(URL_TEXT, settings), deps);
  }

  /** The account's VMs as Nodes. */
  listNodes(): NodeIdentity[] {
    const { user, state } = this.server;
    return [...state.vms.values()]
      .filter(({ accountId }) => accountId === user.accountId)
      .map(({ id, name }) => ({ name, providerId: `external-cloudstack://${id}` }));
  }

  protected end(): void {
    this.#stop.abort(new Error("the test is over"));
  }
}

/** Makes sure that a failure has a reason, a short one, without keys. */
export function checkWords<E extends Error>(error: E): E {
  return checkReason(error, SECRETS);
}
