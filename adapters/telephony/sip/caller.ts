import type { CallerId } from "../../../src/domain/numbers/caller-id.ts";
import type { Caller, HeaderField } from "../../sip-stack/dialog/user-agent-options.ts";
import { NO_PARAMS } from "../../sip-stack/message/grammar.ts";
import { writeNameAddr } from "../../sip-stack/message/name-addr.ts";
import type { ResolvedTrunk } from "./config/resolve-trunk.ts";
import { uriTextAt } from "./config/trunk-addresses.ts";

/** The From of an anonymous caller (RFC 3323 section 4.1.1.3). */
const ANONYMOUS = nameAddr("sip:anonymous@anonymous.invalid", "Anonymous");
/** Identity fields, in the order of an INVITE's header. */
const IDENTITY_FIELDS = [
  ["p-asserted", "P-Asserted-Identity"],
  ["p-preferred", "P-Preferred-Identity"],
  ["remote-party-id", "Remote-Party-ID"],
] as const;

/**
 * An INVITE's From and identity fields (RFC 3261 section 20.20, RFC 3325 section 9, draft-ietf-sip-privacy-04). A
 * withheld caller is anonymous in From; the identity fields still name the number, for the trunk only.
 */
export function callerFields(trunk: ResolvedTrunk, callerId: CallerId = {}): Caller {
  const { displayName = trunk.displayName, withheld = trunk.withheld } = callerId;
  const number = callerId.phoneNumber === undefined ? undefined : uriTextAt(callerId.phoneNumber, trunk.domain);
  // A trunk that identifies us by the number in From finds it in another field if From is anonymous.
  const uri = number ?? trunk.callerId ?? (withheld && trunk.fromIsNumber ? trunk.from : undefined);
  const fromUri = trunk.identity.includes("from") ? uri : trunk.fromIsNumber ? number : undefined;
  const headers: HeaderField[] = [];
  for (const [kind, name] of IDENTITY_FIELDS) {
    if (uri === undefined || !trunk.identity.includes(kind)) continue;
    const privacy = `;party=calling;privacy=${withheld ? "full" : "off"};screen=no`;
    headers.push([name, `${nameAddr(uri, displayName)}${kind === "remote-party-id" ? privacy : ""}`]);
  }
  if (withheld) headers.push(["Privacy", "id"]);
  return { from: withheld ? ANONYMOUS : nameAddr(fromUri ?? trunk.from, displayName), headers };
}

function nameAddr(uri: string, display: string | undefined): string {
  return writeNameAddr({ display, uri, params: NO_PARAMS });
}
