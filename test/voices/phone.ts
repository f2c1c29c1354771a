import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { type Simulator, simulator } from "../../adapters/telephony/simulator/index.ts";
import { MULAW_LEVELS, mulawCode } from "../../src/audio/samples/g711-companding.ts";
import { isInPieces } from "../../src/http/replies/reply.ts";
import { createRingport, type EmbeddedTuning, type Principal, type Ringport } from "../../src/index.ts";
import { readWav, type Sound } from "../support/server-sound.ts";

const ME: Principal = { userId: "usr_live" };
const LISTENER = "+12025550100";
/** Rate of a telephone line, Hz. */
const LINE_RATE = 8_000;
const POLL_MS = 50;

/** A Ringport with simulated telephone lines, and one callee who listens. */
export class Phone {
  readonly #ringport: Ringport;
  readonly #network: Simulator;
  readonly #data: string;
  /** Instances without a call. */
  readonly #freeInstances: string[] = [];

  private constructor(neural: EmbeddedTuning["neural"], data: string) {
    this.#data = data;
    this.#network = simulator({ spoolDir: join(data, "recordings"), sampleRate: LINE_RATE, timeScale: 0.1 });
    this.#ringport = createRingport({
      data,
      telephony: this.#network,
      embedded: { neural },
      // The next call waits until the line is free.
      queue: { kind: "fifo", depth: 2 },
    });
  }

  /** Starts a phone. @param lines number of calls at once */
  static async start(neural: EmbeddedTuning["neural"], lines: number): Promise<Phone> {
    const data = await mkdtemp(join(tmpdir(), "ringport-live-"));
    const phone = new Phone(neural, data);
    await phone.#ringport.start();
    for (let line = 1; line <= lines; line++)
      phone.#freeInstances.push(await createLinkedInstance(phone.#ringport, `line ${line}`));
    return phone;
  }

  voices(): ReturnType<Ringport["voices"]> {
    return this.#ringport.voices({ variants: true });
  }

  /**
   * Places a call, and returns what the callee hears of a text: 8 kHz, and mu-law as on a telephone line. One line must
   * be free.
   * @throws Error the call ends before the whole text was spoken; the message has the reason
   */
  async hear(voiceId: string, text: string): Promise<Sound> {
    const instanceId = this.#freeInstances.pop();
    if (instanceId === undefined) throw new Error("every line has a call");
    try {
      const { id } = await this.#ringport.calls.create(ME, {
        instanceId,
        type: "FIXED_TTS",
        target: { phoneNumber: LISTENER },
        tts: { text, voiceId },
      });
      const { outcome } = await this.#ringport.calls.wait(ME, id);
      if (outcome?.reason !== "message_played")
        throw new Error([outcome?.reason, outcome?.detail].filter(Boolean).join(": "));
      return await this.#heardSound(id);
    } finally {
      this.#freeInstances.push(instanceId);
    }
  }

  async #heardSound(callId: string): Promise<Sound> {
    const body = (await this.#network.pages.artefact(callId, "heard.wav"))?.body;
    if (!isInPieces(body)) throw new Error("the call has no recording");
    const { samples, sampleRate } = readWav(Buffer.concat(await Array.fromAsync(body)));
    return { sampleRate, samples: samples.map((sample) => MULAW_LEVELS[mulawCode(sample)]!) };
  }

  async stop(): Promise<void> {
    await this.#ringport.stop({ drainMs: 0 });
    await rm(this.#data, { recursive: true, force: true });
  }
}

/** Creates an instance, and waits until it is online; returns its id. */
async function createLinkedInstance(ringport: Ringport, name: string): Promise<string> {
  const { id } = await ringport.instances.create(ME, { name });
  const { payload: url } = await ringport.instances.configure(ME, id);
  const { status } = await ringport.handle({ method: "POST", url, headers: new Headers(), body: null });
  if (status !== 200) throw new Error(`the simulated phone could not be linked: status ${status}`);
  while ((await ringport.instances.get(ME, id)).status !== "ACTIVE") await pause(POLL_MS);
  return id;
}
