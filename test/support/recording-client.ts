import type {
  StreamAttachment,
  StreamClient,
  StreamEnd,
  StreamEvent,
  Transcript,
} from "../../src/application/call-audio/streams/stream-client.ts";
import { concatPcm } from "../../src/audio/samples/pcm.ts";
import type { Call } from "../../src/domain/calls/call.ts";
import type { Instance } from "../../src/domain/instances/instance.ts";
import type { ScriptedLeg } from "../../src/testing/scripted-telephony.ts";
import { ALICE, NUMBER, type World } from "./application.ts";

/** A stream client that records everything it receives. */
export class RecordingClient implements StreamClient {
  readonly calleeRate: number | undefined;
  readonly events: StreamEvent[] = [];
  readonly transcripts: Transcript[] = [];
  readonly ends: StreamEnd[] = [];
  /** Number of the callee's frames received before each event. */
  readonly framesAt: number[] = [];
  readonly #frames: Int16Array[] = [];

  constructor(calleeRate?: number) {
    this.calleeRate = calleeRate;
  }

  event(event: StreamEvent): void {
    this.events.push(event);
    this.framesAt.push(this.#frames.length);
  }

  transcript(transcript: Transcript): void {
    this.transcripts.push(transcript);
  }

  callee(frame: Int16Array): void {
    this.#frames.push(frame.slice());
  }

  over(end: StreamEnd): void {
    this.ends.push(end);
  }

  /** Names of the events, in order. */
  get eventNames(): string[] {
    return this.events.map(({ event }) => event);
  }

  /** The latest event of this name. */
  latestEvent(name: string): StreamEvent | undefined {
    return this.events.findLast(({ event }) => event === name);
  }

  get frames(): readonly Int16Array[] {
    return this.#frames;
  }

  /** The callee's audio received so far. */
  get heard(): Int16Array {
    return concatPcm(this.#frames);
  }
}

/** Creates a `DYNAMIC_STREAM` call. */
export async function streamCall(world: World, instance: Instance): Promise<Call> {
  const call = await world.app.calls.create(ALICE, {
    instanceId: instance.id,
    type: "DYNAMIC_STREAM",
    target: { phoneNumber: NUMBER },
  });
  await world.system.settle();
  return call;
}

/** Takes the reservation of a call's stream and attaches immediately. */
export async function attach(
  world: World,
  call: Call,
  client: StreamClient = new RecordingClient(),
): Promise<StreamAttachment> {
  return (await world.app.calls.stream(ALICE, call.id)).attach(client);
}

/** A stream call that the callee has answered, with a client attached from the start. */
export async function answeredStream(
  world: World,
  client: StreamClient = new RecordingClient(),
): Promise<{ call: Call; leg: ScriptedLeg; attachment: StreamAttachment }> {
  const call = await streamCall(world, await world.activeInstance());
  const attachment = await attach(world, call, client);
  const leg = world.leg(call);
  leg.placed();
  leg.answer();
  await world.system.settle();
  return { call, leg, attachment };
}
