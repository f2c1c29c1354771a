import { parentPort, workerData } from "node:worker_threads";
import { errorText, type FrameSink, type FrameSource, realSystem } from "../../ports.ts";
import type { MediaListener, MediaSession } from "../engine.ts";
import { PortPairs } from "../port-pairs.ts";
import { createThreadEngine } from "../thread-engine.ts";
import { BEAT_MS, Heartbeat } from "./heartbeat.ts";
import { SampleRing } from "./sample-ring.ts";
import {
  CELL,
  type FromMediaWorker,
  type MediaWorkerStart,
  type SharedCall,
  type ToMediaWorker,
} from "./shared-call.ts";
import { writeEvidence, writeStatistics } from "./statistics-board.ts";

/** The worker's end of the outbound audio: samples prepared by the main thread, or silence. */
class RingSource implements FrameSource {
  readonly #ring: SampleRing;
  readonly #cells: Int32Array;
  #hadSamples = false;
  #recallCount = 0;

  constructor(shared: SharedCall) {
    this.#ring = new SampleRing(shared.outgoing);
    this.#cells = new Int32Array(shared.cells);
  }

  read(frame: Int16Array): number {
    const recalls = Atomics.load(this.#cells, CELL.recalls);
    if (recalls !== this.#recallCount) this.#hadSamples = false;
    this.#recallCount = recalls;
    const samples = this.#ring.take(frame);
    if (samples === frame.length) {
      this.#hadSamples = true;
      return samples;
    }
    frame.fill(0, samples);
    Atomics.add(this.#cells, CELL.silence, frame.length - samples);
    if (this.#hadSamples || samples > 0) Atomics.add(this.#cells, CELL.underruns, 1);
    this.#hadSamples = false;
    return samples;
  }
}

/**
 * The worker's end of the inbound audio. Frames that do not fit because the main thread stalls are dropped and counted.
 */
class RingSink implements FrameSink {
  readonly #ring: SampleRing;
  readonly #cells: Int32Array;

  constructor(shared: SharedCall) {
    this.#ring = new SampleRing(shared.incoming);
    this.#cells = new Int32Array(shared.cells);
  }

  /** Marks the answer: later writes are ordered after it. */
  markAnswered(): void {
    Atomics.store(this.#cells, CELL.answeredAt, this.#ring.written);
    Atomics.store(this.#cells, CELL.answered, 1);
  }

  write(frame: Int16Array, marks?: Uint8Array): void {
    if (!this.#ring.write(frame, frame.length, marks)) Atomics.add(this.#cells, CELL.droppedInbound, frame.length);
  }
}

// The entry of the media worker (see worker-engine.ts): an engine whose calls exchange samples through shared memory.

interface Call {
  readonly session: MediaSession;
  readonly sink: RingSink;
  readonly sharedStatistics: Float64Array;
}

const { thread, ports, heartbeat: heartbeatMemory } = workerData as MediaWorkerStart;
const heartbeat = new Heartbeat(heartbeatMemory);
const engine = createThreadEngine({ ports: new PortPairs(realSystem, ports, thread) });
const calls = new Map<number, Call>();

function post(message: FromMediaWorker): void {
  parentPort?.postMessage(message);
}

async function open({ id, options, shared }: Extract<ToMediaWorker, { type: "open" }>): Promise<void> {
  const notify = (event: "sending" | "receiving" | "evidence"): void => {
    publish(id); // the listener may read it immediately
    post({ type: "noticed", id, event });
  };
  const listener: MediaListener = {
    sending: () => notify("sending"),
    receiving: () => notify("receiving"),
    heardByPeer: () => publish(id),
    evidence: () => notify("evidence"),
    digit: (digit) => post({ type: "digit", id, digit }),
    silent: (detail) => post({ type: "silent", id, detail }),
    lost: (detail) => post({ type: "lost", id, detail }),
  };
  try {
    const deadline = new Float64Array(shared.deadline);
    const session = await engine.open(options, listener, {
      get send() {
        return deadline[0] ?? 0;
      },
    });
    const sink = new RingSink(shared);
    session.connect(new RingSource(shared), sink, sink);
    calls.set(id, { session, sink, sharedStatistics: new Float64Array(shared.statistics) });
    post({ type: "opened", id, port: session.port });
  } catch (fault) {
    const { name, message } = fault instanceof Error ? fault : { name: "Error", message: String(fault) };
    post({ type: "refused", id, name, message });
  }
}

/** Writes a call's statistics into shared memory. */
function publish(id: number): void {
  const call = calls.get(id);
  if (call === undefined) return;
  writeStatistics(call.sharedStatistics, call.session.statistics());
  writeEvidence(call.sharedStatistics, call.session.evidence());
}

function start(id: number): void {
  const call = calls.get(id);
  call?.session.start();
  publish(id);
  call?.sink.markAnswered();
}

async function close(id: number): Promise<void> {
  await calls.get(id)?.session.close();
  publish(id);
  calls.delete(id);
}

function reply(ticket: number, result: Promise<void> | undefined): void {
  Promise.resolve(result).then(
    () => post({ type: "done", ticket }),
    (fault: unknown) => post({ type: "done", ticket, fault: errorText(fault) }),
  );
}

function receive(message: ToMediaWorker): void {
  if (message.type === "open") {
    void open(message);
    return;
  }
  const session = calls.get(message.id)?.session;
  if (message.type === "configure") session?.configure(message.settings);
  else if (message.type === "start") start(message.id);
  else if (message.type === "keys") reply(message.ticket, session?.sendDigits(message.digits));
  else reply(message.ticket, close(message.id));
}

setInterval(() => {
  for (const load of engine.threads()) heartbeat.beat(load);
  for (const id of calls.keys()) publish(id);
}, BEAT_MS).unref();
parentPort?.on("message", receive);
post({ type: "ready", monotonic: realSystem.monotonic() });
