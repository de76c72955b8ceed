/**
 * What a person should know about addresses that machines of a Vino have. Pure.
 * @module
 */
import type { VinoNetwork } from "../resource/vino.ts";
import type { OpenPool } from "./pools/pool_set.ts";
import { type AddressProblem, toReserved, toStrays } from "./problems.ts";
import { isIn } from "./pools/reshape.ts";
import { findSpan, findSubnet } from "./subnets.ts";

/** Lists addresses that the networks do not give out any more, or that are something else there. */
export function listNotices(
  vino: string,
  networks: readonly VinoNetwork[],
  pools: Iterable<OpenPool>,
): AddressProblem[] {
  return Array.from(pools).flatMap((pool) => {
    const own = networks.filter((network) => findSubnet(network)?.text === pool.subnet.text);
    const [network] = own;
    if (network === undefined) return [];
    const spans = own.flatMap((one) => findSpan(one) ?? []);
    const used = listUsed(vino, pool);
    const strays = used.filter(({ address }) => !isIn(address, spans));
    const clashes = used.flatMap(({ address, ip, machine }) => {
      const what = pool.reserved.get(address);
      return what === undefined ? [] : [toReserved(network, ip, machine, what)];
    });
    return [...(strays.length > 0 ? [toStrays(network, strays)] : []), ...clashes];
  });
}

interface Used {
  readonly address: bigint;
  readonly ip: string;
  readonly machine: string;
}

/** What machines of a Vino had before in a pool. */
function listUsed(vino: string, { index: { byOwner } }: OpenPool): Used[] {
  return Array.from(byOwner.values()).flatMap(({ address, ip, owner }) =>
    owner?.vino === vino ? [{ address, ip, machine: owner.machine }] : [],
  );
}
