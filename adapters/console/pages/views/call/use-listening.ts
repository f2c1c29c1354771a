import { type ReadonlySignal, useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import type { CallListening } from "../../../../../src/client/index.ts";
import { client } from "../../shell/client.ts";
import { type Levels, levelsOf, SILENT } from "./levels.ts";
import { ListenOutput } from "./listen-output.ts";

/** State of listening. */
export type ListenState = "off" | "connecting" | "waiting" | "on" | "over";

/** View and controls of a listener. */
export interface ListeningState {
  readonly state: ReadonlySignal<ListenState>;
  readonly muted: ReadonlySignal<boolean>;
  readonly levels: ReadonlySignal<Levels>;
  /** Audio lost because the connection is too slow, ms. */
  readonly lostMs: ReadonlySignal<number>;
  readonly fault: ReadonlySignal<unknown>;
  /** True if the browser plays no live audio on this page. */
  readonly silent: ReadonlySignal<boolean>;
  start(): void;
  stop(): void;
  mute(muted: boolean): void;
}

/** Listens to a call, muted at first. */
export function useListening(callId: string): ListeningState {
  const state = useSignal<ListenState>("off");
  const muted = useSignal(true);
  const levels = useSignal<Levels>(SILENT);
  const lostMs = useSignal(0);
  const fault = useSignal<unknown>(undefined);
  const silent = useSignal(false);
  const end = useRef<(() => void) | undefined>(undefined);
  const output = useRef<ListenOutput | undefined>(undefined);

  const stop = (): void => {
    end.current?.();
    end.current = undefined;
  };
  const start = (): void => {
    stop();
    const aborted = new AbortController();
    const speaker = new ListenOutput();
    output.current = speaker;
    muted.value = true;
    lostMs.value = 0;
    fault.value = undefined;
    silent.value = !speaker.possible;
    state.value = "connecting";
    let listening: CallListening | undefined;
    const run = async (): Promise<void> => {
      listening = await client.listen(callId, { signal: aborted.signal });
      for await (const item of listening) {
        if (item.type === "waiting") state.value = "waiting";
        else if (item.type === "started") {
          await speaker.begin(item.sample_rate);
          state.value = "on";
        } else if (item.type === "gap") lostMs.value += item.lost_ms;
        else if (item.type === "audio") {
          levels.value = levelsOf(item.samples, levels.peek());
          speaker.write(item.samples);
        }
      }
    };
    const finish = (to: ListenState): void => {
      if (output.current !== speaker) return;
      speaker.close();
      output.current = undefined;
      levels.value = SILENT;
      state.value = to;
    };
    end.current = () => {
      finish("off");
      aborted.abort();
      listening?.close();
    };
    run().then(
      () => finish("over"),
      (error: unknown) => {
        if (!aborted.signal.aborted) fault.value = error;
        finish("off");
      },
    );
  };
  const mute = (next: boolean): void => {
    muted.value = next;
    if (output.current) output.current.muted = next;
  };
  useEffect(() => stop, [callId]);
  return { state, muted, levels, lostMs, fault, silent, start, stop, mute };
}
