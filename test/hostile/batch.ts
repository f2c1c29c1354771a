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
import { ACCOUNT, CALLEES, CORRUPTED_NUMBERS, VALID_CALLEE } from "./callees.ts";
import { Corruption } from "./corruption.ts";
import { isIsolated } from "./namespace.ts";

/** Factor by which the SIP timers run faster: half a minute takes three seconds. The audio has its own clock. */
const SPEED = 10;
const CALLS = 120;
const MAX_MS = 1_000;
/** Time after a hang-up by which a call has freed everything, ms. */
const END_MS = 10_000;
const ATTEMPTS = 3;
const RTP_PORTS = [20_000, 23_999] as const;

/** Result of a batch. */
export interface BatchResult {
  readonly messages: number;
  readonly packets: number;
  readonly calls: number;
  /** Faults as sentences; empty on success. */
  readonly faults: readonly string[];
}

/**
 * 120 concurrent calls with corrupted remote ends, then one that must be audible; afterwards everything must have been
 * freed.
 */
export async function runBatch(seed: number): Promise<BatchResult> {
  const batch = new Batch(seed, await startFarEnd({ callees: CALLEES, registrar: { challenge: ACCOUNT } }));
  return await batch.run();
}

class Batch {
  readonly #draw: () => number;
  readonly #farEnd: FarEnd;
  readonly #corruption: Corruption;
  readonly #system = new CountedSystem(SPEED);
  readonly #faults: string[] = [];
  readonly #seed: number;
  #callCount = 0;

  constructor(seed: number, farEnd: FarEnd) {
    this.#seed = seed;
    this.#draw = random(seed);
    this.#corruption = new Corruption(random(seed + 1_000_000));
    this.#farEnd = farEnd;
  }

