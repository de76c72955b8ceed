/**
 * The machines of a Vino as a table: where each is, what it waits for, and what uses its BareMetalHost.
 * @module
 */
/** @jsxImportSource hono/jsx */
import type { JSX } from "hono/jsx/jsx-runtime";
import { toMachinePath, toVinoKey, toVinoPath } from "../../vinos/keys.ts";
import { describeHost, describeUse } from "../../vinos/replies.ts";
import type { CloudMachineView, CloudView, VinoMachineView, VinoView } from "../../vinos/views.ts";
import { CardTable } from "../card_table.tsx";
import { KindMark } from "../marks.tsx";
import { findHostId } from "./places.ts";
import { judgeMachine, MACHINE_LOOKS } from "./state.ts";

/** What the table shows. */
interface MachineTableOptions {
  readonly vino: VinoView;
  /** Those to show. */
  readonly machines: readonly VinoMachineView[];
  /** Whether the page is about one machine only. */
  readonly isOne: boolean;
  /** Absent: there is no inventory yet. */
  readonly cloud?: CloudView;
  readonly base: string;
}

/** More rows are not useful. */
const ROWS_MAX = 500;
const TITLES = ["Machine", "State", "Host", "Address", "BareMetalHost", "Used by"];

/** The table. */
export function MachineTable(options: MachineTableOptions): JSX.Element {
  const { vino, machines, isOne, cloud, base } = options;
  const key = toVinoKey(vino);
  const hosts = new Map(cloud?.hosts.map(({ id, name }) => [id, name]));
  const shown = new Map(cloud?.machines.map((one) => [one.name, one]));
  const listed = machines.slice(0, ROWS_MAX);
  const likes = findLikes(listed);
  return (
    <section aria-labelledby="machines">
      <h2 id="machines">{isOne ? "One of its machines" : "Machines"}</h2>
      {isOne ? (
        <p>
          <a href={toVinoPath(base, key)}>All machines of this Vino</a>
        </p>
      ) : null}
      {machines.length === 0 ? <p class="soft">There is none.</p> : null}
      {machines.length === 0 ? null : (
        <CardTable
          titles={TITLES}
          kind="nodes machines"
          items={machines}
          max={ROWS_MAX}
          rest="The JSON has all."
          row={(machine) => (
            <Row
              machine={machine}
              like={likes.get(machine.name)}
              shown={shown.get(machine.name)}
              hosts={hosts}
              namespace={vino.namespace}
              path={toMachinePath(base, key, machine.name)}
            />
          )}
        />
      )}
    </section>
  );
}

/** By machine that waits for the same as one above it, the name of that one. */
function findLikes(machines: readonly VinoMachineView[]): ReadonlyMap<string, string> {
  const groups = Map.groupBy(machines, ({ name, message = "" }) => message.replaceAll(name, ""));
  groups.delete("");
  const pairs = [...groups.values()].flatMap(([first, ...others]) =>
    others.map(({ name }) => [name, first?.name ?? ""] as const),
  );
  return new Map(pairs);
}

function Row({
  machine,
  like,
  shown,
  hosts,
  namespace,
  path,
}: {
  readonly machine: VinoMachineView;
  /** Name of a machine above it that waits for the same. */
  readonly like: string | undefined;
  readonly shown: CloudMachineView | undefined;
  /** Names by ID. */
  readonly hosts: ReadonlyMap<string, string>;
  readonly namespace: string;
  readonly path: string;
}): JSX.Element {
  const { name, message, machineId, host = "", hostName } = machine;
  const hostId = findHostId({ machine, ...(shown && { shown }) }) ?? "";
  const isElsewhere = host !== "" && hostId !== host;
  return (
    <tr>
      <th scope="row">
        <a href={path}>{name}</a>
        {machineId === undefined ? null : <p class="id">{machineId}</p>}
      </th>
      <td>
        <KindMark {...MACHINE_LOOKS[judgeMachine(machine, shown)]} />
        {message === undefined ? null : (
          <p class="why soft">{like === undefined ? message : `the same as ${like}`}</p>
        )}
      </td>
      <td data-label={TITLES[2]}>
        {hosts.get(hostId) ?? hostId}
        {isElsewhere ? <p class="soft">made for {hosts.get(host) ?? host}</p> : null}
        {shown === undefined ? null : <p class="soft">{shown.power}</p>}
      </td>
      <td data-label={TITLES[3]}>{machine.address ?? ""}</td>
      <td data-label={TITLES[4]}>
        {hostName === undefined || machine.bareMetalHost === undefined
          ? ""
          : `${namespace}/${hostName}`}
        {machine.bareMetalHost === undefined ? null : <p class="soft">{describeHost(machine)}</p>}
      </td>
      <td data-label={TITLES[5]}>{describeUse(machine)}</td>
    </tr>
  );
}
