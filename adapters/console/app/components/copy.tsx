import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { dictionary } from "../dictionary/dictionary.ts";
import en from "../dictionary/en/components.ts";
import pt from "../dictionary/pt/components.ts";
import { toast } from "../shell/toasts.tsx";
import { Button } from "./button.tsx";

const t = dictionary({ en, pt });
/** Time for which the button shows its confirmation, ms. */
const CONFIRMATION_MS = 2_000;

/** Copies text, and shows a confirmation. */
export function CopyButton({ text, label }: { readonly text: string; readonly label?: string | undefined }) {
  const copyCount = useSignal(0);
  useEffect(() => {
    if (copyCount.value === 0) return;
    const timer = setTimeout(() => {
      copyCount.value = 0;
    }, CONFIRMATION_MS);
    return () => clearTimeout(timer);
  }, [copyCount.value]);
  const copy = async (): Promise<void> => {
    // Without HTTPS, browsers may offer pages no clipboard.
    if (await copyText(text)) copyCount.value++;
    else toast(t.value.notCopied, "bad");
  };
  return (
    <Button small variant="quiet" icon={copyCount.value ? "check" : "copy"} label={label} onClick={() => void copy()}>
      {copyCount.value ? t.value.copied : t.value.copy}
    </Button>
  );
}

async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copySelected(text);
  }
}

/** Copies without `navigator.clipboard`, which is missing over plain HTTP. */
function copySelected(text: string): boolean {
  const field = document.createElement("textarea");
  field.value = text;
  field.readOnly = true;
  field.className = "visually-hidden";
  // An open dialog makes everything outside of it inert.
  (document.querySelector("dialog[open]") ?? document.body).append(field);
  const focusedElement = document.activeElement;
  field.select();
  const isCopied = document.execCommand("copy");
  field.remove();
  if (focusedElement instanceof HTMLElement) focusedElement.focus();
  return isCopied;
}

/** A value to copy, such as an address or a token. */
export function CopyField({ label, value }: { readonly label: string; readonly value: string }) {
  return (
    <div class="field">
      <span class="field-label">{label}</span>
      <div class="copy">
        <output aria-label={label}>{value}</output>
        <CopyButton text={value} label={t.value.copyNamed(label)} />
      </div>
    </div>
  );
}

/** Code to copy. */
export function CodeBlock({ label, code }: { readonly label: string; readonly code: string }) {
  return (
    <div class="code">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be reachable by keyboard */}
      <section tabIndex={0} aria-label={label}>
        <pre>
          <code>{code}</code>
        </pre>
      </section>
      <CopyButton text={code} label={t.value.copyNamed(label)} />
    </div>
  );
}
