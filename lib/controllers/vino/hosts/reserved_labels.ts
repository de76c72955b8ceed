/**
 * Labels of BareMetalHosts that no Vino sets: they say whose a host is.
 * @module
 */
import { isWithin, OWN_PREFIX } from "../../../core/text/label.ts";
import { VINO_NAME } from "./words.ts";

/** Labels of SIPClusters say whose a host is: no Vino gives hosts away. */
const CLAIM_DOMAINS = ["sip.airshipit.org"];
const OWN_DOMAIN = OWN_PREFIX.slice(0, -1);

/** Whether only Landfall sets a label. */
export function isReservedForLandfall(key: string): boolean {
  const [domain = ""] = key.split("/");
  return key === VINO_NAME || isWithin(domain, [OWN_DOMAIN, ...CLAIM_DOMAINS]);
}
