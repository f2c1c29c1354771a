import { whatsapp } from "../../../adapters/telephony/whatsapp/index.ts";
import type { DialError, Leg, LegEvent, Line } from "../../../src/ports/telephony.ts";
import type { WhatsAppClientFactory } from "../../../src/ports/whatsapp-client.ts";
import { ManualSystem } from "../../../src/testing/manual-system.ts";
import { TestLineHost } from "../../../src/testing/telephony-host.ts";
import { FakeWhatsApp } from "../../../src/testing/whatsapp/fake-whatsapp.ts";

export const OWNER = "+5511912345678";
export const ANA = "+5511987654321";

/** What a dial has come to. */
export interface Dialled {
  leg?: Leg;
  error?: DialError;
  readonly events: LegEvent[];
}

/** A linked number as the core uses it: the whole adapter over a scripted network, on a manual clock. */
export class NumberScene {
  readonly system: ManualSystem;
  readonly network: FakeWhatsApp;
  readonly host: TestLineHost = new TestLineHost();
  readonly line: Line;
  /** The value of each sample that we send. */
  static readonly LEVEL = 1_000;

  private constructor(system: ManualSystem, network: FakeWhatsApp, line: Line, host: TestLineHost) {
    this.system = system;
    this.network = network;
    this.line = line;
    this.host = host;
  }

  static async linked(seed = 1, client?: WhatsAppClientFactory): Promise<NumberScene> {
    const system = new ManualSystem({ seed });
    const network = new FakeWhatsApp(system);
    const host = new TestLineHost();
    const telephony = whatsapp({ client: client ?? network.client, system });
    const ref = { id: "inst_1", userId: "usr_1", name: "Front desk" };
    const line = await telephony.open(ref, host, new AbortController().signal);
    const scene = new NumberScene(system, network, line, host);
    const linking = line.link?.();
    await system.advance(1_000);
    await linking;
    network.scan(network.clientOf().shown.qr ?? "", OWNER);
    await system.advance(1_000);
    return scene;
  }

  get client() {
    return this.network.clientOf();
  }

  /** Dials, and follows the leg. */
  dial(to: string = ANA): Dialled {
    const dialled: Dialled = { events: [] };
    const source = { read: (frame: Int16Array) => void frame.fill(NumberScene.LEVEL) };
    this.line.dial(to, { callId: "call_1", ringTimeoutMs: 60_000 }, new AbortController().signal).then(
      async (leg) => {
        dialled.leg = leg;
        leg.connectMedia(source as never, { write() {} });
        for await (const event of leg.events) dialled.events.push(event);
      },
      (error) => {
        dialled.error = error;
      },
    );
    return dialled;
  }

  /** Audio of ours that the callee of the latest call has heard, ms. */
  get heardMs(): number {
    const loud = Array.from(this.network.call().heard).filter((sample) => Math.abs(sample) > NumberScene.LEVEL / 2);
    return loud.length / 16;
  }

  /** States of the calls that the client has. */
  get clientCalls(): string[] {
    return this.client.voip?.getCalls().map(({ stateData }) => stateData.state) ?? [];
  }
}
