import { DtmfDetector } from "../audio/dtmf.ts";
import { samplesToMs } from "../audio/pcm.ts";
import { tone, toneShare } from "../audio/tone.ts";
import { Vad } from "../audio/vad.ts";
import { DialError, type ReleaseCause, type Telephony } from "../ports/telephony.ts";
import { TestLineHost } from "./telephony-host.ts";
import { CountingSource, Network } from "./telephony-network.ts";

/** The test runner, so that none is imported: that of vitest, Bun, Deno or Node fits. */
export interface ContractRunner {
  describe(name: string, body: () => void): void;
  /** @param timeoutMs after which the test has failed */
  test(name: string, body: () => Promise<void>, timeoutMs: number): void;
  /** A test that is not run; its name ends with the reason. */
  skip(name: string): void;
  expect(actual: unknown): {
    toBe(expected: unknown): void;
    toEqual(expected: unknown): void;
    toBeGreaterThanOrEqual(expected: number): void;
    toBeLessThanOrEqual(expected: number): void;
  };
}

/** Why a part of the contract cannot be tried with this network. */
export interface Skip {
  readonly skip: string;
}

/** Numbers whose far ends behave in a known way. */
export interface ContractNumbers {
  /** Answers within `patienceMs` and listens for 5 s at least. */
  readonly answers: string;
  readonly busy: string | Skip;
  /** Rings and never answers. */
  readonly rings: string | Skip;
  readonly declines: string | Skip;
  /** Answers, then hangs up. */
  readonly hangsUp: string | Skip;
  /** Does not exist. */
  readonly unknown: string | Skip;
  /** Answers and says something. */
  readonly speaks: string | Skip;
  /** Answers and presses `keys`. */
  readonly presses: { readonly number: string; readonly keys: string } | Skip;
}

/** A network to be tested, new for each test. */
export interface ContractSubject {
  readonly telephony: Telephony;
  /** Does what a person does with a linking code; left out where `link()` needs nobody. */
  scan?(payload: string): Promise<void>;
  /** What the far end of an ended call heard, at the leg's rate; left out where nobody can know. */
  heard?(callId: string): Promise<Int16Array>;
  /** After the telephony has been closed. */
  close(): Promise<void>;
}

/** What {@link telephonyContract} needs to know before the first test. */
export interface ContractOptions {
  readonly create: () => Promise<ContractSubject>;
  readonly numbers: ContractNumbers;
  /** How long a line may take to come online, a far end to answer or to hang up, ms. */
  readonly patienceMs: number;
  /** Why the network shows no linking codes; left out when it does. */
  readonly codes?: Skip;
  /** Why nobody can know what a far end heard; left out when the subject does. */
  readonly hearing?: Skip;
  /** No codec is in the way: the far end hears exactly the samples that were sent. */
  readonly lossless?: boolean;
}

const TONE_HZ = 437; // not a whole number of periods in any frame, so that a lost or doubled one breaks the tone
const TONE_MS = 600;
const TONE_AMPLITUDE = 8_000;

