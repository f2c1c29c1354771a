import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Simulator, type SimulatorOptions, simulator } from "../../../../adapters/telephony/simulator/index.ts";
import { concatPcm } from "../../../../src/audio/samples/pcm.ts";
import type { Leg, Line } from "../../../../src/ports/telephony.ts";
import { ManualSystem } from "../../../../src/testing/manual-system.ts";
import { LegEvents, TestLineHost } from "../../../../src/testing/telephony-host.ts";
import { scan } from "./scan.ts";

/** A call with all its events. */
export interface PlacedCall {
  readonly callId: string;
  readonly leg: Leg;
  readonly events: LegEvents;
  /** Types of events (`ended` with its cause), with ms since dialling. */
  readonly log: [string, number][];
  /** Frames received from the callee. */
  readonly frames: Int16Array[];
  /** Number of frames requested so far. */
  readonly requestedFrames: number;
  /** Samples from the callee between these times, in ms since the call was answered. */
  between(from: number, to: number): Int16Array;
}

/** A simulator with one linked line, on a manual clock. */
export class SimulatedNetwork {
  readonly simulator: Simulator;
  readonly system: ManualSystem;
  readonly host: TestLineHost;
  readonly line: Line;
  readonly spoolDir: string;
  #callCount = 0;

  private constructor(simulator: Simulator, system: ManualSystem, host: TestLineHost, line: Line, spoolDir: string) {
    this.simulator = simulator;
    this.system = system;
    this.host = host;
    this.line = line;
    this.spoolDir = spoolDir;
  }

  static async create(options: SimulatorOptions = {}): Promise<SimulatedNetwork> {
    const system = new ManualSystem();
    const spoolDir = options.spoolDir ?? (await mkdtemp(join(tmpdir(), "ringport-test-")));
    const telephony = simulator({ system, spoolDir, ...options });
    const host = new TestLineHost();
    const instance = { id: "inst_1", userId: "usr_1", name: "Front desk" };
    const line = await telephony.open(instance, host, new AbortController().signal);
    await line.link();
    const code = await host.reports.next("code", 1_000);
    await scan(telephony, code.code.payload);
    await system.advance(200);
    return new SimulatedNetwork(telephony, system, host, line, spoolDir);
  }

  /** Places a call that plays `sound`, then silence. */
  async call(to: string, sound: Int16Array = new Int16Array(0)): Promise<PlacedCall> {
    const startedAt = this.system.monotonic();
    const callId = `call_${++this.#callCount}`;
    const leg = await this.line.dial(to, { callId, ringTimeoutMs: 60_000 }, new AbortController().signal);
    const log: [string, number][] = [];
    const frames: Int16Array[] = [];
    let requestedFrames = 0;
    leg.connectMedia(
      {
        read(frame) {
          const offset = requestedFrames++ * frame.length;
          for (let i = 0; i < frame.length; i++) frame[i] = sound[offset + i] ?? 0;
          return frame.length;
        },
      },
      { write: (frame) => void frames.push(frame.slice()) },
    );
    const events = new LegEvents(leg);
    const addEvent = events.add.bind(events);
    events.add = (event) => {
      log.push([event.type === "ended" ? `ended ${event.cause}` : event.type, this.system.monotonic() - startedAt]);
      addEvent(event);
    };
    return {
      callId,
      leg,
      events,
      log,
      frames,
      get requestedFrames() {
        return requestedFrames;
      },
      between: (from, to) => concatPcm(frames).slice((from * leg.sampleRate) / 1000, (to * leg.sampleRate) / 1000),
    };
  }

  async close(): Promise<void> {
    await this.simulator.close();
    await rm(this.spoolDir, { recursive: true, force: true }).catch(() => {});
  }
}
