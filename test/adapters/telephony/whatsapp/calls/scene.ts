import {
  type FakeNumber,
  type FakeWhatsAppCall,
  type FakeWhatsAppClient,
  type FakeWhatsAppOptions,
  ManualSystem,
} from "ringport/testing";
import type {
  CallPort,
  OpenCallLog,
  WhatsAppCallListener,
} from "../../../../../adapters/telephony/whatsapp/calls/call-port.ts";
import type { WhatsAppLeg } from "../../../../../adapters/telephony/whatsapp/calls/leg.ts";
import {
  NumberResolver,
  type ResolvedNumber,
} from "../../../../../adapters/telephony/whatsapp/calls/number-resolver.ts";
import { placeWhatsAppCall } from "../../../../../adapters/telephony/whatsapp/calls/place-whatsapp-call.ts";
import { isContact } from "../../../../../adapters/telephony/whatsapp/store/privacy-token-store.ts";
import { privacyTokensOf } from "../../../../../adapters/telephony/whatsapp/store/whatsapp-store.ts";
import { MediaClock } from "../../../../../src/audio/playout/media-clock.ts";
import { Playout } from "../../../../../src/audio/playout/playout.ts";
import { concatPcm } from "../../../../../src/audio/samples/pcm.ts";
import type { DialError, DialOptions, LegEvent } from "../../../../../src/ports/telephony.ts";
import type { WhatsAppClient, WhatsAppVoip } from "../../../../../src/ports/whatsapp-client.ts";
import { FakeNetwork } from "../../../../support/whatsapp/fake-network.ts";

export const ANA = "+5511987654321";
export const RATE = 16_000;

const VOIP_EVENTS = [
  ["voip_call_state", "state"],
  ["voip_call_ended", "ended"],
] as const;

/** The session of a number, as its calls use it; tests control its connection. */
export class TestPort implements CallPort {
  client: WhatsAppClient | undefined;
  readonly listeners = new Set<WhatsAppCallListener>();
  /** Ids of the calls whose callees have not been notified of the end. */
  readonly openIds = new Set<string>();
  readonly openCalls: OpenCallLog = {
    add: (callId) => void this.openIds.add(callId),
    recordAcceptance() {},
    recordTermination: (callId) => void this.openIds.delete(callId),
    delete: (callId) => void this.openIds.delete(callId),
    end: async () => {},
  };
  readonly #context: FakeWhatsAppClient["context"];

  constructor(client: FakeWhatsAppClient) {
    this.client = client;
    this.#context = client.context;
    for (const [name, type] of VOIP_EVENTS)
      client.on(name, (call) => this.report((listener) => listener.voip({ type, call })));
    client.on("voip_call_inbound_audio", ({ call, pcm }) =>
      this.report((listener) => listener.voip({ type: "inbound_audio", call, pcm })),
    );
    client.lowlevel.registerIncomingStanzaFilter((stanza) => {
      this.report((listener) => listener.stanza(stanza));
      return false;
    });
  }

  get calls(): WhatsAppVoip | undefined {
    return this.client?.voip;
  }

  readonly refusals: string[] = [];

  async offerBlock(callee: ResolvedNumber): Promise<undefined> {
    const { records, sessionId } = this.#context;
    await isContact(privacyTokensOf(records, sessionId), callee);
  }

  offerRefused(code: string): void {
    this.refusals.push(code);
  }

  offerAccepted(): void {}

  listen(listener: WhatsAppCallListener): () => void {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  }

  report(report: (listener: WhatsAppCallListener) => void): void {
    for (const listener of [...this.listeners]) report(listener);
  }

  lose(reason = "the socket dropped", final = false): void {
    this.report((listener) => listener.lost(reason, final));
  }

  restore(): void {
    this.report((listener) => listener.restored());
  }
}

/** A placed call with both ends. */
export interface TestCall {
  readonly leg: WhatsAppLeg;
  readonly callee: FakeWhatsAppCall;
  readonly events: LegEvent[];
  readonly playout: Playout;
  /** Frames from the callee that the leg has forwarded. */
  readonly inbound: Int16Array[];
  /** Number of times that the leg has reported its end. */
  endCount: number;
}

/** A linked number that places calls over a fake network, on a manual clock. */
export class CallScene {
  readonly fakeNetwork: FakeNetwork;
  readonly client: FakeWhatsAppClient;
  readonly port: TestPort;
  readonly clock: MediaClock;
  readonly numbers: NumberResolver;
  readonly deadlines = { dial: Infinity, send: Infinity };
  readonly abort = new AbortController();

