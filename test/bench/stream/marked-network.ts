import type { FrameSink, FrameSource } from "../../../src/ports/media.ts";
import type { Telephony } from "../../../src/ports/telephony.ts";
import { withLegs } from "../harness/legs.ts";
import { addImpulse, ImpulseFinder } from "./impulses.ts";

/** Times at which impulses crossed the border between one leg and the core, ms of this process's own clock. */
export interface Passed {
  /** Callee's audio, passed to the core by the leg. */
  readonly entered: number[];
  /** Audio for the callee, read by the leg. */
  readonly left: number[];
}

/** Distance between impulses, frames of the leg. */
const [MIN_FRAMES, MAX_FRAMES] = [12, 38];

/** A network whose callees send occasional impulses, and that records when they were sent and when others arrived. */
export class MarkedNetwork {
  /** Impulses by call. */
  readonly passed: Record<string, Passed> = {};
  /** True while callees are silent. */
  hushed = true;

  /** The network, with its audio observed. */
  of(network: Telephony): Telephony {
    return withLegs(network, (leg, callId) => {
      const passed: Passed = { entered: [], left: [] };
      this.passed[callId] = passed;
      const connect = leg.connectMedia.bind(leg);
      leg.connectMedia = (source, sink) =>
        connect(
          leaving(source, passed, leg.sampleRate),
          entering(sink, passed, () => this.hushed),
        );
    });
  }
}

function leaving(source: FrameSource, passed: Passed, sampleRate: number): FrameSource {
  const finder = new ImpulseFinder(sampleRate, "down");
  return {
    read(frame) {
      const count = source.read(frame);
      for (let left = finder.count(frame); left > 0; left--) passed.left.push(performance.now());
      return count;
    },
  };
}

function entering(sink: FrameSink, passed: Passed, hushed: () => boolean): FrameSink {
  let wait = MIN_FRAMES;
  return {
    write(frame) {
      if (!hushed() && --wait <= 0) {
        wait = MIN_FRAMES + Math.floor(Math.random() * (MAX_FRAMES - MIN_FRAMES));
        addImpulse(frame, Math.random());
        passed.entered.push(performance.now());
      }
      sink.write(frame);
    },
  };
}
