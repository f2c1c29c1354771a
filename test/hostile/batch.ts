import { readFileSync } from "node:fs";
import { sip } from "../../adapters/telephony/sip/index.ts";
import { toneShare } from "../../src/audio/tones/tone.ts";
import type { Logger } from "../../src/ports/logger.ts";
import { DialError, type Line, type Telephony } from "../../src/ports/telephony.ts";
import { TestLineHost } from "../../src/testing/telephony-host.ts";
import { TestNetwork } from "../../src/testing/telephony-network.ts";
import { CountedSystem } from "../support/counted-system.ts";
import { random } from "../support/random.ts";
import { type FarEnd, startFarEnd } from "../support/sip/far-end.ts";
import { type LossyRelay, startLossyRelay } from "../support/sip/lossy-relay.ts";
import { ACCOUNT, CALLEES, SANE, SPOILT_NUMBERS } from "./callees.ts";
import { isolated } from "./namespace.ts";
import { Spoiling } from "./spoiling.ts";

/** SIP timeouts of half a minute last three seconds here. The audio has its own clock. */
const SPEED = 10;
const CALLS = 120;
const MAX_MS = 1_000;
/** Time after a hang-up by which a call has freed everything, ms. */
const END_MS = 10_000;
const CHANCES = 3;
const RTP_PORTS = [20_000, 23_999] as const;

/** Result of a batch. */
export interface BatchResult {
  readonly messages: number;
  readonly packets: number;
  readonly calls: number;
  /** Faults as sentences; empty on success. */
  readonly faults: readonly string[];
}

/** 120 concurrent calls with corrupted remote ends, then one that must be heard; afterwards everything must be freed. */
export async function runBatch(seed: number): Promise<BatchResult> {
  const batch = new Batch(seed, await startFarEnd({ callees: CALLEES, registrar: { challenge: ACCOUNT } }));
  return await batch.run();
}

class Batch {
  readonly #draw: () => number;
  readonly #farEnd: FarEnd;
  readonly #spoiling: Spoiling;
  readonly #system = new CountedSystem(SPEED);
  readonly #faults: string[] = [];
  readonly #seed: number;
  #calls = 0;

  constructor(seed: number, farEnd: FarEnd) {
    this.#seed = seed;
    this.#draw = random(seed);
    this.#spoiling = new Spoiling(random(seed + 1_000_000));
    this.#farEnd = farEnd;
  }

