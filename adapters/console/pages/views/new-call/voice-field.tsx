import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import type { Voice } from "../../../../../src/client/index.ts";
import { Button } from "../../components/button.tsx";
import { Labelled } from "../../components/field.tsx";
import { dictionary } from "../../dictionary/dictionary.ts";
import en from "../../dictionary/en/new-call.ts";
import { language, locale } from "../../dictionary/language.ts";
import pt from "../../dictionary/pt/new-call.ts";
import { client } from "../../shell/client.ts";
import { toast } from "../../shell/toasts.tsx";
import { useData } from "../../shell/use-data.ts";
import { faultAt } from "./form-field.tsx";
import type { FormState } from "./form-state.ts";
import { suggestedVoice, voicesByLanguage } from "./voices.ts";

const t = dictionary({ en, pt });

/** The voice of a call, by language, with a sample to listen to. */
export function VoiceField({
  state,
  name,
  field: at,
}: {
  readonly state: FormState;
  readonly name: "voiceId" | "agentVoiceId";
  readonly field: "/tts/voiceId" | "/agent/voiceId";
}) {
  const voices = useData((signal) => client.voices({ signal }));
  const { voice, agent } = t.value;
  const voiceId = state.form.value[name];
  const list = voices.value.value;
  useEffect(() => {
    // A call without a text needs no voice: an agent has its own.
    if (name !== "voiceId" || voiceId !== "" || list === undefined) return;
    const suggested = suggestedVoice(list, [locale(), language.value]);
    if (suggested) state.edit({ voiceId: suggested.id });
  }, [list]);
  const groups = voicesByLanguage(list ?? [], locale());
  return (
    <Labelled label={voice.label} hint={voice.hint} fault={faultAt(state, at)}>
      {(tied) => (
        <div class="voice">
          <select {...tied} value={voiceId} onChange={(event) => state.edit({ [name]: event.currentTarget.value })}>
            <option value="">{name === "voiceId" ? voice.choose : agent.defaultVoice}</option>
            {groups.map((group) => (
              <optgroup key={group.name} label={group.name}>
                {group.voices.map((item) => (
                  <option key={item.id} value={item.id}>
                    {voiceName(item)}
                  </option>
                ))}
              </optgroup>
            ))}
            {list !== undefined && voiceId !== "" && !list.some(({ id }) => id === voiceId) && (
              <option value={voiceId}>{voiceId}</option>
            )}
          </select>
          <Sample key={voiceId} voiceId={voiceId} />
        </div>
      )}
    </Labelled>
  );
}

function voiceName({ id, name, quality }: Voice): string {
  return `${id} · ${name} · ${t.value.voice[quality]}`;
}

/** Plays the sample of a voice. */
function Sample({ voiceId }: { readonly voiceId: string }) {
  const playingAudio = useSignal<HTMLAudioElement | undefined>(undefined);
  const isLoading = useSignal(false);
  const stop = (): void => {
    playingAudio.value?.pause();
    playingAudio.value = undefined;
  };
  useEffect(() => stop, []);
  const play = async (): Promise<void> => {
    isLoading.value = true;
    try {
      const bytes = await client.voiceSample(voiceId);
      const url = URL.createObjectURL(new Blob([bytes], { type: "audio/wav" }));
      const audio = new Audio(url);
      audio.addEventListener("ended", stop);
      audio.addEventListener("emptied", () => URL.revokeObjectURL(url));
      await audio.play();
      playingAudio.value = audio;
    } catch {
      toast(t.value.voice.failed, "bad");
    } finally {
      isLoading.value = false;
    }
  };
  const { listen, stop: stopText } = t.value.voice;
  return playingAudio.value === undefined ? (
    <Button look="quiet" icon="play" disabled={voiceId === ""} busy={isLoading.value} onClick={() => void play()}>
      {listen}
    </Button>
  ) : (
    <Button look="quiet" icon="stop" onClick={stop}>
      {stopText}
    </Button>
  );
}
