/**
 * Breaks of how the load balancers of CloudStack are planned.
 * @module
 */
import { type Break, edit } from "../../break.ts";

const FOLDER = "lib/providers/cloudstack/load_balancers";
const PLAN = `${FOLDER}/plan`;
const CLIENTS = `${FOLDER}/clients`;
const WANTED = `${FOLDER}/wanted`;
const TESTS = "test/providers/cloudstack/load_balancers";
const STORIES = `${TESTS}/plan/plan_property_test.ts`;
const PLAN_TESTS = `${TESTS}/plan/plan_test.ts`;
const ADDRESS_TESTS = `${TESTS}/plan/addresses_test.ts`;
const OWNER_TESTS = `${TESTS}/plan/ownership_test.ts`;
const RELEASE_TESTS = `${TESTS}/plan/release_test.ts`;

const OWNERSHIP: readonly Break[] = [
  {
    id: "release-users-address",
    invariant: "an address that is not proven to be of the Service is never released",
    edits: edit(
      `${PLAN}/release.ts`,
      "if (!isOwnOrProven(scene, address)) {",
      "if (!isOwnOrProven(scene, address) && address === scene) {",
    ),
    tests: [RELEASE_TESTS],
  },
  {
    id: "leftover-of-another-cluster",
    invariant: "an address of another cluster is no leftover",
    edits: edit(`${FOLDER}/reading/leftovers.ts`, "!isOfCluster(tags, view.clusterIds) || ", ""),
    tests: [`${TESTS}/reading/leftovers_test.ts`],
  },
  {
    id: "leftover-in-use",
    invariant: "an address that another Service has rules on is no leftover",
    edits: edit(
      `${FOLDER}/reading/leftovers.ts`,
      'lbNames.has(parseRuleName(name)?.lbName ?? "")',
      "lbNames.has(name)",
    ),
    tests: [`${TESTS}/reading/leftovers_test.ts`],
  },
  {
    id: "plan-release-of-used-address",
    invariant: "an address that others use is never released",
    edits: edit(
      `${PLAN}/release.ts`,
      "if (uses.length > 0) return",
      "if (uses.length > 1_000) return",
    ),
    tests: [RELEASE_TESTS],
  },
  {
    id: "trust-taken-by-others",
    invariant:
      "an address that another user took is not of the Service, although the record names it",
    edits: edit(
      `${PLAN}/ownership.ts`,
      `(taker === "us" || (taker === undefined && isProof))`,
      `(taker === "us" || isProof)`,
    ),
    tests: [OWNER_TESTS],
  },
  {
    id: "trust-old-record",
    invariant: "a record that a user may have kept for long proves nothing by itself",
    edits: edit(
      `${PLAN}/ownership.ts`,
      "const isProof = asked.wasFree && scene.view.takenAtWallMs <= asked.atMs + PROOF_MS;",
      "const isProof = asked.wasFree && scene.view.takenAtWallMs <= asked.atMs + 2 * PROOF_MS;",
    ),
    tests: [OWNER_TESTS],
  },
  {
    id: "trust-record-despite-tags",
    invariant: "an address with tags of others is not of the Service, although the record names it",
    edits: edit(
      `${PLAN}/ownership.ts`,
      "address.tags.size === 0 && listUses(scene, address)",
      "listUses(scene, address)",
    ),
    tests: [OWNER_TESTS],
  },
  {
    id: "trust-record-elsewhere",
    invariant: "an address outside the place that it was asked for is not of the Service",
    edits: edit(
      `${PLAN}/ownership.ts`,
      `"vpcId" in place ? vpcId === place.vpcId : networkId === place.networkId`,
      `"vpcId" in place ? vpcId === place.vpcId : networkId !== place.vpcId`,
    ),
    tests: [OWNER_TESTS],
  },
  {
    id: "trust-annotation-of-1x",
    invariant: "after a change of the field, the annotation of 1.x does not make an address ours",
    edits: edit(
      `${PLAN}/ownership.ts`,
      "return claim.address === address.ip && isAssociatedBy1x(claim.annotations);",
      "return claim.address !== address || isAssociatedBy1x(claim.annotations);",
    ),
    tests: [OWNER_TESTS, RELEASE_TESTS],
  },
  {
    id: "claim-described-rules",
    invariant: "an address whose rules have a description was not left by 1.x",
    edits: edit(
      `${PLAN}/ownership.ts`,
      "rules.length > 0 && rules.every(({ description }) => isOf1x(description))",
      "rules.length > 0 && rules.every(({ description }) => isOf1x(description) || description)",
    ),
    tests: [OWNER_TESTS],
  },
  {
    id: "forget-unanswered-address",
    invariant:
      "a release waits while an address that was asked for without an answer may still come",
    edits: edit(
      `${PLAN}/ownership.ts`,
      "if (isShown || untilMs <= view.takenAtWallMs) return [];",
      "if (isShown || untilMs >= view.takenAtWallMs) return [];",
    ),
    tests: [RELEASE_TESTS],
  },
  {
    id: "inherit-from-the-living",
    invariant: "an address of a Service that has its load balancer is never released for another",
    edits: edit(
      `${FOLDER}/reading/inheritance.ts`,
      "return view.findHolder((one) => one === owner)?.isLeaving ?? true;",
      "return view.findHolder((one) => one === owner)?.isLeaving !== undefined || true;",
    ),
    tests: [`${TESTS}/reading/inheritance_test.ts`, RELEASE_TESTS],
  },
  {
    id: "leave-inherited-address",
    invariant: "an address of a Service that is gone goes with the last Service that uses it",
    edits: edit(
      `${PLAN}/scene.ts`,
      "return isOwn(scene, address) || scene.inherited.has(address.id);",
      "return isOwn(scene, address);",
    ),
    tests: [RELEASE_TESTS, OWNER_TESTS],
  },
  {
    id: "forget-shared-address",
    invariant: "a Service that leaves an address of another one is known to have used it",
    edits: edit(
      `${PLAN}/release.ts`,
      "[...tagging, ...planNaming(scene, address), ...orphans, ...removal]",
      "[...tagging, ...orphans, ...removal]",
    ),
    tests: [RELEASE_TESTS],
  },
  {
    id: "untag-after-rules",
    invariant: "an address of 1.x is tagged before the rules go that prove whose it is",
    edits: edit(
      `${PLAN}/release.ts`,
      "[...tagging, ...planNaming(scene, address), ...orphans, ...removal]",
      "[...planNaming(scene, address), ...orphans, ...removal, ...tagging]",
    ),
    tests: [RELEASE_TESTS],
  },
  {
    id: "take-second-address",
    invariant: "a Service with an address takes no other one",
    edits: edit(
      `${PLAN}/addresses.ts`,
      "if (found !== undefined) return useAddress(scene, found, newNetwork);",
      "if (found === scene) return useAddress(scene, found, newNetwork);",
    ),
    tests: [ADDRESS_TESTS, STORIES],
  },
  {
    id: "take-while-allocating",
    invariant: "no address is taken while CloudStack is still taking one for the Service",
    edits: edit(
      `${PLAN}/ownership.ts`,
      `state === "Allocating" && tags.size === 0`,
      `state === "Allocated" && tags.size === 0`,
    ),
    tests: [ADDRESS_TESTS, RELEASE_TESTS],
  },
  {
    id: "use-static-nat",
    invariant: "an address with static NAT gets no rules",
    edits: edit(
      `${PLAN}/addresses.ts`,
      `if (address.isStaticNat) return cannot("has static NAT: disable it, or name another address");`,
      `if (address === cannot) return cannot("has static NAT: disable it, or name another address");`,
    ),
    tests: [ADDRESS_TESTS],
  },
  {
    id: "leave-old-address-early",
    invariant: "an address stays until the new one works and the status shows it",
    edits: edit(
      `${PLAN}/plan.ts`,
      "others.length > 0 && (!works || others.some((one) => isShown(scene, one)))",
      "others.length > 0 && !works",
    ),
    tests: [PLAN_TESTS],
  },
  {
    id: "leave-before-new-works",
    invariant: "an address stays while the new one does not work",
    edits: edit(
      `${PLAN}/plan.ts`,
      "if (isHeld) { const rules = others",
      "if (isHeld && others === rules) { const rules = others",
    ),
    tests: [PLAN_TESTS],
  },
];

