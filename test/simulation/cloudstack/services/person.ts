/**
 * The person in a story, as far as addresses are concerned: reads what Landfall says of them, and releases those that
 * only people may release.
 * @module
 */
import type { KubeEvent } from "../../../../lib/kube/kinds/event.ts";
import { free } from "../../../../lib/simulator/cloudstack/world/addresses.ts";
import type { World } from "../../world/mod.ts";
import type { CloudStackBalancing } from "./balancing.ts";

/** What Landfall says of an address that it may have taken and cannot prove to be its own. */
const NOT_OURS = "AddressNotOurs";

/** Releases the addresses that Landfall says it may have taken, if nothing needs them. */
export function decideAddresses({ server, trace }: World, balancing: CloudStackBalancing): void {
  const { cloud, book, judge } = balancing;
  for (const event of server.objects.list("events") as unknown as readonly KubeEvent[]) {
    if (event.reason !== NOT_OURS) continue;
    for (const ip of cloud.state.publicIps.values()) {
      const isNamed = event.message?.includes(`${ip.address} `) ?? false;
      const isNeeded = book.has(ip.id) || cloud.state.tags.of(ip.id).length > 0;
      if (!isNamed || isNeeded || ip.accountId === undefined || book.isUsed(ip.id)) continue;
      trace.note("PERSON", `releases ${ip.address}: ${event.message}`);
      free(cloud.state, ip);
      judge.accept();
    }
  }
}
