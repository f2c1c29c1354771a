import { useSignal } from "@preact/signals";
import { useEffect, useId, useMemo } from "preact/hooks";
import { InputFault } from "../../../components/field.tsx";
import { FaultNotice, Skeleton } from "../../../components/waiting.tsx";
import { dictionary } from "../../../dictionary/dictionary.ts";
import en from "../../../dictionary/en/voices.ts";
import { language, locale } from "../../../dictionary/language.ts";
import pt from "../../../dictionary/pt/voices.ts";
import { client } from "../../../shell/client.ts";
import { useData } from "../../../shell/use-data.ts";
import { faultAt } from "../form-field.tsx";
import type { FormState } from "../form-state.ts";
import { LanguageCombobox } from "./language-combobox.tsx";
import { SamplePlayer } from "./sample-player.ts";
import { languageNames, languageOfVoice, suggestedVoice, voiceLanguages, voiceWithId } from "./voice-languages.ts";
import { VoiceList } from "./voice-list.tsx";

const t = dictionary({ en, pt });

/** Fields for a call's voice: its language, then one of that language's voices. */
export function VoiceField({
  state,
  name,
  field,
}: {
  readonly state: FormState;
  readonly name: "voiceId" | "agentVoiceId";
  readonly field: "/tts/voiceId" | "/agent/voiceId";
}) {
  const id = useId();
  const variants = useSignal(false);
  const browsedTag = useSignal<string | undefined>(undefined);
  const list = useData(
    async (signal) => {
      const hasVariants = variants.value;
      return { hasVariants, voices: await client.voices({ variants: hasVariants, signal }) };
    },
    undefined,
    variants.value,
  );
  const player = useMemo(() => new SamplePlayer((voiceId, signal) => client.voiceSample(voiceId, { signal })), []);
  const voices = list.value.value?.voices;
  const voiceId = state.form.value[name];
  const readerLocale = locale();
  const preferences = [readerLocale, language.value, ...navigator.languages];
  const languages = useMemo(
    () => voiceLanguages(voices ?? [], readerLocale, preferences),
    [voices, preferences.join()],
  );
  const suggestion = voices && suggestedVoice(voices, preferences);
  useEffect(() => {
    // A call without text needs no voice: an agent has its own.
    if (name === "voiceId" && voiceId === "" && suggestion) state.edit({ voiceId: suggestion.id });
  }, [voices]);

  const tag = languageOfVoice(voiceId) ?? browsedTag.value ?? suggestion?.language ?? languages[0]?.tag;
  useEffect(() => () => player.stop(), [tag]);
  const voiceLanguage = languages.find((item) => item.tag === tag);
  const languageName = voiceLanguage?.name ?? (tag === undefined ? "" : languageNames(readerLocale)(tag));
  const isListed = voiceId === "" || voiceLanguage?.voices.some((voice) => voice.id === voiceId);
  const fault = faultAt(state, field);
  const choose = (newVoiceId: string, newTag: string | undefined): void => {
    browsedTag.value = newTag;
    state.edit({ [name]: newVoiceId });
  };
  return (
    <fieldset class="field voice-picker">
      <legend class="group-label">{t.value.label}</legend>
      {voices === undefined ? (
        <div class="voice-waiting">
          {list.fault.value === undefined ? (
            <Skeleton lines={4} />
          ) : (
            <FaultNotice error={list.fault.value} retry={() => void list.reload()} />
          )}
        </div>
      ) : (
        <>
          <LanguageCombobox
            languages={languages}
            tag={tag}
            name={languageName}
            isInvalid={fault !== undefined}
            describedBy={fault === undefined ? `${id}-hint` : `${id}-hint ${id}-fault`}
            onChoose={(language) => choose(language.voices[0]?.id ?? "", language.tag)}
          />
          <VoiceList
            language={languageName}
            voices={voiceLanguage?.voices ?? []}
            hasVariants={variants.value}
            voiceId={voiceId}
            unlistedVoice={isListed ? undefined : (voiceWithId(voices, voiceId) ?? voiceId)}
            hasDefault={name === "agentVoiceId"}
            player={player}
            onChoose={(newVoiceId) => choose(newVoiceId, tag)}
          />
        </>
      )}
      <div class="voice-foot">
        <label aria-busy={voices !== undefined && list.value.value?.hasVariants !== variants.value}>
          <input
            type="checkbox"
            checked={variants.value}
            onChange={(event) => {
              variants.value = event.currentTarget.checked;
            }}
          />
          {t.value.variants}
        </label>
        <span class="voice-keys">{t.value.keys}</span>
      </div>
      {voices !== undefined && list.fault.value !== undefined && (
        <FaultNotice error={list.fault.value} retry={() => void list.reload()} />
      )}
      <div class="field-hint" id={`${id}-hint`}>
        {voices?.length === 0 ? t.value.noVoices : t.value.hint}
      </div>
      <InputFault id={id} fault={fault} />
    </fieldset>
  );
}