const CLIENT_BREAKS: readonly Break[] = [
  {
    id: "open-for-empty-sources",
    invariant: "sources that cannot be read never let everyone in",
    edits: edit(
      `${WANTED}/wanted.ts`,
      `if (isWaiting(sources.problems) || wishes.sourceCidrs === "refused") return { asked, problems };`,
      `if (isWaiting(sources.problems)) return { asked, problems };`,
    ),
    tests: [`${TESTS}/wanted/wanted_test.ts`, PLAN_TESTS],
  },
  {
    id: "widen-rule-first",
    invariant: "a rule loses its own list only after the firewall and the ACL keep clients out",
    edits: edit(
      `${PLAN}/ports.ts`,
      "keeping: [...inPart(part, [...before, ...after]), ...planBackends(scene, rule, backends)], " +
        "steps: inPart(part, [...planUpdate(ruleSite, rule),",
      "keeping: [...planUpdate(ruleSite, rule), ...planBackends(scene, rule, backends)], " +
        "steps: inPart(part, [...before, ...after,",
    ),
    tests: [`${TESTS}/plan/ports_test.ts`],
  },
  {
    id: "make-rule-without-list",
    invariant: "where nothing else restricts clients, a rule is made with a list of its own",
    edits: edit(`${PLAN}/rules.ts`, "...(cidrs && { cidrs })", "...(!cidrs && { cidrs })"),
    tests: [STORIES, `${TESTS}/plan/rules_test.ts`],
  },
  {
    id: "open-on-old-server",
    invariant: "a restricted Service is refused where no means can restrict clients",
    edits: edit(
      `${PLAN}/ports.ts`,
      "if (needsList && !canHaveList) {",
      "if (needsList && canHaveList) {",
    ),
    tests: [`${TESTS}/plan/ports_test.ts`],
  },
  {
    id: "rely-on-acl-alone",
    invariant:
      "in a tier, a restricted rule has a list of its own, because other Services share the ACL list",
    edits: edit(
      `${CLIENTS}/gate.ts`,
      `if (gate.kind === "acl" && !hasRuleLists(site.scene.view)) {`,
      `if (gate.kind === "acl") {`,
    ),
    tests: [`${TESTS}/clients/gate_test.ts`],
  },
  {
    id: "open-neighbour-in-tier",
    invariant: "before 4.18, an ACL item does not open another Service with the same port",
    edits: edit(
      `${CLIENTS}/acl.ts`,
      "if (opened !== undefined) return { before: [], after: [], problems: [opened] };",
      "if (opened === null) return { before: [], after: [], problems: [opened] };",
    ),
    tests: [`${TESTS}/clients/acl_test.ts`],
  },
  {
    id: "overlook-wider-firewall",
    invariant: "a range of others that lets more clients in does not open a restricted Service",
    edits: edit(
      `${CLIENTS}/gate.ts`,
      `if (gate.kind === "firewall") return isFirewallWider(site); if (gate.kind === "acl" &&`,
      `if (gate.kind === "firewall") return !site; if (gate.kind === "acl" &&`,
    ),
    tests: [`${TESTS}/plan/ports_test.ts`],
  },
  {
    id: "replace-firewall-last",
    invariant:
      "a firewall rule that shares a block with the new one goes first, because CloudStack refuses both",
    edits: edit(
      `${CLIENTS}/firewall.ts`,
      "...first.map(remove), toCreation(site, wanted),",
      "toCreation(site, wanted), ...first.map(remove),",
    ),
    tests: [`${TESTS}/clients/firewall_test.ts`],
  },
  {
    id: "cut-off-for-disjoint-blocks",
    invariant: "a firewall rule without a common block is replaced without an outage",
    edits: edit(
      `${CLIENTS}/firewall.ts`,
      "const first = others.filter((one) => mayShare(one, wanted));",
      "const first = others.filter((one) => mayShare(one, wanted) || one);",
    ),
    tests: [`${TESTS}/clients/firewall_test.ts`],
  },
  {
    id: "take-users-firewall-rule",
    invariant: "a firewall rule that was on the user's address before our rule stays",
    edits: edit(
      `${CLIENTS}/firewall.ts`,
      "if (rule === undefined && !isOwn && exact.length > 0)",
      "if (rule === undefined && !isOwn && exact.length > 1_000)",
    ),
    tests: [`${TESTS}/clients/firewall_test.ts`],
  },
  {
    id: "take-range-for-ours",
    invariant: "a firewall rule for a range of ports is of others",
    edits: edit(
      `${CLIENTS}/firewall.ts`,
      "one.protocol === port.ipProtocol && exact.includes(one)",
      "one.protocol === port.ipProtocol || exact.includes(one)",
    ),
    tests: [`${TESTS}/clients/firewall_test.ts`],
  },
  {
    id: "share-acl-item",
    invariant:
      "an ACL item of another load balancer does not count, because it goes with the other one",
    edits: edit(
      `${CLIENTS}/acl.ts`,
      "(one) => !isOfAny(one) && one.isIngress && isExactly(one, port)",
      "(one) => one.isIngress && isExactly(one, port)",
    ),
    tests: [`${TESTS}/clients/acl_test.ts`],
  },
  {
    id: "take-shared-item-of-1x",
    invariant: "an ACL item of 1.x stays while another Service of 1.x may need it",
    edits: edit(`${CLIENTS}/acl.ts`, "if (isShared) return [];", "void isShared;"),
    tests: [`${TESTS}/clients/acl_test.ts`],
  },
  {
    id: "pass-blocklist",
    invariant: "an ACL item is not put in front of an item that denies only some clients",
    edits: edit(
      `${CLIENTS}/acl.ts`,
      `one.isIngress && !one.isAllow && isAbout(one, port) && isFor(one, wanted, "more")`,
      `one.isIngress && !one.isAllow && isAbout(one, port) && (one || isFor(one, wanted, "more"))`,
    ),
    tests: [`${TESTS}/clients/acl_test.ts`],
  },
  {
    id: "delete-rule-first",
    invariant: "what lets clients in goes before the rule, which is the last proof",
    edits: edit(
      `${PLAN}/removal.ts`,
      "...planClosing(scene, rule, isNeeded), toDeletion(scene, rule)",
      "toDeletion(scene, rule), ...planClosing(scene, rule, isNeeded)",
    ),
    tests: [`${TESTS}/plan/removal_test.ts`],
  },
];

