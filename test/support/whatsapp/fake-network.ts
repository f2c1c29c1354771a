import { FakeWhatsApp, type FakeWhatsAppClient, type FakeWhatsAppOptions, ManualSystem } from "ringport/testing";
import { MapRecords } from "./map-records.ts";

/** One event of a client, with the time of its arrival. */
export interface RecordedEvent {
  readonly event: string;
  readonly atMs: number;
  // biome-ignore lint/suspicious/noExplicitAny: each event has its own argument
  readonly argument: any;
}

const EVENTS = [
  "auth_qr",
  "auth_pairing_code",
  "auth_pairing_required",
  "auth_paired",
  "auth_passkey_required",
  "connection",
  "stream_failure",
  "call",
  "voip_call_state",
  "voip_call_incoming",
  "voip_call_ended",
  "voip_call_inbound_audio",
  "voip_call_error",
];

export const OWNER = "+5511912345678";

/** A network on a manual clock, with the events and the stanzas of its clients. */
export class FakeNetwork {
  readonly system = new ManualSystem();
  readonly network: FakeWhatsApp;
  readonly records = new MapRecords();
  readonly events: RecordedEvent[] = [];
  readonly stanzas: { tag: string; attrs: Record<string, string>; content?: never }[] = [];

  constructor(options?: FakeWhatsAppOptions) {
    this.network = new FakeWhatsApp(this.system, options);
  }

  /** Creates a client of an instance, and records its events; all clients share one set of records. */
  async client(instanceId = "inst_1"): Promise<FakeWhatsAppClient> {
    const client = await this.network.client({ instanceId, sessionId: instanceId, records: this.records });
    const fake = client as FakeWhatsAppClient;
    for (const event of EVENTS)
      fake.on(event, (argument) => this.events.push({ event, atMs: this.system.monotonic(), argument }));
    fake.lowlevel.registerIncomingStanzaFilter((stanza) => {
      this.stanzas.push(stanza as never);
      return false;
    });
    return fake;
  }

  /** A client that is linked and online. */
  async online(): Promise<FakeWhatsAppClient> {
    const client = await this.client();
    void client.connect();
    await this.system.advance(100);
    this.network.scan(client.shown.qr!, OWNER);
    await this.system.advance(100);
    this.events.length = 0;
    this.stanzas.length = 0;
    return client;
  }

  /** The arguments of all events of this name so far. */
  // biome-ignore lint/suspicious/noExplicitAny: each event has its own argument
  argumentsOf(event: string): any[] {
    return this.events.filter((entry) => entry.event === event).map((entry) => entry.argument);
  }

  /** The names of all events so far. */
  get names(): string[] {
    return this.events.map((entry) => entry.event);
  }

  /** `offer`, `preaccept`, … of all call stanzas so far. */
  get sentCallTags(): string[] {
    return this.stanzas
      .filter(({ tag }) => tag === "call")
      .map(({ content }) => (content as unknown as { tag: string }[])[0]!.tag);
  }
}

/** The current outcome of a promise, without waiting for it. */
export function outcomeOf<T>(promise: Promise<T>): { value?: T; error?: Error } {
  const outcome: { value?: T; error?: Error } = {};
  promise.then(
    (value) => {
      outcome.value = value;
    },
    (error) => {
      outcome.error = error;
    },
  );
  return outcome;
}
