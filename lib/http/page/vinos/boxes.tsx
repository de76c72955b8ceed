/**
 * Pools and hosts of the cloud as boxes within boxes, with machines as tiles.
 * @module
 */
/** @jsxImportSource hono/jsx */
import type { JSX } from "hono/jsx/jsx-runtime";
import { describeUse } from "../../vinos/replies.ts";
import { toMachinePath, toVinoPath } from "../../vinos/keys.ts";
import { formatCount, KindBar, KindTally } from "../marks.tsx";
import {
  countTiles,
  type HostPlace,
  type MachineTile,
  type Places,
  type PoolPlace,
} from "./places.ts";
import { MACHINE_LOOKS } from "./state.ts";

/** With more machines or hosts than this in total, the boxes of hosts are closed at first. */
const OPEN_MAX = 300;

/** All pools, then machines whose place is not known. */
export function PlaceBoxes({
  places: { pools, others },
  base,
}: {
  readonly places: Places;
  readonly base: string;
}): JSX.Element {
  const sizes = pools.map(({ hosts }) => hosts.length + countAll(hosts));
  const isOpen = sizes.reduce((sum, size) => sum + size, others.length) <= OPEN_MAX;
  return (
    <section aria-labelledby="places">
      <h2 id="places">Where they are</h2>
      {pools.map((place) => (
        <PoolBox place={place} isOpen={isOpen} base={base} />
      ))}
      {pools.length === 0 ? (
        <p class="soft">This process has no inventory with hosts yet.</p>
      ) : null}
      {others.length === 0 ? null : (
        <details class="box" id="box-nowhere" open={isOpen}>
          <summary>
            <span class="head">
              <b>No known place</b>
              <span class="soft">The cloud shows neither these machines nor their hosts.</span>
            </span>
            <span class="count tally">{formatCount(others.length, "machine")}</span>
          </summary>
          <div class="inside">
            <Tiles tiles={others} base={base} />
          </div>
        </details>
      )}
    </section>
  );
}

function countAll(hosts: readonly HostPlace[]): number {
  return hosts.reduce((sum, { tiles }) => sum + tiles.length, 0);
}

function PoolBox({
  place: { pool, hosts, loose, counts },
  isOpen,
  base,
}: {
  readonly place: PoolPlace;
  readonly isOpen: boolean;
  readonly base: string;
}): JSX.Element {
  return (
    <details class="box tall" id={`box-${encodeURIComponent(pool.id.toWellFormed())}`} open>
      <summary>
        <span class="head">
          <span class="soft">pool</span>
          <b>{pool.name}</b>
          {pool.name === pool.id ? null : <span class="id">{pool.id}</span>}
        </span>
        {counts.length > 0 ? (
          <KindTally counts={counts} states={MACHINE_LOOKS} />
        ) : (
          <span class="tally soft">empty</span>
        )}
        <KindBar counts={counts} states={MACHINE_LOOKS} />
        {pool.isComplete ? null : (
          <span class="problem s-unseen mark">It is not shown in full: more may be in it</span>
        )}
      </summary>
      <div class="inside">
        <div class="grid">
          {hosts.map((one) => (
            <HostBox place={one} isOpen={isOpen} base={base} />
          ))}
          {loose.length === 0 ? null : (
            <div class="loose">
              <h3>on no host now</h3>
              <Tiles tiles={loose} base={base} />
            </div>
          )}
        </div>
      </div>
    </details>
  );
}

function HostBox({
  place: { host, tiles },
  isOpen,
  base,
}: {
  readonly place: HostPlace;
  readonly isOpen: boolean;
  readonly base: string;
}): JSX.Element {
  const counts = countTiles(tiles);
  return (
    <details
      class="box tall"
      id={`box-host-${encodeURIComponent(host.id.toWellFormed())}`}
      open={isOpen && tiles.length > 0}
    >
      <summary>
        <span class="head">
          <span class="soft">host</span>
          <b>{host.name}</b>
          {host.isEnabled ? null : <span class="mark s-notReady">disabled</span>}
        </span>
        {counts.length > 1 ? (
          <KindTally counts={counts} states={MACHINE_LOOKS} />
        ) : (
          <span class="count tally">{formatCount(tiles.length, "machine")}</span>
        )}
      </summary>
      <div class="inside">
        {tiles.length === 0 ? <p class="soft">It has no machines of Vinos.</p> : null}
        <Tiles tiles={tiles} base={base} />
      </div>
    </details>
  );
}

function Tiles({
  tiles,
  base,
}: {
  readonly tiles: readonly MachineTile[];
  readonly base: string;
}): JSX.Element {
  return (
    <ul class="tiles">
      {tiles.map((tile) => (
        <li>
          <Tile tile={tile} base={base} />
        </li>
      ))}
    </ul>
  );
}

function Tile({ tile, base }: { readonly tile: MachineTile; readonly base: string }): JSX.Element {
  const { name, look, vino, machine } = tile;
  const { word, looksLike } = MACHINE_LOOKS[look];
  const title = [machine?.address, machine?.message].filter(Boolean).join(", ") || undefined;
  if (vino === undefined) {
    return (
      <span class={`dot s-${looksLike}`} title={title}>
        {name}
        <i>{word}</i>
      </span>
    );
  }
  const use = machine === undefined ? "" : describeUse(machine);
  const words = [look === "ready" ? "" : word, use].filter(Boolean).join(" · ");
  const path =
    machine === undefined ? toVinoPath(base, vino) : toMachinePath(base, vino, machine.name);
  return (
    <a class={`dot s-${looksLike}`} href={path} title={title}>
      {machine === undefined ? name : `${vino} ${machine.role}-${machine.index}`}
      {words === "" ? null : <i>{words}</i>}
    </a>
  );
}
