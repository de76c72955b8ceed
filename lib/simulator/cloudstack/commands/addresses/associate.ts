/**
 * `associateIpAddress` and `disassociateIpAddress`: an account takes a free public address, and gives it back.
 * @module
 */
import { ApiError, toHidden, toInvalid } from "../../replies.ts";
import { free, toSerialKey, wipe } from "../../world/addresses.ts";
import type { PublicIp } from "../../world/records.ts";
import type { CloudStackState } from "../../world/state.ts";
import { findNamed, needText, type Call, type WantedJob } from "../call.ts";
import { checkOwner } from "../owned.ts";
import { toIpReply } from "./ip_reply.ts";

/** Where an address will belong: a network, or a VPC, whose tiers it may serve. */
interface Place {
  readonly ownerId: string;
  readonly zoneId: string;
  readonly target: { readonly networkId: string } | { readonly vpcId: string };
}

/**
 * Takes an address: it is the account's at once, and leads somewhere when the job is done. If the job fails, the
 * address is free again.
 */
export function associate(call: Call): WantedJob {
  const { state, settings, nowMs } = call;
  const place = findPlace(call);
  const ownerId = findNamed(call.parameters, "projectid", state.projects)?.accountId;
  const accountId = ownerId ?? place.ownerId;
  checkOwner(call, accountId, "publicIp");
  checkLimit(accountId, state, settings.publicIpsMax);
  const ip = findFree(call, place.zoneId);
  ip.accountId = accountId;
  ip.allocatedMs = nowMs;
  ip.state = "Allocating";
  ip.turn = toSerialKey({ ...ip, ...place.target });
  return {
    instanceType: "IpAddress",
    instanceId: ip.id,
    serialKey: ip.turn,
    run: () => {
      checkPlace(place, accountId, state);
      Object.assign(ip, place.target);
      // The server shows the state from before.
      const ipaddress = toIpReply(ip, state);
      ip.state = "Allocated";
      delete ip.turn;
      return { ipaddress };
    },
    undo: () => free(state, ip),
  };
}

/** Gives an address back. First, every rule on it goes, those of other people included. */
export function disassociate(call: Call): WantedJob {
  const { state } = call;
  const ip = needIp(call);
  if (ip.accountId === undefined) throw toHidden();
  return {
    instanceType: "IpAddress",
    instanceId: ip.id,
    serialKey: toSerialKey(ip),
    begin: () => {
      if (ip.isSourceNat) {
        throw new ApiError(
          530,
          "IP address is used for source nat purposes and can not be disassociated.",
        );
      }
      if (ip.accountId === undefined) return;
      ip.state = "Releasing";
      wipe(state, ip);
    },
    run: () => {
      free(state, ip);
      return { success: true };
    },
  };
}

/** A VPC counts before a network. */
function findPlace({ parameters, state }: Call): Place {
  const vpc = findNamed(parameters, "vpcid", state.vpcs);
  if (vpc !== undefined) {
    return { ownerId: vpc.accountId, zoneId: vpc.zoneId, target: { vpcId: vpc.id } };
  }
  const network = findNamed(parameters, "networkid", state.networks);
  if (network !== undefined) {
    const { id, accountId, zoneId } = network;
    return { ownerId: accountId, zoneId, target: { networkId: id } };
  }
  const text = "Please specify either zoneId, or networkId, or vpcId in the call";
  throw toInvalid(`Unable to figure out zone to assign ip to. ${text}`);
}

/** What the job finds out, so that it gives the address back. */
function checkPlace({ ownerId, target }: Place, accountId: string, state: CloudStackState): void {
  const network = "networkId" in target ? state.networks.get(target.networkId) : undefined;
  if (network?.vpcId !== undefined) {
    const text = "Can't assign ip to the network directly when network belongs to VPC.";
    throw toInvalid(`${text}Specify vpcId to associate ip address to VPC`);
  }
  if (accountId === ownerId) return;
  throw toInvalid("The owner of the IP address is not the owner of the network");
}

function checkLimit(accountId: string, state: CloudStackState, max: number): void {
  const owned = [...state.publicIps.values()].filter((ip) => ip.accountId === accountId);
  if (owned.length < max) return;
  const whose = `for account: ${state.accounts.get(accountId)?.name}`;
  throw new ApiError(
    532,
    `Maximum number of public IP addresses ${whose} has been exceeded.`,
    4280,
  );
}

/** Exactly the address that is asked for, or the first one that is free. */
function findFree({ parameters, state }: Call, zoneId: string): PublicIp {
  const wanted = parameters.get("ipaddress");
  const found = [...state.publicIps.values()].find(
    (ip) =>
      ip.state === "Free" &&
      ip.zoneId === zoneId &&
      (wanted === undefined || wanted === ip.address),
  );
  if (found === undefined) throw new ApiError(533, "Insufficient address capacity");
  return found;
}

function needIp(call: Call): PublicIp {
  const { parameters, state } = call;
  const address = parameters.get("ipaddress");
  const byId = findNamed(parameters, "id", state.publicIps);
  const ip = byId ?? [...state.publicIps.values()].find((one) => one.address === address);
  if (ip === undefined) {
    needText(parameters, "id");
    throw toInvalid("Unable to find IP address by id");
  }
  if (ip.accountId !== undefined) checkOwner(call, ip.accountId, ip.address);
  return ip;
}