const RULE_BREAKS: readonly Break[] = [
  {
    id: "take-port-of-others",
    invariant: "a port with a rule of others is left alone, and the rule is named",
    edits: edit(
      `${PLAN}/ports.ts`,
      "if (rule === undefined && foreign !== undefined) {",
      "if (rule !== undefined && foreign !== undefined) {",
    ),
    tests: [`${TESTS}/plan/ports_test.ts`, STORIES],
  },
  {
    id: "take-rules-by-prefix",
    invariant: "a rule is of a Service only if its name is exactly one that Landfall or 1.x makes",
    edits: edit(
      `${PLAN}/scene.ts`,
      "ruleName.startsWith(`${lbName}-`) && parseRuleName(ruleName)?.lbName === lbName",
      "ruleName.startsWith(`${lbName}-`) || parseRuleName(ruleName)?.lbName === lbName",
    ),
    tests: [`${TESTS}/plan/scene_test.ts`],
  },
  {
    id: "update-protocol",
    invariant: "a change of protocol reaches the router",
    edits: edit(
      `${PLAN}/rules.ts`,
      "rule.privatePort !== port.privatePort || rule.protocol !== port.protocol ||",
      "rule.privatePort !== port.privatePort ||",
    ),
    tests: [`${TESTS}/plan/rules_test.ts`, PLAN_TESTS],
  },
  {
    id: "allow-both-protocols",
    invariant: "a Service with TCP and UDP on one port is refused before anything is taken",
    edits: edit(
      `${WANTED}/wanted.ts`,
      "numbers.filter((one) => seen.has(one) || !seen.add(one))",
      "numbers.filter((one) => seen.has(one) && !seen.add(one))",
    ),
    tests: [`${TESTS}/wanted/wanted_test.ts`],
  },
  {
    id: "remove-unknown-backends",
    invariant: "no backend is removed while the VM of a Node is not known",
    edits: edit(
      `${PLAN}/backends.ts`,
      "(id) => isWhole || view.vms.get(id)?.isGone === true",
      "(id) => isWhole || view.vms.get(id)?.isGone !== id",
    ),
    tests: [`${TESTS}/plan/backends_test.ts`],
  },
  {
    id: "add-backend-outside",
    invariant: "only VMs in the network of a rule are put behind it",
    edits: edit(
      `${PLAN}/backends.ts`,
      "!vm.isGone && hasNic(vm, networkId)",
      "!vm.isGone && (vm || hasNic(vm, networkId))",
    ),
    tests: [`${TESTS}/plan/backends_test.ts`],
  },
  {
    id: "add-unknown-backends",
    invariant: "backends are not added while it is not known which ones a rule has",
    edits: edit(
      `${PLAN}/backends.ts`,
      "const members = view.members.get(rule.id); if (members === undefined) return [];",
      "const members = view.members.get(rule.id) ?? new Set();",
    ),
    tests: [`${TESTS}/plan/backends_test.ts`],
  },
  {
    id: "replace-policy-of-others",
    invariant: "a stickiness policy of others stays",
    edits: edit(`${PLAN}/stickiness.ts`, "if (foreign !== undefined) {", "if (foreign === null) {"),
    tests: [`${TESTS}/plan/stickiness_test.ts`],
  },
  {
    id: "drop-policy-of-bad-wish",
    invariant: "a refused change of stickiness leaves the old policy",
    edits: edit(
      `${PLAN}/stickiness.ts`,
      `if (wish === "refused") return NOTHING;`,
      `if (wish === NOTHING) return NOTHING;`,
    ),
    tests: [`${TESTS}/plan/stickiness_test.ts`, PLAN_TESTS],
  },
  {
    id: "show-ip-beside-hostname",
    invariant: "a status with a hostname shows no IP",
    edits: edit(
      `${PLAN}/status.ts`,
      `if (hostname !== undefined) return [{ hostname }];
       const isProxy = ports.some(({ protocol }) => protocol === "tcp-proxy");
       return [{ ip, ipMode: isProxy ? "Proxy" : "VIP" }];`,
      `if (hostname !== undefined) return [{ hostname }, { ip }];
       const isProxy = ports.some(({ protocol }) => protocol === "tcp-proxy");
       return [{ ip, ipMode: isProxy ? "Proxy" : "VIP" }];`,
    ),
    tests: [`${TESTS}/plan/status_test.ts`],
  },
  {
    id: "show-before-it-works",
    invariant: "the status shows an address only when all of it works",
    edits: edit(
      `${PLAN}/plan.ts`,
      "const works = keeping.length + making.length === 0 && !isWaiting(problems);",
      "const works = keeping.length + making.length === 0 || !isWaiting(problems);",
    ),
    tests: [PLAN_TESTS],
  },
  {
    id: "make-first",
    invariant: "while CloudStack refuses a part of a Service, its other rules still lose clients",
    edits: edit(
      `${PLAN}/plan.ts`,
      "...keeping, ...rest.keeping, ...making,",
      "...making, ...keeping, ...rest.keeping,",
    ),
    tests: [PLAN_TESTS],
  },
  {
    id: "take-orphans-of-others",
    invariant: "a release leaves the firewall rules of another Service on its address",
    edits: edit(
      `${CLIENTS}/firewall.ts`,
      "one.protocol === protocol.toLowerCase() && !hasRule(one, port)",
      "one.protocol === protocol.toLowerCase() || !hasRule(one, port)",
    ),
    tests: [RELEASE_TESTS],
  },
  {
    id: "forget-orphans",
    invariant: "a release removes the firewall rule of a load-balancer rule that went by itself",
    edits: edit(
      `${CLIENTS}/firewall.ts`,
      "return [...new Set([...asked, ...seen])];",
      "return asked;",
    ),
    tests: [`${TESTS}/clients/firewall_test.ts`],
  },
  {
    id: "forget-serving",
    invariant: "a Service that asks for something impossible keeps its backends up to date",
    edits: edit(
      `${PLAN}/plan.ts`,
      "const steps = planKeeping(scene, scene.rules, spec, who);",
      "const steps = planKeeping(scene, [], spec, who);",
    ),
    tests: [PLAN_TESTS],
  },
  {
    id: "open-what-is-not-asked-for",
    invariant: "no client gets in at a port that the Service does not ask for any more",
    edits: edit(
      `${PLAN}/keeping.ts`,
      "if (!isAsked) return inPart(part, planClosing(scene, rule, isNeeded));",
      "if (isAsked && !isAsked) return inPart(part, planClosing(scene, rule, isNeeded));",
    ),
    tests: [`${TESTS}/plan/keeping_test.ts`],
  },
  {
    id: "create-beside-unreadable",
    invariant: "nothing is made while an object that may be of the Service cannot be read",
    edits: edit(
      `${PLAN}/plan.ts`,
      "if (wanted === undefined || unreadable.length > 0) {",
      "if (wanted === undefined || unreadable.length > 1_000) {",
    ),
    tests: [`${TESTS}/plan/unreadable_test.ts`],
  },
];

export const LOAD_BALANCER_PLAN_BREAKS: readonly Break[] = [
  ...OWNERSHIP,
  ...CLIENT_BREAKS,
  ...RULE_BREAKS,
];