  async run(): Promise<BatchResult> {
    const relay = await startLossyRelay({
      ...{ to: this.#farEnd, seed: this.#seed, corrupt: this.#corruption.corrupt },
      signalling: { reordered: 0.2, reorderDelayMs: 40, duplicates: 0.2 },
    });
    const telephony = this.#trunk(relay, "calls", { probe: "none", followRedirects: true });
    const network = new TestNetwork({ telephony, close: async () => {} }, END_MS);
    const { line } = await network.link();
    await Promise.all([
      ...Array.from({ length: CALLS }, () => this.#placeCorruptedCall(network, line)),
      this.#presence(relay, { register: true }),
      this.#presence(relay, { probe: "options" }),
    ]);
    this.#corruption.active = false;
    this.#expectNoPorts();
    await this.#placeValidCall(network, line);
    if ((await withTimeout(END_MS, network.close())) === TIMED_OUT) this.#faults.push("the trunk did not close");
    await relay.close();
    await this.#farEnd.close();
    if (this.#system.pendingTimers !== 0) this.#faults.push(`${this.#system.pendingTimers} timers are pending`);
    const { messages, packets } = this.#corruption;
    return { messages, packets, calls: this.#callCount, faults: this.#faults };
  }

  #trunk({ uri }: LossyRelay, name: string, options: object): Telephony {
    const logger: Logger = {
      ...{ debug() {}, info() {}, warn() {} },
      error: (fields, message) => void this.#faults.push(`${message}: ${String(fields.err ?? "")}`),
    };
    const trunk = { name, server: uri, ...ACCOUNT, rtpPorts: RTP_PORTS, mediaLossMs: 1_000, ...options };
    return sip({ trunks: [trunk], system: this.#system, logger, media: "worker" })[0]!;
  }

  /** Places one call, which must end before we hang up, or soon after. */
  async #placeCorruptedCall(network: TestNetwork, line: Line): Promise<void> {
    const number = CORRUPTED_NUMBERS[Math.floor(this.#draw() * CORRUPTED_NUMBERS.length)]!;
    const [waitMs, callMs] = [this.#draw() * MAX_MS, this.#draw() * MAX_MS];
    await network.sleep(waitMs);
    this.#callCount++;
    const dialledCall = await withTimeout(END_MS, network.call(line, number).catch(dialFault));
    if (dialledCall === TIMED_OUT)
      return void this.#faults.push(`the call to ${number} was neither dialled nor rejected`);
    if (dialledCall === undefined) return;
    await network.sleep(callMs);
    const { leg, events } = dialledCall;
    if ((await withTimeout(END_MS, leg.hangUp())) === TIMED_OUT)
      this.#faults.push(`the call to ${number} could not be hung up`);
    if ((await withTimeout(END_MS, events.over)) === TIMED_OUT) this.#faults.push(`the call to ${number} never ended`);
    const ends = events.types.filter((type) => type === "ended").length;
    if (ends !== 1 || events.types.at(-1) !== "ended")
      this.#faults.push(`the call to ${number} ended ${ends} times: ${events.types}`);
  }

  /** Opens, queries and closes a registration or a probe with corrupted responses. */
  async #presence(relay: LossyRelay, options: object): Promise<void> {
    for (let n = 0; n < 4; n++) {
      const telephony = this.#trunk(relay, "presence", options);
      const line = await telephony.open(
        { id: `inst_presence_${n}`, userId: "usr_1", name: "Presence" },
        new TestLineHost(),
        new AbortController().signal,
      );
      if ((await withTimeout(END_MS, line.probe())) === TIMED_OUT) this.#faults.push("a probe got no response");
      if ((await withTimeout(END_MS, telephony.close())) === TIMED_OUT)
        this.#faults.push("a registration did not close");
    }
  }

  /**
   * Places a call over the same trunk to a correct remote end: both sides must receive audio. Retries the call on a
   * stalled machine.
   */
  async #placeValidCall(network: TestNetwork, line: Line): Promise<void> {
    let fault: string | undefined;
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      fault = await this.#inaudibleReason(network, line).catch(String);
      if (fault === undefined) return;
    }
    this.#faults.push(`the valid call: ${fault}`);
  }

  /** Fault of a call; undefined if there is none. */
  async #inaudibleReason(network: TestNetwork, line: Line): Promise<string | undefined> {
    const { leg, events, recorder } = await network.call(line, VALID_CALLEE);
    const connected = await Promise.race([
      events.next("connected", END_MS).then(() => true),
      events.over.then(() => false),
    ]);
    if (!connected) return `ended as ${events.cause} before it was connected`;
    await network.until(() => recorder.frames.length >= 40, "its audio");
    await leg.hangUp();
    await events.over;
    const share = toneShare(recorder.heard().subarray(1_600), 1_000, leg.sampleRate);
    if (share < 0.9) return `its tone is only ${share.toFixed(2)} of the received audio`;
    const packets = this.#farEnd.calls.findLast(({ user }) => user === VALID_CALLEE)?.voice?.packets.length ?? 0;
    return packets < 30 ? `the callee heard ${packets} packets` : undefined;
  }

  /** Expects that no call has left a socket behind in the trunk's port range of our network namespace. */
  #expectNoPorts(): void {
    if (!isIsolated) return;
    const ports = readFileSync("/proc/self/net/udp", "latin1")
      .split("\n")
      .map((line) => Number.parseInt(/^\s*\d+: [0-9A-F]+:([0-9A-F]{4})/.exec(line)?.[1] ?? "0", 16))
      .filter((port) => port >= RTP_PORTS[0] && port <= RTP_PORTS[1]);
    if (ports.length > 0) this.#faults.push(`${ports.length} media sockets are open`);
  }
}

/** A call that could not be placed has simply ended; anything else is a fault. */
function dialFault(fault: unknown): undefined {
  if (!(fault instanceof DialError)) throw fault;
}

const TIMED_OUT = Symbol("timed out");

/** The outcome of a promise within this many ms; TIMED_OUT if it takes longer. */
async function withTimeout<Result>(ms: number, promise: Promise<Result>): Promise<Result | typeof TIMED_OUT> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const timeout = new Promise<typeof TIMED_OUT>((resolve) => {
    timer = setTimeout(() => resolve(TIMED_OUT), ms);
  });
  try {
    return await Promise.race([promise, timeout]);
  } finally {
    clearTimeout(timer);
  }
}
