import type { System } from "../../../src/ports/system.ts";
import type { InviteEnd, InviteUsage } from "../../sip-stack/dialog/invite.ts";
import type { MediaEngine, MediaSession } from "../../sip-stack/media/engine.ts";
import type { MediaAddress } from "../../sip-stack/media/media-address.ts";
import { type SrtpOffer, srtpOffers } from "../../sip-stack/sdp/keys.ts";
import type { CarrierDialOptions } from "./carrier.ts";
import type { ResolvedTrunk } from "./config/resolve-trunk.ts";
import { mayFollow, type RefusalCheck, type RefusalOf } from "./destinations/trunk-destinations.ts";
import { SipLeg, type TransferTarget } from "./leg.ts";
import type { SipStack } from "./open-stack.ts";
import { OFFER_REFUSED } from "./outcome/media-refusal.ts";
import type { Release } from "./outcome/release.ts";
import { sipRelease } from "./outcome/release-of.ts";

/** A call to be prepared. */
export interface CallPlan {
  readonly trunk: ResolvedTrunk;
  readonly system: System;
  readonly stack: SipStack;
  readonly engine: MediaEngine;
  /** Our address for audio. */
  readonly address: MediaAddress;
  /** The number in the trunk's format. */
  readonly user: string;
  readonly options: CarrierDialOptions;
  /** Reason why a number is not called. */
  readonly refusalOf: RefusalOf;
  /** Called when the leg has ended. */
  readonly onEnded: (leg: SipLeg, end: InviteEnd, release: Release) => void;
}

/** A leg whose media session is open. */
interface PreparedCall {
  readonly leg: SipLeg;
  readonly session: MediaSession;
  /** Sends the INVITE. */
  begin(): void;
}

/** Opens a call's media session, and connects it to the leg and the INVITE. @throws {PortsExhausted} */
export async function prepareCall(plan: CallPlan): Promise<PreparedCall> {
  const { trunk, system, stack, engine, address, user, onEnded } = plan;
  const { callId, from, sip, deadlines, mayCall, sampleRate = trunk.sampleRate } = plan.options;
  const refusalOf: RefusalCheck = async (e164) =>
    plan.refusalOf(e164) ?? ((await mayCall?.(e164)) === false ? `this call may not go to ${e164}` : undefined);
  let acceptsKeys = false;
  const invite = ({ policy: srtp, profile }: SrtpOffer): InviteUsage =>
    stack.invite({
      user,
      from,
      sip,
      callId,
      session,
      address,
      srtp,
      profile,
      listener: leg,
      onNoAddress: leg.mediaListener.lost,
      onAddressChecked: leg.addressRefused,
      maySend: () => system.monotonic() < deadlines.send,
      mayFollow: (place) => mayFollow(place, refusalOf, trunk.format),
      onNegotiated(settings) {
        acceptsKeys = settings.telephoneEvent !== undefined;
      },
    });
  const [firstOffer, ...otherOffers] = srtpOffers(trunk.srtp);
  const leg: SipLeg = new SipLeg({
    callId,
    sampleRate,
    system,
    evidenceRequired: trunk.requireInboundAudio,
    releaseOf: (end, answered) => sipRelease(end, trunk, answered),
    transferTarget: trunk.transfer ? (to) => transferTarget(to, plan, refusalOf) : undefined,
    acceptsTelephoneEvents: () => acceptsKeys,
    onResponse: () => stack.presence.markReachable(),
    nextInvite(end) {
      // After an 18x, a phone may have rung, and another INVITE would ring it twice.
      if (end.type !== "rejected" || end.hasProgressed || !OFFER_REFUSED.has(end.response.status)) return undefined;
      const offer = otherOffers.shift();
      return offer && invite(offer);
    },
    onEnded,
  });
  const session: MediaSession = await engine.open(
    {
      ...{ address: address.local, ports: trunk.rtpPorts, from: stack.mediaRule(address) },
      ...{ sampleRate, lossMs: trunk.mediaLossMs, strictRtp: trunk.strictRtp },
      mayUseOpus: trunk.codecs.includes("opus"),
    },
    leg.mediaListener,
    deadlines,
  );
  return { leg, session, begin: () => leg.begin(invite(firstOffer), session) };
}

/** The URI of a number at the trunk, unless calls to it are refused: a transfer costs as much as a call. */
async function transferTarget(
  to: string,
  { trunk, stack }: CallPlan,
  refusalOf: RefusalCheck,
): Promise<TransferTarget> {
  const refusal = await refusalOf(to);
  if (refusal !== undefined) return { refusal };
  const user = trunk.format(to);
  return user === undefined ? { refusal: `the trunk's numberFormat cannot write ${to}` } : { uri: stack.uriOf(user) };
}
