import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { formatDuration } from "../../dictionary/format.ts";

/** The time since then, which goes on. */
export function Elapsed({ since }: { readonly since: string }) {
  const now = useSignal(Date.now());
  useEffect(() => {
    const timer = setInterval(() => {
      now.value = Date.now();
    }, 1_000);
    return () => clearInterval(timer);
  }, []);
  return <span class="number">{formatDuration(now.value - Date.parse(since))}</span>;
}
