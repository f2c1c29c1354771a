import type { Leg, Line, Telephony } from "../../../src/ports/telephony.ts";

/**
 * A network whose legs are observed.
 * @param onLeg called with each leg before its media are connected
 * @param onDial called before each dial; returns the number to dial. Default: the call's number
 */
export function withLegs(
  network: Telephony,
  onLeg: (leg: Leg, callId: string) => void,
  onDial: (to: string, callId: string) => string = (to) => to,
): Telephony {
  const open: Telephony["open"] = async (...args) => {
    const line: Line = await network.open(...args);
    return {
      async dial(to, options, signal) {
        const leg = await line.dial(onDial(to, options.callId), options, signal);
        onLeg(leg, options.callId);
        return leg;
      },
      link: () => line.link(),
      probe: () => line.probe(),
      unlink: () => line.unlink(),
      close: () => line.close(),
    };
  };
  return { ...network, open };
}
