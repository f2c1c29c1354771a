import { signal } from "@preact/signals";
import { Icon } from "../components/icon.tsx";
import { dictionary } from "../dictionary/dictionary.ts";
import en from "../dictionary/en/components.ts";
import pt from "../dictionary/pt/components.ts";

const t = dictionary({ en, pt });
/** Time for which a success message stays visible, ms; a fault stays until closed. */
const VISIBLE_MS = 6_000;

interface Toast {
  readonly id: number;
  readonly text: string;
  readonly tone: "good" | "bad";
}

const toasts = signal<readonly Toast[]>([]);
let lastId = 0;

/** Shows a message in the corner without interrupting the user: "Copied." */
export function toast(text: string, tone: "good" | "bad" = "good"): void {
  const id = ++lastId;
  toasts.value = [...toasts.value.filter((other) => other.text !== text), { id, text, tone }];
  if (tone === "good") setTimeout(() => close(id), VISIBLE_MS);
}

function close(id: number): void {
  toasts.value = toasts.value.filter((other) => other.id !== id);
}

export function Toasts() {
  return (
    <div class="toasts" role="status" aria-live="polite">
      {toasts.value.map(({ id, text, tone }) => (
        <div key={id} class={`toast toast-${tone}`}>
          <span>{text}</span>
          <button type="button" aria-label={t.value.close} onClick={() => close(id)}>
            <Icon name="close" size={18} />
          </button>
        </div>
      ))}
    </div>
  );
}
