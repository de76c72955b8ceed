/**
 * The machines that Vinos handed over: each is worked on by a reconcile of its own. Then its Vino is reconciled again.
 * @module
 */
import type { MachineIdentity, Machines } from "../../../cloud/capabilities/machines.ts";
import type { KeySource } from "../../../engine/object_loop.ts";
import { type Key, toKey } from "../../../kube/cache/store.ts";
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

/**
 * Which machine, of all Vinos that ever were. Names of objects and hosts are not enough: machine `a-worker-0` of Vino
 * `edge` and `worker-0` of `edge-a` have the same, and so has a Vino that was made again.
 */
export type WorkKey = string;

type Listener = (keys: Iterable<string>) => void;

/** See the module. */
export class WorkList {
  readonly observation: SharedObservation;
  readonly #work = new Map<WorkKey, MachineWork>();
  readonly #started = new Set<Listener>();
  readonly #ended = new Set<Listener>();

  constructor(machines: Pick<Machines, "observe">) {
    this.observation = new SharedObservation(machines);
  }

  /** Calls `listener` with each {@linkcode WorkKey} that is handed over. */
  get started(): KeySource {
    return toSource(this.#started);
  }

  /** Names Vinos of which no machine is worked on any more. */
  get ended(): KeySource {
    return toSource(this.#ended);
  }

  /** Hands machines over. One that is worked on already stays with that work. */
  start(input: ReconcileInput, tasks: readonly MachineTask[], group: MachineGroup): void {
    group.begin();
    const keys: WorkKey[] = [];
    for (const task of tasks) {
      const key = toWorkKey(task.identity);
      if (this.#work.has(key)) continue;
      this.#work.set(key, { input, task, group });
      this.observation.expect(key);
      keys.push(key);
    }
    for (const listener of this.#started) listener(keys);
  }

  find(key: WorkKey): MachineWork | undefined {
    return this.#work.get(key);
  }

  /** Whether a machine is worked on now. */
  isWorking(machine: MachineIdentity): boolean {
    return this.#work.has(toWorkKey(machine));
  }

  /** The machines of a Vino that are worked on now, by their names in the cloud. */
  listWorking(vinoUid: string): string[] {
    const all = [...this.#work.values()];
    return all.flatMap(({ task: { identity, name } }) =>
      identity.owner.uid === vinoUid ? [name] : [],
    );
  }

  /** Ends the work on a machine; nothing, if it is not the one that was handed over last. */
  end(key: WorkKey, work: MachineWork): void {
    if (this.#work.get(key) !== work) return;
    const { group, task, input } = work;
    this.#work.delete(key);
    group.noteEnd();
    this.observation.leave(key);
    if (this.listWorking(task.identity.owner.uid).length > 0) return;
    const vino: Key = toKey(input.vino);
    for (const listener of this.#ended) listener([vino]);
  }
}

function toWorkKey({ owner, role, index }: MachineIdentity): WorkKey {
  return `${owner.uid}/${role}/${index}`;
}

function toSource(listeners: Set<Listener>): KeySource {
  return {
    subscribe: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}