  async run(): Promise<BatchResult> {
    const relay = await startLossyRelay({
      ...{ to: this.#farEnd, seed: this.#seed, spoils: this.#spoiling.spoils },
      signalling: { late: 0.2, lateMs: 40, duplicates: 0.2 },
    });
    const telephony = this.#trunk(relay, "calls", { probe: "none", followRedirects: true });
    const network = new TestNetwork({ telephony, close: async () => {} }, END_MS);
    const { line } = await network.link();
    await Promise.all([
      ...Array.from({ length: CALLS }, () => this.#spoiltCall(network, line)),
      this.#presence(relay, { register: true }),
      this.#presence(relay, { probe: "options" }),
    ]);
    this.#spoiling.active = false;
    this.#expectNoPorts();
    await this.#saneCall(network, line);
    if ((await within(END_MS, network.close())) === LATE) this.#faults.push("the trunk did not close");
    await relay.close();
    await this.#farEnd.close();
    if (this.#system.waiting !== 0) this.#faults.push(`${this.#system.waiting} timers are left`);
    const { messages, packets } = this.#spoiling;
    return { messages, packets, calls: this.#calls, faults: this.#faults };
  }

  #trunk({ uri }: LossyRelay, name: string, more: object): Telephony {
    const logger: Logger = {
      ...{ debug() {}, info() {}, warn() {} },
      error: (fields, message) => void this.#faults.push(`${message}: ${String(fields.err ?? "")}`),
    };
    const trunk = { name, server: uri, ...ACCOUNT, rtpPorts: RTP_PORTS, mediaLossMs: 1_000, ...more };
    return sip({ trunks: [trunk], system: this.#system, logger, media: "worker" })[0]!;
  }

  /** One call; it must end soon after we hang up, at the latest. */
  async #spoiltCall(network: TestNetwork, line: Line): Promise<void> {
    const number = SPOILT_NUMBERS[Math.floor(this.#draw() * SPOILT_NUMBERS.length)]!;
    const [waitMs, callMs] = [this.#draw() * MAX_MS, this.#draw() * MAX_MS];
    await network.sleep(waitMs);
    this.#calls++;
    const dialled = await within(END_MS, network.call(line, number).catch(dialFault));
    if (dialled === LATE) return void this.#faults.push(`the call to ${number} neither went out nor failed`);
    if (dialled === undefined) return;
    await network.sleep(callMs);
    const { leg, events } = dialled;
    if ((await within(END_MS, leg.hangUp())) === LATE) this.#faults.push(`the call to ${number} could not be hung up`);
    if ((await within(END_MS, events.over)) === LATE) this.#faults.push(`the call to ${number} never ended`);
    const ends = events.types.filter((type) => type === "ended").length;
    if (ends !== 1 || events.types.at(-1) !== "ended")
      this.#faults.push(`the call to ${number} ended ${ends} times: ${events.types}`);
  }

  /** A registration or a probe with corrupted responses: opened, queried and closed. */
  async #presence(relay: LossyRelay, more: object): Promise<void> {
    for (let n = 0; n < 4; n++) {
      const telephony = this.#trunk(relay, "presence", more);
      const line = await telephony.open(
        { id: `inst_presence_${n}`, userId: "usr_1", name: "Presence" },
        new TestLineHost(),
        new AbortController().signal,
      );
      if ((await within(END_MS, line.probe())) === LATE) this.#faults.push("a probe was never answered");
      if ((await within(END_MS, telephony.close())) === LATE) this.#faults.push("a registration did not close");
    }
  }

  /** A call over the same trunk to a correct remote end: both sides hear. Retried on a stalled machine. */
  async #saneCall(network: TestNetwork, line: Line): Promise<void> {
    let fault: string | undefined;
    for (let chance = 0; chance < CHANCES; chance++) {
      fault = await this.#unheard(network, line).catch(String);
      if (fault === undefined) return;
    }
    this.#faults.push(`the sane call: ${fault}`);
  }

  /** Fault of a call; undefined if there is none. */
  async #unheard(network: TestNetwork, line: Line): Promise<string | undefined> {
    const { leg, events, recorder } = await network.call(line, SANE);
    const connected = await Promise.race([
      events.next("connected", END_MS).then(() => true),
      events.over.then(() => false),
    ]);
    if (!connected) return `ended as ${events.cause} before it was connected`;
    await network.until(() => recorder.frames.length >= 40, "its audio");
    await leg.hangUp();
    await events.over;
    const share = toneShare(recorder.heard().subarray(1_600), 1_000, leg.sampleRate);
    if (share < 0.9) return `${share.toFixed(2)} of what was heard is its tone`;
    const packets = this.#farEnd.calls.findLast(({ user }) => user === SANE)?.voice?.packets.length ?? 0;
    return packets < 30 ? `the callee heard ${packets} packets` : undefined;
  }

  /** In our network namespace, a socket in the trunk's port range was left behind by a call. */
  #expectNoPorts(): void {
    if (!isolated) return;
    const ports = readFileSync("/proc/self/net/udp", "latin1")
      .split("\n")
      .map((line) => Number.parseInt(/^\s*\d+: [0-9A-F]+:([0-9A-F]{4})/.exec(line)?.[1] ?? "0", 16))
      .filter((port) => port >= RTP_PORTS[0] && port <= RTP_PORTS[1]);
    if (ports.length > 0) this.#faults.push(`${ports.length} media sockets are left`);
  }
}

/** A call that could not be placed has simply ended; anything else is a fault. */
function dialFault(fault: unknown): undefined {
  if (!(fault instanceof DialError)) throw fault;
}

const LATE = Symbol("late");

/** The outcome of a promise within this many ms; LATE if it takes longer. */
async function within<Result>(ms: number, promise: Promise<Result>): Promise<Result | typeof LATE> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<typeof LATE>((resolve) => {
    timer = setTimeout(() => resolve(LATE), ms);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}
