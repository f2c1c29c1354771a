import { describe, expect, it } from "vitest";
import { type Headset, MicrophoneCall } from "../../../adapters/console/pages/views/calls/microphone-call.ts";
import type { CallStream, StreamCallEvent, StreamEnd, StreamEvent } from "../../../src/client/index.ts";
import { Inbox } from "../../../src/client/stream/stream-inbox.ts";

const FRAME = new Int16Array(320).fill(7);
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** A call whose stream the test drives, and a headset that records its input. */
class Scene {
  readonly written: Int16Array[] = [];
  readonly done: string[] = [];
  readonly played: Int16Array[] = [];
  readonly events = new Inbox<StreamEvent>("events()", 100);
  readonly audio = new Inbox<Int16Array<ArrayBuffer>>("audio()", 100);
  speak: (frame: Int16Array<ArrayBuffer>) => void = () => {};
  showLevels: Parameters<Headset["start"]>[1] = () => {};
  /** Writes that wait for the network. */
  readonly stuck: (() => void)[] = [];
  isStuck = false;
  #end: (end: StreamEnd) => void = () => {};
  #fail: (error: unknown) => void = () => {};
  readonly #ended = new Promise<StreamEnd>((resolve, reject) => {
    this.#end = resolve;
    this.#fail = reject;
  });

  readonly stream = {
    ended: this.#ended,
    events: () => this.events.read(),
    audio: () => this.audio.read(),
    write: async (samples: Int16Array) => {
      this.written.push(samples);
      if (this.isStuck) await new Promise<void>((resolve) => this.stuck.push(resolve));
      return true;
    },
    clear: async () => {
      this.done.push("clear");
      return 0;
    },
    dtmf: async (digits: string) => void this.done.push(`press ${digits}`),
    hangUp: () => {
      this.done.push("hang up");
      this.over({ status: "completed", reason: "stream_closed" });
      return this.#ended;
    },
  } as unknown as CallStream;

  readonly headset: Headset = {
    start: (frame, levels) => {
      this.speak = frame;
      this.showLevels = levels;
      return { play: (samples) => void this.played.push(samples) };
    },
    mute: (muted) => void this.done.push(muted ? "mute" : "unmute"),
    release: () => void this.done.push("release"),
  };

  call(stream: () => Promise<CallStream> = async () => this.stream): MicrophoneCall {
    const hangUp = async () => void this.done.push("end the call");
    return new MicrophoneCall({ id: "call_1", number: "+12025550100", stream, hangUp }, this.headset);
  }

  happens(event: StreamCallEvent["event"], fields: object = {}): Promise<void> {
    const timestamp = "2026-11-27T10:00:00.000Z";
    this.events.push({ type: "call_event", event, timestamp, ...fields } as StreamEvent);
    return turn();
  }

  over(end: StreamEnd): void {
    this.events.end();
    this.audio.end();
    this.#end(end);
  }

  fail(error: unknown): void {
    this.events.end(error);
    this.audio.end(error);
    this.#fail(error);
  }
}

describe("a call through the microphone", () => {
  it("speaks from the answer on, and plays the callee's speech", async () => {
    const scene = new Scene();
    const call = scene.call();
    const running = call.run();
    await turn();
    expect(call.phase.value).toBe("calling");
    await scene.happens("ringing");
    scene.speak(FRAME);
    expect([call.phase.value, scene.written.length]).toEqual(["ringing", 0]);
    await scene.happens("answered");
    expect([call.phase.value, call.answeredAt.value]).toEqual(["talking", "2026-11-27T10:00:00.000Z"]);
    scene.speak(FRAME);
    scene.audio.push(FRAME);
    scene.showLevels({ heard: 30, spoken: 60 });
    await scene.happens("dtmf", { digit: "5" });
    await scene.happens("dtmf", { digit: "#" });
    expect([scene.written, scene.played, call.keys.value]).toEqual([[FRAME], [FRAME], "5#"]);
    expect(call.levels.value).toEqual({ heard: 30, spoken: 60 });
    scene.over({ status: "completed", reason: "callee_hung_up" });
    await running;
    expect([call.phase.value, call.end.value?.reason, call.fault.value]).toEqual([
      "ended",
      "callee_hung_up",
      undefined,
    ]);
    expect([scene.done, call.levels.value]).toEqual([["release"], { heard: 0, spoken: 0 }]);
  });

  it("sends no audio while it is muted", async () => {
    const scene = new Scene();
    const call = scene.call();
    void call.run();
    await turn();
    await scene.happens("answered");
    call.mute(true);
    scene.speak(FRAME);
    call.mute(false);
    scene.speak(FRAME);
    expect([scene.written.length, scene.done]).toEqual([1, ["mute", "unmute"]]);
  });

  it("drops audio that a slow network cannot carry, and queues at most half a second", async () => {
    const scene = new Scene();
    scene.isStuck = true;
    void scene.call().run();
    await turn();
    await scene.happens("answered");
    for (let frame = 0; frame < 60; frame++) scene.speak(FRAME);
    expect(scene.written).toHaveLength(25);
    for (const go of scene.stuck.splice(0)) go();
    await turn();
    scene.speak(FRAME);
    expect(scene.written).toHaveLength(26);
  });

  it("is hung up immediately, dropping audio in flight", async () => {
    const scene = new Scene();
    const call = scene.call();
    const running = call.run();
    await turn();
    call.press("7");
    await call.hangUp();
    await running;
    await call.hangUp();
    expect(scene.done).toEqual(["press 7", "clear", "hang up", "release"]);
    expect(call.end.value?.reason).toBe("stream_closed");
  });

  it("is ended on the server, without a fault, if hung up before it is attached", async () => {
    const scene = new Scene();
    let refuse: (error: unknown) => void = () => {};
    const call = scene.call(
      () =>
        new Promise((_, reject) => {
          refuse = reject;
        }),
    );
    const running = call.run();
    await call.hangUp();
    refuse(new Error("the call has ended"));
    await running;
    expect([scene.done, call.fault.value, call.phase.value]).toEqual([["end the call", "release"], undefined, "ended"]);
  });

  it("shows the reason of its stream's failure, and releases the microphone", async () => {
    const scene = new Scene();
    const call = scene.call();
    const running = call.run();
    await turn();
    const lost = new Error("the stream is lost");
    scene.fail(lost);
    await running;
    expect([call.fault.value, call.phase.value, scene.done]).toEqual([lost, "ended", ["release"]]);
  });
});
