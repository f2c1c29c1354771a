import { describe, expect, it } from "vitest";
import { type Headset, MicrophoneCall } from "../../../adapters/console/app/pages/calls/microphone-call.ts";
import type { CallStream, StreamCallEvent, StreamEnd, StreamEvent } from "../../../src/client/index.ts";
import { Inbox } from "../../../src/client/stream/stream-inbox.ts";

const FRAME = new Int16Array(320).fill(7);
const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** A call whose stream the test drives, and a headset that records its input. */
class Scene {
  readonly writtenFrames: Int16Array[] = [];
  readonly actions: string[] = [];
  readonly playedFrames: Int16Array[] = [];
  readonly events = new Inbox<StreamEvent>("events()", 100);
  readonly audio = new Inbox<Int16Array<ArrayBuffer>>("audio()", 100);
  speak: (frame: Int16Array<ArrayBuffer>) => void = () => {};
  showLevels: Parameters<Headset["start"]>[1] = () => {};
  /** Writes that wait for the network. */
  readonly pendingWrites: (() => void)[] = [];
  isStuck = false;
  #end: (end: StreamEnd) => void = () => {};
  #fail: (error: unknown) => void = () => {};
  readonly #endPromise = new Promise<StreamEnd>((resolve, reject) => {
    this.#end = resolve;
    this.#fail = reject;
  });

  readonly stream = {
    ended: this.#endPromise,
    events: () => this.events.read(),
    audio: () => this.audio.read(),
    write: async (samples: Int16Array) => {
      this.writtenFrames.push(samples);
      if (this.isStuck) await new Promise<void>((resolve) => this.pendingWrites.push(resolve));
      return true;
    },
    clear: async () => {
      this.actions.push("clear");
      return 0;
    },
    dtmf: async (digits: string) => void this.actions.push(`press ${digits}`),
    hangUp: () => {
      this.actions.push("hang up");
      this.endStream({ status: "completed", reason: "stream_closed" });
      return this.#endPromise;
    },
  } as unknown as CallStream;

  readonly headset: Headset = {
    start: (frame, levels) => {
      this.speak = frame;
      this.showLevels = levels;
      return { play: (samples) => void this.playedFrames.push(samples) };
    },
    mute: (muted) => void this.actions.push(muted ? "mute" : "unmute"),
    release: () => void this.actions.push("release"),
  };

  call(stream: () => Promise<CallStream> = async () => this.stream): MicrophoneCall {
    const hangUp = async () => void this.actions.push("end the call");
    return new MicrophoneCall({ id: "call_1", number: "+12025550100", stream, hangUp }, this.headset);
  }

  emitEvent(event: StreamCallEvent["event"], fields: object = {}): Promise<void> {
    const timestamp = "2026-11-27T10:00:00.000Z";
    this.events.push({ type: "call_event", event, timestamp, ...fields } as StreamEvent);
    return nextTurn();
  }

  endStream(end: StreamEnd): void {
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
    await nextTurn();
    expect(call.phase.value).toBe("calling");
    await scene.emitEvent("ringing");
    scene.speak(FRAME);
    expect([call.phase.value, scene.writtenFrames.length]).toEqual(["ringing", 0]);
    await scene.emitEvent("answered");
    expect([call.phase.value, call.answeredAt.value]).toEqual(["talking", "2026-11-27T10:00:00.000Z"]);
    scene.speak(FRAME);
    scene.audio.push(FRAME);
    scene.showLevels({ heard: 30, spoken: 60 });
    await scene.emitEvent("dtmf", { digit: "5" });
    await scene.emitEvent("dtmf", { digit: "#" });
    expect([scene.writtenFrames, scene.playedFrames, call.keys.value]).toEqual([[FRAME], [FRAME], "5#"]);
    expect(call.levels.value).toEqual({ heard: 30, spoken: 60 });
    scene.endStream({ status: "completed", reason: "callee_hung_up" });
    await running;
    expect([call.phase.value, call.end.value?.reason, call.fault.value]).toEqual([
      "ended",
      "callee_hung_up",
      undefined,
    ]);
    expect([scene.actions, call.levels.value]).toEqual([["release"], { heard: 0, spoken: 0 }]);
  });

  it("sends no audio while it is muted", async () => {
    const scene = new Scene();
    const call = scene.call();
    void call.run();
    await nextTurn();
    await scene.emitEvent("answered");
    call.mute(true);
    scene.speak(FRAME);
    call.mute(false);
    scene.speak(FRAME);
    expect([scene.writtenFrames.length, scene.actions]).toEqual([1, ["mute", "unmute"]]);
  });

  it("drops audio that a slow network cannot carry, and queues at most half a second", async () => {
    const scene = new Scene();
    scene.isStuck = true;
    void scene.call().run();
    await nextTurn();
    await scene.emitEvent("answered");
    for (let frame = 0; frame < 60; frame++) scene.speak(FRAME);
    expect(scene.writtenFrames).toHaveLength(25);
    for (const release of scene.pendingWrites.splice(0)) release();
    await nextTurn();
    scene.speak(FRAME);
    expect(scene.writtenFrames).toHaveLength(26);
  });

  it("is hung up immediately, dropping audio in flight", async () => {
    const scene = new Scene();
    const call = scene.call();
    const running = call.run();
    await nextTurn();
    call.press("7");
    await call.hangUp();
    await running;
    await call.hangUp();
    expect(scene.actions).toEqual(["press 7", "clear", "hang up", "release"]);
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
    expect([scene.actions, call.fault.value, call.phase.value]).toEqual([
      ["end the call", "release"],
      undefined,
      "ended",
    ]);
  });

  it("shows why its stream failed, and releases the microphone", async () => {
    const scene = new Scene();
    const call = scene.call();
    const running = call.run();
    await nextTurn();
    const streamError = new Error("the stream is lost");
    scene.fail(streamError);
    await running;
    expect([call.fault.value, call.phase.value, scene.actions]).toEqual([streamError, "ended", ["release"]]);
  });
});
