import { whatsapp } from "../../../../adapters/telephony/whatsapp/index.ts";
import type { System } from "../../../../src/ports/system.ts";
import type { DialError, DialOptions, Leg, LegEvent, Line } from "../../../../src/ports/telephony.ts";
import type { WhatsAppClientFactory } from "../../../../src/ports/whatsapp-client.ts";
import { ManualSystem } from "../../../../src/testing/manual-system.ts";
import { TestLineHost } from "../../../../src/testing/telephony-host.ts";
import { FakeWhatsApp, type FakeWhatsAppOptions } from "../../../../src/testing/whatsapp/fake-whatsapp.ts";

export const OWNER = "+5511912345678";
export const ANA = "+5511987654321";

/** The outcome of a dial. */
export interface DialledCall {
  leg?: Leg;
  error?: DialError;
  readonly events: LegEvent[];
}

/** A server process; its timers do nothing once it is killed. */
interface Process {
  isAlive: boolean;
  /** Lead of its wall clock over WhatsApp's, ms. Default: 0. */
  aheadMs?: number;
}

function openLine(
  process: Process,
  system: ManualSystem,
  client: WhatsAppClientFactory,
  host: TestLineHost,
): Promise<Line> {
  const processSystem: System = {
    now: () => system.now() + (process.aheadMs ?? 0),
    monotonic: () => system.monotonic(),
    random: (bytes) => system.random(bytes),
    after: (ms, run) => system.after(ms, () => (process.isAlive ? run() : undefined)),
  };
  const ref = { id: "inst_1", userId: "usr_1", name: "Front desk" };
  return whatsapp({ client, system: processSystem }).open(ref, host, new AbortController().signal);
}

/** A linked number as the core uses it: the whole adapter over a scripted network, on a manual clock. */
export class NumberScene {
  readonly system: ManualSystem;
  readonly network: FakeWhatsApp;
  readonly host: TestLineHost = new TestLineHost();
  line: Line;
  #process: Process;
  /** The value of every sample that we send. */
  static readonly LEVEL = 1_000;

  private constructor(system: ManualSystem, network: FakeWhatsApp, line: Line, host: TestLineHost, process: Process) {
    this.system = system;
    this.network = network;
    this.line = line;
    this.host = host;
    this.#process = process;
  }

  static async openLinked(
    seed = 1,
    client?: WhatsAppClientFactory,
    options?: FakeWhatsAppOptions,
  ): Promise<NumberScene> {
    const system = new ManualSystem({ seed });
    const network = new FakeWhatsApp(system, options);
    const host = new TestLineHost();
    const process = { isAlive: true };
    const line = await openLine(process, system, client ?? network.client, host);
    const scene = new NumberScene(system, network, line, host, process);
    const linking = line.link?.();
    await system.advance(1_000);
    await linking;
    network.scan(network.clientOf().shown.qr ?? "", OWNER);
    await system.advance(1_000);
    return scene;
  }

  /** Kills the process with all its timers and sockets, and moves the number to another process. */
  async restart(): Promise<void> {
    this.kill();
    await this.takeOver();
  }

  /** Moves the number to another process; the earlier one continues. */
  async takeOver(): Promise<void> {
    this.#process = { isAlive: true };
    this.line = await openLine(this.#process, this.system, this.network.client, this.host);
  }

  /** Kills the process with all its timers and sockets. */
  kill(): void {
    this.#process.isAlive = false;
    this.client.dropSocket(Infinity);
  }

  /** Sets the process's wall clock. @param aheadMs its lead over WhatsApp's */
  setClock(aheadMs: number): void {
    this.#process.aheadMs = aheadMs;
  }

  get client() {
    return this.network.clientOf();
  }

  /** Dials, and collects the events of the leg. */
  dial(to: string = ANA, overrides: Partial<DialOptions> = {}): DialledCall {
    const dialledCall: DialledCall = { events: [] };
    const source = { read: (frame: Int16Array) => void frame.fill(NumberScene.LEVEL) };
    const options = { callId: "call_1", ringTimeoutMs: 60_000, ...overrides };
    this.line.dial(to, options, new AbortController().signal).then(
      async (leg) => {
        dialledCall.leg = leg;
        leg.connectMedia(source as never, { write() {} });
        for await (const event of leg.events) dialledCall.events.push(event);
      },
      (error) => {
        dialledCall.error = error;
      },
    );
    return dialledCall;
  }

  /** Our audio that the callee of the latest call has heard, ms. */
  get heardMs(): number {
    const loudSamples = Array.from(this.network.call().heard).filter(
      (sample) => Math.abs(sample) > NumberScene.LEVEL / 2,
    );
    return loudSamples.length / 16;
  }

  /** States of the client's calls. */
  get clientCalls(): string[] {
    return this.client.voip?.getCalls().map(({ stateData }) => stateData.state) ?? [];
  }
}
