/**
 * The machines that Vinos handed over: each is worked on by a reconcile of its own. Then its Vino is reconciled again.
 * @module
 */
import type { Machines } from "../../../cloud/capabilities/machines.ts";
import type { KeySource } from "../../../engine/object_loop.ts";
import { type Key, toKey } from "../../../kube/cache/store.ts";
import type { VinoMachine } from "../resource/vino_machine.ts";
import { toHostName } from "../hosts/names.ts";
import type { MachineGroup } from "./machine_group.ts";
import { SharedObservation } from "./shared_observation.ts";
import type { MachineTask } from "./steps/tasks.ts";
import type { ReconcileInput } from "./types.ts";

/** A machine that is worked on. */
export interface MachineWork {
  /** Its Vino, as the decision about the machine was made from it. */
  readonly input: ReconcileInput;
  readonly task: MachineTask;
  readonly group: MachineGroup;
}

type Listener = (keys: Iterable<Key>) => void;

/** See the module. Keys are those of VinoMachines, which need not exist. */
export class WorkList {
  readonly observation: SharedObservation;
  readonly #work = new Map<Key, MachineWork>();
  readonly #started = new Set<Listener>();
  readonly #ended = new Set<Listener>();

  constructor(machines: Pick<Machines, "observe">) {
    this.observation = new SharedObservation(machines);
  }

  /** Names machines that are handed over. */
  get started(): KeySource {
    return toSource(this.#started);
  }

  /** Names Vinos of which no machine is worked on any more. */
  get ended(): KeySource {
    return toSource(this.#ended);
  }

  /** Hands machines over. */
  start(input: ReconcileInput, tasks: readonly MachineTask[], group: MachineGroup): void {
    group.begin(tasks);
    const keys = tasks.map((task) => {
      const work = { input, task, group };
      const key = toKey(toObject(work));
      this.#work.set(key, work);
      this.observation.expect(key);
      return key;
    });
    for (const listener of this.#started) listener(keys);
  }

  find(key: Key): MachineWork | undefined {
    return this.#work.get(key);
  }

  /** What stands for the object of a machine that has none. `undefined`: it is not worked on. */
  findObject(key: Key): VinoMachine | undefined {
    const work = this.#work.get(key);
    return work && toObject(work);
  }

  /** Ends the work on a machine. */
  end(key: Key): void {
    const work = this.#work.get(key);
    if (work === undefined) return;
    const { group, task, input } = work;
    this.#work.delete(key);
    group.end(task.name);
    this.observation.leave(key);
    if (group.isWorking) return;
    for (const listener of this.#ended) listener([toKey(input.vino)]);
  }
}

function toObject({ input: { vino }, task: { identity } }: MachineWork): VinoMachine {
  const { namespace = "", name } = vino.metadata;
  return { metadata: { namespace, name: toHostName({ vino: name, ...identity }) } };
}

function toSource(listeners: Set<Listener>): KeySource {
  return {
    subscribe: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}
