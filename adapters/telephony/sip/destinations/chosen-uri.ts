import { DialError } from "../../../../src/ports/telephony.ts";
import { parseUri } from "../../../sip-stack/message/uri.ts";
import type { CarrierDialOptions } from "../carrier.ts";
import type { ResolvedTrunk } from "../config/resolve-trunk.ts";
import { mayFollow, type RefusalOf } from "./destinations.ts";

/**
 * Makes sure that the URI a call has chosen leads to no number that must not be called.
 * @param refusalOf the trunk's own rule for numbers
 * @throws {DialError} `rejected_by_network`
 */
export async function assertUriCallable(
  { format }: Pick<ResolvedTrunk, "format">,
  { sip, mayCall }: Pick<CarrierDialOptions, "sip" | "mayCall">,
  refusalOf: RefusalOf,
): Promise<void> {
  if (sip?.uri === undefined) return;
  const uri = parseUri(sip.uri);
  const refuses = async (e164: string): Promise<string | undefined> =>
    refusalOf(e164) ?? ((await mayCall?.(e164)) === false ? `this call may not lead to ${e164}` : undefined);
  if (uri !== undefined && (await mayFollow(uri, refuses, format))) return;
  throw new DialError(
    "rejected_by_network",
    `not dialled: ${sip.uri} is no URI, or leads to a number that is not called`,
  );
}
