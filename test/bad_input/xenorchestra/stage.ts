/**
 * The provider of Xen Orchestra on a server in memory of which every reply can be bent, by its path after `/rest/v0`.
 * @module
 */
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
import { ProviderStage } from "../stage.ts";

/** Secret that no message may hold. */
export const TOKEN = "geheim-token-43";
const URL_TEXT = "http://xo.test";

/** A stage. */
export class XoStage extends ProviderStage {
  readonly fake: FakeXenOrchestra = new FakeXenOrchestra();
  readonly provider: Provider;
  readonly clock: ReturnType<typeof toDeps>["clock"];

  constructor(settings: object = {}) {
    super([TOKEN], async (request) => ({
      what: request.url.slice(`${URL_TEXT}/rest/v0`.length),
      reply: await this.fake.handle(request),
    }));
    const deps = toDeps();
    this.clock = deps.clock;
    this.provider = xenOrchestra.create(toSettings(URL_TEXT, { token: TOKEN, ...settings }), deps);
  }

  /** The VMs as Nodes. */
  listNodes(): NodeIdentity[] {
    return this.fake.list("vms").map((vm) => toNode(vm));
  }

  protected end(): Promise<void> {
    return this.fake.stop();
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
