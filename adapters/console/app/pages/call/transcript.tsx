import type { TranscriptLine } from "../../../../../src/client/index.ts";
import { Card } from "../../components/card.tsx";
import { formatDuration } from "../../dictionary/format.ts";
import { t } from "./call-texts.ts";

/** The transcript, with the callee on the left and the other side on the right. */
export function TranscriptCard({ lines }: { readonly lines: readonly TranscriptLine[] | null }) {
  const { title, none, speakers } = t.value.transcript;
  return (
    <Card title={title}>
      {lines === null && <p class="quiet">{none}</p>}
      <ol class="transcript" aria-live="polite">
        {lines?.map((line) => (
          <li key={`${line.speaker} ${line.start_ms}`} class={`transcript-${line.speaker}`}>
            <p class="small quiet">
              {speakers[line.speaker]} · <span class="number">{formatDuration(line.start_ms)}</span>
            </p>
            <p class="transcript-text">{line.text}</p>
          </li>
        ))}
      </ol>
    </Card>
  );
}
