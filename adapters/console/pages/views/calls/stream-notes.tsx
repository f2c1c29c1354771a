import { CodeBlock } from "../../components/copy.tsx";
import { Notice } from "../../components/notice.tsx";
import { dictionary } from "../../dictionary/dictionary.ts";
import en from "../../dictionary/en/new-call.ts";
import pt from "../../dictionary/pt/new-call.ts";
import { session } from "../../shell/session.ts";

const t = dictionary({ en, pt });

/** What somebody needs to know before they talk through this browser. */
export function StreamNotes() {
  const { stream } = t.value;
  if (session.value?.streams === false)
    return (
      <Notice tone="warn">
        <strong>{stream.off}</strong>
        <p>{stream.offText}</p>
        <CodeBlock label={stream.off} code="RINGPORT_STREAM_PREVIEW=1" />
      </Notice>
    );
  if (!isSecureContext)
    return (
      <Notice tone="warn">
        <strong>{stream.noMicrophone}</strong>
        <p>{stream.insecure}</p>
      </Notice>
    );
  return <p class="quiet">{stream.about}</p>;
}
