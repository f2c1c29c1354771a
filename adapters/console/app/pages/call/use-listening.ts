import { type ReadonlySignal, useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import type { CallListening } from "../../../../../src/client/index.ts";
import { client } from "../../shell/client.ts";
import { type Levels, levelsOf, SILENT_LEVELS } from "./levels.ts";
import { ListenOutput } from "./listen-output.ts";

/** State of a listener. */
export type ListenState = "off" | "connecting" | "waiting" | "on" | "ended";

/** State and controls of a listener. */
export interface ListeningState {
  readonly state: ReadonlySignal<ListenState>;
  readonly muted: ReadonlySignal<boolean>;
  readonly levels: ReadonlySignal<Levels>;
  /** Length of the audio lost because the connection is too slow, ms. */
  readonly lostMs: ReadonlySignal<number>;
  readonly fault: ReadonlySignal<unknown>;
  /** True if the browser cannot play live audio on this page. */
  readonly cannotPlay: ReadonlySignal<boolean>;
  start(): void;
  stop(): void;
  mute(muted: boolean): void;
}

/** Listens to a call, muted at first. */
export function useListening(callId: string): ListeningState {
  const state = useSignal<ListenState>("off");
  const muted = useSignal(true);
  const levels = useSignal<Levels>(SILENT_LEVELS);
  const lostMs = useSignal(0);
  const fault = useSignal<unknown>(undefined);
  const cannotPlay = useSignal(false);
  const endListening = useRef<(() => void) | undefined>(undefined);
  const output = useRef<ListenOutput | undefined>(undefined);

  const stop = (): void => {
    endListening.current?.();
    endListening.current = undefined;
  };
  const start = (): void => {
    stop();
    const controller = new AbortController();
    const speaker = new ListenOutput();
    output.current = speaker;
    muted.value = true;
    lostMs.value = 0;
    fault.value = undefined;
    cannotPlay.value = !speaker.canPlay;
    state.value = "connecting";
    let listening: CallListening | undefined;
    const run = async (): Promise<void> => {
      listening = await client.listen(callId, { signal: controller.signal });
      for await (const item of listening) {
        if (item.type === "waiting") state.value = "waiting";
        else if (item.type === "started") {
          await speaker.start(item.sample_rate);
          state.value = "on";
        } else if (item.type === "gap") lostMs.value += item.lost_ms;
        else if (item.type === "audio") {
          levels.value = levelsOf(item.samples, levels.peek());
          speaker.write(item.samples);
        }
      }
    };
    const finish = (finalState: ListenState): void => {
      if (output.current !== speaker) return;
      speaker.close();
      output.current = undefined;
      levels.value = SILENT_LEVELS;
      state.value = finalState;
    };
    endListening.current = () => {
      finish("off");
      controller.abort();
      listening?.close();
    };
    run().then(
      () => finish("ended"),
      (error: unknown) => {
        if (!controller.signal.aborted) fault.value = error;
        finish("off");
      },
    );
  };
  const mute = (next: boolean): void => {
    muted.value = next;
    if (output.current) output.current.muted = next;
  };
  useEffect(() => stop, [callId]);
  return { state, muted, levels, lostMs, fault, cannotPlay, start, stop, mute };
}
