/**
 * The controller of Vinos with a cloud that cannot make machines: it says so on each of them, and changes nothing else.
 * @module
 */
import { CAPABILITIES } from "../../cloud/capabilities/mod.ts";
import { ObjectLoop } from "../../engine/object_loop.ts";
import type { StoreReader } from "../../kube/cache/store.ts";
import { requireCloud } from "../node_context.ts";
import type { ControllerContext, RunningController } from "../definition.ts";
import { checkVino } from "./resource/check_spec.ts";
import { type Vino, VINOES } from "./resource/vino.ts";
import type { Outcome } from "./status/status.ts";
import { VinoWriter } from "./vino_writer.ts";
import { FINALIZER, NAME } from "./words.ts";

/** See the module. */
export class UnservedVinos implements RunningController {
  readonly objects: StoreReader<Vino>;
  readonly #loop: ObjectLoop<Vino>;

  constructor(context: ControllerContext) {
    const { client, clock, events, caches } = context;
    const { provider } = requireCloud(context);
    const message = `The cloud ${provider.name} cannot ${CAPABILITIES.machines}`;
    this.objects = caches.reader(VINOES);
    const writer = new VinoWriter({ client, clock, events });
    this.#loop = new ObjectLoop({
      context,
      name: NAME,
      queueName: NAME,
      noun: "vino",
      objects: this.objects,
      workers: 1,
      inputs: ({ metadata }) => [metadata.generation, metadata.deletionTimestamp],
      reconcile: async (vino, signal) => {
        const outcome = judge(vino, message);
        if (outcome) await writer.writeOutcome(vino, outcome, signal);
        return {};
      },
      forget: (key) => writer.forget(key),
    });
  }

  /** Runs until the signal aborts and all work has ended. */
  run(signal: AbortSignal): Promise<void> {
    return this.#loop.run(signal);
  }
}

/** What to say about a Vino. `undefined`: nothing, because nothing holds it. */
function judge(vino: Vino, message: string): Outcome | undefined {
  const { deletionTimestamp, finalizers = [] } = vino.metadata;
  if (deletionTimestamp !== undefined) {
    return finalizers.includes(FINALIZER) ? { kind: "deleting", obstacle: message } : undefined;
  }
  const checked = checkVino(vino);
  if (!checked.isValid) return { kind: "invalid", problems: checked.problems };
  return { kind: "refused", spec: checked.spec, why: "noCapability", message };
}
