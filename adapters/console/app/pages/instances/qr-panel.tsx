import { type Signal, useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import type { QrCode } from "../../../../../src/client/index.ts";
import { FaultNotice, Skeleton } from "../../components/waiting.tsx";
import { dictionary } from "../../dictionary/dictionary.ts";
import en from "../../dictionary/en/instances.ts";
import pt from "../../dictionary/pt/instances.ts";
import { client } from "../../shell/client.ts";
import { faultCode } from "../../shell/fault-sentence.ts";
import { PAUSE_MS, pauseUntil } from "./code-pause.ts";

const t = dictionary({ en, pt });

/** The current QR code, updated whenever the server issues a new one. */
export function QrPanel({
  id,
  code,
  onLinked,
  onFailed,
}: {
  readonly id: string;
  readonly code: Signal<QrCode | undefined>;
  /** Called when the number has been linked or deleted. */
  readonly onLinked: () => void;
  /** Called when no code arrives. */
  readonly onFailed: () => void;
}) {
  const fault = useSignal<unknown>(undefined);
  useEffect(() => {
    const controller = new AbortController();
    void follow(id, code, fault, { onLinked, onFailed }, controller.signal);
    return () => controller.abort();
  }, [id]);
  const currentCode = code.value;
  return (
    <div class="stack stack-s">
      {currentCode ? (
        <figure class="qr">
          <img alt={t.value.link.qr} src={`data:image/png;base64,${currentCode.pngBase64}`} width="320" height="320" />
          <figcaption class="quiet small">
            <Countdown expiresAt={currentCode.expiresAt} />
          </figcaption>
        </figure>
      ) : (
        fault.value === undefined && <Skeleton lines={6} />
      )}
      {fault.value !== undefined && <FaultNotice error={fault.value} />}
    </div>
  );
}

async function follow(
  id: string,
  code: Signal<QrCode | undefined>,
  fault: Signal<unknown>,
  { onLinked, onFailed }: { readonly onLinked: () => void; readonly onFailed: () => void },
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    let pauseMs = PAUSE_MS;
    try {
      const next = await client.instances.qrCode(id, { signal });
      if (signal.aborted) return;
      code.value = next;
      fault.value = undefined;
      pauseMs = pauseUntil(next.expiresAt, Date.now());
    } catch (error) {
      if (signal.aborted) return;
      const problemCode = faultCode(error);
      if (problemCode === "instance_already_linked" || problemCode === "instance_not_found") {
        onLinked();
        return;
      }
      code.value = undefined;
      fault.value = error;
      onFailed();
    }
    await pauseWhileVisible(pauseMs, signal);
  }
}

/** Pauses; in a hidden tab, until it is visible again. */
async function pauseWhileVisible(ms: number, signal: AbortSignal): Promise<void> {
  await new Promise<void>((resolve) => {
    const finish = (): void => {
      clearTimeout(timer);
      signal.removeEventListener("abort", finish);
      resolve();
    };
    const timer = setTimeout(finish, ms);
    signal.addEventListener("abort", finish);
  });
  if (!document.hidden || signal.aborted) return;
  await new Promise<void>((resolve) => {
    const finish = (): void => {
      document.removeEventListener("visibilitychange", finish);
      signal.removeEventListener("abort", finish);
      resolve();
    };
    document.addEventListener("visibilitychange", finish);
    signal.addEventListener("abort", finish);
  });
}

/** The code's remaining validity. Hidden from screen readers, because it changes every second. */
function Countdown({ expiresAt }: { readonly expiresAt: string | null }) {
  const seconds = useSignal(secondsUntil(expiresAt));
  useEffect(() => {
    seconds.value = secondsUntil(expiresAt);
    const timer = setInterval(() => {
      seconds.value = secondsUntil(expiresAt);
    }, 1_000);
    return () => clearInterval(timer);
  }, [expiresAt]);
  if (expiresAt === null) return null;
  return <span aria-hidden="true">{t.value.link.until(seconds.value)}</span>;
}

function secondsUntil(time: string | null): number {
  return time === null ? 0 : Math.max(0, Math.ceil((Date.parse(time) - Date.now()) / 1_000));
}