  constructor(fakeNetwork: FakeNetwork, client: FakeWhatsAppClient) {
    this.fakeNetwork = fakeNetwork;
    this.client = client;
    this.port = new TestPort(client);
    const { system } = fakeNetwork;
    // Unlike the client's timers, these stay exact if a test delays those of the system.
    this.clock = new MediaClock({
      now: () => system.now(),
      monotonic: () => system.monotonic(),
      random: () => {},
      after: (ms, run) => ManualSystem.prototype.after.call(system, ms, run),
    });
    this.numbers = new NumberResolver(fakeNetwork.system);
  }

  static async start(number: FakeNumber = {}, options?: FakeWhatsAppOptions): Promise<CallScene> {
    const fakeNetwork = new FakeNetwork(options);
    fakeNetwork.network.number(ANA, number);
    return new CallScene(fakeNetwork, await fakeNetwork.online());
  }

  get system() {
    return this.fakeNetwork.system;
  }

  get network() {
    return this.fakeNetwork.network;
  }

  /** Starts a dial, which proceeds as the clock advances. */
  dial(to = ANA, overrides: Partial<DialOptions> = {}): { leg?: WhatsAppLeg; error?: DialError; endCount: number } {
    const dialledCall: { leg?: WhatsAppLeg; error?: DialError; endCount: number } = { endCount: 0 };
    const { system, clock, deadlines, numbers } = this;
    const options = { callId: "call_1", ringTimeoutMs: 60_000, ...overrides };
    const context = { system, clock, deadlines, numbers };
    placeWhatsAppCall(context, this.port, to, options, this.abort.signal, () => void dialledCall.endCount++).then(
      (leg) => {
        dialledCall.leg = leg;
      },
      (error) => {
        dialledCall.error = error;
      },
    );
    return dialledCall;
  }

  /** The reason why a dial was refused. */
  async refusal(to = ANA, withinMs = 60_000): Promise<DialError> {
    const dialledCall = this.dial(to);
    await this.system.advance(withinMs);
    if (dialledCall.error === undefined) throw new Error("the dial was not refused");
    return dialledCall.error;
  }

  /** Dials, and follows the leg; queues the message, if any. */
  async call(message?: Int16Array, to = ANA): Promise<TestCall> {
    const dialledCall = this.dial(to);
    for (let i = 0; i < 400 && dialledCall.leg === undefined && dialledCall.error === undefined; i++)
      await this.system.advance(5);
    if (dialledCall.leg === undefined) throw dialledCall.error ?? new Error("the dial did not end");
    const { leg } = dialledCall;
    const playout = new Playout(RATE);
    const inbound: Int16Array[] = [];
    const events: LegEvent[] = [];
    void (async () => {
      for await (const event of leg.events) events.push(event);
    })();
    leg.connectMedia(playout, { write: (frame) => void inbound.push(frame.slice()) });
    if (message) playout.enqueue(message);
    const callee = this.network.calls.at(-1) as FakeWhatsAppCall;
    const call: TestCall = {
      leg,
      callee,
      events,
      playout,
      inbound,
      get endCount() {
        return dialledCall.endCount;
      },
    };
    await this.system.settle();
    return call;
  }

  /** A call whose callee has answered, and whose audio is running. */
  async connectedCall(message?: Int16Array): Promise<TestCall> {
    const call = await this.call(message);
    for (let i = 0; i < 400 && !typesOf(call).includes("connected"); i++) await this.system.advance(10);
    return call;
  }
}

/** Types of the leg's events so far, without notes. */
export function typesOf({ events }: TestCall): string[] {
  return events.map(({ type }) => type).filter((type) => type !== "noted");
}

/** Notes of the leg. */
export function notesOf({ events }: TestCall): string[] {
  return events.flatMap((event) => (event.type === "noted" ? [event.fact.event] : []));
}

/** The end of the leg; undefined while it is live. */
export function endOf({ events }: TestCall): { cause: string; detail: string | null } | undefined {
  const end = events.find((event) => event.type === "ended");
  return end?.type === "ended" ? { cause: end.cause, detail: end.detail } : undefined;
}

export const receivedAudio = ({ inbound }: TestCall): Int16Array => concatPcm(inbound);

/** The samples from the first to the last non-silent one. */
export function audiblePart(samples: Int16Array): Int16Array {
  const isLoud = (sample: number): boolean => Math.abs(sample) > 100;
  return samples.subarray(samples.findIndex(isLoud), samples.findLastIndex(isLoud) + 1);
}
