import { dtmfTones } from "../../audio/tones/dtmf.ts";
import { extensionParts } from "../../domain/calls/extension.ts";
import type { Leg } from "../../ports/telephony.ts";
import type { Context } from "../context.ts";
import type { Prelude } from "./prelude.ts";

/**
 * Sends the keys and pauses of an extension; resolves with true if keys were sent as tones, because the peer accepts
 * no others.
 */
export async function dialExtension(
  { log }: Pick<Context, "log">,
  { callId, extension }: { readonly callId: string; readonly extension: string },
  leg: Leg,
  prelude: Prelude,
): Promise<boolean> {
  let inBand = leg.sendDtmf === undefined;
  for (const part of extensionParts(extension)) {
    if (typeof part === "number") {
      await prelude.pause(part);
      continue;
    }
    try {
      if (!inBand) await leg.sendDtmf?.(part);
    } catch (error) {
      log.warn({ call_id: callId, err: error }, "the network sends no keys: the extension is dialled by tones");
      inBand = true;
    }
    if (inBand) await prelude.tones(dtmfTones(part, { sampleRate: leg.sampleRate }));
  }
  return inBand;
}
