import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { PhoneConnection } from "../../../../adapters/console/app/pages/phone/phone-connection.ts";
import type { PhoneInput } from "../../../../adapters/console/app/pages/phone/phone-state.ts";

/** A WebSocket without a network. */
class FakeSocket {
  static readonly OPEN = 1;
  static readonly CLOSED = 3;
  readonly url: string;
  readonly sentMessages: unknown[] = [];
  readyState = 0;
  bufferedAmount = 0;
  onmessage: (event: { data: string | ArrayBuffer }) => void = () => {};
  onclose: (event: { code: number }) => void = () => {};

  constructor(url: string) {
    this.url = url;
    sockets.push(this);
  }

  send(data: unknown): void {
    this.sentMessages.push(data);
  }

  /** Accepts the connection as the server does. */
  open(): void {
    this.readyState = FakeSocket.OPEN;
    this.onmessage({ data: '{"type":"ready","number":"+12025550147"}' });
  }

  close(code: number): void {
    this.readyState = FakeSocket.CLOSED;
    this.onclose({ code });
  }
}

let sockets: FakeSocket[];
let events: EventTarget;
let inputs: PhoneInput[];
let audio: Int16Array[];

beforeEach(() => {
  vi.useFakeTimers();
  sockets = [];
  inputs = [];
  audio = [];
  events = new EventTarget();
  vi.stubGlobal("WebSocket", FakeSocket);
  vi.stubGlobal("addEventListener", events.addEventListener.bind(events));
  vi.stubGlobal("removeEventListener", events.removeEventListener.bind(events));
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

const open = () =>
  new PhoneConnection({
    url: "ws://127.0.0.1/phone",
    onInput: (input) => inputs.push(input),
    onAudio: (samples) => audio.push(samples),
  });
const latestSocket = (): FakeSocket => sockets.at(-1)!;

describe("the connection of a phone", () => {
  test("passes messages and audio on", () => {
    open();
    latestSocket().open();
    latestSocket().onmessage({ data: Int16Array.of(1, -2).buffer });
    expect(inputs).toEqual([{ type: "message", message: { type: "ready", number: "+12025550147" } }]);
    expect(audio).toEqual([Int16Array.of(1, -2)]);
  });

  test("drops audio, but no commands, while the network is too slow", () => {
    const connection = open();
    connection.sendAudio(new Int16Array(320));
    latestSocket().open();
    connection.sendAudio(new Int16Array(320));
    latestSocket().bufferedAmount = 20_000;
    connection.sendAudio(new Int16Array(320));
    connection.send({ type: "answer", call_id: "call_1" });
    expect(latestSocket().sentMessages).toEqual([new Int16Array(320), '{"type":"answer","call_id":"call_1"}']);
  });

  test("reconnects with growing pauses until the server accepts it", () => {
    open();
    const waits: number[] = [];
    for (let attempt = 0; attempt < 7; attempt++) {
      const before = sockets.length;
      latestSocket().close(1006);
      let ms = 0;
      for (; sockets.length === before; ms += 500) vi.advanceTimersByTime(500);
      waits.push(ms);
    }
    expect(waits).toEqual([500, 1_000, 2_000, 4_000, 8_000, 10_000, 10_000]);
    latestSocket().open();
    latestSocket().close(1006);
    vi.advanceTimersByTime(500);
    expect(sockets.length).toBe(9);
  });

  test("reconnects immediately when the network is back", () => {
    open();
    latestSocket().close(1006);
    events.dispatchEvent(new Event("online"));
    expect(sockets.length).toBe(2);
    events.dispatchEvent(new Event("online"));
    vi.advanceTimersByTime(60_000);
    expect(sockets.length).toBe(2);
  });

  test.each([
    [4029, "too_many"],
    [4001, "signed_out"],
  ])("gives up after the close code %i", (code, reason) => {
    open();
    latestSocket().close(code);
    vi.advanceTimersByTime(60_000);
    expect(inputs).toEqual([{ type: "refused", reason }]);
    expect(sockets.length).toBe(1);
  });

  test("stops once it is closed", () => {
    const connection = open();
    latestSocket().open();
    connection.close();
    latestSocket().onmessage({ data: "{}" });
    events.dispatchEvent(new Event("online"));
    vi.advanceTimersByTime(60_000);
    expect([sockets.length, inputs.length]).toEqual([1, 1]);
  });
});
