import { useSignal } from "@preact/signals";
import { useEffect, useId, useMemo } from "preact/hooks";
import { Button } from "../../components/button.tsx";
import { FileDrop, InputFault } from "../../components/field.tsx";
import { Notice } from "../../components/notice.tsx";
import { dictionary } from "../../dictionary/dictionary.ts";
import en from "../../dictionary/en/new-call.ts";
import { locale } from "../../dictionary/language.ts";
import pt from "../../dictionary/pt/new-call.ts";
import { type ChosenAudio, chosenAudio, fileSize, mediaTypeOf } from "./chosen-audio.ts";
import { faultAt } from "./form-field.tsx";
import type { FormState } from "./form-state.ts";

const t = dictionary({ en, pt });

/**
 * A field for a call's audio file, which is dropped or chosen, with a preview. @param maxBytes maximum size that the
 * server accepts, bytes
 */
export function AudioField({ state, maxBytes }: { readonly state: FormState; readonly maxBytes: number }) {
  const id = useId();
  const isUnreadable = useSignal(false);
  const { audio } = state.form.value;
  const fault = faultAt(state, "/audio/audioBase64");
  const text = t.value.audio;
  const hint = text.hint(fileSize(maxBytes, locale()));

  const chooseFile = async (file: File): Promise<void> => {
    try {
      state.edit({ audio: chosenAudio(file.name, new Uint8Array(await file.arrayBuffer())) });
      isUnreadable.value = false;
    } catch {
      isUnreadable.value = true; // the file has been moved or deleted since it was chosen
    }
  };
  return (
    <div class="field">
      <label for={id}>{text.label}</label>
      <FileDrop
        id={id}
        text={text.drop}
        accept=".wav,.mp3,audio/wav,audio/mpeg"
        fault={fault}
        onFile={(file) => void chooseFile(file)}
      />
      {audio && <Preview audio={audio} onRemove={() => state.edit({ audio: undefined })} />}
      <div class="field-hint" id={`${id}-hint`}>
        {hint}
      </div>
      <InputFault id={id} fault={fault} />
      {isUnreadable.value && <Notice tone="bad">{text.unreadable}</Notice>}
    </div>
  );
}

function Preview({ audio, onRemove }: { readonly audio: ChosenAudio; readonly onRemove: () => void }) {
  const type = mediaTypeOf(audio);
  const url = useMemo(() => type && URL.createObjectURL(new Blob([audio.bytes], { type })), [audio]);
  useEffect(() => () => (url === undefined ? undefined : URL.revokeObjectURL(url)), [url]);
  return (
    <div class="chosen-audio">
      <span>
        <strong>{audio.name}</strong> <span class="quiet number">{fileSize(audio.bytes.length, locale())}</span>
      </span>
      <Button small variant="plain" icon="trash" onClick={onRemove}>
        {t.value.audio.remove}
      </Button>
      {/* biome-ignore lint/a11y/useMediaCaption: the words of the file are unknown. */}
      {url !== undefined && <audio controls src={url} aria-label={t.value.audio.preview(audio.name)} />}
    </div>
  );
}
