import type { InviteUsage } from "../../../../adapters/sip-stack/dialog/invite.ts";
import type { MediaSession } from "../../../../adapters/sip-stack/media/engine.ts";
import type { MediaAddress } from "../../../../adapters/sip-stack/media/media-address.ts";
import { resolveTrunk } from "../../../../adapters/telephony/sip/config/resolve-trunk.ts";
import type { Trunk } from "../../../../adapters/telephony/sip/config/trunk-config.ts";
import { openStack, type SipStack } from "../../../../adapters/telephony/sip/open-stack.ts";
import { silentLogger } from "../../../../src/ports/logger.ts";
import { realSystem } from "../../../../src/ports/system.ts";
import { type Field, field, readSip, writeSip } from "../../../support/sip/sip-text.ts";

/** A trunk's stack on real sockets. */
export function stackOf(trunk: Omit<Trunk, "name">): Promise<SipStack> {
  return openStack({
    trunk: resolveTrunk({ name: "acme", ...trunk }),
    system: realSystem,
    logger: silentLogger,
    onChange() {},
    trace() {},
  });
}

/** Calls 100 over a stack, with signalling only. */
export function callOver({ invite }: SipStack, address: Pick<MediaAddress, "local" | "advertised">): InviteUsage {
  const ignore = (): void => {};
  const session = { port: 40_000, configure() {} } as Partial<MediaSession> as MediaSession;
  return invite({
    ...{
      user: "100",
      callId: "call",
      session,
      address: { ...address, isPublic: false, server: "127.0.0.1" },
      srtp: "off",
    },
    ...{ onNegotiated: ignore, onNoAddress: ignore, onAddressChecked: ignore },
    maySend: () => true,
    mayFollow: async () => false,
    listener: {
      ...{ placed: ignore, progressed: ignore, ringing: ignore, earlyMedia: ignore, answered: ignore },
      ...{ digit: ignore, holdChanged: ignore, ended: ignore },
    },
  });
}

/** A response to a received request, by default 200. @param via replaces `;rport` in Via */
export function responseTo(
  text: string,
  {
    start = "SIP/2.0 200 OK",
    extraFields = [],
    body = "",
    via = "",
  }: {
    readonly start?: string;
    readonly extraFields?: readonly Field[];
    readonly body?: string;
    readonly via?: string;
  } = {},
): Buffer {
  const request = readSip(Buffer.from(text, "latin1"));
  const to = field(request, "To");
  const copiedFields = ["From", "Call-ID", "CSeq"].map((name): Field => [name, field(request, name)]);
  return writeSip({
    start,
    fields: [
      ["Via", field(request, "Via").replace(";rport", via || ";rport")],
      ["To", to.includes("tag=") ? to : `${to};tag=them`],
      ...copiedFields,
      ...extraFields,
    ],
    body,
  });
}
