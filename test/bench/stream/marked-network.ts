import type { FrameSink, FrameSource } from "../../../src/ports/media.ts";
import type { Telephony } from "../../../src/ports/telephony.ts";
import { withLegs } from "../harness/legs.ts";
import { addImpulse, ImpulseFinder } from "./impulses.ts";

/** Times at which impulses crossed the border between a leg and the core, ms on this process's clock. */
export interface PassedImpulses {
  /** Callee's audio, passed to the core by the leg. */
  readonly enteredAt: number[];
  /** Audio for the callee, read by the leg. */
  readonly leftAt: number[];
}

/** Distance between impulses, frames of the leg. */
const [MIN_FRAMES, MAX_FRAMES] = [12, 38];

/** A network whose callees send occasional impulses, and that records the impulses in both directions. */
export class MarkedNetwork {
  /** Impulses by call. */
  readonly passed: Record<string, PassedImpulses> = {};
  /** True while callees are silent. */
  isSilent = true;

  /** Wraps a network so that its audio contains impulses. */
  withImpulses(network: Telephony): Telephony {
    return withLegs(network, (leg, callId) => {
      const passed: PassedImpulses = { enteredAt: [], leftAt: [] };
      this.passed[callId] = passed;
      const connect = leg.connectMedia.bind(leg);
      leg.connectMedia = (source, sink) =>
        connect(
          recordImpulses(source, passed, leg.sampleRate),
          addImpulses(sink, passed, () => this.isSilent),
        );
    });
  }
}

function recordImpulses(source: FrameSource, passed: PassedImpulses, sampleRate: number): FrameSource {
  const finder = new ImpulseFinder(sampleRate, "down");
  return {
    read(frame) {
      const count = source.read(frame);
      for (let impulses = finder.count(frame); impulses > 0; impulses--) passed.leftAt.push(performance.now());
      return count;
    },
  };
}

function addImpulses(sink: FrameSink, passed: PassedImpulses, isSilent: () => boolean): FrameSink {
  let remainingFrames = MIN_FRAMES;
  return {
    write(frame) {
      if (!isSilent() && --remainingFrames <= 0) {
        remainingFrames = MIN_FRAMES + Math.floor(Math.random() * (MAX_FRAMES - MIN_FRAMES));
        addImpulse(frame, Math.random());
        passed.enteredAt.push(performance.now());
      }
      sink.write(frame);
    },
  };
}
