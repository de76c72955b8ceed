/**
 * Rounds of changes of the machines of one Vino, and what forbids a change.
 * @module
 */
import type { MachinePlan, MachineStep } from "../../../../cloud/capabilities/machines.ts";
import { toHostName } from "../../hosts/names.ts";
import type { MachinesReport } from "../../status/outcome.ts";
import type { ProgressTracker, MachineTask } from "./progress_tracker.ts";
import { pickDue, runSteps } from "./run_steps.ts";
import { findHostUse } from "../host_use.ts";
import type { ReconcileContext, MachineReconcilerOptions, ReconcileInput } from "../types.ts";

/** What {@linkcode MachineRounds} need. */
export interface RoundsOptions extends Pick<
  MachineReconcilerOptions,
  "clock" | "fence" | "hosts" | "machines" | "machinesMax" | "machineEvents"
> {
  readonly tracker: ProgressTracker;
}

/** What a round is about. */
export interface RoundSubject {
  /** All machines of the Vino, in the order in which they are to be made. */
  readonly tasks: readonly MachineTask[];
  /** What is reported now. */
  readonly toReport: () => MachinesReport;
}

/** Changes machines, one step of each that is due at a time. */
export class MachineRounds {
  readonly #options: RoundsOptions;

  constructor(options: RoundsOptions) {
    this.#options = options;
  }

  /** @returns Whether there was something to do. @throws as {@linkcode runSteps} */
  async run(
    input: ReconcileInput,
    { tasks, toReport }: RoundSubject,
    context: ReconcileContext,
  ): Promise<boolean> {
    const { tracker, machineEvents } = this.#options;
    const due = pickDue(tasks, this.#options);
    if (due.length === 0) return false;
    const beginning = due.filter(
      ({ goal, known }) => goal.kind === "remove" && known && known.entry?.state !== "Removing",
    );
    if (!(await context.confirm())) return true;
    if (beginning.length > 0 && !(await context.announce(toReport()))) return true;
    const round = {
      due,
      record: ({ name, identity, hostId }: MachineTask) =>
        context.records.record({
          name,
          ...identity,
          ...(hostId !== undefined && { host: hostId }),
        }),
      readSeed: (task: MachineTask) => context.readSeed(task),
      findObstacle: (task: MachineTask, plan: MachinePlan) => this.#findObstacle(input, task, plan),
      noteStep: (
        { name, goal }: MachineTask,
        { state }: MachinePlan,
        { summary, isNews }: MachineStep,
      ) => {
        if (isNews !== true) return;
        const isNew = goal.kind === "exist" && state === "Absent";
        if (isNew) machineEvents.recordCreated(input.vino, name, summary);
        else machineEvents.recordChanged(input.vino, name, summary);
      },
    };
    await runSteps(round, this.#options, context.signal);
    for (const { name } of due) {
      const failure = tracker.find(name)?.failure;
      if (failure?.kind === "retry") machineEvents.recordFailed(input.vino, name, failure.message);
    }
    return true;
  }

  #findObstacle(
    { vino, deletes }: ReconcileInput,
    { name, identity, goal, known }: MachineTask,
    plan: MachinePlan,
  ): string | undefined {
    if (goal.kind === "remove") {
      return deletes ? undefined : "Something of it is in the cloud, and deletionPolicy is Retain";
    }
    if (plan.state !== "Absent") return undefined;
    const hostName = toHostName({ vino: vino.metadata.name, ...identity });
    const use = findHostUse(this.#options.hosts, vino, identity);
    const said = use === undefined ? undefined : `BareMetalHost ${hostName} ${use}`;
    if (known?.entry?.state === "Ready")
      this.#options.machineEvents.recordVanished(vino, name, said);
    return said === undefined
      ? undefined
      : `The machine does not exist any more, but ${said}. Delete what uses the host, then Landfall makes it again`;
  }
}
