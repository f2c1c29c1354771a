import { DialError, type DialOptions, type Leg, type Line, type LineHealth, type LineHost } from "ringport";
import { loudspeakerLeg } from "./leg.ts";
import type { Play } from "./loudspeaker.ts";

const CODE_MS = 600_000;

/** One number of the loudspeaker. Linked lines reconnect automatically using their credentials. */
export function loudspeakerLine(host: LineHost, linkUrl: () => string, play: Play): Line & { accept(): Promise<void> } {
  const legs = new Set<Leg>();
  let offlineReason: string | undefined = "not linked"; // the reason why it cannot place calls; undefined while it can
  let sequence = 0;

  const goOnline = (): void => {
    offlineReason = undefined;
    host.online();
  };
  const disconnect = async (reason: string): Promise<void> => {
    if (offlineReason !== "closed") offlineReason = reason;
    await Promise.all([...legs].map((leg) => leg.hangUp()));
    legs.clear();
  };
  void host.credentials.load().then((credentials) => credentials && offlineReason === "not linked" && goOnline());

  return {
    async link() {
      if (offlineReason === "not linked")
        host.code({ payload: linkUrl(), expiresAt: Date.now() + CODE_MS, sequence: ++sequence });
    },
    /** Called when the code has been scanned. */
    async accept() {
      if (offlineReason !== "not linked") return;
      await host.linked(null, new TextEncoder().encode("a real network gives you keys to keep here"));
      goOnline();
    },
    probe: async (): Promise<LineHealth> =>
      offlineReason === undefined ? { state: "online" } : { state: "offline", reason: offlineReason },
    async dial(_to: string, { callId }: DialOptions, signal: AbortSignal): Promise<Leg> {
      if (offlineReason !== undefined) throw new DialError("line_lost", `the line is ${offlineReason}`);
      if (signal.aborted) throw new DialError("released", "hung up before it rang");
      if (performance.now() >= host.deadlines.dial) throw new DialError("line_lost", "the server may not dial now");
      const leg = loudspeakerLeg((frame) => play(callId, frame), host.deadlines);
      legs.add(leg);
      signal.addEventListener("abort", () => void leg.hangUp(), { once: true });
      return leg;
    },
    async unlink() {
      await disconnect("not linked");
      sequence = 0;
    },
    close: () => disconnect("closed"),
  };
}