/** Registers the tests that every {@link Telephony} passes. */
export function telephonyContract(name: string, options: ContractOptions, runner: ContractRunner): void {
  const { numbers, patienceMs } = options;
  const { expect } = runner;

  /** A test with a network of its own, closed when it is over. */
  function test(title: string, body: (network: Network) => Promise<void>, needs: unknown = undefined): void {
    if (isSkip(needs)) {
      runner.skip(`${title} (skipped: ${needs.skip})`);
      return;
    }
    const run = async (): Promise<void> => {
      const network = new Network(await options.create(), patienceMs);
      try {
        await body(network);
      } finally {
        await network.close();
      }
    };
    runner.test(title, run, 10 * patienceMs + 10_000);
  }

  /** The test for a number whose call is never answered. */
  function refused(title: string, number: string | Skip, cause: ReleaseCause): void {
    test(
      title,
      async (network) => {
        const line = await network.linkedLine();
        try {
          const { events } = await network.call(line, number as string);
          await events.next("ended", patienceMs);
          await events.over;
          expect(events.cause).toBe(cause);
          expect(events.types.includes("answered")).toBe(false);
          expectInOrder(events.types);
        } catch (fault) {
          if (!(fault instanceof DialError)) throw fault;
          expect(fault.release).toBe(cause); // a network that tells at once
        }
      },
      number,
    );
  }

  /** Only legal orders: asked, ringing, accepted, media, over; `ended` once and last. */
  function expectInOrder(types: readonly string[]): void {
    const order = ["placed", "alerting", "early_media", "answered", "connected", "ended"];
    const ranks = types.filter((type) => order.includes(type)).map((type) => Math.min(order.indexOf(type), 5));
    const settled = ranks.map((rank) => (rank === 2 ? 1 : rank)); // early media may come before alerting
    expect(settled).toEqual([...settled].sort((a, b) => a - b));
    expect(types[0] === "placed" || types[0] === "ended").toBe(true);
    for (const once of ["placed", "answered", "connected", "ended"])
      expect(types.filter((type) => type === once).length).toBeLessThanOrEqual(1);
    expect(types.at(-1)).toBe("ended");
  }

  runner.describe(`${name}: linking`, () => {
    test("a line without credentials is offline and shows no code until it is asked to link", async (network) => {
      const { line, host } = await network.open();
      expect((await line.probe()).state).toBe("offline");
      expect(host.reports.types).toEqual([]);
    });

    test(
      "codes are counted from 1 and not yet over when they appear",
      async (network) => {
        const { line, host } = await network.open();
        await Promise.all([line.link(), line.link()]);
        const { code } = await host.reports.next("code", patienceMs);
        await line.link();
        expect(code.payload.length).toBeGreaterThanOrEqual(1);
        expect(code.expiresAt).toBeGreaterThanOrEqual(Date.now());
        const sequences = host.reports.all.flatMap((report) => (report.type === "code" ? [report.code.sequence] : []));
        expect(sequences).toEqual(sequences.map((_, index) => index + 1));
      },
      options.codes,
    );

    test("credentials are saved before the line is linked, and it is linked before it is online", async (network) => {
      const { host } = await network.link();
      const told = host.reports.types.filter((type) => type !== "code");
      expect(told.slice(0, 3)).toEqual(["saved", "linked", "online"]);
    });

    test("a linked line comes online by itself when it is opened again", async (network) => {
      const first = await network.link();
      await first.line.close();
      expect((await first.line.probe()).state).toBe("offline");
      const second = await network.open(new TestLineHost(first.host.stored));
      await second.host.reports.next("online", patienceMs);
      expect(second.host.reports.types.includes("code")).toBe(false);
      expect((await second.line.probe()).state).toBe("online");
    });

    test("linking a linked line changes nothing", async (network) => {
      const { line, host } = await network.link();
      await line.link();
      expect((await line.probe()).state).toBe("online");
      expect(host.reports.types.at(-1)).toBe("online");
    });

    test("an unlinked line is offline and can be linked again", async (network) => {
      const { line, host } = await network.link();
      await Promise.all([line.unlink(), line.unlink()]);
      expect((await line.probe()).state).toBe("offline");
      await host.credentials.erase();
      await network.link({ line, host });
      expect((await line.probe()).state).toBe("online");
    });

    test("every method may be called twice, also on a closed line", async (network) => {
      const { line } = await network.link();
      await Promise.all([line.close(), line.close()]);
      await Promise.all([line.link(), line.unlink(), line.close(), line.unlink(), line.close()]);
      expect((await line.probe()).state).toBe("offline");
      await Promise.all([network.subject.telephony.close(), network.subject.telephony.close()]);
    });
  });

  runner.describe(`${name}: calls`, () => {
    test("a line that is not linked, or closed, refuses to dial", async (network) => {
      const { line } = await network.open();
      expect(await network.refusal(line, numbers.answers)).toBe("DialError");
      await line.close();
      expect(await network.refusal(line, numbers.answers)).toBe("DialError");
    });

    test("a call is placed, answered, connected and ended, in this order", async (network) => {
      const line = await network.linkedLine();
      const { leg, events } = await network.call(line, numbers.answers);
      await events.next("connected", patienceMs);
      await leg.hangUp();
      await events.over;
      expectInOrder(events.types);
      expect(events.types.includes("answered")).toBe(true);
      expect(events.cause).toBe("released");
    });

    refused("a busy number ends the call with busy", numbers.busy, "busy");
    refused("a callee who declines ends the call with declined", numbers.declines, "declined");
    refused("a number that does not exist ends the call with number_invalid", numbers.unknown, "number_invalid");

    test(
      "a callee who hangs up ends the call with callee_hung_up",
      async (network) => {
        const line = await network.linkedLine();
        const { leg, events } = await network.call(line, numbers.hangsUp as string);
        await events.next("ended", 2 * patienceMs);
        await leg.hangUp();
        await events.over;
        expectInOrder(events.types);
        expect(events.types.includes("connected")).toBe(true);
        expect(events.cause).toBe("callee_hung_up");
      },
      numbers.hangsUp,
    );

    test("hanging up twice ends the call once", async (network) => {
      const line = await network.linkedLine();
      const { leg, events } = await network.call(line, numbers.answers);
      await events.next("connected", patienceMs);
      await Promise.all([leg.hangUp(), leg.hangUp()]);
      await leg.hangUp();
      await events.over;
      expectInOrder(events.types);
    });

    test(
      "hanging up while it rings ends the call unanswered",
      async (network) => {
        const line = await network.linkedLine();
        const { leg, events } = await network.call(line, numbers.rings as string);
        await events.next("alerting", patienceMs);
        await leg.hangUp();
        await events.over;
        expectInOrder(events.types);
        expect(events.cause).toBe("released");
        expect(events.types.includes("answered")).toBe(false);
      },
      numbers.rings,
    );

    test("hanging up at once, or at the moment of the answer, ends the call once", async (network) => {
      const line = await network.linkedLine();
      const atOnce = await network.call(line, numbers.answers);
      await atOnce.leg.hangUp();
      await atOnce.events.over;
      expectInOrder(atOnce.events.types);
      const { leg, events } = await network.call(line, numbers.answers);
      await events.next("answered", patienceMs);
      await leg.hangUp();
      await events.over;
      expectInOrder(events.types);
      expect(events.cause).toBe("released");
    });

    test("an aborted signal hangs up: before, while dialling, during the call", async (network) => {
      const line = await network.linkedLine();
      expect(["DialError", "released"].includes(await network.aborted(line, numbers.answers, "before"))).toBe(true);
      expect(["DialError", "released"].includes(await network.aborted(line, numbers.answers, "dialling"))).toBe(true);
      expect(await network.aborted(line, numbers.answers, "connected")).toBe("released");
    });

    test("a second call does not disturb the first", async (network) => {
      const line = await network.linkedLine();
      const first = await network.call(line, numbers.answers);
      await first.events.next("connected", patienceMs);
      await network.call(line, numbers.answers).then(
        ({ leg }) => leg.hangUp(),
        (fault: unknown) => expect(fault instanceof DialError).toBe(true),
      );
      expect(first.events.types.includes("ended")).toBe(false);
      const frames = first.ear.frames.length;
      await network.sleep(10 * first.leg.frameMs);
      expect(first.ear.frames.length).toBeGreaterThanOrEqual(frames + 1);
    });

    test("closing a line ends its call, and so does unlinking it", async (network) => {
      for (const end of ["close", "unlink"] as const) {
        const line = await network.linkedLine();
        const { events } = await network.call(line, numbers.answers);
        await events.next("connected", patienceMs);
        await line[end]();
        await events.next("ended", patienceMs);
        await events.over;
        expectInOrder(events.types);
      }
    });
  });

  runner.describe(`${name}: audio`, () => {
    test("audio runs from the answer to the end, a frame of the leg's length at a time", async (network) => {
      const line = await network.linkedLine();
      const mouth = new CountingSource();
      const { leg, events, ear } = await network.call(line, numbers.answers, mouth);
      await events.next("answered", patienceMs);
      await events.next("connected", patienceMs);
      expect(mouth.frames).toBeGreaterThanOrEqual(1);
      const before = mouth.frames;
      const start = performance.now();
      await network.sleep(500);
      const due = (performance.now() - start) / leg.frameMs;
      expect(mouth.frames - before).toBeGreaterThanOrEqual(Math.floor(due * 0.9) - 2);
      expect(mouth.frames - before).toBeLessThanOrEqual(Math.ceil(due * 1.1) + 2);
      await leg.hangUp();
      const [sent, heard] = [mouth.frames, ear.frames.length];
      const samples = (leg.sampleRate * leg.frameMs) / 1000;
      expect([...mouth.lengths]).toEqual([samples]);
      for (const frame of ear.frames) expect(frame.length).toBe(samples);
      await network.sleep(5 * leg.frameMs);
      expect([mouth.frames, ear.frames.length]).toEqual([sent, heard]); // nothing after the end
      expect(mouth.readsBeforeAnswer).toBe(0);
      if (network.subject.telephony.capabilities.inboundAudioCertain)
        expect(heard).toBeGreaterThanOrEqual(Math.floor(0.8 * sent) - 2);
    });

    test(
      "what the source plays is what the far end hears",
      async (network) => {
        const line = await network.linkedLine();
        const { leg, events, playout, callId } = await network.call(line, numbers.answers);
        const sent = tone(TONE_HZ, TONE_MS, leg.sampleRate, TONE_AMPLITUDE);
        playout.enqueue(sent);
        playout.silence(200);
        playout.end();
        await events.next("connected", patienceMs);
        await playout.drained;
        await leg.hangUp();
        const all = await network.heard(callId);
        const loud = (sample: number): boolean => Math.abs(sample) > TONE_AMPLITUDE / 8;
        const whole = all.subarray(all.findIndex(loud), all.findLastIndex(loud) + 1);
        const ms = samplesToMs(whole.length, leg.sampleRate);
        expect(ms).toBeGreaterThanOrEqual(TONE_MS - 40);
        expect(ms).toBeLessThanOrEqual(TONE_MS + 40);
        // Over its whole length one tone: a lost, doubled or displaced frame would turn its phase.
        expect(toneShare(whole, TONE_HZ, leg.sampleRate)).toBeGreaterThanOrEqual(0.9);
        if (options.lossless) expect(all.subarray(0, sent.length)).toEqual(sent);
      },
      options.hearing,
    );

    test("a source that throws ends its own call with internal_error, and no other", async (network) => {
      const line = await network.linkedLine();
      const other = await network.linkedLine();
      const sound = await network.call(other, numbers.answers);
      await sound.events.next("connected", patienceMs);
      const { events } = await network.call(line, numbers.answers, {
        read() {
          throw new Error("the program is broken");
        },
      });
      await events.next("ended", patienceMs);
      await events.over;
      expectInOrder(events.types);
      expect(events.cause).toBe("internal_error");
      const frames = sound.ear.frames.length;
      await network.sleep(10 * sound.leg.frameMs);
      expect(sound.ear.frames.length).toBeGreaterThanOrEqual(frames + 1);
      expect(sound.events.types.includes("ended")).toBe(false);
    });

    test(
      "speech of the far end arrives",
      async (network) => {
        const line = await network.linkedLine();
        const { leg, events, ear } = await network.call(line, numbers.speaks as string);
        await events.next("connected", patienceMs);
        await network.until(() => {
          const vad = new Vad(leg.sampleRate);
          return ear.frames.filter((frame) => vad.push(frame)).length * leg.frameMs >= 300;
        }, "speech");
      },
      numbers.speaks,
    );

    test(
      "pressed keys arrive as the capabilities say",
      async (network) => {
        const { number, keys } = numbers.presses as Exclude<ContractNumbers["presses"], Skip>;
        const line = await network.linkedLine();
        const { leg, events, ear } = await network.call(line, number);
        await events.next("connected", patienceMs);
        const inBand = network.subject.telephony.capabilities.dtmf === "in-band";
        const pressed = (): string => (inBand ? keysIn(ear.heard(), leg.sampleRate) : events.keys);
        await network.until(() => pressed().length >= keys.length, "the keys", 500 * keys.length);
        await leg.hangUp();
        expect(pressed()).toBe(keys);
        expect(events.types.includes("dtmf")).toBe(!inBand);
      },
      numbers.presses,
    );

    test(
      "keys sent are heard by the far end",
      async (network) => {
        const line = await network.linkedLine();
        const { leg, events, callId } = await network.call(line, numbers.answers);
        await events.next("connected", patienceMs);
        await leg.sendDtmf?.("42#");
        await network.sleep(2 * leg.frameMs);
        await leg.hangUp();
        if (leg.sendDtmf === undefined || network.subject.telephony.capabilities.dtmf === "event") return;
        expect(keysIn(await network.heard(callId), leg.sampleRate)).toBe("42#");
      },
      options.hearing,
    );
  });
}

function keysIn(samples: Int16Array, sampleRate: number): string {
  let keys = "";
  const detector = new DtmfDetector(sampleRate, (digit) => {
    keys += digit;
  });
  detector.push(samples);
  return keys;
}

function isSkip(value: unknown): value is Skip {
  return typeof value === "object" && value !== null && "skip" in value;
}
