import type { Trunk } from "../../../adapters/telephony/sip/config/trunk-config.ts";
import { sip } from "../../../adapters/telephony/sip/index.ts";
import { Playout } from "../../../src/audio/playout/playout.ts";
import { tone } from "../../../src/audio/tones/tone.ts";
import type { FrameSource } from "../../../src/ports/media.ts";
import type { Leg, Line, Telephony } from "../../../src/ports/telephony.ts";
import { TestLineHost } from "../../../src/testing/telephony-host.ts";
import { CallEvents, FrameRecorder } from "../../../src/testing/telephony-network.ts";
import { SENT_HZ } from "./sound.ts";
import type { Stage } from "./stage.ts";

export const CALLEE = "+12025550100";

/** A call of the adapter, without the core. */
export interface DirectCall {
  readonly leg: Leg;
  readonly events: CallEvents;
  /** Plays 40 s of a tone. */
  readonly playout: Playout;
  /** Audio received from the callee. */
  readonly recorder: FrameRecorder;
  /** Frames that were pulled to be sent. */
  readonly pulledFrames: () => number;
}

/** A trunk with one linked line, as the core holds it. */
export interface Caller {
  readonly line: Line;
  readonly host: TestLineHost;
  dial(to?: string, ringTimeoutMs?: number): Promise<DirectCall>;
}

/**
 * Opens a trunk with one line; does not wait for it.
 * @param media thread of the audio; each trunk here would have its own worker, while programs have one
 */
export async function openLine(
  stage: Stage,
  trunk: Omit<Trunk, "name">,
  name = "test",
  media: "thread" | "worker" = "thread",
): Promise<Pick<Caller, "line" | "host">> {
  const [telephony] = sip({ trunks: [{ name, probe: "none", users: "*", ...trunk }], media });
  return await openLineOn(stage, telephony, name);
}

async function openLineOn(
  stage: Stage,
  telephony: Telephony | undefined,
  name: string,
): Promise<Pick<Caller, "line" | "host">> {
  if (!telephony) throw new Error("no network was created");
  stage.add(telephony, (network) => network.close());
  const host = new TestLineHost();
  const line = await telephony.open({ id: `inst_${name}`, userId: "usr_1", name }, host, new AbortController().signal);
  stage.add(line, (it) => it.close());
  return { line, host };
}

/** Opens a trunk and waits until its line is online. */
export async function openTrunk(
  stage: Stage,
  trunk: Omit<Trunk, "name">,
  name = "test",
  media: "thread" | "worker" = "thread",
): Promise<Caller> {
  return await callerOn(await openLine(stage, trunk, name, media), name);
}

/** Opens a route over these trunks, in this order, and waits until its line is online. */
export async function openRoute(
  stage: Stage,
  trunkOptions: readonly Omit<Trunk, "name">[],
  name: string,
): Promise<Caller> {
  const trunks = trunkOptions.map(
    (options, i): Trunk => ({ name: `${name}-${i + 1}`, probe: "none", users: "*", ...options }),
  );
  const routes = [{ name, trunks: trunks.map((trunk) => ({ trunk: trunk.name })) }];
  const [telephony, ...otherNetworks] = sip({ trunks, routes, media: "thread" });
  for (const network of otherNetworks) stage.add(network, (it) => it.close());
  return await callerOn(await openLineOn(stage, telephony, name), name);
}

async function callerOn({ line, host }: Pick<Caller, "line" | "host">, name: string): Promise<Caller> {
  await host.reports.next("online", 10_000);
  let callCount = 0;
  return {
    line,
    host,
    async dial(to = CALLEE, ringTimeoutMs = 30_000) {
      const options = { callId: `call_${name}_${++callCount}`, ringTimeoutMs };
      const leg = await line.dial(to, options, new AbortController().signal);
      const playout = new Playout(leg.sampleRate);
      playout.enqueue(tone(SENT_HZ, 40_000, leg.sampleRate, 8_000));
      const [events, recorder] = [new CallEvents(leg), new FrameRecorder()];
      let pulledCount = 0;
      const countedSource: FrameSource = {
        read(frame) {
          pulledCount++;
          return playout.read(frame);
        },
      };
      leg.connectMedia(countedSource, recorder);
      return { leg, events, playout, recorder, pulledFrames: () => pulledCount };
    },
  };
}
