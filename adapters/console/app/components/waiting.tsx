import type { ComponentChildren } from "preact";
import { dictionary } from "../dictionary/dictionary.ts";
import en from "../dictionary/en/components.ts";
import pt from "../dictionary/pt/components.ts";
import { faultSentence } from "../shell/fault-sentence.ts";
import type { Data } from "../shell/use-data.ts";
import { Button } from "./button.tsx";
import { Notice } from "./notice.tsx";

const t = dictionary({ en, pt });

/** Shown in place of content that has not arrived. */
export function Skeleton({ lines = 3 }: { readonly lines?: number }) {
  return (
    <div class="skeleton" role="status">
      <span class="visually-hidden">{t.value.loading}</span>
      {Array.from({ length: lines }, (_, line) => (
        <span key={line} />
      ))}
    </div>
  );
}

/** Progress of an activity. @param value from 0 to 1; undefined if unknown */
export function Progress({ label, value }: { readonly label: string; readonly value?: number | undefined }) {
  return <progress class="progress" aria-label={label} max={1} value={value} />;
}

/** Cause of a failure, with a button to try again. */
export function FaultNotice({ error, retry }: { readonly error: unknown; readonly retry?: (() => void) | undefined }) {
  return (
    <Notice tone="bad">
      <p>{faultSentence(error)}</p>
      {retry && (
        <div>
          <Button small variant="quiet" onClick={retry}>
            {t.value.retry}
          </Button>
        </div>
      )}
    </Notice>
  );
}

/**
 * The data once it has arrived; before that, a skeleton or the reason for a failure. Old data stays visible while newer
 * data is being read.
 */
export function Loaded<T>({
  data,
  lines,
  children,
}: {
  readonly data: Data<T>;
  /** Height of the skeleton, lines. */
  readonly lines?: number;
  readonly children: (value: T) => ComponentChildren;
}) {
  const value = data.value.value;
  if (value !== undefined) return <>{children(value)}</>;
  if (data.fault.value !== undefined) return <FaultNotice error={data.fault.value} retry={() => void data.reload()} />;
  return <Skeleton {...(lines === undefined ? {} : { lines })} />;
}
